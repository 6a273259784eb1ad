package event

import (
	"cmp"
	"slices"
)

// Limits of the calls that a Withheld remembers.
const (
	MaxWithheldCalls  = 64      // of a scope
	maxWithheldScopes = 1 << 10 // at least, at most twice as many
)

// WithheldCall is a tool call that was withheld and has no result so far. Its members are hashes, or 0 if unknown.
type WithheldCall struct {
	ID, Tool uint64
	Target   uint64 // the agent that the call names
}

// scopeCalls are the calls of a scope, such as a session.
type scopeCalls struct {
	open   []WithheldCall
	isFull bool // there were more than MaxWithheldCalls at once
}

// BeginCall adds a call to those of a scope. If there is no room, it forgets the scopes to which no call was added for longest.
func (w *Withheld) BeginCall(scope uint64, c WithheldCall) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	calls := w.callsOf(scope)
	i := slices.IndexFunc(calls.open, func(known WithheldCall) bool { return known.ID == c.ID })
	switch {
	case i >= 0:
		calls.open[i] = WithheldCall{c.ID, cmp.Or(c.Tool, calls.open[i].Tool), cmp.Or(c.Target, calls.open[i].Target)}
	case len(calls.open) >= MaxWithheldCalls:
		calls.isFull = true
	default:
		calls.open = append(calls.open, c)
	}
	if len(w.recentCalls) >= maxWithheldScopes {
		w.recentCalls, w.olderCalls = nil, w.recentCalls
	}
	if w.recentCalls == nil {
		w.recentCalls = make(map[uint64]scopeCalls)
	}
	w.recentCalls[scope] = calls
	delete(w.olderCalls, scope) // its list is the same
	w.hasCalls.Store(true)
}

func (w *Withheld) callsOf(scope uint64) scopeCalls {
	if calls, ok := w.recentCalls[scope]; ok {
		return calls
	}
	return w.olderCalls[scope]
}

// EndCall removes a call that has its result.
func (w *Withheld) EndCall(scope, id uint64) {
	if w == nil || !w.hasCalls.Load() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, all := range []map[uint64]scopeCalls{w.recentCalls, w.olderCalls} {
		calls, ok := all[scope]
		if !ok {
			continue
		}
		calls.open = slices.DeleteFunc(calls.open, func(c WithheldCall) bool { return c.ID == id })
		if all[scope] = calls; len(calls.open) == 0 && !calls.isFull {
			delete(all, scope)
		}
	}
}

// OpenCalls returns the calls of a scope that have begun and not ended. isFull reports whether some of them are missing.
func (w *Withheld) OpenCalls(scope uint64) (open []WithheldCall, isFull bool) {
	if w == nil || !w.hasCalls.Load() {
		return nil, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	calls := w.callsOf(scope)
	return slices.Clone(calls.open), calls.isFull
}
