package jetstream

import (
	"fmt"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// TestChain checks that gaps are detected from the numbers alone.
func TestChain(t *testing.T) {
	type message struct {
		subject          string
		number, previous uint64
		lost             bool
		want             replay.GapReason
		alone, adjacent  bool
	}
	for name, test := range map[string]struct {
		subjects []string
		start    uint64
		messages []message
	}{
		"whole":                       {ofBoth, 0, []message{{"a", 1, 0, false, "", false, false}, {"a", 4, 1, false, "", false, false}, {"b", 5, 0, false, "", false, false}, {"a", 6, 4, false, "", false, false}}},
		"begins behind all":           {ofBoth, 7, []message{{"a", 9, 5, false, "", false, false}, {"b", 10, 7, false, "", false, false}}},
		"first is gone":               {ofBoth, 7, []message{{"a", 10, 9, false, replay.GapEvicted, false, false}, {"a", 11, 10, false, "", false, false}}},
		"one of the middle is gone":   {ofBoth, 0, []message{{"a", 1, 0, false, "", false, false}, {"b", 2, 0, false, "", false, false}, {"a", 9, 5, false, replay.GapEvicted, false, false}, {"b", 10, 2, false, "", false, false}}},
		"seen late":                   {ofBoth, 0, []message{{"a", 1, 0, false, "", false, false}, {"b", 6, 5, false, replay.GapEvicted, false, false}, {"a", 7, 1, false, "", false, false}}},
		"dropped on the way":          {ofBoth, 0, []message{{"a", 1, 0, true, replay.GapLost, false, false}, {"a", 2, 1, false, "", false, false}}},
		"everything":                  {ofAll, 3, []message{{"a", 4, 0, false, "", false, false}, {"b", 5, 0, false, "", false, false}, {"a", 6, 4, true, replay.GapLost, false, false}}},
		"everything with a hole":      {ofAll, 3, []message{{"a", 5, 5, false, replay.GapEvicted, false, false}, {"a", 6, 0, false, "", false, false}}},
		"evicted outweighs the lost":  {ofBoth, 0, []message{{"a", 5, 3, true, replay.GapEvicted, false, false}}},
		"the same subject once again": {ofBoth, 5, []message{{"a", 6, 5, false, "", false, false}, {"a", 8, 7, false, replay.GapEvicted, false, false}}},
		"alone":                       {ofBoth, 0, []message{{"a", 1, 0, false, "", true, true}, {"a", 9, 7, false, replay.GapEvicted, true, false}}},
		"alone, and nothing came":     {ofBoth, 0, []message{{"a", 1, 0, false, "", false, true}, {"a", 9, 7, false, "", true, true}, {"a", 10, 9, false, "", false, true}}},
		"alone behind what was lost":  {ofBoth, 0, []message{{"a", 1, 0, false, "", false, true}, {"a", 9, 7, true, replay.GapLost, true, true}}},
		"not alone, and one is gone":  {ofBoth, 0, []message{{"a", 1, 0, false, "", false, true}, {"a", 9, 7, false, replay.GapEvicted, false, true}}},
		"a hole where one is alone":   {ofAll, 3, []message{{"a", 5, 4, false, replay.GapEvicted, true, true}}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newGapDetector(test.subjects, test.start)
			for _, m := range test.messages {
				if got := c.observe(m.subject, m.number, &decoded{previous: m.previous, lost: m.lost, alone: m.alone}, m.adjacent); got != m.want {
					t.Errorf("message %+v: got the reason %q", m, got)
				}
			}
		})
	}
}

var ofBoth, ofAll = []string{sessionSubjects("c1")}, []string{prefix + ">"}

