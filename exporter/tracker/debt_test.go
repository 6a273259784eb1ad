package tracker_test

import (
	"fmt"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// asksModel says that the frame's agent asks its model.
func asksModel(b *event.Batch) { b.Add(event.KindIteration).CallsModel = true }

// beginsRound says that the next round of the agent's loop begins.
func beginsRound(b *event.Batch) { b.Add(event.KindIteration) }

// startsUnnamed starts a run and states the name of its agent for the case that no frame names it.
func startsUnnamed(agent string) fact {
	return func(b *event.Batch) { b.Add(event.KindRunStarted).Name = agent }
}

// TestDebts checks the status of an agent that still had to do something after its last frame.
func TestDebts(t *testing.T) {
	in := at("s", "", "")
	result := func() *event.Batch { return says("a", in, returns("c", "tool"), settles) }
	of := func(facts ...fact) *event.Batch { return says("a", append([]fact{in}, facts...)...) }
	broken, waits := says("", text), says("", asks("q", event.InputClarification))
	complete := func() *event.Batch { return says("", text, final) }
	for name, c := range map[string]struct {
		frames []*event.Batch
		want   tracker.OperationStatus
	}{
		"a result, and the stream breaks":         {[]*event.Batch{result(), broken}, tracker.OperationUnfinished},
		"a result, and the run is complete":       {[]*event.Batch{result(), complete()}, tracker.OperationOK},
		"a result, and the run waits":             {[]*event.Batch{result(), waits}, tracker.OperationOK},
		"a result, and something else fails":      {[]*event.Batch{result(), says("", elsewhere)}, tracker.OperationUnfinished},
		"a result, and its end is stated":         {[]*event.Batch{result(), of(ends), broken}, tracker.OperationOK},
		"a result after its answer":               {[]*event.Batch{of(final), of(calls("d", "tool")), of(returns("d", "tool"), settles), broken}, tracker.OperationUnfinished},
		"an answer after the result":              {[]*event.Batch{result(), of(final), broken}, tracker.OperationOK},
		"a response after the result":             {[]*event.Batch{result(), of(responds("m")), broken}, tracker.OperationOK},
		"only a piece of a text after the result": {[]*event.Batch{result(), of(partial, text), broken}, tracker.OperationUnfinished},
		"the result of a transfer":                {[]*event.Batch{of(returns("c", "tool"), settles, handsOver("c", "b")), broken}, tracker.OperationOK},
		"the later result of a transfer":          {[]*event.Batch{of(handsOver("c", "b")), result(), broken}, tracker.OperationOK},
		"its model was asked":                     {[]*event.Batch{result(), of(partial, asksModel), complete()}, tracker.OperationUnfinished},
		"its model was asked, and has answered":   {[]*event.Batch{result(), of(partial, asksModel), of(responds("m")), complete()}, tracker.OperationOK},
		"its model was asked, and its end stated": {[]*event.Batch{result(), of(partial, asksModel), of(ends), complete()}, tracker.OperationOK},
		"its next round, and the stream breaks":   {[]*event.Batch{result(), of(beginsRound), broken}, tracker.OperationUnfinished},
		"its next round, and the run is complete": {[]*event.Batch{result(), of(beginsRound), complete()}, tracker.OperationOK},
		"an answer in its next round":             {[]*event.Batch{result(), of(beginsRound), of(responds("m")), broken}, tracker.OperationOK},
	} {
		t.Run(name, func(t *testing.T) {
			run := follow(t, proxied(), append([]*event.Batch{says("", text), of(calls("c", "tool"))}, c.frames...)...)
			op := findOperation(t, run, tracker.InvokeAgent, "a")
			equal(t, string(op.Status), string(c.want))
			if isOpen := name == "its model was asked" || name == "its next round, and the stream breaks"; isOpen != (op.Timing == tracker.TimingUnknown) {
				t.Errorf("the timing is %s", op.Timing)
			}
		})
	}
}

// TestErrorsBesideFirstAgent checks what an error does to an agent that was taken for the root.
func TestErrorsBesideFirstAgent(t *testing.T) {
	a := mayBeRoot("a:1")
	beside := func(b *event.Batch) { elsewhere(b); b.Events[len(b.Events)-1].Beside = true }
	called := []*event.Batch{says("a", a, responds("m"), calls("c", "tool")), says("", fresh(event.KindState))}
	answered := []*event.Batch{says("a", a, responds("m"), final), says("", fresh(event.KindState))}
	handedOver := []*event.Batch{
		says("a", a, responds("m"), calls("c", "go")), says("a", a, returns("c", "go"), settles, handsOver("c", "b")), says("b", mayBeRoot("b:1"), responds("m"), final)}
	for name, c := range map[string]struct {
		before []*event.Batch
		fails  fact
		want   string
	}{
		"an error after its answer":                  {answered, fails, "failed invoke_workflow error, a ok 0-1"},
		"an error while it works":                    {called, fails, "failed invoke_agent error, a error 0-4"},
		"an error elsewhere while it works":          {called, elsewhere, "failed invoke_agent error, a error 0-4"},
		"an error beside it while it works":          {called, beside, "failed invoke_workflow error, a unfinished 0-4"},
		"an error after the answer of another":       {handedOver, fails, "failed invoke_workflow error, a ok 0-3"},
		"a cancellation after its answer":            {answered, gaveUp, "canceled invoke_agent unfinished, a unfinished 0-4"},
		"an error after the answer of its call":      {append(called[:1:1], says("b", at("b", "c", ""), responds("m"), final)), fails, "failed invoke_agent error, a error 0-4"},
		"an error after the result of the last call": {append(called[:1:1], says("a", a, returns("c", "tool"), settles)), fails, "failed invoke_agent error, a error 0-4"},
	} {
		t.Run(name, func(t *testing.T) {
			unnamed := proxied()
			unnamed.App = ""
			run := follow(t, unnamed, append(c.before[:len(c.before):len(c.before)], says("", c.fails))...)
			op := findOperation(t, run, tracker.InvokeAgent, "a")
			equal(t, fmt.Sprintf("%s %s %s, a %s %s-%s", run.Status, run.Root.Kind, run.Root.Status, op.Status, seconds(op.Started), seconds(op.Ended)), c.want)
		})
	}
}

// TestUnnamedRoots checks what a root is that the stream does not name.
func TestUnnamedRoots(t *testing.T) {
	unnamed := proxied()
	unnamed.App = ""
	step := func(facts ...fact) *event.Batch {
		return says("me", append([]fact{lane("s:1"), func(b *event.Batch) { b.Step = "s" }}, facts...)...)
	}
	tell(t, []story{
		{"a step of it works", unnamed, []*event.Batch{step(responds("m")), says("a", at("a:1", "", "s:1"), responds("m"), final)}, `
completed
invoke_agent me ok 0-3
  invoke_node s ok 0-2
    chat m ok 0-1
    invoke_agent a ok 1-2
      chat m ok 1-2`},
		{"only an agent in a call of an earlier run works", unnamed, []*event.Batch{says("a", func(b *event.Batch) { b.Branch, b.InUnknownCall = "a:1", true }, responds("m"), final)}, `
completed
invoke_workflow  ok 0-2
  invoke_agent a ok 0-1
    chat m ok 0-1`},
		{"only agents in steps work", unnamed, []*event.Batch{says("a", at("a:1", "", "s:1"), func(b *event.Batch) { b.Around = &event.Around{Step: "s", Branch: "s:1"} }, responds("m"), final)}, `
completed
invoke_workflow  ok 0-2
  invoke_node s ok 0-1
    invoke_agent a ok 0-1
      chat m ok 0-1`},
		{"it works itself", unnamed, []*event.Batch{says("", responds("m")), says("a", at("a:1", "", ""), responds("m"), final)}, `
completed
invoke_agent  ok 0-3
  chat m ok 0-1
  invoke_agent a ok 1-2
    chat m ok 1-2`},
		{"nothing works", unnamed, []*event.Batch{says("", text, final)}, `
completed
invoke_agent  ok 0-2`},
		{"no frame names it", unnamed, []*event.Batch{says("", startsUnnamed("own")), says("", fails)}, `
failed, error_frame
invoke_agent own error agent_error 0-3`},
		{"a frame names it", unnamed, []*event.Batch{says("", startsUnnamed("own")), says("a", text, final)}, `
completed
invoke_agent a ok 0-3`},
		{"only an agent in an unknown call works", unnamed, []*event.Batch{says("", startsUnnamed("own")), says("a", func(b *event.Batch) { b.Branch, b.InUnknownCall = "a:1", true }, responds("m"), final)}, `
completed
invoke_workflow  ok 0-3
  invoke_agent a ok 1-2
    chat m ok 1-2`},
	})
}
