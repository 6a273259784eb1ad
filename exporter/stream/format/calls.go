package format

import (
	"slices"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/delegraph/delegraph/collector/event"
)

// call is a tool call without an id on the wire.
type call struct{ id, tool string }

// maxCalls bounds a run's open calls without an id, and its renamed calls.
const maxCalls = 256

// startWithoutID returns the id of a call that starts without one on the wire.
func (r *run) startWithoutID(tool string, newID func() string) string {
	begun := call{newID(), tool}
	if len(r.calls) < maxCalls {
		r.calls = append(r.calls, begun)
	}
	return begun.id
}

// endWithoutID returns the id of a call that ends without one on the wire: that of the oldest open call of its tool.
func (r *run) endWithoutID(tool string, newID func() string) string {
	i := slices.IndexFunc(r.calls, func(open call) bool { return open.tool == tool })
	if i < 0 {
		return newID()
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

// isPlaceholder reports whether an event of the frame is the result of a call that the frame pauses. Such a result only says that
// the call waits.
func (p pausedCalls) isPlaceholder(e *event.Event) bool {
	_, isPaused := p[e.CallID]
	return isPaused && e.Kind == event.KindToolEnded
}

// renamedCall is a call whose id for readers differs from its id on the wire, because another call has that id.
type renamedCall struct {
	id, onWire, branch string
	started            bool // its start was seen
}

// rename gives a call of a branch another id for readers, and returns it. It replaces an earlier renaming of the same id in
// the branch. Beyond maxCalls, the call keeps its id on the wire.
func (r *run) rename(branch, onWire, id string) string {
	r.renamed = slices.DeleteFunc(r.renamed, func(known renamedCall) bool { return known.onWire == onWire && known.branch == branch })
	if len(r.renamed) == maxCalls {
		return onWire
	}
	r.renamed = append(r.renamed, renamedCall{id: id, onWire: onWire, branch: branch})
	return id
}

// renamedCall returns the renamed call with an id in a branch. If there is none, it returns the last one in any branch, or nil.
func (r *run) renamedCall(branch, onWire string) (found *renamedCall) {
	for i := range r.renamed {
		switch known := &r.renamed[i]; {
		case known.onWire != onWire:
		case known.branch == branch:
			return known
		default:
			found = known
		}
	}
	return found
}

// callOwners records which call an id on the wire belongs to. Some models number the calls of each answer. So several runs, or parallel
// agents, may have the same ids. Readers of AG-UI identify calls by id across all runs, and readers of A2A within a task.
type callOwners struct {
	byID   *simplelru.LRU[callIDKey, callOwner]
	perRun bool
}

// callIDKey is an id on the wire, in one run or, if run is nil, in all runs.
type callIDKey struct {
	run    *run
	onWire string
}

// callOwner is the call that has an id on the wire.
type callOwner struct {
	id      string // for readers; differs if an earlier call with the id on the wire has its result
	run     *run
	branch  string // of the frame that started the call or, if none was seen, of the first frame that names it
	started bool   // its start was seen
	ended   bool   // its result was seen
}

// isFollowedBy reports whether a run may continue the session of the call's run, which has ended.
func (o callOwner) isFollowedBy(r *run) bool {
	return o.run != r && o.run.ended && o.run.session == r.session
}

// maxOwnedCalls is the most ids whose calls are remembered. If an id was forgotten, its call counts as new.
const maxOwnedCalls = 1024

func newCallOwners(perRun bool) callOwners {
	known, _ := simplelru.NewLRU[callIDKey, callOwner](maxOwnedCalls, nil) // the only error is a size below one
	return callOwners{known, perRun}
}

func (c callOwners) keyOf(r *run, onWire string) callIDKey {
	if c.perRun {
		return callIDKey{r, onWire}
	}
	return callIDKey{nil, onWire}
}

// idOfStart returns a starting call's id for readers. The call gets a new id in three cases: it reuses the id of an earlier call of
// its run, another branch has started a call with that id, or a call with that id of an earlier run of its session has its result.
// For other cases, see idOf.
func (c callOwners) idOfStart(r *run, b *event.Batch, e *event.Event, newID func() string) string {
	if e.CallID == "" {
		return r.startWithoutID(e.Name, newID)
	}
	key := c.keyOf(r, e.CallID)
	owner, _ := c.byID.Get(key)
	renamed := r.renamedCall(b.Branch, e.CallID)
	isRenamed := renamed != nil && renamed.branch == b.Branch
	startedElsewhere := owner.run == r && owner.started && owner.branch != b.Branch || renamed != nil && renamed.started
	var shown string
	switch {
	case e.ReusesID || !isRenamed && startedElsewhere:
		shown = r.rename(b.Branch, e.CallID, newID())
	case !isRenamed && owner.started && owner.ended && owner.isFollowedBy(r):
		owner.id = newID()
		shown = owner.id
	default:
		shown = c.idOf(r, b.Branch, e.CallID, newID)
		owner, _ = c.byID.Get(key)
	}
	if shown == owner.id {
		c.byID.Add(key, callOwner{id: shown, run: r, branch: b.Branch, started: true})
	} else if renamed = r.renamedCall(b.Branch, e.CallID); renamed != nil {
		renamed.started = true
	}
	return shown
}

// idOfEnd returns an ending call's id for readers.
func (c callOwners) idOfEnd(r *run, b *event.Batch, e *event.Event, newID func() string) string {
	if e.CallID == "" {
		return r.endWithoutID(e.Name, newID)
	}
	shown, key := c.idOf(r, b.Branch, e.CallID, newID), c.keyOf(r, e.CallID)
	if owner, _ := c.byID.Get(key); shown == owner.id {
		owner.ended = true
		c.byID.Add(key, owner)
	}
	return shown
}

// idOf returns the id under which readers know a call of a run. onWire is the id in a frame of the branch. In a frame, an id refers
// to the call with that id that the frame's branch started. If the branch started none, it refers to the last call of the run with
// that id, as in package tracker. If only a call of another run has the id, the call of this run gets a new one. But if that run has
// ended and has the same session, both are the same call, because the result of a call often comes with the next run.
func (c callOwners) idOf(r *run, branch, onWire string, newID func() string) string {
	key := c.keyOf(r, onWire)
	owner, known := c.byID.Get(key)
	isOwn := known && owner.run == r
	renamed := r.renamedCall(branch, onWire)
	switch {
	case onWire == "":
		return ""
	case renamed != nil && (renamed.branch == branch || !isOwn || owner.branch != branch):
		return renamed.id
	case isOwn:
		return owner.id
	case known && !owner.isFollowedBy(r):
		return r.rename(branch, onWire, newID())
	}
	if !known {
		owner.id = onWire
	}
	owner.run, owner.branch = r, branch
	c.byID.Add(key, owner)
	return owner.id
}
