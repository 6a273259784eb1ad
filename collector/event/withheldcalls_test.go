package event_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestWithheldCalls checks which calls of a scope are open.
func TestWithheldCalls(t *testing.T) {
	var w event.Withheld
	w.EndCall(1, 1)
	for id := range uint64(event.MaxWithheldCalls) {
		w.BeginCall(1, event.WithheldCall{ID: id, Tool: 7})
	}
	w.BeginCall(1, event.WithheldCall{ID: 0, Target: 8}) // known already
	w.BeginCall(2, event.WithheldCall{ID: 9})
	open, isFull := w.OpenCalls(1)
	if len(open) != event.MaxWithheldCalls || isFull || open[0] != (event.WithheldCall{ID: 0, Tool: 7, Target: 8}) {
		t.Errorf("open are %v, full: %v", open, isFull)
	}
	w.BeginCall(1, event.WithheldCall{ID: 1 << 20})
	w.EndCall(1, 0)
	if open, isFull := w.OpenCalls(1); len(open) != event.MaxWithheldCalls-1 || !isFull {
		t.Errorf("after another call and an end, %d are open, full: %v", len(open), isFull)
	}
	if w.EndCall(2, 9); !w.IsEmpty() {
		t.Error("calls count as keys")
	}
	if open, _ := w.OpenCalls(2); len(open) > 0 {
		t.Errorf("an ended call is open: %v", open)
	}
}

// TestManyScopesOfCalls checks that the scopes that were used last are remembered, and that the others are forgotten.
func TestManyScopesOfCalls(t *testing.T) {
	var w *event.Withheld
	w.BeginCall(1, event.WithheldCall{})
	if open, isFull := w.OpenCalls(1); len(open) > 0 || isFull {
		t.Error("nil remembers a call")
	}
	w = new(event.Withheld)
	const many = 5000
	for scope := range uint64(many) {
		w.BeginCall(scope, event.WithheldCall{ID: 1})
		w.BeginCall(7, event.WithheldCall{ID: scope % 2}) // stays in use
	}
	for scope, want := range map[uint64]int{7: 2, 8: 0, many - 1: 1, many - 1000: 1} {
		if open, _ := w.OpenCalls(scope); len(open) != want {
			t.Errorf("scope %d has %d open calls, want %d", scope, len(open), want)
		}
	}
}

// TestEndsOfOldScopes ends the calls of a scope that was used before and after many others.
func TestEndsOfOldScopes(t *testing.T) {
	var w event.Withheld
	for id := range uint64(3) {
		w.BeginCall(1, event.WithheldCall{ID: id, Tool: 7})
	}
	for scope := range uint64(1500) {
		w.BeginCall(2+scope, event.WithheldCall{ID: 1})
	}
	w.BeginCall(1, event.WithheldCall{ID: 3, Tool: 7})
	for id := range uint64(4) {
		w.EndCall(1, id)
	}
	if open, isFull := w.OpenCalls(1); len(open) > 0 || isFull {
		t.Errorf("after the ends of all calls, %v are open, full: %v", open, isFull)
	}
}
