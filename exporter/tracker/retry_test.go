package tracker_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// TestRetries has a node run its agent again after a failure that the stream does not show.
func TestRetries(t *testing.T) {
	unnamed := proxied()
	unnamed.App = ""
	first := func(facts ...fact) *event.Batch { return says("a", append([]fact{mayBeRoot("a:1")}, facts...)...) }
	again := func(facts ...fact) *event.Batch {
		follows := func(b *event.Batch) { b.Branch, b.Follows, b.MayBeRoot, b.IsParallel = "a:1|1", "a:1", true, true }
		return says("a", append([]fact{follows}, facts...)...)
	}
	third := says("a", func(b *event.Batch) { b.Branch, b.Follows, b.MayBeRoot, b.IsParallel = "a:1|2", "a:1|1", true, true }, responds("m"), final)
	next := says("z", mayBeRoot("z:1"), responds("n"), final)
	for name, c := range map[string]struct {
		frames []*event.Batch
		want   tracker.Status
	}{
		"after a piece of a response":     {[]*event.Batch{first(begins("m")), again(responds("m"), final)}, tracker.Completed},
		"twice":                           {[]*event.Batch{first(begins("m")), again(begins("m")), third}, tracker.Completed},
		"after a call":                    {[]*event.Batch{first(responds("m"), calls("c", "t")), again(responds("m"), final)}, tracker.Completed},
		"after the result of a call":      {[]*event.Batch{first(responds("m"), calls("c", "t")), first(returns("c", "t")), again(responds("m"), final)}, tracker.Completed},
		"the second has not answered":     {[]*event.Batch{first(begins("m")), again(responds("m")), next}, tracker.Incomplete},
		"the first goes on":               {[]*event.Batch{first(begins("m")), again(begins("m")), first(text, partial), again(responds("m"), final)}, tracker.Incomplete},
		"another answers":                 {[]*event.Batch{first(begins("m")), next}, tracker.Incomplete},
		"something within it has to end":  {[]*event.Batch{first(begins("m")), first(text, partial), says("b", at("b:1", "", "a:1"), begins("m")), again(responds("m"), final)}, tracker.Completed},
		"what is within it answers":       {[]*event.Batch{first(begins("m")), again(text, partial), says("b", at("b:1", "", "a:1|1"), responds("m"), final)}, tracker.Completed},
		"a response that it left is late": {[]*event.Batch{first(begins("m")), again(responds("m"), final), first(responds("m"), final)}, tracker.Completed},
	} {
		t.Run(name, func(t *testing.T) { equal(t, string(follow(t, unnamed, c.frames...).Status), string(c.want)) })
	}
}

// TestTimesOfRetry checks that it is unknown when an agent runs again, and when the failed attempt ended.
func TestTimesOfRetry(t *testing.T) {
	follows := func(b *event.Batch) { b.Branch, b.Follows = "a:1|1", "a:1" }
	run := follow(t, proxied(), says("", text), says("a", lane("a:1"), begins("m1")), says("a", follows, responds("m2"), final))
	for _, op := range run.Operations[1:] {
		if op.Timing != tracker.TimingUnknown {
			t.Errorf("%s %s is %s", op.Kind, op.Name, op.Timing)
		}
	}
	equal(t, outline(run), `
completed
invoke_workflow app ok 0-4
  invoke_agent a unfinished 1-2
    chat m1 unfinished 1-2
  invoke_agent a ok 1-3
    chat m2 ok 1-3`)
}

// TestRepeatedAgents lets a node run two agents in turn. The first one's last fact is the result of a call. If both are the same agent, the
// model of the first has not answered.
func TestRepeatedAgents(t *testing.T) {
	first := func(facts ...fact) *event.Batch { return says("a", append([]fact{lane("a:1")}, facts...)...) }
	again := func(name string, facts ...fact) *event.Batch {
		return says(name, append([]fact{func(b *event.Batch) { b.Branch, b.Follows = "a:1|1", "a:1" }}, facts...)...)
	}
	result := []*event.Batch{says("", text), first(responds("m"), calls("c", "t")), first(returns("c", "t"), settles)}
	for name, c := range map[string]struct {
		frames []*event.Batch
		want   tracker.OperationStatus
	}{
		"the same agent":             {append(result[:3:3], again("a", responds("m"), final)), tracker.OperationUnfinished},
		"another agent":              {append(result[:3:3], again("b", responds("m"), final)), tracker.OperationOK},
		"the same one has no answer": {append(result[:3:3], again("a", responds("m"))), tracker.OperationOK},
		"the same one beside it":     {append(result[:2:2], again("a", begins("m")), result[2], again("a", responds("m"), final)), tracker.OperationOK},
	} {
		run := follow(t, proxied(), append(c.frames, says("", text, final))...)
		op := run.Operations[1]
		equal(t, name+": "+string(op.Status), name+": "+string(c.want))
		if isUnknown := op.Timing == tracker.TimingUnknown; isUnknown != (op.Status == tracker.OperationUnfinished) {
			t.Errorf("%s: the agent is %s", name, op.Timing)
		}
	}
}

// TestMayBeBeside has an agent begin at an unknown time, although the run has a frame after the agent before it.
func TestMayBeBeside(t *testing.T) {
	beside := func(b *event.Batch) { b.MayBeBeside = true }
	within := func(b *event.Batch) { b.Around = &event.Around{Step: "s", Branch: "s:1", MayBeBeside: true} }
	for name, second := range map[string]*event.Batch{
		"an agent":              says("b", lane("b:1"), beside, responds("m2"), final),
		"one that is in a step": says("b", at("b:1", "", "s:1"), within, responds("m2"), final),
	} {
		run := follow(t, proxied(), says("", text), says("a", lane("a:1"), responds("m1"), final), says("", text), second)
		for _, op := range run.Operations[1:] {
			if isUnknown := op.Timing == tracker.TimingUnknown; isUnknown == (op.Name == "a" || op.Name == "m1") {
				t.Errorf("%s: %s %s is %s", name, op.Kind, op.Name, op.Timing)
			}
		}
	}
}
