package tracker_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// work returns a run with operations of every kind, some of them more than once.
func work(run string) []*event.Batch {
	return []*event.Batch{
		says("a", of(run), begins("m")), says("a", of(run), responds("m"), calls("c", "tool"), calls("", "tool"), calls("", "tool")),
		says("a", of(run), returns("c", "tool"), returns("", "tool")), says("a", of(run), branch("x"), responds("m"), calls("c", "tool")),
		says("a", of(run), handsOver("c", "b")), says("b", of(run), responds("m"), final),
	}
}

// ids returns the ids of a run's operations in the order of the report, and its trace id.
func ids(r *tracker.Run) (all []tracker.SpanID, trace [16]byte) {
	for _, op := range r.Operations {
		all = append(all, op.ID)
	}
	return all, r.Trace
}

// TestIDs checks that a stream that is read again gives the same ids, and another stream others.
func TestIDs(t *testing.T) {
	again := func(of func() *event.Stream, change func(*event.Stream)) func() *event.Stream {
		return func() *event.Stream {
			s := of()
			change(s)
			return s
		}
	}
	connection := func(s *event.Stream) { s.Nonce = "another" }
	session := func(s *event.Stream) { s.Session = "another" }
	source := func(s *event.Stream) { s.Source = "another" }
	caller := func(s *event.Stream) {
		s.ParentSpan = event.SpanContext{Trace: [16]byte{1}, Span: [8]byte{2}, Sampled: true}
	}
	for _, c := range []struct {
		name   string
		one    func() *event.Stream
		other  func() *event.Stream
		runs   [2]string
		shared bool
	}{
		{"a file", file, file, [2]string{"e-1", "e-1"}, true},
		{"a file without ids", file, file, [2]string{"", ""}, true},
		{"a file with the same run and more", file, again(file, connection), [2]string{"e-1", "e-1"}, true},
		{"two files without ids", file, again(file, connection), [2]string{"", ""}, false},
		{"two runs", file, file, [2]string{"e-1", "e-2"}, false},
		{"two sources", file, again(file, source), [2]string{"e-1", "e-1"}, false},
		{"two sessions", file, again(file, session), [2]string{"e-1", "e-1"}, false},
		{"a tailed stream connected again", tailed, again(tailed, connection), [2]string{"e-1", "e-1"}, true},
		{"a tailed stream without ids connected again", tailed, again(tailed, connection), [2]string{"", ""}, false},
		{"a request", proxied, proxied, [2]string{"e-1", "e-1"}, true},
		{"two requests for one run", proxied, again(proxied, connection), [2]string{"e-1", "e-1"}, false},
		{"two requests for one run in one trace", again(proxied, caller), again(again(proxied, caller), connection), [2]string{"e-1", "e-1"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			one, oneTrace := ids(follow(t, c.one(), work(c.runs[0])...))
			other, otherTrace := ids(follow(t, c.other(), work(c.runs[1])...))
			if len(one) != len(other) || len(one) < 9 {
				t.Fatalf("%d and %d operations", len(one), len(other))
			}
			seen := map[tracker.SpanID]bool{}
			for i := range one {
				if shared := one[i] == other[i]; shared != c.shared {
					t.Errorf("operation %d: %x and %x", i, one[i], other[i])
				}
				if seen[one[i]] || one[i] == (tracker.SpanID{}) {
					t.Errorf("operation %d has the id of another, or none: %x", i, one[i])
				}
				seen[one[i]] = true
			}
			if parent := c.one().ParentSpan; parent.IsValid() {
				if oneTrace != parent.Trace || otherTrace != parent.Trace {
					t.Errorf("traces %x and %x in one of the caller's", oneTrace, otherTrace)
				}
			} else if shared := oneTrace == otherTrace; shared != c.shared || oneTrace == [16]byte{} {
				t.Errorf("traces %x and %x", oneTrace, otherTrace)
			}
		})
	}
}

// TestIDsOfRunsOfAStream checks that no two runs of a stream share an id, even if the protocol repeats theirs.
func TestIDsOfRunsOfAStream(t *testing.T) {
	begin := fresh(event.KindRunStarted)
	fixesIDs := says("a", calls("c", "transfer"), handsOver("c", "b"))
	for name, c := range map[string]struct {
		stream *event.Stream
		frames []*event.Batch
		runs   int
	}{
		"a run id that begins again": {tailed(), []*event.Batch{
			says("a", of("e-1"), begin, runOver), says("a", of("e-1"), begin, runOver)}, 2},
		"a run id that begins again before the outcome": {tailed(), []*event.Batch{
			says("a", of("e-1"), begin, runOver, awaiting), says("a", of("e-1"), begin, runOver)}, 2},
		"a run whose id comes late, then one without": {tailed(), []*event.Batch{
			fixesIDs, says("b", of("e-1"), text), says("a", text)}, 2},
		"a run whose id has ended before": {tailed(), []*event.Batch{
			says("a", of("e-1"), begin, runOver), says("a", text), says("a", of("e-1"), text)}, 2},
		"a run id that was that of an agent in between": {tailed(), []*event.Batch{
			says("a", of("e-1"), begin, runOver), says("b", of("e-2"), begin), says("a", of("e-1"), orphan, begin), says("b", of("e-2"), adopts("e-1", "a", ""), runOver),
			says("a", of("e-1"), begin, runOver)}, 3},
		"an answer to a request that repeats a run id": {proxied(), []*event.Batch{
			says("a", of("e-1"), begin, runOver), says("a", of("e-2"), begin, runOver), says("a", of("e-1"), begin, runOver)}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			seen := map[tracker.SpanID]bool{}
			for _, r := range watch().feed(c.stream, c.frames...).end(c.stream, event.EndOfStream).runs {
				seen[r.Root.ID] = true
			}
			if len(seen) != c.runs {
				t.Errorf("%d ids of runs, want %d", len(seen), c.runs)
			}
		})
	}
}

