package adk

import (
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// mayQuote reports whether an error may be of something withheld. An exception of a tool ends the run without a response of the
// call, and its message often quotes the arguments. A parent agent may raise an error with the response of a call.
//
// Source: google/adk/flows/llm_flows/functions.py and cli/api_server.py of google-adk 2.13.
func (w *withheld) mayQuote(of ...strictjson.Value) bool {
	return w.calls.MayBeOpen() || w.pieces.areOpen() || w.mayBeIn(of...)
}

// mayBeIn reports whether values quote something withheld.
func (w *withheld) mayBeIn(values ...strictjson.Value) bool {
	return w.texts.MayBeIn(values...) || w.values.MayBeQuoted(values...)
}

// errorMessages returns the messages of an event's error. That of a remote agent is its text.
func (f *frame) errorMessages() []strictjson.Value {
	messages := []strictjson.Value{f.errorMessage}
	for part := range f.partList.Elements() {
		if f.remote.IsError {
			messages = append(messages, part.Get("text"))
		}
	}
	return messages
}

// isInResultOf reports whether a failed result in an event, or a call that ADK makes of an error, quotes something withheld. A call that
// leaves may run agents with internal calls.
func (w *withheld) isInResultOf(fr *frame) bool {
	for part := range fr.partList.Elements() {
		for _, call := range callsIn(part) {
			if call.Get("name").Is(wire.ModelErrorTool) && w.mayBeIn(call.Get("args")) {
				return true
			}
		}
		for _, value := range results(part) {
			failure, _ := wire.CodeFailure(value)
			if response := value.Get("response"); failure != event.NoFailure && w.mayBeIn(value.Get("output")) || wire.HasError(response) && w.mayBeIn(response) {
				return true
			}
		}
	}
	return false
}

// addTexts remembers the texts of a withheld event that an error may quote.
func (w *withheld) addTexts(fr *frame, b *event.Batch) {
	w.texts.Add(b, append(fr.errorMessages(), fr.errorDetails.Get("error_message"))...)
	if wire.Code(fr.errorCode) == "" { // a text, not a code
		w.texts.Add(b, fr.errorCode)
	}
	for part := range fr.partList.Elements() {
		for _, value := range callsIn(part) {
			w.texts.Add(b, value.Get("args"), value.Get("response"), value.Get("code"), value.Get("output"))
		}
		w.texts.Add(b, part.Get("args")) // Rust
	}
}
