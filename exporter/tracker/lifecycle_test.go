package tracker_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

func fresh(kind event.Kind) fact { return func(b *event.Batch) { b.Add(kind) } }

// took sets the duration of the fact before it.
func took(seconds float64) fact {
	return func(b *event.Batch) {
		b.Events[len(b.Events)-1].Duration = event.Duration{D: time.Duration(seconds * float64(time.Second)), Known: true}
	}
}

// at sets the branch of the agent that speaks, and the call or the branch that it works for.
func at(place, call, parent string) fact {
	return func(b *event.Batch) { b.Branch, b.EnclosingCall, b.ParentBranch = place, call, parent }
}

// around sets what works around the speaker: steps, or agents whose names begin with an a, of these branches, from the
// innermost one.
func around(branches ...string) fact {
	return func(b *event.Batch) {
		b.ParentBranch = branches[0]
		for _, branch := range slices.Backward(branches) {
			up := &event.Around{Branch: branch, Above: b.Around}
			if up.Step = branch; branch[0] == 'a' {
				up.Agent, up.Step = branch, ""
			}
			b.Around = up
		}
	}
}

var (
	ends    = fresh(event.KindAgentEnded)
	runOver = fresh(event.KindRunEnded)
)

func unmetered(b *event.Batch) { b.Events[len(b.Events)-1].UsageIncomplete = true }

func uses(model string, tokens int64) fact {
	return func(b *event.Batch) {
		e := b.Add(event.KindUsage)
		e.Model, e.Usage.Input = model, event.Count{N: tokens, Known: true}
	}
}

// TestAgentsWithin checks agents that work within calls and for each other.
func TestAgentsWithin(t *testing.T) {
	tell(t, []story{
		{"an agent within a call", proxied(), []*event.Batch{
			says("app", calls("t1", "task")), says("sub", at("s1", "t1", ""), fresh(event.KindAgentStarted)),
			says("sub", at("s1", "t1", ""), calls("t2", "search")), says("sub", at("s1", "t1", ""), returns("t2", "search")),
			says("sub", at("s1", "t1", ""), ends), says("app", returns("t1", "task"), settles), says("app", final)}, `
completed
invoke_agent app ok 0-8
  execute_tool task ok 1-6
    invoke_agent sub ok 2-5
      execute_tool search ok 3-4`},
		{"an agent whose clock is ahead of its call's", file(), []*event.Batch{
			says("app", calls("t1", "task"), reported(1)), says("sub", at("s1", "t1", ""), text, reported(5)), says("sub", at("s1", "t1", ""), ends, reported(9)),
			says("app", returns("t1", "task"), settles, reported(3)), says("app", final, reported(10))}, `
completed
invoke_agent app ok 1-10
  execute_tool task ok 1-9
    invoke_agent sub ok 5-9`},
		{"two of one name at once", proxied(), []*event.Batch{
			says("app", calls("t1", "task"), calls("t2", "task")), says("sub", at("s1", "t1", "")), says("sub", at("s2", "t2", "")),
			says("sub", at("s1", "t1", ""), ends), says("app", returns("t1", "task")), says("app", returns("t2", "task"), settles), says("app", final)}, `
completed
invoke_agent app ok 0-8
  execute_tool task ok 1-5
    invoke_agent sub ok 2-4
  execute_tool task ok 1-6
    invoke_agent sub ok 3-3`},
		{"an agent for another", proxied(), []*event.Batch{
			says("a", at("1", "", ""), text), says("b", at("2", "", "1"), text), says("app", final)}, `
completed
invoke_agent app ok 0-4
  invoke_agent a ok 1-2
    invoke_agent b ok 2-2`},
		{"within agents and steps that have not spoken", proxied(), []*event.Batch{
			says("", inStep("c", "c"), around("s", "a")), says("", inStep("c", "c"), around("s", "a"), text), says("", inStep("s", "s"), around("a"), text), says("a", at("a", "", ""), text, ends), says("app", final)}, `
completed
invoke_agent app ok 0-6
  invoke_agent a ok 1-4
    invoke_node s ok 1-3
      invoke_node c ok 1-2`},
		{"within a step that turns out to be an agent", proxied(), []*event.Batch{
			says("", inStep("c", "c"), around("s"), text), says("expert", at("s", "", ""), text), says("", inStep("d", "d"), around("s"), text), says("app", final)}, `
completed
invoke_agent app ok 0-5
  invoke_agent expert ok 1-3
    invoke_node c ok 1-1
    invoke_node d ok 3-3`},
		{"within an agent that has ended", proxied(), []*event.Batch{
			says("a", at("a", "", ""), ends), says("", inStep("c", "c"), around("a"), text), says("app", final)}, `
completed
invoke_agent app ok 0-4
  invoke_agent a ok 1-1
  invoke_node c ok 2-2`},
		{"a response ends what goes on within its call", proxied(), []*event.Batch{
			says("app", calls("t1", "task")), says("sub", at("s1", "t1", ""), calls("t2", "search")),
			says("app", returns("t1", "task"), settles), says("sub", at("s1", "t1", ""), text), says("app", final)}, `
completed
invoke_agent app ok 0-6
  execute_tool task ok 1-3
    invoke_agent sub unfinished 2-3
      execute_tool search unfinished 2-3
  invoke_agent sub ok 4-4`},
		{"an agent that fails fails by itself", proxied(), []*event.Batch{
			says("sub", at("s1", "", ""), ends, wrong(event.AgentError)), says("app", final)}, `
completed
invoke_agent app ok 0-3
  invoke_agent sub error agent_error 1-1`},
		{"an agent ends with the last of what it has open", proxied(), []*event.Batch{
			says("node", at("1", "", ""), calls("", "search")), says("node", at("1", "", ""), ends), says("app", returns("", "search"), settles), says("app", final)}, `
completed
invoke_agent app ok 0-5
  invoke_agent node ok 1-3
    execute_tool search ok 1-3`},
		{"the same agent again", proxied(), []*event.Batch{
			says("node", at("1", "", ""), ends), says("node", at("1", "", ""), fresh(event.KindAgentStarted)), says("node", at("1", "", ""), ends), says("app", final)}, `
completed
invoke_agent app ok 0-5
  invoke_agent node ok 1-1
  invoke_agent node ok 2-3`},
		{"the end of an agent said again", proxied(), []*event.Batch{
			says("node", at("1", "", ""), ends), says("node", at("1", "", ""), ends), says("app", final)}, `
completed
invoke_agent app ok 0-4
  invoke_agent node ok 1-1`},
		{"the end of an agent said after its call's", proxied(), []*event.Batch{
			says("app", calls("t1", "task")), says("sub", at("s1", "t1", ""), text), says("app", returns("t1", "task"), settles),
			says("sub", at("s1", "t1", ""), ends), says("app", final)}, `
completed
invoke_agent app ok 0-6
  execute_tool task ok 1-3
    invoke_agent sub ok 2-2`},
	})
}

