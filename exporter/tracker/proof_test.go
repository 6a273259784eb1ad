package tracker_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// rates adds a confidence, in the text of an answer unless changed.
func rates(who string, value float64, change ...func(*event.Event)) fact {
	return func(b *event.Batch) {
		e := b.Add(event.KindConfidence)
		e.Name, e.Confidence = who, event.Confidence{Value: value, Known: true, Origin: event.OriginText}
		for _, c := range change {
			c(e)
		}
	}
}

func overall(e *event.Event)    { e.Confidence.Overall = true }
func structured(e *event.Event) { e.Confidence.Origin = event.OriginStructured }
func inThought(e *event.Event)  { e.Confidence.Origin = event.OriginThought }
func inWords(e *event.Event)    { e.Confidence.Known, e.Confidence.Label = false, "high" }
func byCall(id string) func(*event.Event) {
	return func(e *event.Event) { e.CallID = id }
}

func percent(p float64) float64 { return p / 100 }

// TestRestated checks which confidences in a text repeat values stated before.
func TestRestated(t *testing.T) {
	tool := says("app", calls("c1", "burn_analyst"), calls("c2", "trail_assessor"))
	given := says("app", returns("c1", "burn_analyst"), rates("burn_analyst", 0.92, byCall("c1")),
		returns("c2", "trail_assessor"), rates("trail_assessor", 0.92, byCall("c2")))
	for _, c := range []struct {
		name   string
		frames []*event.Batch
		want   string // agent and value, restated
	}{
		{"a tool's value", []*event.Batch{tool, given, says("app", rates("app", 0.92), final)}, `
burn_analyst 0.92
trail_assessor 0.92
app 0.92 restated`},
		{"but for the overall one, one of its own, and what it thinks or proves", []*event.Batch{
			says("a", rates("a", 0.9)), says("app", rates("app", 0.9, overall), rates("app", 0.8), rates("app", 0.9, inThought), rates("app", 0.9, structured), final)}, `
a 0.9
app 0.9
app 0.8
app 0.9
app 0.9`},
		{"an agent's value", []*event.Batch{says("a", rates("a", 0.9)), says("b", rates("b", 0.8)), says("app", rates("app", 0.8), rates("app", 0.9), final)}, `
a 0.9
b 0.8
app 0.8 restated
app 0.9 restated`},
		{"as it was divided", []*event.Batch{says("a", rates("a", percent(33.3))), says("app", rates("app", 0.333), final)}, `
a 0.33299999999999996
app 0.333 restated`},
		{"of an agent that its calls hand on", []*event.Batch{
			says("app", calls("c1", "ask"), calls("c2", "ask")), says("b", at("1", "c1", ""), rates("b", 0.8, overall)), says("b", at("2", "c2", ""), rates("b", 0.6, overall)),
			says("app", returns("c1", "ask"), rates("ask", 0.8, overall, byCall("c1")), rates("ask", 0.6, byCall("c1")), returns("c2", "ask"), rates("ask", 0, inWords, byCall("c2")), rates("ask", 0.6, structured, byCall("c2"))),
			says("app", rates("app", 0.8, overall), final)}, `
b 0.8
b 0.6
ask 0.8 restated
ask 0.6
ask 0
ask 0.6 restated
app 0.8`},
		{"not its own", []*event.Batch{says("a", rates("a", 0.9)), says("a", rates("a", 0.9), final)}, `
a 0.9
a 0.9`},
		{"nor words", []*event.Batch{says("a", rates("a", 0, inWords)), says("app", rates("app", 0, inWords), rates("app", 0), final)}, `
a 0
app 0
app 0`},
		{"nor by words", []*event.Batch{says("a", rates("a", 0)), says("app", rates("app", 0, inWords), final)}, `
a 0
app 0`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, s := range follow(t, proxied(), c.frames...).Confidence {
				line := fmt.Sprint(s.Agent, " ", s.Value)
				if s.Restated {
					line += " restated"
				}
				got = append(got, line)
			}
			equal(t, lines(got...), c.want)
		})
	}
}

