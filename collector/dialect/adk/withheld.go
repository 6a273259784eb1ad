package adk

import (
	"slices"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

var prefilter = lenient.NewPrefilter(&table)

// withhold marks an event as internal if it is about a call of a withheld event, or is another part of a withheld event. ADK's servers mark
// only the call itself. The pieces of a model's response share an ID, and so do a tool's result and the files that the tool saved.
//
// Source: google/adk/flows/llm_flows/base_llm_flow.py and google/adk/cli/api_server.py (events_to_stream) of google-adk 2.13.
func (d *decoder) withhold(fr *frame, b *event.Batch) {
	id := dialect.Name(fr.id.String())
	isRest := d.calls.events.Contains(id)
	isWithheld := isRest || wire.IsFiltered(b, prefilter)
	isAbout := d.calls.check(callsOf(fr), isWithheld)
	b.Internal = isRest || isAbout
	if (isWithheld || isAbout) && id != "" {
		d.calls.events.Add(id)
	}
}

// withheldCalls finds the events that are about a call of a withheld event, by its ID. The zero value is ready to use.
type withheldCalls struct {
	withheld wire.Set[string]    // calls of withheld events
	left     wire.Set[string]    // calls that began in events that left
	events   wire.Recent[string] // IDs of withheld events; an event's parts follow one another closely
}

// check reports whether an event is about a call of a withheld event. After more than wire.MaxSet such calls, that may be any call that did
// not leave. isWithheld says that the event is withheld anyway.
func (w *withheldCalls) check(calls namedCalls, isWithheld bool) (isAbout bool) {
	isAbout = slices.ContainsFunc(calls.begun, w.withheld.Contains)
	for _, id := range calls.begun {
		if !isWithheld && !isAbout {
			w.left.Add(id)
		}
	}
	isAbout = isAbout || slices.ContainsFunc(calls.continued, w.mayBeWithheld)
	if !isWithheld && !isAbout {
		return false
	}
	for _, id := range calls.begun {
		w.withheld.Add(id)
	}
	for _, id := range calls.continued {
		if !w.left.Contains(id) {
			w.withheld.Add(id)
		}
	}
	return isAbout
}

func (w *withheldCalls) mayBeWithheld(id string) bool {
	return w.withheld.Contains(id) || w.withheld.IsFull() && !w.left.Contains(id)
}

// namedCalls holds the IDs of the calls in an event: those that begin, and those of which it has the result, about which it asks, or that it
// only names.
type namedCalls struct{ begun, continued []string }

func callsOf(fr *frame) (n namedCalls) {
	for part := range fr.partList.Elements() {
		for name, value := range part.Members() {
			n.addMember(name, value, part)
		}
	}
	for _, requests := range fr.pauses() {
		for id := range requests.Members() {
			addID(&n.continued, id)
		}
	}
	for id := range fr.longRunning.Elements() {
		addID(&n.continued, id)
	}
	for widget := range fr.actionsValue.First("renderUiWidgets", "render_ui_widgets").Elements() { // of an MCP app, with the call's arguments
		addID(&n.continued, widget.Get("id"))
	}
	return n
}

// addMember adds the calls that a member of a part names.
func (n *namedCalls) addMember(name, value, part strictjson.Value) {
	switch string(name.Text()) {
	case "functionCall", "function_call", "toolCall", "tool_call", "executableCode", "executable_code":
		n.addCall(value)
	case "args": // Rust: a call without its wrapper
		n.addCall(part)
	case "functionResponse", "function_response", "toolResponse", "tool_response", "codeExecutionResult", "code_execution_result":
		addID(&n.continued, firstOf(value.Get("id"), part.Get("id")))
	}
}

// addCall adds a call and, if it is a question about another call, that call.
func (n *namedCalls) addCall(call strictjson.Value) {
	addID(&n.begun, call.Get("id"))
	if wire.IsInputRequest(call.Get("name").String()) {
		args := call.Get("args")
		addID(&n.continued, args.First("originalFunctionCall", "original_function_call").Get("id"))
		addID(&n.continued, args.First("functionCallId", "function_call_id"))
	}
}

// addID adds an ID, unless it is absent or empty. A lenient reader may take 7 for "7".
func addID(ids *[]string, id strictjson.Value) {
	name := id.String()
	if id.Kind() > strictjson.Null && id.Kind() != strictjson.String {
		name = string(id.Raw())
	}
	if name = dialect.Name(name); name != "" {
		*ids = append(*ids, name)
	}
}
