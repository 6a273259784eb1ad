package a2a

import (
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// isError reports whether an update states that its task failed, or is the error of a request. A server may send the end of a task
// again.
func isError(u update) bool {
	s := states[u.body.Get("status").Get("state").String()]
	return u.shape == shapeFailure || s.isFinal() && s != completed
}

// mayQuote reports whether an error with these texts may quote something withheld: the arguments of a call without a response, or a text
// that is remembered.
func (d *decoder) mayQuote(texts []strictjson.Value, u update) bool {
	return d.calls.MayBeOpen() || d.mayBeIn(texts...) || u.shape == shapeFailure && d.mayBeIn(u.body)
}

// mayBeIn reports whether values quote something withheld.
func (d *decoder) mayBeIn(values ...strictjson.Value) bool {
	return d.texts.MayBeIn(values...) || d.values.MayBeQuoted(values...)
}

// addWithheldTexts remembers the texts of a withheld update that an error may quote.
func (d *decoder) addWithheldTexts(content contentReader, u update, b *event.Batch) {
	d.texts.Add(b, content.payloads...)
	d.texts.Add(b, content.texts...)
	d.texts.Add(b, content.errors...)
	if u.shape == shapeFailure {
		d.texts.Add(b, u.body.Get("message"), u.body.Get("data"))
	}
}

// addTexts adds the texts of parts.
func (r *contentReader) addTexts(parts strictjson.Value) {
	for v := range parts.Elements() {
		if text := v.Get("text"); text.Exists() {
			r.texts = append(r.texts, text)
		}
	}
}

// addPayload adds what a part has of a call.
func (r *contentReader) addPayload(call strictjson.Value) {
	response, output := call.Get("response"), call.Get("output")
	r.payloads = append(r.payloads, call.Get("args"), call.Get("code"), response, output)
	if call.Get("name").Is(wire.ModelErrorTool) {
		r.failed = append(r.failed, call.Get("args"))
	}
	if wire.HasError(response) {
		r.failed = append(r.failed, response)
	}
	if failure, _ := wire.CodeFailure(call); failure != event.NoFailure {
		r.failed = append(r.failed, output)
	}
}