// TestProofIsAttributed checks that statements are added to their operation and to the run.
func TestProofIsAttributed(t *testing.T) {
	cites := func(who, source, call string) fact {
		return func(b *event.Batch) {
			e := b.Add(event.KindCitation)
			e.Name, e.CallID, e.Citation = who, call, event.Citation{Source: source, Reference: "p. 1"}
		}
	}
	reasons := func(who string, steps int, call string) fact {
		return func(b *event.Batch) {
			e := b.Add(event.KindReasoning)
			e.Name, e.CallID, e.Steps = who, call, steps
		}
	}
	r := follow(t, proxied(),
		says("a", calls("c1", "tool"), calls("c2", "idle")),
		says("a", returns("c1", "tool"), rates("tool", 0.9, byCall("c1")), cites("tool", "MTBS", "c1"), reasons("tool", 3, "c1")),
		says("a", rates("a", 0.8), cites("a", "field", ""), reasons("a", 2, ""), rates("a", 0.7, byCall("unknown")), final),
		says("", rates("nobody", 0.1)))
	of := func(kind tracker.OperationKind, name string) tracker.Details {
		return findOperation(t, r, kind, name).Details.OrZero()
	}
	tool, agent, own := of(tracker.ExecuteTool, "tool"), of(tracker.InvokeAgent, "a"), r.Root.Details.OrZero()
	if len(tool.Confidence) != 1 || tool.Confidence[0].Value != 0.9 || len(tool.Citations) != 1 || tool.Citations[0].Source != "MTBS" ||
		tool.ReasoningSteps != (event.Count{N: 3, Known: true}) {
		t.Errorf("the tool's: %+v, %+v, %+v", tool.Confidence, tool.Citations, tool.ReasoningSteps)
	}
	if len(agent.Confidence) != 2 || agent.Confidence[1].Value != 0.7 || len(agent.Citations) != 1 || agent.Citations[0].Source != "field" ||
		agent.ReasoningSteps != (event.Count{N: 2, Known: true}) {
		t.Errorf("the agent's: %+v, %+v, %+v", agent.Confidence, agent.Citations, agent.ReasoningSteps)
	}
	if len(own.Confidence) != 1 || len(of(tracker.ExecuteTool, "idle").Confidence) != 0 {
		t.Errorf("the run's own: %+v", own.Confidence)
	}
	if len(r.Confidence) != 4 || len(r.Citations) != 2 || r.Citations[0] != (tracker.Citation{Agent: "tool", Citation: tool.Citations[0]}) ||
		len(r.Reasoning) != 2 || r.Reasoning[1] != (tracker.Reasoning{Agent: "a", Steps: 2}) {
		t.Errorf("the run's: %+v, %+v, %+v", r.Confidence, r.Citations, r.Reasoning)
	}
}

// TestUnrated checks the number of final texts without a confidence.
func TestUnrated(t *testing.T) {
	for _, c := range []struct {
		name  string
		frame *event.Batch
		want  int
	}{
		{"a final text", says("a", text, final), 1},
		{"in any order", says("a", final, text), 1},
		{"with a confidence", says("a", text, rates("a", 0.9), final), 0},
		{"with one in words", says("a", text, rates("a", 0, inWords), final), 0},
		{"with one of a thought only", says("a", text, rates("a", 0.9, inThought), final), 1},
		{"not final", says("a", text), 0},
		{"without a text", says("a", final), 0},
		{"partial", says("a", partial, text, final), 0},
		{"of the user", says("", text, final), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := follow(t, proxied(), c.frame)
			if r.UnratedAnswers["a"] != c.want || c.want == 0 && len(r.UnratedAnswers) != 0 {
				t.Errorf("%v", r.UnratedAnswers)
			}
		})
	}
}

// TestUnratedAtTheEnd checks that the last text of a run counts as final if the protocol marks
// none.
func TestUnratedAtTheEnd(t *testing.T) {
	for _, c := range []struct {
		name   string
		frames []*event.Batch
		want   map[string]int
	}{
		{"the last text", []*event.Batch{says("a", text), says("b", text), says("", runOver)}, map[string]int{"b": 1}},
		{"of nobody", []*event.Batch{says("", text), says("", runOver)}, map[string]int{"": 1}},
		{"with the end", []*event.Batch{says("a", text, runOver)}, map[string]int{"a": 1}},
		{"of nobody, marked", []*event.Batch{says("", text, final, runOver)}, map[string]int{"": 1}},
		{"with a confidence", []*event.Batch{says("a", text), says("a", text, rates("a", 0.9)), says("", runOver)}, nil},
		{"marked before", []*event.Batch{says("a", text, final), says("b", text), says("", runOver)}, map[string]int{"a": 1}},
		{"marked and rated before", []*event.Batch{says("a", text, final, rates("a", 0.9)), says("b", text), says("", runOver)}, nil},
		{"before a call", []*event.Batch{says("a", text), says("a", calls("t1", "search")), says("a", returns("t1", "search"), settles), says("", runOver)}, nil},
		{"with a call", []*event.Batch{says("a", text, calls("t1", "search")), says("a", returns("t1", "search"), settles), says("", runOver)}, nil},
		{"in pieces", []*event.Batch{says("a", partial, text), says("", runOver)}, nil},
		{"of a run that nobody says is over", []*event.Batch{says("a", text)}, nil},
		{"of a run that failed", []*event.Batch{says("a", text), says("", runOver, wrong(event.AgentError))}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := follow(t, proxied(), c.frames...)
			if !maps.Equal(r.UnratedAnswers, c.want) {
				t.Errorf("%v, want %v", r.UnratedAnswers, c.want)
			}
		})
	}
}
