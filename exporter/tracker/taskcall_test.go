package tracker_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestUnseenTaskCall checks that the response to a call that was not seen belongs to the task that names the call, and is no tool.
func TestUnseenTaskCall(t *testing.T) {
	tell(t, []story{
		{"a task", proxied(), []*event.Batch{
			at2("app", "app@1", ""), task("sub", "app@1/sub@t1", "sub@t1", "t1", text),
			at2("app", "app@1", "", returns("t1", "sub"), settles), at2("app", "app@1", "", text), at2("app", "app@1", "", text, final)}, `
completed
invoke_agent app ok 0-6
  invoke_agent sub ok 1-2`},
	})
}

// TestTasksKnownLate checks calls that turn out to be tasks, as over A2A: with the response, or because the run has completed
// without one.
func TestTasksKnownLate(t *testing.T) {
	asks := func() *event.Batch { return at2("app", "app@1", "", responds("m"), calls("t1", "sub")) }
	works := func(name, path, branch string, more ...fact) *event.Batch {
		return at2(name, path, branch, append(more, responds("m"))...)
	}
	sub := func(more ...fact) *event.Batch { return works("sub", "app@1/sub@1", "sub@t1", more...) }
	answered := func(id, tool string) *event.Batch { return says("", returns(id, tool), endsAgent) }
	ended := func() *event.Batch { return says("", final, runEnds) }
	tell(t, []story{
		{"by the response", proxied(), []*event.Batch{asks(), sub(), answered("t1", "sub"), at2("app", "app@1", "", concludes)}, `
completed
invoke_agent app ok 0-5
  chat m ok 0-1
  invoke_agent sub ok 1-2
    chat m ok 1-2
  invoke_agent app ok 3-4
    chat m ok 3-4`},
		{"by the response, but not a tool's agent", proxied(), []*event.Batch{asks(), sub(), at2("app", "app@1", "", returns("t1", "sub")), at2("app", "app@1", "", concludes)}, `
completed
invoke_agent app ok 0-5
  chat m ok 0-1
  execute_tool sub ok 1-3
    invoke_agent sub ok 1-2
      chat m ok 1-2
  chat m ok 3-4`},
		{"by the response, to a call of an earlier run", proxied(), []*event.Batch{sub(calls("f", "finish_task")), sub(returns("f", "finish_task")), answered("t1", "sub"), at2("app", "app@1", "", concludes)}, `
completed
invoke_agent app ok 0-5
  invoke_agent sub ok 0-2
    chat m ok 0-1
    execute_tool finish_task ok 1-2
    chat m ok 1-2
  chat m ok 3-4`},
		{"by the response, to a call of an earlier run without a path", file(), []*event.Batch{
			{Agent: "sub", Branch: "sub@t1", Place: place(event.Node{Name: "sub", Call: "t1", Lane: "sub@t1"}), Events: []event.Event{{Kind: event.KindModelEnded}}},
			answered("t1", "sub"), {Agent: "app", Place: place(event.Node{Name: "app", Kind: event.NodeDescendant}), Events: []event.Event{{Kind: event.KindModelEnded}, {Kind: event.KindFinal}}}}, `
completed
invoke_workflow  ok 1-3
  invoke_agent sub ok 1-1
    chat  ok 1-1
  invoke_agent app ok 2-3
    chat  ok 2-3`},
		{"by the response, while an agent below it is in control", proxied(), []*event.Batch{
			asks(), sub(calls("t2", "kid")), works("kid", "app@1/sub@1/kid@1", "sub@t1.kid@t2"), answered("t1", "sub"), at2("app", "app@1", "", concludes)}, `
completed
invoke_agent app ok 0-6
  chat m ok 0-1
  invoke_agent sub ok 1-4
    chat m ok 1-2
    execute_tool kid unfinished 2-4
      invoke_agent kid ok 2-3
        chat m ok 2-3
  invoke_agent app ok 4-5
    chat m ok 4-5`},
		{"by the response, two of one answer", proxied(), []*event.Batch{
			at2("app", "app@1", "", responds("m"), calls("t1", "sub"), calls("t2", "kid")), sub(), answered("t1", "sub"),
			works("kid", "app@1/kid@1", "kid@t2"), answered("t2", "kid"), at2("app", "app@1", "", concludes)}, `
completed
invoke_agent app ok 0-7
  chat m ok 0-1
  invoke_agent sub ok 1-2
    chat m ok 1-2
  invoke_agent kid ok 3-4
    chat m ok 3-4
  invoke_agent app ok 5-6
    chat m ok 5-6`},
		{"by the end", proxied(), []*event.Batch{asks(), sub(text), ended()}, `
completed
invoke_agent app ok 0-4
  chat m ok 0-1
  invoke_agent sub ok 1-2
    chat m ok 1-2`},
		{"by the end, one in another", proxied(), []*event.Batch{asks(), sub(calls("t2", "kid")), works("kid", "app@1/sub@1/kid@1", "sub@t1.kid@t2", text), ended()}, `
completed
invoke_agent app ok 0-5
  chat m ok 0-1
  invoke_agent sub ok 1-3
    chat m ok 1-2
    invoke_agent kid ok 2-3
      chat m ok 2-3`},
		{"not if the call names another agent", proxied(), []*event.Batch{at2("app", "app@1", "", responds("m"), calls("t1", "other")), sub(text), ended()}, `
completed
invoke_agent app ok 0-4
  chat m ok 0-1
  execute_tool other unfinished 1-4
    invoke_agent sub unfinished 1-2
      chat m ok 1-2`},
		{"not in a run that waits, because a tool's agent may wait too", proxied(), []*event.Batch{asks(), sub(callsOutside("w", "wait"))}, `
interrupted, awaiting_input
invoke_agent app interrupted 0-3
  chat m ok 0-1
  execute_tool sub interrupted 1-2
    invoke_agent sub interrupted 1-2
      chat m ok 1-2
      execute_tool wait interrupted 2-?`},
		{"not in a run that was cut off", proxied(), []*event.Batch{asks(), sub(text)}, `
incomplete, stream_ended
invoke_agent app unfinished 0-3
  chat m ok 0-1
  execute_tool sub unfinished 1-3
    invoke_agent sub unfinished 1-2
      chat m ok 1-2`},
	})
}

func place(nodes ...event.Node) *event.Place { return &event.Place{Key: nodes[0].Name, Nodes: nodes} }

// endsAgent marks the response before it as the end of a task.
func endsAgent(b *event.Batch) { b.Events[len(b.Events)-1].EndsAgent = true }

func runEnds(b *event.Batch) { b.Add(event.KindRunEnded) }
