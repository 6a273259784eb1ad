package tracker_test

import (
	"fmt"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// TestCalls checks that responses end their calls.
func TestCalls(t *testing.T) {
	tell(t, []story{
		{"by id, from the call seen to the response seen, below the caller", proxied(), []*event.Batch{
			says("a", calls("c1", "tool")), says("app", text), says("", returns("c1", "tool")), says("a", final)}, `
completed
invoke_agent app ok 0-5
  invoke_agent a ok 1-4
    execute_tool tool ok 1-3`},
		{"parallel ones as siblings in the order of their parts", proxied(), []*event.Batch{
			says("app", calls("c2", "second"), calls("c1", "first")), says("app", returns("c1", "first")),
			says("app", returns("c2", "second")), says("app", final)}, `
completed
invoke_agent app ok 0-5
  execute_tool second ok 1-3
  execute_tool first ok 1-2`},
		{"shown twice are one", proxied(), []*event.Batch{
			says("app", calls("c1", "tool")), says("app", calls("c1", "tool")), says("app", returns("c1", "tool")), says("app", final)}, `
completed
invoke_agent app ok 0-5
  execute_tool tool ok 1-3`},
		{"with an id used again are two", proxied(), []*event.Batch{
			says("app", calls("c1", "tool")), says("app", returns("c1", "tool")),
			says("app", calls("c1", "tool")), says("app", returns("c1", "tool")), says("app", final)}, `
completed
invoke_agent app ok 0-6
  execute_tool tool ok 1-2
  execute_tool tool ok 3-4`},
		{"with an id that an open call has are two, if the stream says so", proxied(), []*event.Batch{
			says("app", calls("c1", "first")), says("app", calls("c1", "second"), reuses), says("app", returns("c1", "second")), says("app", final)}, `
incomplete, stream_ended
invoke_agent app unfinished 0-5
  execute_tool first unfinished 1-5
  execute_tool second ok 2-3`},
		{"with one id in two branches, of which the first is paused", proxied(), []*event.Batch{
			says("a", branch("p.a"), calls("c1", "tool")), says("b", branch("p.b"), calls("c1", "tool")),
			says("a", branch("p.a"), asks("q", event.InputConfirmation), pauses("c1")), says("b", branch("p.b"), returns("c1", "tool")),
			says("b", branch("p.b"), final)}, `
interrupted, awaiting_input
invoke_workflow app interrupted 0-6
  invoke_agent p interrupted 0-5
    invoke_agent a interrupted 0-3
      execute_tool tool interrupted 1-?
    invoke_agent b ok 0-5
      execute_tool tool ok 2-4`},
		{"with one id in two branches are two", proxied(), []*event.Batch{
			says("a", branch("p.a"), calls("c1", "tool")), says("b", branch("p.b"), calls("c1", "tool")),
			says("a", branch("p.a"), returns("c1", "tool")), says("b", branch("p.b"), returns("c1", "tool")),
			says("a", branch("p.a"), final), says("b", branch("p.b"), final)}, `
completed
invoke_workflow app ok 0-7
  invoke_agent p ok 0-6
    invoke_agent a ok 0-5
      execute_tool tool ok 1-3
    invoke_agent b ok 0-6
      execute_tool tool ok 2-4`},
		{"without ids by name, first in, first out", proxied(), []*event.Batch{
			says("app", calls("", "b"), calls("", "a")), says("app", calls("", "a")),
			says("app", returns("", "a")), says("app", returns("", "b")), says("app", returns("", "a")), says("app", final)}, `
completed
invoke_agent app ok 0-7
  execute_tool b ok 1-4
  execute_tool a ok 1-3
  execute_tool a ok 2-5`},
		{"without ids in their own branch first", proxied(), []*event.Batch{
			says("a", branch("p.a"), calls("", "tool")), says("b", branch("p.b"), calls("", "tool")),
			says("b", branch("p.b"), returns("", "tool")), says("a", branch("p.a"), returns("", "tool")),
			says("a", branch("p.a"), final), says("b", branch("p.b"), final)}, `
completed
invoke_workflow app ok 0-7
  invoke_agent p ok 0-6
    invoke_agent a ok 0-5
      execute_tool tool ok 1-4
    invoke_agent b ok 0-6
      execute_tool tool ok 2-3`},
		{"of an earlier run have no start", proxied(), []*event.Batch{says("app", returns("c1", "tool"), returns("", "other")), says("app", final)}, `
completed
invoke_agent app ok 0-3
  execute_tool tool ok ?-1
  execute_tool other ok ?-1`},
		{"answered again are as they were", proxied(), []*event.Batch{
			says("app", calls("c1", "tool")), says("app", returns("c1", "tool")), says("app", final),
			says("app", returns("c1", "tool"), wrong(event.ToolError))}, `
completed
invoke_agent app ok 0-5
  execute_tool tool ok 1-2`},
		{"without ids answered again are as they were", proxied(), []*event.Batch{
			says("app", calls("", "tool")), says("app", returns("", "tool")), says("app", returns("", "tool"), wrong(event.ToolError)),
			says("app", calls("", "tool")), says("app", returns("", "tool")), says("app", final)}, `
completed
invoke_agent app ok 0-7
  execute_tool tool ok 1-2
  execute_tool tool ok 4-5`},
		{"fail without their agent", proxied(), []*event.Batch{
			says("a", calls("c1", "tool")), says("a", returns("c1", "tool"), wrong(event.ToolError)), says("a", final)}, `
completed
invoke_agent app ok 0-4
  invoke_agent a ok 1-3
    execute_tool tool error tool_error 1-2`},
		{"that end before they start have no known end", file(), []*event.Batch{
			says("app", calls("c1", "tool"), reported(5)), says("app", returns("c1", "tool"), reported(3)), says("app", final, reported(6))}, `
completed
invoke_agent app ok 3-6
  execute_tool tool ok 5-?`},
		{"without an answer leave the run incomplete", proxied(), []*event.Batch{says("a", calls("c1", "tool"), final)}, `
incomplete, stream_ended
invoke_agent app unfinished 0-2
  invoke_agent a unfinished 1-2
    execute_tool tool unfinished 1-2`},
		{"whose answer the model did not take up leave the run incomplete", proxied(), []*event.Batch{
			says("a", calls("c1", "tool")), says("a", returns("c1", "tool"), final), says("a", partial, text), says("b", branch("p.b"), text)}, `
incomplete, stream_ended
invoke_workflow app unfinished 0-5
  invoke_agent a unfinished 1-3
    execute_tool tool ok 1-2
  invoke_agent p ok 2-4
    invoke_agent b ok 2-4`},
		{"whose answer settles the matter do not", proxied(), []*event.Batch{
			says("a", calls("c1", "tool")), says("a", returns("c1", "tool"), settles, final)}, `
completed
invoke_agent app ok 0-3
  invoke_agent a ok 1-2
    execute_tool tool ok 1-2`},
	})
}

// TestCallDetails checks the fields of a tool call.
func TestCallDetails(t *testing.T) {
	r := watch(func(s *tracker.Settings) {
		s.IsAgentTool = func(source, tool string) bool { return source == "briefing" && tool == "burn_analyst" }
	}).feed(proxied(), says("a", calls("c1", "burn_analyst"), calls("c2", "tool"))).feed(tailed(), says("x")).stop()[0]
	agent, tool := findOperation(t, r, tracker.ExecuteTool, "burn_analyst"), findOperation(t, r, tracker.ExecuteTool, "tool")
	if !agent.AgentTool || tool.AgentTool {
		t.Errorf("agents as tools: %v, %v", agent.AgentTool, tool.AgentTool)
	}
	if agent.Agent != "a" || agent.CallID != "c1" {
		t.Errorf("%+v", agent)
	}
}

// TestInferred checks that calls whose responses are matched by name and order are marked.
func TestInferred(t *testing.T) {
	r := watch().feed(proxied(), says("a", calls("c1", "by_id"), calls("", "by_name")), says("a", returns("c1", "by_id"), returns("", "by_name"))).stop()[0]
	if id, name := findOperation(t, r, tracker.ExecuteTool, "by_id"), findOperation(t, r, tracker.ExecuteTool, "by_name"); id.ResponseInferred || !name.ResponseInferred {
		t.Errorf("inferred are %v, %v", id.ResponseInferred, name.ResponseInferred)
	}
}

// TestInputs checks the states of requests for input.
func TestInputs(t *testing.T) {
	for _, c := range []struct {
		name   string
		frames []*event.Batch
		inputs string // id kind status wait
		want   string
	}{
		{"a long-running call waits for its answer", []*event.Batch{says("a", callsOutside("c1", "approve"), final)},
			"c1 tool open", `
interrupted, awaiting_input
invoke_agent app interrupted 0-2
  invoke_agent a interrupted 1-1
    execute_tool approve interrupted 1-?`},
		{"a long-running call that is answered is a call", []*event.Batch{
			says("a", callsOutside("c1", "approve"), final), says("a", text), says("", returns("c1", "approve")), says("a", final)},
			"c1 tool answered 2s", `
completed
invoke_agent app ok 0-5
  invoke_agent a ok 1-4
    execute_tool approve ok 1-3`},
		{"an answer may be an error", []*event.Batch{
			says("a", callsOutside("c1", "approve"), final), says("", returns("c1", "approve"), wrong(event.ToolError)), says("a", final)},
			"c1 tool answered 1s", `
completed
invoke_agent app ok 0-4
  invoke_agent a ok 1-3
    execute_tool approve error tool_error 1-2`},
		{"one question does not interrupt what others do", []*event.Batch{
			says("b", branch("p.b"), calls("c2", "tool")), says("a", branch("p.a"), callsOutside("c1", "approve"), final), says("c", final)},
			"c1 tool open", `
interrupted, awaiting_input
invoke_workflow app interrupted 0-4
  invoke_agent p interrupted 0-4
    invoke_agent b unfinished 0-4
      execute_tool tool unfinished 1-4
    invoke_agent a interrupted 0-2
      execute_tool approve interrupted 2-?
  invoke_agent c ok 3-3`},
		{"a call that must be confirmed is interrupted, whatever stands there as its response", []*event.Batch{
			says("a", calls("c1", "delete")), says("a", pauses("c1"), returns("c1", "delete"), wrong(event.ToolError)),
			says("a", asks("q1", event.InputConfirmation), final)},
			"q1 confirmation open", `
interrupted, awaiting_input
invoke_agent app interrupted 0-4
  invoke_agent a interrupted 1-3
    execute_tool delete interrupted 1-2`},
		{"so is one without a response", []*event.Batch{
			says("a", calls("c1", "delete")), says("a", pauses("c1"), asks("q1", event.InputCredential), final)},
			"q1 credential open", `
interrupted, awaiting_input
invoke_agent app interrupted 0-3
  invoke_agent a interrupted 1-2
    execute_tool delete interrupted 1-?`},
		{"so is a long-running one, which is not answered by that", []*event.Batch{
			says("a", callsOutside("c1", "delete")), says("a", pauses("c1"), returns("c1", "delete"), final)},
			"c1 tool open", `
interrupted, awaiting_input
invoke_agent app interrupted 0-3
  invoke_agent a interrupted 1-2
    execute_tool delete interrupted 1-2`},
		{"a call that goes on after its pause is a call", []*event.Batch{
			says("a", calls("c1", "delete")), says("a", pauses("c1"), asks("q1", event.InputConfirmation)),
			says("", answers("q1")), says("a", returns("c1", "delete")), says("a", final)},
			"q1 confirmation answered 1s", `
completed
invoke_agent app ok 0-6
  invoke_agent a ok 1-5
    execute_tool delete ok 1-4`},
		{"a call that is over is not paused", []*event.Batch{
			says("a", calls("c1", "delete")), says("a", returns("c1", "delete"), pauses("c1"), pauses("unknown")), says("a", final)},
			"", `
completed
invoke_agent app ok 0-4
  invoke_agent a ok 1-3
    execute_tool delete ok 1-2`},
		{"what is asked twice is asked once", []*event.Batch{
			says("app", asks("q1", event.InputData)), says("app", asks("q1", event.InputData)), says("app", answers("q1"), final)},
			"q1 data answered 2s", `
completed
invoke_agent app ok 0-4`},
		{"what is answered twice was answered then", []*event.Batch{
			says("app", asks("q1", event.InputSelection)), says("app", answers("q1")), says("app", answers("q1"), final)},
			"q1 selection answered 1s", `
completed
invoke_agent app ok 0-4`},
		{"what is asked again after its answer is open", []*event.Batch{
			says("app", asks("q1", event.InputClarification)), says("app", answers("q1")), says("app", asks("q1", event.InputClarification), final)},
			"q1 clarification answered 1s\nq1 clarification open", `
interrupted, awaiting_input
invoke_agent app interrupted 0-4`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := follow(t, proxied(), c.frames...)
			equal(t, outline(r), c.want)
			var got []string
			for _, in := range r.Inputs {
				line := in.ID + " " + string(in.Kind) + " " + string(in.Status)
				if wait, ok := in.Wait(); ok {
					line += " " + wait.String()
				}
				got = append(got, line)
			}
			equal(t, lines(got...), c.inputs)
		})
	}
}

