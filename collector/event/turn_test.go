package event

import (
	"fmt"
	"strings"
	"testing"
)

// TestTurns checks which speaker each event has, and that the number of turns is limited.
func TestTurns(t *testing.T) {
	var b Batch
	b.SetSpeaker(Speaker{Agent: "a"})
	b.Add(KindText)
	for i := range 2 * maxTurns {
		if b.BeginTurn(Speaker{Agent: fmt.Sprint(i)}) {
			b.Add(KindText)
		}
	}
	b.EndTurns()
	if b.Agent != "a" || len(b.Events) != maxTurns {
		t.Errorf("a batch of %q has %d events", b.Agent, len(b.Events))
	}
	var all []string
	for one := range b.Turns() {
		all = append(all, fmt.Sprint(one.Agent, len(one.Events), one.OrderUnknown))
	}
	if got := strings.Join(all[:3], " "); len(all) != maxTurns || got != "a1 false 01 true 11 true" {
		t.Errorf("%d turns, the first are %q", len(all), got)
	}
	if b.Begin(new(Stream), b.Frame, b.Received); len(b.InTurn()) > 0 || b.BeginTurn(Speaker{}) && len(b.turns) != 2 {
		t.Error("the turns are those of the frame before")
	}
}
