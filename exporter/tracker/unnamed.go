package tracker

import "slices"

// unnamedCalls finds open calls without an id, first in, first out by name and branch, in constant time.
type unnamedCalls struct {
	queues map[unnamedKey][]*Operation
	length int // of all queues, with calls that have ended since
	most   int // length at which these are looked for
}

// unnamedKey names a queue: of a branch, or of calls anywhere.
type unnamedKey struct {
	name, branch string
	anywhere     bool
}

func (u *unnamedCalls) add(op *Operation) {
	if u.length >= u.most {
		u.sweep()
	}
	for _, key := range []unnamedKey{{op.Name, op.Branch, false}, {op.Name, "", true}} {
		put(&u.queues, key, append(u.queues[key], op))
		u.length++
	}
}

// sweep drops the calls that have ended. It comes when as many were added as it left, so that a call costs the same however many there
// are.
func (u *unnamedCalls) sweep() {
	u.length = 0
	for key, queue := range u.queues {
		if queue = slices.DeleteFunc(queue, func(op *Operation) bool { return !op.open }); len(queue) == 0 {
			delete(u.queues, key)
			continue
		}
		u.queues[key] = queue
		u.length += len(queue)
	}
	u.most = 2*u.length + 16
}

// in returns the first open call of a name in a branch, or nil.
func (u *unnamedCalls) in(branch, name string) *Operation {
	return u.first(unnamedKey{name, branch, false})
}

// of returns the first open call of a name, or nil.
func (u *unnamedCalls) of(name string) *Operation { return u.first(unnamedKey{name, "", true}) }

func (u *unnamedCalls) first(key unnamedKey) *Operation {
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
