package tracker_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// TestTooManyRuns checks that the run that was silent longest is evicted and reported.
func TestTooManyRuns(t *testing.T) {
	s := watch(func(s *tracker.Settings) { s.MaxOpenRuns = 2 })
	silent, spoke, third := proxied(), proxied(), proxied()
	silent.Source, spoke.Source, third.Source = "silent", "spoke", "third"
	s.feed(spoke, says("a")).feed(silent, says("a", begins("m"), calls("c", "tool"))).feed(spoke, says("a"))
	s.told = nil
	s.feed(third, says("a"))
	equal(t, lines(s.told...), `
begins third
chat m
execute_tool tool
invoke_agent a
invoke_agent app
ends silent`)
	equal(t, lines(s.lost...), lines("evicted run", "evicted invoke_agent", "evicted chat", "evicted execute_tool"))
	equal(t, outline(s.only(t)), `
incomplete, evicted
invoke_agent app unfinished 0-1
  invoke_agent a unfinished 0-1
    chat m unfinished 0-1
    execute_tool tool unfinished 1-1`)
	s.feed(silent, says("a")).end(silent, event.EndOfStream)
	if last := s.lost[len(s.lost)-1]; last != "late silent" || len(s.runs) != 1 {
		t.Errorf("%d runs, lost %q", len(s.runs), s.lost)
	}
}

// TestTooManyRunsOfAStream checks that the runs of one stream are evicted too, the oldest first.
func TestTooManyRunsOfAStream(t *testing.T) {
	s, stream := watch(func(s *tracker.Settings) { s.MaxOpenRuns = 2 }), file()
	for i := range 10 {
		s.feed(stream, says("a", of(fmt.Sprint("e-", i)), final))
	}
	s.end(stream, event.EndOfStream)
	var got []string
	for _, r := range s.runs {
		got = append(got, fmt.Sprintf("%s %s", r.ID, r.Status))
	}
	equal(t, lines(got...), `
e-0 incomplete
e-1 incomplete
e-2 incomplete
e-3 incomplete
e-4 incomplete
e-5 incomplete
e-6 incomplete
e-7 incomplete
e-8 completed
e-9 completed`)
	if n := count(s.lost, "evicted run"); n != 8 {
		t.Errorf("%d evictions counted", n)
	}
}

func count(all []string, what string) (n int) {
	for _, one := range all {
		if one == what {
			n++
		}
	}
	return n
}

// TestTooManyOpenOperations checks that no operation begins beyond the limit.
func TestTooManyOpenOperations(t *testing.T) {
	s, stream := watch(func(s *tracker.Settings) { s.MaxOperations = 3 }), proxied()
	s.feed(stream,
		says("app", calls("c1", "one"), calls("c2", "two")),
		says("app", calls("c3", "three"), responds("m"), begins("m"), returns("c4", "four"), handsOver("", "z")),
		says("late"), says("app", responds("n"))).end(stream, event.EndOfStream)
	r := s.only(t)
	if len(r.Operations) != 3 || len(s.ops) != 3 {
		t.Errorf("%d operations, %d reported to observers", len(r.Operations), len(s.ops))
	}
	equal(t, lines(s.lost...), lines(
		"evicted execute_tool", "evicted chat", "evicted chat", "evicted execute_tool", "evicted invoke_agent", "evicted invoke_agent", "evicted chat"))
	if r.Agent != "app" || r.Events != 4 {
		t.Errorf("agent %q, %d frames", r.Agent, r.Events)
	}
}

// TestTooManyOperations checks that the older half of the ended operations is dropped from the
// report.
func TestTooManyOperations(t *testing.T) {
	s, stream := watch(func(s *tracker.Settings) { s.MaxOperations = 9 }), proxied()
	s.feed(stream, says("app", calls("open", "open")))
	for i := range 8 {
		id := fmt.Sprint("c", i)
		s.feed(stream, says("app", calls(id, id)), says("app", returns(id, id)))
	}
	s.feed(stream, says("app", returns("open", "open")), says("app", final)).end(stream, event.EndOfStream)
	r := s.only(t)
	var got []string
	for _, op := range r.Operations {
		got = append(got, op.Name)
	}
	equal(t, lines(got...), lines("app", "open", "c4", "c5", "c6", "c7"))
	if op := s.ops[8]; op.Name != "open" || !op.Started.At.Equal(second(1)) {
		t.Errorf("the call that was open all the time: %+v", op)
	}
	if n := count(s.lost, "evicted report"); n != 4 || n != len(s.lost) || len(s.ops) != 10 || r.Status != tracker.Completed {
		t.Errorf("lost %q, %d reported to observers, %s", s.lost, len(s.ops), r.Status)
	}
}