// TestWait checks that the wait is known only from two times in order.
func TestWait(t *testing.T) {
	at := func(n int) tracker.Timestamp { return tracker.Timestamp{At: second(n)} }
	for _, c := range []struct {
		asked, answered tracker.Timestamp
		known           bool
	}{
		{at(1), at(3), true}, {at(1), at(1), true}, {at(3), at(1), false},
		{at(1), tracker.Timestamp{Frame: 3}, false}, {tracker.Timestamp{Frame: 1}, at(3), false},
	} {
		wait, known := tracker.InputRequest{Requested: c.asked, Answered: c.answered}.Wait()
		if known != c.known || known && wait != c.answered.At.Sub(c.asked.At) || !known && wait != 0 {
			t.Errorf("%+v: %v, %v", c, wait, known)
		}
	}
}

// TestTiming checks the times of operations and their Timing.
func TestTiming(t *testing.T) {
	for name, c := range map[string]struct {
		stream *event.Stream
		frames []*event.Batch
		want   string // timing, from and to
	}{
		"a live stream's are observed":             {tailed(), []*event.Batch{says("a", calls("c", "tool")), says("a", returns("c", "tool"))}, "observed 1-2"},
		"even where others stand on the wire":      {tailed(), []*event.Batch{says("a", calls("c", "tool"), reported(7)), says("a", returns("c", "tool"), reported(9))}, "observed 1-2"},
		"a file's are reported":                    {file(), []*event.Batch{says("a", calls("c", "tool"), reported(7)), says("a", returns("c", "tool"), reported(9))}, "reported 7-9"},
		"a file's without a start are unknown":     {file(), []*event.Batch{says("a", calls("c", "tool"), undated), says("a", returns("c", "tool"))}, "unknown ?-2"},
		"a file's without an end are unknown":      {file(), []*event.Batch{says("a", calls("c", "tool")), says("a", returns("c", "tool"), undated)}, "unknown 1-?"},
		"an answer's whose call was not seen, too": {tailed(), []*event.Batch{says("a", returns("c", "tool"))}, "unknown ?-1"},
		"without a response they are unknown":      {tailed(), []*event.Batch{says("a", calls("c", "tool")), says("a", text)}, "unknown 1-3"},
		"also after the end of the agent":          {tailed(), []*event.Batch{says("a", at("s", "", ""), calls("c", "tool")), says("a", at("s", "", ""), ends), says("", text)}, "unknown 1-2"},
		"and after its final answer":               {tailed(), []*event.Batch{says("a", at("s", "", ""), calls("c", "tool")), says("a", at("s", "", ""), final), says("", text)}, "unknown 1-2"},
		"and after its failure":                    {tailed(), []*event.Batch{says("a", at("s", "", ""), calls("c", "tool")), says("a", at("s", "", ""), errorCode), says("", text)}, "unknown 1-2"},
		"a call begins with its last arguments":    {tailed(), []*event.Batch{says("a", calls("c", "tool")), says("a", writes("c")), says("a", writes("c")), says("a", returns("c", "tool"))}, "observed 3-4"},
		"not with those of another call":           {tailed(), []*event.Batch{says("a", calls("c", "tool")), says("a", calls("d", "other")), says("a", writes("d")), says("a", returns("c", "tool"))}, "observed 1-4"},
		"nor with arguments that come too late":    {tailed(), []*event.Batch{says("a", calls("c", "tool")), says("a", returns("c", "tool")), says("a", writes("c"))}, "observed 1-2"},
		"nor after its agent has begun":            {tailed(), []*event.Batch{says("a", calls("c", "tool")), says("b", at("c", "c", ""), text), says("a", writes("c")), says("a", returns("c", "tool"))}, "observed 1-4"},
		"one frame's are unknown":                  {tailed(), []*event.Batch{says("a", calls("c", "tool"), returns("c", "tool"))}, "unknown 1-1"},
	} {
		t.Run(name, func(t *testing.T) {
			op := findOperation(t, follow(t, c.stream, c.frames...), tracker.ExecuteTool, "tool")
			equal(t, fmt.Sprintf("%s %s-%s", op.Timing, seconds(op.Started), seconds(op.Ended)), c.want)
		})
	}
}

