package tracker_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

func replayed(b *event.Batch) { b.Replayed = true }

// TestReplayedFrames lets a client leave a run and come back. The frames that the agent may have sent meanwhile have no time, and what
// begins after them may have a cause that is missing. The rest of the run keeps its times.
func TestReplayedFrames(t *testing.T) {
	joined := tailed()
	joined.JoinedRun = "e-1"
	for _, c := range []struct {
		name   string
		stream *event.Stream
		frames []*event.Batch
		want   string
	}{
		{"a call ends in the gap", proxied(), []*event.Batch{
			says("a", responds("m"), calls("1", "t")), says("a", returns("1", "t"), replayed), says("a", responds("n")), says("a", calls("2", "u")), says("a", returns("2", "u"), final)}, `
app observed 0-6
a observed 0-5
m observed 0-1
t unknown
n unknown
u observed 4-5`},
		{"a call lasts longer than the gap", proxied(), []*event.Batch{
			says("a", responds("m"), calls("1", "t")), says("b", text, lane("y"), replayed), says("a", returns("1", "t")), says("a", responds("n"), final)}, `
app observed 0-5
a observed 0-4
m observed 0-1
t observed 1-3
b unknown
n observed 3-4`},
		{"a result was lost in the gap", proxied(), []*event.Batch{says("a", responds("m"), calls("1", "t")), says("b", text, lane("y"), replayed), says("a", responds("n"), final)}, `
app observed 0-4
a observed 0-3
m observed 0-1
t unknown
b unknown
n unknown`},
		{"an agent began in the gap", proxied(), []*event.Batch{says("a", text), says("", replayed), says("b", responds("m"), lane("y"), final)}, `
app observed 0-4
a unknown
b unknown
m unknown`},
		{"a call and the agent in it end in the gap", proxied(), []*event.Batch{
			says("a", responds("m"), calls("1", "t")), says("b", at("y", "1", ""), responds("n")), says("", replayed), says("a", returns("1", "t"), replayed), says("a", responds("m"), final)}, `
app observed 0-6
a observed 0-5
m observed 0-1
t unknown
b unknown
n observed 1-2
m unknown`},
		{"a state repeats results after the gap", proxied(), []*event.Batch{
			says("a", responds("m"), calls("1", "t")), says("", replayed), says("a", calls("2", "u")), says("a", returns("1", "t"), uncertain, returns("2", "u"), uncertain, final)}, `
app observed 0-5
a observed 0-4
m observed 0-1
t unknown
u observed 3-4`},
		{"an agent answers before the gap", proxied(), []*event.Batch{says("b", lane("y"), responds("n"), final), says("", replayed), says("a", responds("m"), final)}, `
app observed 0-4
b observed 0-1
n observed 0-1
a unknown
m unknown`},
		{"an agent and its call begin before the first pause", joined, []*event.Batch{
			says("a", of("e-1"), responds("m"), calls("1", "t"), replayed), says("b", of("e-1"), at("y", "1", ""), replayed),
			says("b", of("e-1"), at("y", "1", ""), calls("2", "u")), says("b", of("e-1"), at("y", "1", ""), returns("2", "u")), says("b", of("e-1"), at("y", "1", ""), responds("n"), final), says("a", of("e-1"), returns("1", "t"), final)}, `
a observed 1-6
m unknown
t unknown
b unknown
u observed 3-4
n observed 4-5`},
		{"a run that was joined", joined, []*event.Batch{says("a", of("e-1"), responds("m"), calls("1", "t"), replayed), says("a", of("e-1"), returns("1", "t")), says("a", of("e-1"), responds("n"), final)}, `
a observed 1-3
m unknown
t unknown
n observed 2-3`},
		{"a run that was joined after its end", joined, []*event.Batch{says("a", of("e-1"), responds("m"), replayed), says("a", of("e-1"), responds("n"), final, runOver, replayed)}, `
a unknown
m unknown
n unknown`},
	} {
		t.Run(c.name, func(t *testing.T) { equal(t, timings(follow(t, c.stream, c.frames...)), c.want) })
	}
}

func timings(r *tracker.Run) string {
	var all []string
	for _, op := range r.Operations {
		line := fmt.Sprintf("%s %s", op.Name, op.Timing)
		if op.Timing != tracker.TimingUnknown {
			line += fmt.Sprintf(" %s-%s", seconds(op.Started), seconds(op.Ended))
		}
		all = append(all, line)
	}
	return lines(all...)
}

// TestReplayedEnds ends a run in frames that came late. Its outcome may follow for a second.
func TestReplayedEnds(t *testing.T) {
	s, stream := watch(), tailed()
	s.feed(stream, says("a", of("e-1"), text, replayed), says("a", of("e-1"), final, runOver, awaiting, replayed))
	if s.Expire(second(2).Add(time.Millisecond)); len(s.runs) != 0 {
		t.Error("the run ended before its outcome could come")
	}
	if s.Expire(second(4)); len(s.runs) != 1 || s.runs[0].Root.Timing != tracker.TimingUnknown {
		t.Errorf("%d runs ended, or the end of one is known", len(s.runs))
	}
}