// TestRoom checks that room is made only if at least a sixteenth of the operations have ended.
func TestRoom(t *testing.T) {
	s, stream := watch(func(s *tracker.Settings) { s.MaxOperations = 32 }), proxied()
	n := 0
	call := func(times int) (refused int) {
		before := count(s.lost, "evicted execute_tool")
		for range times {
			n++
			s.feed(stream, says("app", calls(fmt.Sprint(n), "tool")))
		}
		return count(s.lost, "evicted execute_tool") - before
	}
	answer := func(n int) { s.feed(stream, says("app", returns(fmt.Sprint(n), "tool"))) }
	if refused := call(31); refused != 0 {
		t.Fatalf("%d calls are refused below the limit", refused)
	}
	answer(1)
	if refused := call(1); refused != 1 {
		t.Error("room was made for the sake of one operation")
	}
	answer(2)
	if refused := call(3); refused != 1 {
		t.Errorf("%d of 3 calls are refused although two others have ended", refused)
	}
	answer(3)
	if refused := call(1); refused != 1 {
		t.Error("a dropped operation made room twice")
	}
}

// TestAForgottenCall checks that a second response to a forgotten call does not end an open call
// that reuses its id.
func TestAForgottenCall(t *testing.T) {
	s, stream := watch(func(s *tracker.Settings) { s.MaxOperations = 5 }), proxied()
	use := func(id string) []*event.Batch {
		return []*event.Batch{says("app", calls(id, id)), says("app", returns(id, id))}
	}
	s.feed(stream, slices.Concat(use("c1"), use("c2"))...).feed(stream, says("app", calls("c1", "c1"), calls("c3", "c3"), calls("c4", "c4")))
	s.feed(stream, says("app", returns("c2", "c2"), returns("c1", "c1"), settles), says("app", final))
	s.ops = s.ops[2:]
	if len(s.ops) != 2 || s.ops[0].Name != "c2" || !s.ops[0].Started.At.IsZero() || s.ops[1].Name != "c1" || !s.ops[1].Started.At.Equal(second(5)) {
		t.Errorf("%+v", s.ops)
	}
}

// TestForgottenCalls checks that calls have distinct ids after calls with the same call id were
// forgotten.
func TestForgottenCalls(t *testing.T) {
	s, stream := watch(func(s *tracker.Settings) { s.MaxOperations = 4 }), proxied()
	for range 20 {
		s.feed(stream, says("app", calls("c", "tool")), says("app", returns("c", "tool")), says("app", returns("d", "unseen")))
	}
	s.end(stream, event.EndOfStream)
	seen := map[tracker.SpanID]bool{}
	for _, op := range s.ops {
		if seen[op.ID] {
			t.Fatalf("%s %s has the id of another", op.Kind, op.Name)
		}
		seen[op.ID] = true
	}
	if len(s.ops) < 21 || !slices.Contains(s.lost, "evicted report") {
		t.Errorf("%d operations reported to observers, lost %q", len(s.ops), s.lost)
	}
}

// TestTooManyReplies checks the limit on branches with a pending reply.
func TestTooManyReplies(t *testing.T) {
	t.Run("branches with a pending reply", func(t *testing.T) {
		s, stream := watch(func(s *tracker.Settings) { s.MaxOperations = 5 }), proxied()
		for i := range 5 {
			id := fmt.Sprint(i)
			s.feed(stream, says("app", calls(id, "tool")), says("", lane(id), returns(id, "tool")))
		}
		replies := func() int { return count(s.lost, "evicted reply") }
		before := replies()
		s.feed(stream, says("app", calls("y", "tool")), says("", lane("4"), returns("y", "tool")))
		if n := replies() - before; n != 0 {
			t.Errorf("%d lost in a branch that is known", n)
		}
		s.feed(stream, says("app", calls("z", "tool")), says("", lane("6"), returns("z", "tool")))
		if n := replies() - before; n != 1 {
			t.Errorf("%d lost in all", n)
		}
		for i := range 5 {
			s.feed(stream, says("", lane(fmt.Sprint(i)), responds(""), final))
		}
		if r := s.end(stream, event.EndOfStream).only(t); r.Status != tracker.Completed {
			t.Errorf("%s, although no kept branch has a pending reply", r.Status)
		}
	})
}

