package tracker_test

import (
	"fmt"
	"slices"
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

// TestAskersNamedLate lets two agents ask their models. The responses do not name their agents, so the frames of one may come between
// the request and the response of the other.
func TestAskersNamedLate(t *testing.T) {
	x, y := says("x", lane("x"), text), says("y", lane("y"), text)
	first := []*event.Batch{
		says("boss", calls("c", "ask"), calls("d", "ask")), x, y, says("", responseOf(""), begins("m")), says("", responseOf(""), calls("f", "tool")),
		says("", responseOf("1"), begins("n")), says("", responseOf(""), responds("m")), says("x", lane("x"), sentBy("", "f"), text), says("", responseOf("1"), responds("n")),
	}
	late := slices.Clone(first)
	late[5] = says("", responseOf("1"), begins("n"), uncertain)
	alone := []*event.Batch{says("boss", text), says("", responseOf(""), begins("n")), says("", responseOf(""), responds("n"))}
	for name, c := range map[string]struct {
		frames []*event.Batch
		chat   string
		want   string // timing, from and to
	}{
		"the first one":             {first, "m", "observed 2-7"},
		"the other one":             {append(first[:9:9], says("y", lane("y"), sentBy("1", ""), text)), "n", "observed 3-9"},
		"one that is never named":   {append(first[:9:9], says("boss", text)), "n", "unknown 5-9"},
		"of an agent that was late": {append(first[:9:9], says("z", lane("z"), sentBy("1", ""), text)), "n", "unknown 5-9"},
		"of one that spoke since":   {append(first[:9:9], says("y", lane("y"), text), says("y", lane("y"), sentBy("1", ""), text)), "n", "unknown 5-9"},
		"with only one agent":       {alone, "n", "observed 1-3"},
		"of an unknown cause":       {append(late[:len(late):len(late)], says("y", lane("y"), sentBy("1", ""), text)), "n", "unknown 3-9"},
	} {
		t.Run(name, func(t *testing.T) {
			op := findOperation(t, follow(t, proxied(), c.frames...), tracker.Chat, c.chat)
			equal(t, fmt.Sprintf("%s %s-%s", op.Timing, seconds(op.Started), seconds(op.Ended)), c.want)
		})
	}
}
