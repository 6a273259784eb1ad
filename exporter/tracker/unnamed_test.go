package tracker_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// TestCallsOfUnknownAgents checks that a call of an agent that the stream does not name is below the agent for which that one works,
// and is no call of it.
func TestCallsOfUnknownAgents(t *testing.T) {
	unknown := func(b *event.Batch) { b.AgentUnknown = true }
	called := func(in ...fact) *event.Batch { return says("", append(in, unknown, calls("x", "tool"))...) }
	inner := says("inner", at("i", "c", ""), text)
	for name, c := range map[string]struct {
		frames []*event.Batch
		want   string
	}{
		"of the run":                      {[]*event.Batch{says("boss", calls("c", "delegate")), inner, called()}, "boss"},
		"of an agent":                     {[]*event.Batch{says("boss", calls("c", "delegate")), inner, called(at("", "", "i"))}, "inner"},
		"of an agent that is not there":   {[]*event.Batch{says("boss", calls("c", "delegate")), called(at("", "", "i"))}, "boss"},
		"of a run that gets a name later": {[]*event.Batch{says("", calls("c", "delegate")), inner, called(), says("boss", text)}, "boss"},
	} {
		t.Run(name, func(t *testing.T) {
			run := follow(t, &event.Stream{SingleRun: true}, c.frames...)
			op := findOperation(t, run, tracker.ExecuteTool, "tool")
			equal(t, op.Agent, "")
			for _, above := range run.Operations {
				if above.ID == op.Parent {
					equal(t, above.Name, c.want)
				}
			}
		})
	}
}
