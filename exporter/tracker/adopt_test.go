package tracker_test

import (
	"maps"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

func orphan(b *event.Batch) { b.Orphan = true }

func adopts(run, name, call string) fact {
	return func(b *event.Batch) {
		e := b.Add(event.KindChildRun)
		e.ID, e.Name, e.CallID = run, name, call
	}
}

// TestAdoption checks that a run that turns out to be an agent of another becomes its operation,
// and that observers were not notified of it before.
func TestAdoption(t *testing.T) {
	s, stream := watch(), tailed()
	s.feed(stream,
		says("app", of("t1"), calls("c1", "ask_analyst")),
		says("analyst", of("t2"), orphan, calls("c2", "search")),
		says("analyst", of("t2"), orphan, returns("c2", "search")),
		says("analyst", of("t2"), orphan, asks("q", event.InputData)))
	if len(s.ops) != 0 || len(s.told) != 1 {
		t.Fatalf("while the run waits for its parent, observers got %q", s.told)
	}
	s.feed(stream,
		says("app", of("t1"), adopts("t2", "", "c1")),
		says("analyst", of("t1"), at("t2", "c1", ""), responds("m"), answers("q")),
		says("analyst", of("t1"), at("t2", "c1", ""), ends),
		says("app", of("t1"), returns("c1", "ask_analyst"), settles),
		says("app", of("t1"), runOver))
	equal(t, outline(s.only(t)), `
completed
invoke_agent app ok 1-9
  execute_tool ask_analyst ok 1-8
    invoke_agent analyst ok 2-7
      execute_tool search ok 2-3
      chat m ok 4-6`)
	if in := s.runs[0].Inputs; len(in) != 1 || in[0].Status != tracker.InputAnswered {
		t.Errorf("inputs %+v", in)
	}
	equal(t, lines(s.told...), `
begins support
execute_tool search
chat m
invoke_agent analyst
execute_tool ask_analyst
invoke_agent app
ends support`)
}

// TestAdoptionKeepsUnratedAnswers checks that the answers of an adopted run without a confidence count, and
// that texts not marked as final do not.
func TestAdoptionKeepsUnratedAnswers(t *testing.T) {
	s, stream := watch(), tailed()
	s.feed(stream,
		says("app", of("t1"), text),
		says("analyst", of("t2"), orphan, text, final),
		says("app", of("t2"), orphan, text, final),
		says("app", of("t1"), adopts("t2", "", "")),
		says("app", of("t1"), runOver))
	if got, want := s.only(t).UnratedAnswers, map[string]int{"app": 1, "analyst": 1}; !maps.Equal(got, want) {
		t.Errorf("the unrated answers are %v, want %v", got, want)
	}
}

// TestAdoptedByUnnamed checks that a run without an id does not take the id of the run that it adopts, but
// gets the frames of both.
func TestAdoptedByUnnamed(t *testing.T) {
	s, stream := watch(), tailed()
	s.feed(stream,
		says("analyst", of("t2"), orphan, text),
		says("app", adopts("t2", "", "")),
		says("analyst", of("t2"), text),
		says("app", text),
		says("app", of("t1"), runOver))
	if r := s.only(t); r.ID != "t1" || r.Events != 5 {
		t.Errorf("the run %q has %d frames", r.ID, r.Events)
	}
}

// TestNotAdopted checks runs that stay on their own: without a parent, already announced, or too
// large.
func TestNotAdopted(t *testing.T) {
	for name, c := range map[string]struct {
		most   int
		frames []*event.Batch
		want   string
		lost   string
	}{
		"by nobody": {100, []*event.Batch{says("b", of("t2"), orphan, calls("c", "tool")), says("b", of("t2"), orphan, returns("c", "tool"), settles, runOver)},
			"completed\ninvoke_agent b ok 1-2\n  execute_tool tool ok 1-2", ""},
		"after it was told of": {100, []*event.Batch{says("b", of("t2"), final), says("a", of("t1"), adopts("t2", "b", ""), final)},
			"completed\ninvoke_agent b ok 1-1", ""},
		"by itself": {100, []*event.Batch{says("b", of("t2"), orphan, adopts("t2", "b", ""), final)},
			"completed\ninvoke_agent b ok 1-1", ""},
		"what is unknown": {100, []*event.Batch{says("b", of("t2"), orphan, adopts("t3", "c", ""), final)},
			"completed\ninvoke_agent b ok 1-1", ""},
		"what is too large": {2, []*event.Batch{says("b", of("t2"), orphan, calls("c", "tool"), final), says("a", of("t1"), adopts("t2", "b", ""), final)},
			"incomplete, stream_ended\ninvoke_agent b unfinished 1-3\n  execute_tool tool unfinished 1-3", "evicted orphan"},
		"what holds too much": {2, []*event.Batch{
			says("b", of("t2"), orphan, calls("c1", "tool"), returns("c1", "tool"), settles), says("b", of("t2"), orphan, calls("c2", "tool"), returns("c2", "tool"), settles, final)},
			"completed\ninvoke_agent b ok 1-2\n  execute_tool tool ok 2-2", "evicted orphan\nevicted report"},
	} {
		t.Run(name, func(t *testing.T) {
			s, stream := watch(func(s *tracker.Settings) { s.MaxOperations = c.most }), tailed()
			s.feed(stream, c.frames...).end(stream, event.EndOfStream)
			equal(t, outline(s.runs[0]), c.want)
			equal(t, lines(s.lost...), c.lost)
		})
	}
}

// TestIDsAfterAdoption checks that no two spans of a run that adopts another share an id.
func TestIDsAfterAdoption(t *testing.T) {
	for name, c := range map[string]struct {
		frames []*event.Batch
		want   int
	}{
		"the same names and call ids": {[]*event.Batch{
			says("app", of("t1"), calls("c", "tool")), says("helper", of("t1"), at("h", "", ""), text),
			says("app", of("t2"), orphan, calls("c", "tool"), returns("c", "tool")), says("helper", of("t2"), orphan, at("h", "", ""), text),
			says("app", of("t1"), adopts("t2", "", "")), says("helper", of("t1"), at("h", "", ""), text), says("app", of("t1"), runOver)}, 6},
		"a run without an id adopts one whose ids are fixed": {[]*event.Batch{
			says("analyst", of("t2"), orphan, calls("c", "transfer"), handsOver("c", "helper")),
			says("app", adopts("t2", "", "")), says("app", of("t2"), runOver)}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			s, stream := watch(), tailed()
			s.feed(stream, c.frames...)
			ids := map[tracker.SpanID]bool{}
			for _, op := range s.only(t).Operations {
				if ids[op.ID] {
					t.Errorf("%s %s has the id of another", op.Kind, op.Name)
				}
				ids[op.ID] = true
			}
			if len(ids) != c.want {
				t.Errorf("%d operations", len(ids))
			}
		})
	}
}

