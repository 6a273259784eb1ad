package format

import (
	"slices"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/delegraph/delegraph/collector/event"
)

// call is a tool call without an id on the wire.
type call struct{ id, tool string }

// maxCalls bounds a run's open calls without an id.
const maxCalls = 256

// startedCallID returns the id of a call that starts. id makes one for a call that has none on the wire.
func (r *run) startedCallID(e *event.Event, id func() string) string {
	if e.CallID != "" {
		return e.CallID
	}
	begun := call{id(), e.Name}
	if len(r.calls) < maxCalls {
		r.calls = append(r.calls, begun)
	}
	return begun.id
}

// endedCallID returns the id of a call that ends. A call without one on the wire is taken for the oldest open call of its tool.
func (r *run) endedCallID(e *event.Event, id func() string) string {
	if e.CallID != "" {
		return e.CallID
	}
	i := slices.IndexFunc(r.calls, func(open call) bool { return open.tool == e.Name })
	if i < 0 {
		return id()
	}
	ended := r.calls[i]
	r.calls = slices.Delete(r.calls, i, i+1)
	return ended.id
}

// pausedCalls are the IDs of the calls that a frame pauses.
type pausedCalls map[string]struct{}

func pausedBy(b *event.Batch) pausedCalls {
	if !b.Has(event.KindToolPaused) {
		return nil
	}
	paused := pausedCalls{}
	for i := range b.Events {
		if e := &b.Events[i]; e.Kind == event.KindToolPaused && e.CallID != "" {
			paused[e.CallID] = struct{}{}
		}
	}
	return paused
}

// hasPlaceholder reports whether an event of the frame is the result of a call that the frame pauses. Such a result only says that
// the call waits.
func (p pausedCalls) hasPlaceholder(e *event.Event) bool {
	_, isPaused := p[e.CallID]
	return isPaused && e.Kind == event.KindToolEnded
}

// renamedCall is a call that has another id for readers than on the wire, because another call has that one.
type renamedCall struct{ id, onWire string }

// callOwners knows which run an id of a call belongs to. Some models number the calls of each answer, and so their runs have the
// same ids. Readers of AG-UI keep calls by their id over all runs.
type callOwners struct{ byID *simplelru.LRU[string, *run] }

// maxOwnedCalls bounds the ids whose run is known. A forgotten one counts as new.
const maxOwnedCalls = 1024

func newCallOwners() callOwners {
	known, _ := simplelru.NewLRU[string, *run](maxOwnedCalls, nil) // the only error is a size below one
	return callOwners{known}
}

// rename gives a call another id for readers, because another call of its run had the id on the wire.
func (r *run) rename(onWire, id string) {
	r.renamed = slices.DeleteFunc(r.renamed, func(known renamedCall) bool { return known.onWire == onWire })
	if len(r.renamed) < maxCalls {
		r.renamed = append(r.renamed, renamedCall{id, onWire})
	}
}

// idOf returns the id of a run's call for readers. It differs from the one on the wire if that belongs to another call.
// An earlier run of the session has the same call: its result often comes with the next run.
func (c callOwners) idOf(r *run, onWire string, id func() string) string {
	if i := slices.IndexFunc(r.renamed, func(known renamedCall) bool { return known.onWire == onWire }); i >= 0 {
		return r.renamed[i].id
	}
	owner, known := c.byID.Get(onWire)
	if onWire == "" || known && owner == r {
		return onWire
	}
	if known && !(owner.ended && owner.session == r.session) && len(r.renamed) < maxCalls {
		r.renamed = append(r.renamed, renamedCall{id(), onWire})
		return r.renamed[len(r.renamed)-1].id
	}
	c.byID.Add(onWire, r)
	return onWire
}