// writes says that the frame adds to the arguments of a call.
func writes(call string) fact { return func(b *event.Batch) { b.ArgumentsOf = call } }

// uncertain says that the end of a response may be that of another one.
func uncertain(b *event.Batch) { b.Events[len(b.Events)-1].Uncertain = true }

// TestTimingOfChats checks that the times of a response are unknown if nothing shows when the
// request was sent.
func TestTimingOfChats(t *testing.T) {
	for name, c := range map[string]struct {
		stream *event.Stream
		frames []*event.Batch
		want   tracker.Timing
	}{
		"the first of a request":                       {proxied(), []*event.Batch{says("a", responds("m"))}, tracker.TimingObserved},
		"the first of a file":                          {file(), []*event.Batch{says("a", responds("m"))}, tracker.TimingUnknown},
		"the first of a file, after partial frames":    {file(), []*event.Batch{says("a", begins("m")), says("a", responds("m"))}, tracker.TimingUnknown},
		"the first of a stream that goes on":           {tailed(), []*event.Batch{says("a", responds("m"))}, tracker.TimingUnknown},
		"after a whole frame":                          {file(), []*event.Batch{says("a", text), says("a", responds("m"))}, tracker.TimingReported},
		"after a whole frame of another branch":        {file(), []*event.Batch{says("a", branch("p.a"), text), says("b", branch("p.b"), responds("m"))}, tracker.TimingUnknown},
		"after control was handed over":                {file(), []*event.Batch{says("a", handsOver("", "b")), says("b", branch("y"), responds("m"))}, tracker.TimingReported},
		"after a whole frame of a stream that goes on": {tailed(), []*event.Batch{says("a", text), says("a", responds("m"))}, tracker.TimingObserved},
		"of a container whose frame comes late":        {proxied(), []*event.Batch{says("b", streamRun("-", ""), responds("x")), says("a", streamRun("-", "p.a"), func(b *event.Batch) { b.OrderUnknown = true }, responds("m"))}, tracker.TimingUnknown},
		"of a container":                               {proxied(), []*event.Batch{says("b", streamRun("-", ""), responds("x")), says("a", streamRun("-", "p.a"), responds("m"))}, tracker.TimingObserved},
		"after one that may have been cut off":         {proxied(), []*event.Batch{says("a", begins("x")), says("a", response("2"), begins("m")), says("a", response("2"), responds("m"))}, tracker.TimingUnknown},
		"whole, after one that may have been cut off":  {proxied(), []*event.Batch{says("a", begins("x")), says("a", response("2"), responds("m"))}, tracker.TimingUnknown},
		"beside one that goes on":                      {proxied(), []*event.Batch{says("a", begins("x")), says("a", response("2"), begins("m")), says("a", partial, text), says("a", response("2"), responds("m"))}, tracker.TimingObserved},
		"with an end that may be another's":            {proxied(), []*event.Batch{says("a", begins("m")), says("a", response("2"), begins("x")), says("a", partial, text), says("a", responds("m"), uncertain)}, tracker.TimingUnknown},
		"with a cause that may be another's":           {proxied(), []*event.Batch{says("a", begins("m"), uncertain), says("a", responds("m"))}, tracker.TimingUnknown},
		"beside one of another agent":                  {proxied(), []*event.Batch{says("b", begins("x")), says("a", begins("m")), says("a", responds("m"))}, tracker.TimingObserved},
	} {
		t.Run(name, func(t *testing.T) {
			if op := findOperation(t, follow(t, c.stream, c.frames...), tracker.Chat, "m"); op.Timing != c.want {
				t.Errorf("%s", op.Timing)
			}
		})
	}
}