// TestIDsOfHostileNames checks that different names never give the same bytes.
func TestIDsOfHostileNames(t *testing.T) {
	for _, pair := range [][2]string{{"a\x00b", "c"}, {"a", "b\x00c"}, {"a\x02\x00b", "c"}, {"a\x02", "b\x00c"}, {"a\x02", "\x02b\x00c"}} {
		r := follow(t, file(),
			says("app", final), says("a\x00b", branch("c")), says("a", branch("b\x00c")), says("a\x02\x00b", branch("c")), says("a\x02", branch("b\x00c")),
			says("a\x02", branch("\x02b\x00c")), says(pair[0], branch(pair[1])))
		seen := map[tracker.SpanID]bool{}
		for _, op := range r.Operations {
			if seen[op.ID] {
				t.Errorf("%q in %q has the id of another", op.Name, op.Branch)
			}
			seen[op.ID] = true
		}
		if len(seen) != 9 { // with the containers that branches name
			t.Errorf("%d operations", len(seen))
		}
	}
	one, other := file(), file()
	one.Session, other.Session = "s\x00e-1", "s"
	a, traceA := ids(follow(t, one, says("a", of("x"), final)))
	b, traceB := ids(follow(t, other, says("a", of("e-1\x00x"), final)))
	if a[0] == b[0] || traceA == traceB {
		t.Error("two runs are one")
	}
}

// TestSampling checks that sampling is decided once per run, by the parent if there is one.
func TestSampling(t *testing.T) {
	for _, parent := range []event.SpanContext{{}, {Trace: [16]byte{1}, Span: [8]byte{2}, Sampled: true}, {Trace: [16]byte{1}, Span: [8]byte{2}}} {
		for _, decision := range []bool{true, false} {
			asked := 0
			stream := proxied()
			stream.ParentSpan = parent
			s := watch(func(s *tracker.Settings) {
				s.Sample = func(r *tracker.Run) bool {
					asked++
					if r.ID != "e-1" || r.Trace == [16]byte{} || r.Root.Name != "app" || r.Parent != parent {
						t.Errorf("asked about %q in trace %x of %q below %+v", r.ID, r.Trace, r.Root.Name, r.Parent)
					}
					return decision
				}
			})
			r := s.feed(stream, work("e-1")...).end(stream, event.EndOfStream).only(t)
			if r.Sampled != decision || asked != 1 {
				t.Errorf("parent %+v, decision %v: sampled %v, asked %d times", parent, decision, r.Sampled, asked)
			}
		}
	}
	if r := follow(t, file(), says("a")); !r.Sampled {
		t.Error("without a sampler nothing is sampled")
	}
}

// TestIDsFromTheMiddle checks that a tail that connects late gives the same ids.
func TestIDsFromTheMiddle(t *testing.T) {
	stream := func() *event.Stream { return in(tailed(), "support", "session") }
	start := []*event.Batch{says("x", of("e-1"), calls("c0", "zero")), says("y", of("e-1"), returns("c0", "zero"))}
	rest := func() []*event.Batch {
		return []*event.Batch{says("a", of("e-1"), branch("p.a"), calls("c1", "one")), says("a", of("e-1"), branch("p.a"), returns("c1", "one"), final)}
	}
	whole, part := stream(), stream()
	whole.App, part.App = "app", "app"
	one, other := follow(t, whole, append(start, rest()...)...), follow(t, part, rest()...)
	if one.Root.ID != other.Root.ID || one.Trace != other.Trace {
		t.Error("the run has another id")
	}
	if a, b := findOperation(t, one, tracker.InvokeAgent, "a"), findOperation(t, other, tracker.InvokeAgent, "a"); a.ID != b.ID {
		t.Error("the agent has another id")
	}
	if a, b := findOperation(t, one, tracker.ExecuteTool, "one"), findOperation(t, other, tracker.ExecuteTool, "one"); a.ID != b.ID {
		t.Error("the call has another id")
	}
}
