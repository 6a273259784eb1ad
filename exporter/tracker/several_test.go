package tracker_test

import (
	"fmt"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// TestErrorsBesideOthers fails a run while several agents work, or may. The error names none of them.
func TestErrorsBesideOthers(t *testing.T) {
	in := func(agent, branch string, facts ...fact) *event.Batch { return at2(agent, "-", branch, facts...) }
	modelFails := func(b *event.Batch) {
		responds("")(b)
		wrong(event.ModelError)(b)
		fails(b)
	}
	tell(t, []story{
		{"a branch streams", proxied(), []*event.Batch{in("b", "p.b", begins("m")), says("", fails)}, `
failed, error_frame
invoke_workflow app error agent_error 0-3
  invoke_agent p error agent_error 0-3
    invoke_agent b unfinished 0-3
      chat m unfinished 0-3`},
		{"a model fails", proxied(), []*event.Batch{in("b", "p.b", begins("m")), says("", modelFails)}, `
failed, error_frame
invoke_workflow app error agent_error 0-3
  invoke_agent p error agent_error 0-3
    invoke_agent b unfinished 0-3
      chat m unfinished 0-3`},
		{"a branch waits for a tool", proxied(), []*event.Batch{in("a", "p.a", responds("m"), calls("c", "look")), in("b", "p.b", begins("m")), says("", fails)}, `
failed, error_frame
invoke_workflow app error agent_error 0-4
  invoke_agent p error agent_error 0-4
    invoke_agent a unfinished 0-4
      chat m ok 0-1
      execute_tool look unfinished 1-4
    invoke_agent b unfinished 0-4
      chat m unfinished 0-4`},
		{"its tool failed", proxied(), []*event.Batch{in("a", "p.a", responds("m"), calls("c", "look")), in("b", "p.b", begins("m")), says("", returns("c", "look"), wrong(event.ToolError), fails)}, `
failed, error_frame
invoke_workflow app error agent_error 0-4
  invoke_agent p error agent_error 0-4
    invoke_agent a error agent_error 0-3
      chat m ok 0-1
      execute_tool look error tool_error 1-3
    invoke_agent b unfinished 0-4
      chat m unfinished 0-4`},
		{"a parallel agent in another", proxied(), []*event.Batch{in("b", "o.p.p.b", begins("m")), says("", fails)}, `
failed, error_frame
invoke_workflow app error agent_error 0-3
  invoke_agent o error agent_error 0-3
    invoke_agent p unfinished 0-3
      invoke_agent b unfinished 0-3
        chat m unfinished 0-3`},
		{"agents without branches", proxied(), []*event.Batch{in("a", "", responds("m"), calls("c", "look")), in("a", "", returns("c", "look")), in("b", "", begins("m")), says("", fails)}, `
failed, error_frame
invoke_workflow app error agent_error 0-5
  invoke_agent a unfinished 0-2
    chat m ok 0-1
    execute_tool look ok 1-2
  invoke_agent b unfinished 2-5
    chat m unfinished 2-5`},
		{"the other has ended", proxied(), []*event.Batch{in("a", "", concludes), in("b", "", begins("m")), says("", fails)}, `
failed, error_frame
invoke_workflow app error agent_error 0-4
  invoke_agent a ok 0-1
    chat m ok 0-1
  invoke_agent b error agent_error 1-3
    chat m error model_error 1-3`},
	})
}

// TestUnknownBegins checks when the second of two agents begins in a lane in which both may work at the same time.
func TestUnknownBegins(t *testing.T) {
	in := func(agent string, facts ...fact) *event.Batch { return at2(agent, "-", "", facts...) }
	for name, c := range map[string]struct {
		first []*event.Batch
		want  tracker.Timing
	}{
		"a response was cut off": {[]*event.Batch{in("a", begins("m"))}, tracker.TimingUnknown},
		"a tool works":           {[]*event.Batch{in("a", responds("m"), calls("c", "look"))}, tracker.TimingUnknown},
		"an answer has to come":  {[]*event.Batch{in("a", responds("m"), calls("c", "look")), in("a", returns("c", "look"))}, tracker.TimingUnknown},
		"the first has ended":    {[]*event.Batch{in("a", concludes)}, tracker.TimingObserved},
		"a long-running call":    {[]*event.Batch{in("a", responds("m"), callsOutside("c", "look"))}, tracker.TimingObserved},
	} {
		t.Run(name, func(t *testing.T) {
			run := follow(t, proxied(), append(c.first, in("b", begins("n")), in("b", responds("n"), calls("d", "see")), in("b", returns("d", "see")), in("b", responds("o"), final))...)
			agent, chat, next := findOperation(t, run, tracker.InvokeAgent, "b"), findOperation(t, run, tracker.Chat, "n"), findOperation(t, run, tracker.Chat, "o")
			equal(t, fmt.Sprint(agent.Timing, " ", chat.Timing, " ", next.Timing), fmt.Sprint(c.want, " ", c.want, " ", tracker.TimingObserved))
		})
	}
}

// TestHandledFailures runs an agent after another one that did not come to its end.
func TestHandledFailures(t *testing.T) {
	in := func(agent string, facts ...fact) *event.Batch { return at2(agent, "-", "", facts...) }
	tell(t, []story{
		{"a response was cut off", proxied(), []*event.Batch{in("a", begins("m")), in("b", begins("m")), in("b", concludes)}, `
completed
invoke_workflow app ok 0-4
  invoke_agent a unfinished 0-4
    chat m unfinished 0-4
  invoke_agent b ok 0-3
    chat m ok 0-3`},
		{"an earlier one has answered", proxied(), []*event.Batch{in("a", concludes), in("b", begins("m"))}, `
incomplete, stream_ended
invoke_workflow app unfinished 0-3
  invoke_agent a ok 0-1
    chat m ok 0-1
  invoke_agent b unfinished 1-3
    chat m unfinished 1-3`},
		{"a tool failed", proxied(), []*event.Batch{in("a", responds("m"), calls("c", "look")), in("b", concludes)}, `
completed
invoke_workflow app ok 0-3
  invoke_agent a unfinished 0-3
    chat m ok 0-1
    execute_tool look unfinished 1-3
  invoke_agent b ok 1-2
    chat m ok 1-2`},
		{"a long-running call", proxied(), []*event.Batch{in("a", responds("m"), callsOutside("c", "look")), in("b", concludes)}, `
interrupted, awaiting_input
invoke_workflow app interrupted 0-3
  invoke_agent a interrupted 0-1
    chat m ok 0-1
    execute_tool look interrupted 1-?
  invoke_agent b ok 1-2
    chat m ok 1-2`},
		{"the other one has no answer", proxied(), []*event.Batch{in("a", begins("m")), in("b", responds("m"), calls("c", "look")), in("b", returns("c", "look"))}, `
incomplete, stream_ended
invoke_workflow app unfinished 0-4
  invoke_agent a unfinished 0-4
    chat m unfinished 0-4
  invoke_agent b unfinished 0-3
    chat m ok 0-2
    execute_tool look ok 2-3`},
		{"the first one goes on", proxied(), []*event.Batch{in("a", responds("m"), calls("c", "look")), in("a", returns("c", "look")), in("b", begins("m")), in("b", responds("m"), calls("d", "see")), in("a", concludes), in("b", returns("d", "see")), in("b", concludes)}, `
completed
invoke_workflow app ok 0-8
  invoke_agent a ok 0-5
    chat m ok 0-1
    execute_tool look ok 1-2
    chat m ok 4-5
  invoke_agent b ok 2-7
    chat m ok 2-4
    execute_tool see ok 4-6
    chat m ok 6-7`},
		{"a parallel agent", proxied(), []*event.Batch{at2("a", "-", "p.a", begins("m")), at2("b", "-", "p.b", concludes)}, `
incomplete, stream_ended
invoke_workflow app unfinished 0-3
  invoke_agent p unfinished 0-3
    invoke_agent a unfinished 0-3
      chat m unfinished 0-3
    invoke_agent b ok 0-2
      chat m ok 0-2`},
	})
}
