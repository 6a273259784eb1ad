package adk

import (
	"bytes"
	"hash/maphash"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// errorEvents maps the hash of an error's message to the event that reported it. There are at most maxPending.
type errorEvents map[uint64]errorEvent

type errorEvent struct {
	code   string
	around []string // the calls that run the agent or step that failed
}

var seed = maphash.MakeSeed()

func (e *errorEvents) add(message strictjson.Value, one errorEvent) {
	text := message.Text()
	if len(text) == 0 || len(*e) >= maxPending {
		return
	}
	if *e == nil {
		*e = make(errorEvents)
	}
	(*e)[maphash.Bytes(seed, text)] = one
}

// callsAround returns the calls that run the nodes of a place.
func callsAround(p *event.Place) (ids []string) {
	if p == nil {
		return nil
	}
	for i := range p.Nodes {
		if id := p.Nodes[i].Call; id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// repeatedBy returns the event that an error frame with a message repeats. ADK 2 reports most errors twice: as an event and
// then as an error frame, with other events between them if steps of a workflow run in parallel.
func (e errorEvents) repeatedBy(message strictjson.Value) (one errorEvent, repeats bool) {
	one, repeats = e[maphash.Bytes(seed, message.Text())]
	return one, repeats
}

func addErrorCode(failure event.Failure, code string, b *event.Batch) *event.Event {
	if failure == event.NoFailure {
		return nil
	}
	e := b.Add(event.KindError)
	e.Error, e.Code, e.Inline = failure, code, failure != event.FailureCanceled // a canceled run did not fail
	return e
}

// rejectsTarget reports whether an error says that the target of the last transfer does not exist.
func (d *decoder) rejectsTarget(fr *frame) bool {
	return d.transferTarget != "" && !fr.hasUsage && !fr.finishReason.Exists() && fr.partList.Len() == 0 &&
		bytes.Contains(fr.errorMessage.Text(), []byte(d.transferTarget))
}

// addErrorFrame reports an error of the run. If it repeats the error of an event, the agent that spoke last need not have failed. Open
// calls failed if they ran the agent or step of that event. Otherwise, the error is about one of the open calls (see wire.FailedCall). If
// the message names the target of the last transfer, that agent does not exist.
func (d *decoder) addErrorFrame(message []byte, code string, repeated errorEvent, repeats bool, b *event.Batch) {
	switch {
	case repeats:
		for _, c := range d.pending.byID(repeated.around) {
			d.endCall(c, code, b)
		}
	case len(d.pending) > 0:
		d.failCall(d.pending, slices.ContainsFunc(d.pending, func(c pendingCall) bool { return c.isBeside }), message, code, b)
	case wire.APIErrorCode(message) != "" && !d.errorReported:
		e := b.Add(event.KindModelEnded)
		e.Error, e.Code = event.ModelError, code
	}
	e := b.Add(event.KindError)
	if e.Error, e.Code, e.Elsewhere = event.AgentError, code, repeats; d.transferTarget != "" && bytes.Contains(message, []byte(d.transferTarget)) {
		e.Name = d.transferTarget
	}
}
