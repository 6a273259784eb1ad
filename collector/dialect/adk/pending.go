package adk

import (
	"slices"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// pending holds the calls that have no response yet, at most maxPending. It does not hold long-running calls,
// whose responses come from outside the run.
type pending []pendingCall

type pendingCall struct {
	place, id, name string
	isBeside        bool // other agents may work at the same time
}

// maxPending limits the calls that are remembered per stream.
const maxPending = 1024

func (p *pending) add(id, name string, b *event.Batch) {
	if len(*p) < maxPending {
		*p = append(*p, pendingCall{placeKey(b), id, name, wire.MayBeParallel(b.Branch)})
	}
}

// remove removes the call with an id or, if the response has no id, the oldest call of the tool.
func (p *pending) remove(id, name string) {
	i := slices.IndexFunc(*p, func(c pendingCall) bool { return id != "" && c.id == id || id == "" && c.name == name })
	if i >= 0 {
		*p = slices.Delete(*p, i, i+1)
	}
}

// byPlace returns the calls of a speaker that have no response.
func (p pending) byPlace(place string) []pendingCall {
	return slices.DeleteFunc(slices.Clone(p), func(c pendingCall) bool { return c.place != place })
}

// byID returns the calls with one of the ids.
func (p pending) byID(ids []string) []pendingCall {
	return slices.DeleteFunc(slices.Clone(p), func(c pendingCall) bool { return !slices.Contains(ids, c.id) })
}

// failCall reports that a tool failed, because an error came instead of its response. isBeside: it may be about another agent's work.
func (d *decoder) failCall(calls []pendingCall, isBeside bool, message []byte, code string, b *event.Batch) {
	if i := wire.FailedCall(len(calls), isBeside, func(i int) string { return calls[i].name }, message); i >= 0 {
		d.endCall(calls[i], code, b)
	}
}

// endCall reports the failure of a call.
func (d *decoder) endCall(c pendingCall, code string, b *event.Batch) {
	d.pending.remove(c.id, c.name)
	e := b.Add(event.KindToolEnded)
	e.CallID, e.Name, e.Error, e.Code = c.id, c.name, event.ToolError, code
}

// pauses returns the requests by which an event pauses calls. An agent that passes on the event of a remote agent leaves that agent's
// requests in the answer.
//
// Source: google/adk/a2a/converters/event_converter.py of google-adk 2.13.
func (f *frame) pauses() [4]strictjson.Value {
	own, remote := &f.actions, &f.remote.actions
	return [...]strictjson.Value{own.confirmations, own.credentials, remote.confirmations, remote.credentials}
}

// addPauses reports the calls that wait for a confirmation or a credential. It runs before the
// responses are read: the response of such a call contains an error text that is not an error.
func (d *decoder) addPauses(fr *frame, b *event.Batch) {
	for _, requests := range fr.pauses() {
		for call := range requests.Members() {
			id := dialect.Name(call.String())
			d.pauses.Take(id)
			b.Add(event.KindToolPaused).CallID = id
		}
	}
	for _, p := range fr.parts { // under the policy public, a request for a credential is only in the call
		if id := dialect.Name(p.id.String()); p.kind == partResponse && d.pauses.Take(id) {
			b.Add(event.KindToolPaused).CallID = id
		}
	}
}

func (d *decoder) addCode(p part, b *event.Batch) {
	e := b.Add(event.KindToolStarted)
	e.Name, e.CallID = wire.CodeTool, dialect.Name(p.id.String())
	d.pending.add(e.CallID, wire.CodeTool, b)
	e.SetPayload(p.body)
}

// addCodeResult ends an execution. If the result is the last part, the model is asked again. If an
// answer follows in the same frame, the model's API executed the code as part of its response.
func (d *decoder) addCodeResult(p part, fr *frame, b *event.Batch) {
	e := b.Add(event.KindToolEnded)
	e.Name, e.CallID = wire.CodeTool, dialect.Name(p.id.String())
	e.TurnMayEnd = fr.mayEndTurn() || b.Output || fr.isFinal()
	d.pending.remove(e.CallID, wire.CodeTool)
	e.SetPayload(p.body)
	e.Error, e.Code = wire.CodeFailure(p.body)
}

// awaitsCode reports whether the frame's last piece of code has no result in the frame.
func (f *frame) awaitsCode() bool {
	awaits := false
	for _, p := range f.parts {
		if p.kind == partCode || p.kind == partCodeResult {
			awaits = p.kind == partCode
		}
	}
	return awaits
}
