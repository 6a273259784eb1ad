package tracker_test

import (
	"fmt"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// TestTimingOfAgents checks the times of an agent with a call that no response ends.
func TestTimingOfAgents(t *testing.T) {
	in := at("s", "", "")
	call := func() *event.Batch { return says("a", in, calls("c", "tool")) }
	for name, c := range map[string]struct {
		frames []*event.Batch
		want   string // timing, from and to
	}{
		"its end is stated":         {[]*event.Batch{call(), says("a", in, ends), says("", text)}, "observed 2-3"},
		"it gives its final answer": {[]*event.Batch{call(), says("a", in, final), says("", text)}, "observed 2-3"},
		"it fails":                  {[]*event.Batch{call(), says("a", in, errorCode), says("", text)}, "observed 2-3"},
		"an agent around it ends": {[]*event.Batch{
			says("b", at("o", "", "")), says("a", at("s", "", "o"), calls("c", "tool")), says("b", at("o", "", ""), ends), says("", text)}, "unknown 3-4"},
		"an error of the run hits it":  {[]*event.Batch{call(), says("", fails), says("", text)}, "unknown 2-5"},
		"an agent within it goes on":   {[]*event.Batch{call(), says("b", at("i", "c", "s"), text), says("", text)}, "unknown 2-5"},
		"nothing more is known of it":  {[]*event.Batch{call(), says("", text)}, "unknown 2-4"},
		"its response is the last end": {[]*event.Batch{call(), says("a", in, returns("c", "tool")), says("", text)}, "observed 2-3"},
	} {
		t.Run(name, func(t *testing.T) {
			op := findOperation(t, follow(t, proxied(), append([]*event.Batch{says("", text)}, c.frames...)...), tracker.InvokeAgent, "a")
			equal(t, fmt.Sprintf("%s %s-%s", op.Timing, seconds(op.Started), seconds(op.Ended)), c.want)
		})
	}
}

// TestWaitingAgents checks which agents wait for the answer that the run waits for.
func TestWaitingAgents(t *testing.T) {
	in := at("s", "", "")
	starts := func(facts ...fact) *event.Batch {
		return says("a", append([]fact{in, fresh(event.KindAgentStarted)}, facts...)...)
	}
	asks := says("", asks("q", event.InputConfirmation))
	paused := func() *event.Batch { return says("", pauses("c")) }
	suspended := says("a", in, func(b *event.Batch) { b.AgentWaits = true })
	for name, c := range map[string]struct {
		frames []*event.Batch
		want   tracker.OperationStatus
	}{
		"its call waits":                    {[]*event.Batch{starts(calls("c", "tool")), paused(), asks}, tracker.OperationInterrupted},
		"it went on after its call":         {[]*event.Batch{starts(calls("c", "tool")), says("a", in, ends), paused(), asks}, tracker.OperationOK},
		"it gave its answer after the call": {[]*event.Batch{says("a", in, calls("c", "tool")), says("a", in, final), paused(), asks}, tracker.OperationOK},
		"the protocol says that it waits":   {[]*event.Batch{starts(), suspended, asks}, tracker.OperationInterrupted},
		"another agent waits":               {[]*event.Batch{starts(), says("b", at("o", "", ""), calls("c", "tool")), paused(), asks}, tracker.OperationUnfinished},
		"the run does not wait":             {[]*event.Batch{starts(), suspended, says("", text)}, tracker.OperationUnfinished},
	} {
		t.Run(name, func(t *testing.T) {
			op := findOperation(t, follow(t, proxied(), append([]*event.Batch{says("", text)}, c.frames...)...), tracker.InvokeAgent, "a")
			equal(t, string(op.Status), string(c.want))
		})
	}
}

// TestErrorEndsCall ends a call by an error of the run while another branch, which spoke last, works too.
func TestErrorEndsCall(t *testing.T) {
	for name, c := range map[string]struct {
		fails []fact
		want  string
	}{
		"the error names the call": {[]fact{returns("c1", "boom"), wrong(event.ToolError), fails}, "a error, b unfinished"},
		"the error names none":     {[]fact{fails}, "a unfinished, b unfinished"},
		"the call succeeded":       {[]fact{returns("c1", "boom"), fails}, "a unfinished, b unfinished"},
	} {
		t.Run(name, func(t *testing.T) {
			run := follow(t, proxied(), says("a", branch("p.a"), calls("c1", "boom")), says("b", branch("p.b"), calls("c2", "slow")), says("", c.fails...))
			a, b := findOperation(t, run, tracker.InvokeAgent, "a"), findOperation(t, run, tracker.InvokeAgent, "b")
			equal(t, fmt.Sprintf("a %s, b %s", a.Status, b.Status), c.want)
		})
	}
}
