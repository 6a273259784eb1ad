package tracker_test

import (
	"slices"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// TestAgentsThatOnlyBegin checks that an agent has an unknown end if the stream shows only its beginning.
func TestAgentsThatOnlyBegin(t *testing.T) {
	in := at("s", "", "")
	of := func(facts ...fact) *event.Batch { return says("a", append([]fact{in}, facts...)...) }
	other := func(b *event.Batch) { b.Add(event.KindOther) }
	for name, c := range map[string]struct {
		frames []*event.Batch
		want   tracker.Timing
	}{
		"it begins":            {[]*event.Batch{of(other)}, tracker.TimingUnknown},
		"it begins twice":      {[]*event.Batch{of(other), of(starts)}, tracker.TimingUnknown},
		"it calls a tool":      {[]*event.Batch{of(other), of(calls("c", "tool")), of(returns("c", "tool"))}, tracker.TimingObserved},
		"it writes":            {[]*event.Batch{of(other), of(text)}, tracker.TimingObserved},
		"its end is stated":    {[]*event.Batch{of(other), of(ends)}, tracker.TimingObserved},
		"an agent works in it": {[]*event.Batch{of(other), says("b", at("u", "", "s"), text)}, tracker.TimingObserved},
	} {
		run := follow(t, proxied(), append(append([]*event.Batch{says("", text)}, c.frames...), says("", text, final))...)
		if op := findOperation(t, run, tracker.InvokeAgent, "a"); op.Timing != c.want {
			t.Errorf("%s: the timing is %s", name, op.Timing)
		}
	}
}

// TestCallsBeforeAnAnswer checks that an agent that has answered is finished, even if a call has no result.
func TestCallsBeforeAnAnswer(t *testing.T) {
	in := at("s", "", "")
	called := []*event.Batch{says("", text), says("a", in, responds("m"), calls("c", "tool"))}
	for _, c := range []struct {
		last *event.Batch
		want tracker.OperationStatus
	}{{says("a", in, responds("m"), final), tracker.OperationOK}, {says("", text, final), tracker.OperationUnfinished}} {
		run := follow(t, proxied(), append(called[:2:2], c.last, says("", text, final, runEnds))...)
		if op := findOperation(t, run, tracker.InvokeAgent, "a"); op.Status != c.want {
			t.Errorf("the status is %s, want %s", op.Status, c.want)
		}
	}
}

// TestUnstatedEnds checks that the end of an agent is unknown if the protocol states its beginning, and the run breaks off before its end.
func TestUnstatedEnds(t *testing.T) {
	in := at("s", "", "")
	began := func(facts ...fact) []*event.Batch {
		return []*event.Batch{says("a", in, starts), says("a", append([]fact{in}, facts...)...)}
	}
	for name, c := range map[string]struct {
		of, rest []*event.Batch
		want     tracker.Timing
	}{
		"the run breaks off":      {began(text), nil, tracker.TimingUnknown},
		"its end is stated":       {began(text, ends), nil, tracker.TimingObserved},
		"it has answered":         {began(text, final), nil, tracker.TimingObserved},
		"the run completes":       {began(text), []*event.Batch{says("", returns("c", "tool")), says("", text, final, runEnds)}, tracker.TimingObserved},
		"no beginning was stated": {began(text)[1:], nil, tracker.TimingObserved},
	} {
		run := follow(t, proxied(), slices.Concat([]*event.Batch{says("", text)}, c.of, []*event.Batch{says("", text, calls("c", "tool"))}, c.rest)...)
		if op := findOperation(t, run, tracker.InvokeAgent, "a"); op.Timing != c.want {
			t.Errorf("%s: the timing is %s", name, op.Timing)
		}
	}
}