// TestTook checks that the duration in the stream takes precedence over measured times.
func TestTook(t *testing.T) {
	tell(t, []story{
		{"shorter than seen: it ended before we heard of it", proxied(), []*event.Batch{
			says("app", calls("c", "tool")), says("app"), says("app", returns("c", "tool"), took(0.5), settles), says("app", final)}, `
completed
invoke_agent app ok 0-5
  execute_tool tool ok 1-1.5`},
		{"longer than seen: it began before we heard of it", proxied(), []*event.Batch{
			says("app"), says("app", calls("c", "tool")), says("app", returns("c", "tool"), took(1.5), settles), says("app", final)}, `
completed
invoke_agent app ok 0-5
  execute_tool tool ok 1.5-3`},
		{"longer than the run: no longer than that", proxied(), []*event.Batch{
			says("app", calls("c", "tool")), says("app", returns("c", "tool"), took(100), settles), says("app", final)}, `
completed
invoke_agent app ok 0-4
  execute_tool tool ok 0-2`},
		{"of a call that nobody saw", proxied(), []*event.Batch{
			says("app"), says("app"), says("app", returns("c", "tool"), took(0.5), settles), says("app", final)}, `
completed
invoke_agent app ok 0-5
  execute_tool tool ok 2.5-3`},
		{"shorter than what went on in it", proxied(), []*event.Batch{
			says("node", at("1", "", ""), calls("c", "tool")), says("node", at("1", "", ""), returns("c", "tool"), settles),
			says("node", at("1", "", ""), ends, took(0.1)), says("app", final)}, `
completed
invoke_agent app ok 0-5
  invoke_agent node ok 1-2
    execute_tool tool ok 1-2`},
		{"of a file without times says when nothing was", file(), []*event.Batch{
			says("app", calls("c", "tool"), undated), says("app", returns("c", "tool"), took(0.5), settles, undated), says("app", final, undated)}, `
completed
invoke_agent app ok ?-?
  execute_tool tool ok ?-?`},
	})
	r := follow(t, proxied(), says("app", calls("c", "tool")), says("app", returns("c", "tool"), took(0.5), settles), says("app", final))
	if op := findOperation(t, r, tracker.ExecuteTool, "tool"); op.Timing != tracker.TimingReported {
		t.Errorf("the timing of a stated duration is %s", op.Timing)
	}
	r = follow(t, proxied(), says("app", calls("c", "tool")), says("app", returns("c", "tool"), took(100), settles), says("app", final))
	if got, by := findOperation(t, r, tracker.ExecuteTool, "tool").Duration(); got != 100*time.Second || by != tracker.TimingReported {
		t.Errorf("a stated duration of 100 s, longer than the run, is reported as %s (%s)", got, by)
	}
}

