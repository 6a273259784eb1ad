package adk

import (
	"bytes"
	"slices"

	"github.com/delegraph/delegraph/collector/event"
)

// pending are the tools that have been called and have not answered, as far as they are to answer within the run. It is bounded by
// maxPending; calls beyond are not remembered.
type pending []pendingCall

type pendingCall struct{ place, id, name string }

// maxPending bounds the calls that a stream can make the decoder remember.
const maxPending = 1024

func (p *pending) add(place, id, name string) {
	if len(*p) < maxPending {
		*p = append(*p, pendingCall{place, id, name})
	}
}

// answered removes the call of an id, and where the wire has none the oldest of its name.
func (p *pending) answered(id, name string) {
	i := slices.IndexFunc(*p, func(c pendingCall) bool { return id != "" && c.id == id || id == "" && c.name == name })
	if i >= 0 {
		*p = slices.Delete(*p, i, i+1)
	}
}

// of returns the calls that a speaker waits for.
func (p pending) of(place string) (own []pendingCall) {
	for _, c := range p {
		if c.place == place {
			own = append(own, c)
		}
	}
	return own
}

// failed says which of the calls an error is about: the only one, else the one whose name the error's message has. Between a call and
// its answer nothing but tools can fail.
func failed(calls []pendingCall, message []byte) (pendingCall, bool) {
	if len(calls) == 1 {
		return calls[0], true
	}
	var named []pendingCall
	for _, c := range calls {
		if c.name != "" && bytes.Contains(message, []byte(c.name)) {
			named = append(named, c)
		}
	}
	if len(named) != 1 {
		return pendingCall{}, false
	}
	return named[0], true
}

// failCall states that a tool failed of which there is no answer but an error.
func (d *decoder) failCall(calls []pendingCall, message []byte, code string, b *event.Batch) {
	c, known := failed(calls, message)
	if !known {
		return
	}
	d.pending.answered(c.id, c.name)
	e := b.Add(event.KindToolEnded)
	e.CallID, e.Name, e.Error, e.Code = c.id, c.name, event.ToolError, code
}
