package adk

import (
	"hash/maphash"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
)

// maxWithheldEvents bounds the events that are remembered. The pieces of an event follow one another, so the latest suffice.
const maxWithheldEvents = 256

// withheld remembers what was withheld on a stream, and the calls that were withheld on other streams of its agent.
type withheld struct {
	calls  wire.WithheldCalls
	events *simplelru.LRU[uint64, struct{}] // hashes of IDs
	named  []wire.NamedCall                 // by the current frame; reused
}

func newWithheld(s *event.Stream) withheld {
	events, _ := simplelru.NewLRU[uint64, struct{}](maxWithheldEvents, nil) // the only error is a size below one
	w := withheld{calls: wire.NewWithheldCalls(s), events: events}
	if s.Session != "" {
		w.calls.SetScope(s.App + "\x00" + s.User + "\x00" + s.Session)
	}
	return w
}

var prefilter = lenient.NewPrefilter(&table)

// check marks an event as internal if it repeats or continues one that was withheld, or is of a call in one. The pieces of
// an event, and the event that repeats them, have the same ID.
//
// Source: google/adk/flows/llm_flows/base_llm_flow.py of google-adk 2.13.
func (w *withheld) check(fr *frame, branch string, b *event.Batch) {
	id := maphash.Bytes(seed, fr.id.Text())
	isPiece := len(fr.id.Text()) > 0 && w.events.Contains(id)
	w.named = fr.appendCalls(w.named[:0], b, !w.calls.IsEmpty(), branch)
	isFiltered := wire.IsFiltered(b, prefilter)
	b.Internal = w.calls.Check(w.named, isPiece || isFiltered) || isPiece
	if (b.Internal || isFiltered) && len(fr.id.Text()) > 0 {
		w.events.Add(id, struct{}{})
	}
	if cap(w.named) > maxReusedParts {
		w.named = nil
	}
}

// appendCalls appends the calls that an event names. With all set, these include the calls that may run its agent, and those in
// the answer of a remote agent.
func (f *frame) appendCalls(calls []wire.NamedCall, b *event.Batch, all bool, branch string) []wire.NamedCall {
	for _, p := range f.parts {
		switch p.kind {
		case partCall:
			calls = wire.AppendCall(calls, wire.CallBegins, p.id, p.name, p.body)
		case partResponse:
			calls = wire.AppendCall(calls, wire.CallRepeated, p.id, p.name, p.body)
		}
	}
	calls = wire.AppendPaused(calls, f.actions.confirmations, f.actions.credentials)
	if !all {
		return calls
	}
	calls = append(wire.AppendBranch(calls, branch), wire.NamedCall{ID: dialect.Name(f.scope.String()), As: wire.CallAround})
	for _, value := range b.Embedded(f.customMetadata).Members() {
		calls = wire.AppendNested(calls, b.Embedded(value))
	}
	return calls
}