// TestTookWithoutTimes checks streams whose frames state durations but no times: the durations are used, and the times stay
// unknown.
func TestTookWithoutTimes(t *testing.T) {
	r := follow(t, file(), says("app", calls("c", "tool"), calls("d", "other"), undated), says("app", returns("c", "tool"), took(0.5), settles, undated),
		says("app", returns("d", "other"), settles, undated), says("node", at("1", "", ""), undated), says("node", at("1", "", ""), ends, took(2), undated),
		says("app", final, undated), says("app", runOver, took(7), undated))
	for _, c := range []struct {
		kind tracker.OperationKind
		name string
		want time.Duration
		by   tracker.Timing
	}{
		{tracker.ExecuteTool, "tool", 500 * time.Millisecond, tracker.TimingReported},
		{tracker.ExecuteTool, "other", 0, tracker.TimingUnknown},
		{tracker.InvokeAgent, "node", 2 * time.Second, tracker.TimingReported},
		{tracker.InvokeAgent, "app", 7 * time.Second, tracker.TimingReported},
	} {
		op := findOperation(t, r, c.kind, c.name)
		if got, by := op.Duration(); got != c.want || by != c.by || op.Timing != tracker.TimingUnknown || !op.Started.At.IsZero() {
			t.Errorf("%s took %s (%s), and its times are %s: want %s (%s)", c.name, got, by, op.Timing, c.want, c.by)
		}
	}
	timed := follow(t, proxied(), says("app", calls("c", "tool")), says("app", returns("c", "tool"), took(0.5), settles), says("app", final), says("app", runOver, took(99)))
	for name, want := range map[string]time.Duration{"tool": 500 * time.Millisecond, "app": 5 * time.Second} {
		for _, op := range timed.Operations {
			if got, _ := op.Duration(); op.Name == name && got != want {
				t.Errorf("%s took %s, want %s", name, got, want)
			}
		}
	}
}

// TestTheProtocolsOwnWord checks that the totals that a protocol reports are kept and change no
// measurement.
func TestTheProtocolsOwnWord(t *testing.T) {
	word := func(b *event.Batch) { b.Events[len(b.Events)-1].ToolCalls = event.Count{N: 7, Known: true} }
	s, stream := watch(), proxied()
	r := s.feed(stream, says("app", calls("c", "tool")), says("app", returns("c", "tool"), settles, runOver, took(99), word)).end(stream, event.EndOfStream).only(t)
	if r.ReportedDuration != (event.Duration{D: 99 * time.Second, Known: true}) || r.ReportedToolCalls != (event.Count{N: 7, Known: true}) {
		t.Errorf("it took %+v with %+v calls", r.ReportedDuration, r.ReportedToolCalls)
	}
	if lasted := r.Root.Ended.At.Sub(r.Root.Started.At); lasted >= 99*time.Second || r.Root.Timing != tracker.TimingObserved {
		t.Errorf("it lasts %s (%s)", lasted, r.Root.Timing)
	}
}

