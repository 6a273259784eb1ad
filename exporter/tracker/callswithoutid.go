package tracker

import (
	"cmp"
	"slices"

	"github.com/delegraph/delegraph/collector/event"
)

// callsWithoutID finds open calls without an id by name and branch, first in, first out, in amortized
// constant time.
type callsWithoutID struct {
	queues  map[queueKey][]*Operation
	names   map[string]struct{} // names of all calls so far, at most maxCallNames
	length  int                 // of all queues, including ended calls
	sweepAt int                 // length at which ended calls are removed
}

// maxCallNames bounds callsWithoutID.names.
const maxCallNames = 64

// queueKey identifies a queue: of one branch, or of all branches.
type queueKey struct {
	name, branch string
	anywhere     bool
}

func (u *callsWithoutID) add(op *Operation) {
	if u.length >= u.sweepAt {
		u.sweep()
	}
	if len(u.names) < maxCallNames {
		put(&u.names, op.Name, struct{}{})
	}
	for _, key := range []queueKey{{op.Name, op.Branch, false}, {op.Name, "", true}} {
		put(&u.queues, key, append(u.queues[key], op))
		u.length++
	}
}

// wasAdded reports whether a call of a name was added, even if it has ended. It knows at most maxCallNames names.
func (u *callsWithoutID) wasAdded(name string) bool {
	_, added := u.names[name]
	return added
}

// sweep removes ended calls. It runs when the length has doubled since the last time, so that its
// cost per call is constant.
func (u *callsWithoutID) sweep() {
	u.length = 0
	for key, queue := range u.queues {
		if queue = slices.DeleteFunc(queue, func(op *Operation) bool { return !op.open }); len(queue) == 0 {
			delete(u.queues, key)
			continue
		}
		u.queues[key] = queue
		u.length += len(queue)
	}
	u.sweepAt = 2*u.length + 16
}

// first returns the first open call of a name: of the branch if it has one, else of any branch. It returns nil
// if there is none.
func (u *callsWithoutID) first(name, branch string) *Operation {
	return cmp.Or(u.head(queueKey{name, branch, false}), u.head(queueKey{name, "", true}))
}

// head returns the first open call of a queue, or nil.
func (u *callsWithoutID) head(key queueKey) *Operation {
	queue := u.queues[key]
	for len(queue) > 0 && !queue[0].open {
		queue[0], queue = nil, queue[1:]
		u.length--
	}
	if len(queue) == 0 {
		delete(u.queues, key)
		return nil
	}
	u.queues[key] = queue
	return queue[0]
}

// callOf returns the call of a response: by id, or, if the stream has no ids, the first open call
// of that name, those of the same branch first.
func (r *openRun) callOf(e *event.Event, b *event.Batch) *Operation {
	if e.CallID != "" {
		return r.call(b.Branch, e.CallID)
	}
	return r.callsWithoutID.first(e.Name, b.Branch)
}