// TestChainIsBounded checks that subjects are evicted at the limit, which may cause a false gap but never hides one.
func TestChainIsBounded(t *testing.T) {
	c := newGapDetector(ofBoth, 0)
	for n := range uint64(maxSubjects + 100) {
		c.observe(fmt.Sprint(n), n+1, &decoded{}, false)
	}
	if len(c.lastBySubject) > maxSubjects {
		t.Errorf("%d subjects are known", len(c.lastBySubject))
	}
	next := uint64(maxSubjects + 101)
	if got := c.observe("new", next, &decoded{previous: next - 1}, false); got != replay.GapEvicted {
		t.Errorf("the gap has the reason %q", got)
	}
	for subject, has := range c.lastBySubject {
		next++
		if got := c.observe(subject, next, &decoded{previous: has + 1}, false); got != replay.GapEvicted {
			t.Fatalf("the gap after %d of %s has the reason %q", has, subject, got)
		}
	}
}

// TestOrigins checks that a frame has the same message id in every sidecar, and that different frames have different ids.
func TestOrigins(t *testing.T) {
	frame := func(s *replay.Stream, id, text string) replay.Entry {
		return replay.Entry{Source: "s", Session: "c", Run: "r", Name: "n", Data: []byte(text), Stream: s, EventID: []byte(id)}
	}
	one, other := newMessageIDs(), newMessageIDs()
	mine, theirs := &replay.Stream{Dialect: "looopy"}, &replay.Stream{Dialect: "looopy"}
	seen := map[string]string{}
	for i, f := range []struct{ id, text string }{
		{"1", "a"}, {"2", "a"}, {"3", "b"}, {"3", "b"}, {"3", "b"}, {"", "a"}, {"", "a"}, {"", "c"}, {"4", "a"},
	} {
		e, same := frame(mine, f.id, f.text), frame(theirs, f.id, f.text)
		id := one.id(&e)
		if got := other.id(&same); got != id {
			t.Errorf("%d: known by %q and %q", i, id, got)
		}
		if before, again := seen[id]; again {
			t.Errorf("%d is known as %s", i, before)
		}
		seen[id] = fmt.Sprint(i)
	}
	if again := frame(mine, "2", "a"); seen[one.id(&again)] != "1" { // the agent sends it again after an interruption
		t.Error("a repeated frame with the agent's own id gets another message id")
	}
	for change, e := range map[string]replay.Entry{
		"source":  {Source: "x", Session: "c", Run: "r", Name: "n", Data: []byte("a")},
		"session": {Source: "s", Session: "x", Run: "r", Name: "n", Data: []byte("a")},
		"run":     {Source: "s", Session: "c", Run: "x", Name: "n", Data: []byte("a")},
		"name":    {Source: "s", Session: "c", Run: "r", Name: "x", Data: []byte("a")},
		"moved":   {Source: "s", Session: "c", Run: "rn", Name: "", Data: []byte("a")},
	} {
		e.Stream, e.EventID = theirs, []byte("1")
		if before, again := seen[other.id(&e)]; again {
			t.Errorf("a frame with another %s has the same message id as %s", change, before)
		}
	}
	answer := &replay.Stream{Dialect: "adk", SingleRun: true, Nonce: "x"}
	first, second := frame(answer, "", "a"), frame(answer, "", "a")
	first.Ordinal, second.Ordinal = 1, 2
	if one.id(&first) != "x-1" || one.id(&second) != "x-2" || one.id(&first) != "x-1" {
		t.Error("the frames of an answer are not identified by their positions")
	}
}

// TestOriginsOfEnds checks that the end of a shared stream is published only if the agent ended it.
func TestOriginsOfEnds(t *testing.T) {
	o := newMessageIDs()
	s := &replay.Stream{Dialect: "looopy"}
	for end, want := range map[event.End]bool{event.EndOfStream: true, event.EndUnfinished: true, event.EndShutdown: false, event.EndBroken: false} {
		e := heardFrame("c", "1", "a")
		e.Stream = s
		o.id(&e)
		over := replay.Entry{Stream: s, StreamEnded: true, End: end}
		if id := o.id(&over); (id != "") != want {
			t.Errorf("%v is published as %q", end, id)
		}
	}
	if id := o.id(&replay.Entry{Stream: s, StreamEnded: true}); id != "" {
		t.Errorf("the end of a stream without published frames has the message id %q, want none", id)
	}
}