// TestRunsThatAreOver checks runs whose end the protocol states.
func TestRunsThatAreOver(t *testing.T) {
	tell(t, []story{
		{"completes a run, whatever is open", proxied(), []*event.Batch{says("app", calls("c", "tool")), says("app", runOver)}, `
completed
invoke_agent app ok 0-3
  execute_tool tool unfinished 1-3`},
		{"not where it waits", proxied(), []*event.Batch{says("app", asks("q", event.InputData)), says("app", runOver)}, `
interrupted, awaiting_input
invoke_agent app interrupted 0-3`},
		{"not where it failed", proxied(), []*event.Batch{says("app", fails), says("app", runOver, wrong(event.AgentError))}, `
failed, error_frame
invoke_agent app error agent_error 0-3`},
	})
	t.Run("ends a run at once on a stream that goes on", func(t *testing.T) {
		s, stream := watch(), tailed()
		s.feed(stream, says("app", of("e-1"), text), says("app", of("e-1"), runOver))
		if len(s.runs) != 1 || s.runs[0].Status != tracker.Completed || s.runs[0].Root.Ended.At != second(2) {
			t.Fatalf("%d runs ended", len(s.runs))
		}
		s.feed(stream, says("app", of("e-1")))
		equal(t, lines(s.lost...), "")
		s.feed(stream, says("app", of("e-1"), text))
		equal(t, lines(s.lost...), "late support")
		s.feed(stream, says("app", of("e-1"), fresh(event.KindRunStarted), runOver))
		if len(s.runs) != 2 || s.runs[0].Trace == s.runs[1].Trace {
			t.Errorf("%d runs, the second in trace %x", len(s.runs), s.runs[len(s.runs)-1].Trace)
		}
	})
	t.Run("and lets another begin on the answer to a request", func(t *testing.T) {
		s, stream := watch(), proxied()
		s.feed(stream, says("app", of("r1"), fresh(event.KindRunStarted)), says("app", of("r1"), runOver),
			says("app", of("r2"), fresh(event.KindRunStarted)), says("app", of("r2"), runOver)).end(stream, event.EndOfStream)
		if len(s.runs) != 2 {
			t.Fatalf("%d runs", len(s.runs))
		}
		equal(t, outline(s.runs[0]), `
completed
invoke_agent app ok 0-2`)
		equal(t, outline(s.runs[1]), `
completed
invoke_agent app ok 3-4`)
	})
}

// TestArtifactsByChunk checks that the chunks of an artifact are joined.
func TestArtifactsByChunk(t *testing.T) {
	chunk := func(id string, index, size int64, last bool) fact {
		return func(b *event.Batch) {
			e := b.Add(event.KindArtifact)
			e.ID, e.Name = id, "name of "+id
			e.Artifact = event.Artifact{Kind: event.ArtifactFile, Bytes: event.Count{N: size, Known: true}, Complete: last}
			if index >= 0 {
				e.Artifact.Index = event.Count{N: index, Known: true}
			}
		}
	}
	r := follow(t, proxied(), says("app", chunk("a", 0, 10, false), chunk("b", 0, 1, true)), says("app", chunk("a", 1, 10, false)),
		says("app", chunk("a", 1, 10, false)), says("app", chunk("a", 3, 10, true)), says("app", chunk("c", -1, 5, false), chunk("c", -1, 6, true),
			chunk("d", 0, 7, false), chunk("d", 0, 0, true), chunk("e", 0, 7, false), chunk("e", 0, 7, true), final),
		says("app", chunk("f", 0, 1, false), chunk("f", 2, 1, false), chunk("f", 1, 1, false), chunk("f", 1, 1, false)),
		says("app", chunk("g", 0, 1, false), chunk("g", 4, 1, false), chunk("g", 2, 1, false), chunk("g", 5, 1, false)))
	var got []string
	for _, a := range r.Artifacts {
		got = append(got, fmt.Sprintf("%s %d bytes, complete %v, %d gaps, %d duplicates", a.Name, a.Bytes.N, a.Complete, a.Gaps, a.Duplicates))
	}
	equal(t, lines(got...), `
name of a 30 bytes, complete true, 1 gaps, 1 duplicates
name of b 1 bytes, complete true, 0 gaps, 0 duplicates
name of c 6 bytes, complete true, 0 gaps, 0 duplicates
name of d 7 bytes, complete true, 0 gaps, 0 duplicates
name of e 7 bytes, complete true, 0 gaps, 1 duplicates
name of f 3 bytes, complete false, 0 gaps, 1 duplicates
name of g 4 bytes, complete false, 2 gaps, 0 duplicates`)
}

// TestInputsThatExpire checks requests for input with a time limit.
func TestInputsThatExpire(t *testing.T) {
	within := func(seconds int) fact {
		return func(b *event.Batch) {
			b.Events[len(b.Events)-1].ExpiresIn = event.Duration{D: time.Duration(seconds) * time.Second, Known: true}
		}
	}
	r := follow(t, proxied(), says("app", asks("q1", event.InputData), within(3), asks("q2", event.InputData), within(4), asks("q3", event.InputData)),
		says("app"), says("app"))
	var got []string
	for _, in := range r.Inputs {
		got = append(got, in.ID+" "+string(in.Status))
	}
	equal(t, lines(got...), "q1 expired\nq2 open\nq3 open")
}