// TestTooManyFacts checks the limit on each kind of fact.
func TestTooManyFacts(t *testing.T) {
	const most = 3
	confidence := func(b *event.Batch) { b.Add(event.KindConfidence).Name = b.Agent }
	citation := func(b *event.Batch) { b.Add(event.KindCitation).Name = b.Agent }
	reasoning := func(b *event.Batch) { b.Add(event.KindReasoning).Name = b.Agent }
	artifact := func(b *event.Batch) { b.Add(event.KindArtifact).Name = "report" }
	for _, c := range []struct {
		lost  string
		frame func(i int) *event.Batch
		kept  func(*tracker.Run) int
	}{
		{"transfer", func(int) *event.Batch { return says("app", handsOver("", "a")) }, func(r *tracker.Run) int { return len(r.Transfers) }},
		{"confidence", func(i int) *event.Batch { return says(fmt.Sprint(i), confidence) }, func(r *tracker.Run) int { return len(r.Confidence) }},
		{"citation", func(i int) *event.Batch { return says(fmt.Sprint(i), citation) }, func(r *tracker.Run) int { return len(r.Citations) }},
		{"reasoning", func(i int) *event.Batch { return says(fmt.Sprint(i), reasoning) }, func(r *tracker.Run) int { return len(r.Reasoning) }},
		{"artifact", func(int) *event.Batch { return says("app", artifact) }, func(r *tracker.Run) int { return len(r.Artifacts) }},
		{"input", func(i int) *event.Batch { return says("app", asks(fmt.Sprint(i), event.InputData)) }, func(r *tracker.Run) int { return len(r.Inputs) }},
		{"final", func(i int) *event.Batch { return says(fmt.Sprint(i), text, final) }, func(r *tracker.Run) int { return len(r.UnratedAnswers) }},
	} {
		t.Run(c.lost, func(t *testing.T) {
			s, stream := watch(func(s *tracker.Settings) { s.MaxFacts = most }), proxied()
			for i := range most {
				s.feed(stream, c.frame(i))
			}
			if len(s.lost) != 0 {
				t.Fatalf("lost %q below the limit", s.lost)
			}
			s.feed(stream, c.frame(most), c.frame(most+1))
			equal(t, lines(s.lost...), lines("evicted "+c.lost, "evicted "+c.lost))
			if n := c.kept(s.stop()[0]); n != most {
				t.Errorf("%d are kept", n)
			}
		})
	}
	t.Run("of one operation", func(t *testing.T) {
		s, stream := watch(func(s *tracker.Settings) { s.MaxFacts = most }), proxied()
		s.feed(stream, says("a", confidence, citation, confidence), says("a", confidence, citation, reasoning))
		equal(t, lines(s.lost...), lines("evicted confidence", "evicted citation", "evicted reasoning"))
		r := s.stop()[0]
		if op := findOperation(t, r, tracker.InvokeAgent, "a").Details.OrZero(); len(op.Confidence)+len(op.Citations) != most || op.DroppedStatements != 3 || len(r.Confidence)+len(r.Citations) != most {
			t.Errorf("%d and %d statements, %d dropped", len(op.Confidence), len(op.Citations), op.DroppedStatements)
		}
	})
	t.Run("of one text", func(t *testing.T) {
		s, stream := watch(), proxied()
		s.feed(stream, says("a", citation, func(b *event.Batch) { b.Events[0].Omitted = 2 }))
		equal(t, lines(s.lost...), lines("evicted citation", "evicted citation"))
		if op := findOperation(t, s.stop()[0], tracker.InvokeAgent, "a").Details.OrZero(); op.DroppedStatements != 2 {
			t.Errorf("%d dropped", op.DroppedStatements)
		}
	})
	t.Run("links of a transfer's target", func(t *testing.T) {
		s, stream := watch(func(s *tracker.Settings) { s.MaxFacts = most }), proxied()
		for i := range most + 2 {
			id := fmt.Sprint(i)
			s.feed(stream, says("app", calls(id, "transfer_to_agent")), says("app", returns(id, "transfer_to_agent"), handsOver(id, "a")))
		}
		if op := findOperation(t, s.stop()[0], tracker.InvokeAgent, "a").Details.OrZero(); len(op.Links) != most {
			t.Errorf("%d links", len(op.Links))
		}
	})
	t.Run("an agent that is counted already stays counted", func(t *testing.T) {
		s, stream := watch(func(s *tracker.Settings) { s.MaxFacts = 1 }), proxied()
		s.feed(stream, says("a", text, final), says("a", text, final))
		if r := s.stop()[0]; r.UnratedAnswers["a"] != 2 || len(s.lost) != 0 {
			t.Errorf("%v, lost %q", r.UnratedAnswers, s.lost)
		}
	})
}
