package wire

import (
	"slices"

	"github.com/delegraph/delegraph/collector/event"
)

// SharedCalls holds the withheld calls without a result of all streams of an agent. The zero value shares nothing.
type SharedCalls struct {
	memory *event.Withheld
	scopes SharedSet // only its scopes and keys are used
}

// NewSharedCalls returns the calls in the memory of a stream's agent.
func NewSharedCalls(s *event.Stream) SharedCalls {
	return SharedCalls{memory: s.Withheld, scopes: NewSharedSet(s, "call")}
}

// SetScopes sets the scopes of the calls, such as the session and the run. It ignores empty scopes. A call is added to the first
// scope and found in each.
func (c *SharedCalls) SetScopes(scopes ...string) { c.scopes.SetScopes(scopes...) }

// Begin adds a call.
func (c *SharedCalls) Begin(call event.WithheldCall) {
	for _, scope := range c.scopes.scopes[:min(1, len(c.scopes.scopes))] {
		c.memory.BeginCall(c.scopes.key(scope, ""), call)
	}
}

// End removes a call that has its result.
func (c *SharedCalls) End(id uint64) {
	for _, scope := range c.scopes.scopes {
		c.memory.EndCall(c.scopes.key(scope, ""), id)
	}
}

// Open returns the calls. isFull says that there may be others.
func (c *SharedCalls) Open() (open []event.WithheldCall, isFull bool) {
	for _, scope := range c.scopes.scopes {
		calls, more := c.memory.OpenCalls(c.scopes.key(scope, ""))
		open, isFull = slices.Concat(open, calls), isFull || more
	}
	return open, isFull
}