// TestOrdinals checks that an operation without times lies within its parent in the order of
// frames.
func TestOrdinals(t *testing.T) {
	r := follow(t, file(), says("app", text, undated), says("app", handsOver("", "a"), undated), says("", text, undated), says("app", text, undated))
	op := findOperation(t, r, tracker.InvokeAgent, "a")
	if op.Started.Frame != 2 || op.Ended.Frame != 2 || r.Root.Started.Frame != 1 || r.Root.Ended.Frame != 4 {
		t.Errorf("the agent from %d to %d, the run from %d to %d", op.Started.Frame, op.Ended.Frame, r.Root.Started.Frame, r.Root.Ended.Frame)
	}
}

// TestPendingInputs checks requests for input that the agent itself acknowledges.
func TestPendingInputs(t *testing.T) {
	pending := func(b *event.Batch) {
		returns("c1", "approve")(b)
		b.Events[len(b.Events)-1].Pending = true
	}
	asked := at2("app", "app@1", "", responds("m"), callsOutside("c1", "approve"), final)
	waits := follow(t, proxied(), asked, at2("app", "app@1", "", pending))
	if waits.Status != "interrupted" || waits.Inputs[0].Status != "open" {
		t.Errorf("%s, input %s", waits.Status, waits.Inputs[0].Status)
	}
	asked = at2("app", "app@1", "", responds("m"), callsOutside("c1", "approve"), final)
	goesOn := follow(t, proxied(), asked, at2("app", "app@1", "", pending), at2("app", "app@1", "", concludes))
	if goesOn.Status != "completed" || goesOn.Inputs[0].Status != "open" {
		t.Errorf("%s, input %s", goesOn.Status, goesOn.Inputs[0].Status)
	}
	asked = at2("app", "app@1", "", responds("m"), callsOutside("c1", "approve"), final)
	again := func(b *event.Batch) {
		e := b.Add(event.KindInputRequested)
		e.CallID, e.Input = "c1", event.InputTool
	}
	waitsAgain := follow(t, proxied(), asked, at2("app", "app@1", "", pending), at2("app", "app@1", "", concludes), at2("app", "app@1", "", again))
	if waitsAgain.Status != "interrupted" || len(waitsAgain.Inputs) != 1 {
		t.Errorf("after the request again: %s, %d inputs", waitsAgain.Status, len(waitsAgain.Inputs))
	}
}

// TestUncertainCalls checks that the timing of a call is unknown if nothing says when it began.
func TestUncertainCalls(t *testing.T) {
	uncertain := func(b *event.Batch) { b.Events[len(b.Events)-1].StartUnknown = true }
	r := follow(t, proxied(), says("app", calls("c", "look")), says("app", returns("c", "look"), uncertain), says("app", final))
	if got := r.Operations[1].Timing; got != tracker.TimingUnknown {
		t.Errorf("the timing is %v", got)
	}
}