// TestContentBeforeAdoption checks that each response of a run that waits for its parent keeps its own text.
func TestContentBeforeAdoption(t *testing.T) {
	settings := tracker.Settings{MaxOpenRuns: 100, MaxOperations: 100, MaxFacts: 100, IdleTimeout: time.Hour}
	keepContent(1000, 1000)(&settings)
	r, stream := &reader{scene: watch()}, tailed()
	r.Tracker = tracker.New(settings, r.scene, r)
	r.feed(stream,
		says("app", of("t1"), calls("c1", "ask_analyst")),
		says("analyst", of("t2"), orphan, responds("one"), lastText(event.KindText, "first")),
		says("analyst", of("t2"), orphan, responds("two"), lastText(event.KindText, "second")),
		says("app", of("t1"), adopts("t2", "", "c1")),
		says("app", of("t1"), runOver))
	equal(t, lines(r.content...), lines(`one said text "first"`, `two said text "second"`))
}

// TestTransferBeforeAdoption checks that a transfer in a run that waits for its parent is that of its frame's call, if earlier
// calls had no ID either.
func TestTransferBeforeAdoption(t *testing.T) {
	s, stream := watch(), tailed()
	s.feed(stream,
		says("app", of("t1"), calls("c1", "ask_analyst")),
		says("analyst", of("t2"), orphan, calls("", "search")),
		says("analyst", of("t2"), orphan, returns("", "search")),
		says("analyst", of("t2"), orphan, calls("", "transfer_to_agent")),
		says("analyst", of("t2"), orphan, returns("", "transfer_to_agent"), handsOver("", "b")),
		says("app", of("t1"), adopts("t2", "", "c1")),
		says("app", of("t1"), runOver))
	for _, op := range s.only(t).Operations {
		if want := op.Name == "transfer_to_agent"; (op.Details.OrZero().HandoffTarget == "b") != want {
			t.Errorf("%s hands over to %q", op.Name, op.Details.OrZero().HandoffTarget)
		}
	}
}
