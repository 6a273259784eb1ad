package tracker_test

import (
	"slices"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestAgentsInAnsweredCalls checks what becomes of an agent that works in a call when the call fails or ends.
func TestAgentsInAnsweredCalls(t *testing.T) {
	kid := func(facts ...fact) *event.Batch {
		return says("kid", append([]fact{at("kid:1", "c1", "")}, facts...)...)
	}
	tool := func(code string) fact {
		return func(b *event.Batch) { returns("c2", "tool")(b); wrong(event.ToolError)(b); coded(code)(b); settles(b) }
	}
	run := func(facts ...fact) []*event.Batch {
		return []*event.Batch{
			says("app", calls("c1", "task")), kid(calls("c2", "tool")), kid(facts...),
			says("app", returns("c1", "task"), wrong(event.ToolError), coded("ValueError")), says("app", final),
		}
	}
	inOneCall := func(b *event.Batch) { b.Branch, b.InUnknownCall = "kid", true }
	besides := func(later ...*event.Batch) []*event.Batch {
		return slices.Concat([]*event.Batch{says("app", calls("c1", "task")), says("app", calls("c2", "tool")), says("kid", inOneCall), says("app", returns("c1", "task"), wrong(event.ToolError))},
			later, []*event.Batch{says("app", returns("c2", "tool")), says("app", final)})
	}
	failing := func(end *event.Batch) []*event.Batch {
		return []*event.Batch{
			says("app", calls("c1", "task")), says("app", calls("c2", "tool")), says("kid", inOneCall, calls("c3", "tool")), says("kid", inOneCall, returns("c3", "tool"), wrong(event.ToolError)),
			says("app", returns("c1", "task"), wrong(event.ToolError)), end, says("app", returns("c2", "tool")), says("app", final),
		}
	}
	want := func(kid, tool string) string {
		return `
completed
invoke_agent app ok 0-6
  execute_tool task error tool_error (ValueError) 1-4
    invoke_agent kid ` + kid + ` 2-3
      execute_tool tool ` + tool + ` 2-3`
	}
	tell(t, []story{
		{"with the same failure it failed", proxied(), run(tool("ValueError")), want("error agent_error (ValueError)", "error tool_error (ValueError)")},
		{"with another failure it is unfinished", proxied(), run(tool("KeyError")), want("unfinished", "error tool_error (KeyError)")},
		{"without a failure it is unfinished", proxied(), run(returns("c2", "tool"), settles), want("unfinished", "ok")},
		{"in one of two calls it is unfinished", file(), besides(), `
completed
invoke_agent app ok 1-6
  execute_tool task error tool_error 1-4
  execute_tool tool ok 2-5
  invoke_agent kid unfinished 3-3`},
		{"in one of two calls, after its failed call, its end does not say how", file(), failing(says("kid", inOneCall, ends)), `
completed
invoke_agent app ok 1-8
  execute_tool task error tool_error 1-5
  execute_tool tool ok 2-7
  invoke_agent kid unfinished 3-6
    execute_tool tool error tool_error 3-4`},
		{"in one of two calls, after its failed call and an answer, it is as it was", file(), failing(says("kid", inOneCall, responds("m"), final, ends)), `
completed
invoke_agent app ok 1-8
  execute_tool task error tool_error 1-5
  execute_tool tool ok 2-7
  invoke_agent kid ok 3-6
    execute_tool tool error tool_error 3-4
    chat m ok 4-6`},
		{"in one of two calls, a later frame names what answered", file(), besides(
			says("", responseOf(""), responds("m"), final), says("kid", inOneCall, sentBy("", ""))), `
completed
invoke_agent app ok 1-8
  execute_tool task error tool_error 1-4
  execute_tool tool ok 2-7
  invoke_agent kid ok 3-6
    chat m ok 4-5`},
		{"in one of two calls, a later frame names what called", file(), besides(
			says("", responseOf(""), calls("c3", "tool"), responds("m")), says("kid", inOneCall, sentBy("", "c3"))), `
completed
invoke_agent app ok 1-8
  execute_tool task error tool_error 1-4
  execute_tool tool ok 2-7
  invoke_agent kid unfinished 3-8
    chat m ok 4-5
    execute_tool tool unfinished 5-8`},
		{"in one of two calls, its end is as stated", file(), besides(says("kid", inOneCall, ends)), `
completed
invoke_agent app ok 1-7
  execute_tool task error tool_error 1-4
  execute_tool tool ok 2-6
  invoke_agent kid ok 3-5`},
		{"in one of two calls, after its answer it is as it was", file(), besides(says("kid", inOneCall, final)), `
completed
invoke_agent app ok 1-7
  execute_tool task error tool_error 1-4
  execute_tool tool ok 2-6
  invoke_agent kid ok 3-5`},
		{"what it expects ends with its call", proxied(), run(tool("KeyError"), returns("c2", "tool")), want("unfinished", "error tool_error (KeyError)")},
		{"a reply that it owes ends with its call", file(), []*event.Batch{
			says("app", calls("c1", "task")), says("kid", at("kid:1", "c1", ""), calls("c2", "tool")), says("kid", at("kid:1", "c1", ""), returns("c2", "tool")),
			says("app", returns("c1", "task")), says("app", responds("m"), final)}, `
completed
invoke_agent app ok 1-5
  execute_tool task ok 1-4
    invoke_agent kid unfinished 2-3
      execute_tool tool ok 2-3
  chat m ok 4-5`},
		{"in one of two calls, what is open ends with both", file(), besides(says("kid", inOneCall, calls("c3", "tool"))), `
completed
invoke_agent app ok 1-7
  execute_tool task error tool_error 1-4
  execute_tool tool ok 2-6
  invoke_agent kid unfinished 3-7
    execute_tool tool unfinished 5-7`},
		{"in one of two calls, a reply that it owes ends with both", file(), besides(says("kid", inOneCall, calls("c3", "tool")), says("kid", inOneCall, returns("c3", "tool"))), `
completed
invoke_agent app ok 1-8
  execute_tool task error tool_error 1-4
  execute_tool tool ok 2-7
  invoke_agent kid unfinished 3-6
    execute_tool tool ok 5-6`},
		{"in one of two calls, what is open stays open with one", file(), []*event.Batch{
			says("app", calls("c1", "task")), says("app", calls("c2", "tool")), says("kid", inOneCall, calls("c3", "tool")), says("app", returns("c1", "task")), says("app", final)}, `
incomplete, stream_ended
invoke_agent app unfinished 1-5
  execute_tool task ok 1-4
  execute_tool tool unfinished 2-5
  invoke_agent kid unfinished 3-5
    execute_tool tool unfinished 3-5`},
		{"in the only open one of two calls, it waits with the call", file(), []*event.Batch{
			says("app", calls("c1", "task")), says("app", calls("c2", "tool")), says("kid", inOneCall, calls("c3", "ask")), says("kid", inOneCall, pauses("c3"), asks("q", event.InputClarification)),
			says("app", returns("c2", "tool"))}, `
interrupted, awaiting_input
invoke_agent app interrupted 1-5
  execute_tool task interrupted 1-?
  execute_tool tool ok 2-5
  invoke_agent kid interrupted 3-4
    execute_tool ask interrupted 3-?`},
		{"in one of two open calls, it waits alone", file(), []*event.Batch{
			says("app", calls("c1", "task")), says("app", calls("c2", "tool")), says("kid", inOneCall, calls("c3", "ask")), says("kid", inOneCall, pauses("c3"), asks("q", event.InputClarification))}, `
interrupted, awaiting_input
invoke_agent app interrupted 1-4
  execute_tool task unfinished 1-4
  execute_tool tool unfinished 2-4
  invoke_agent kid interrupted 3-4
    execute_tool ask interrupted 3-?`},
		{"in a call of an earlier run, what is open stays open", file(), []*event.Batch{
			says("kid", inOneCall, calls("c3", "tool")), says("app", calls("c1", "task")), says("app", returns("c1", "task")), says("app", final)}, `
incomplete, stream_ended
invoke_agent app unfinished 1-4
  invoke_agent kid unfinished 1-4
    execute_tool tool unfinished 1-4
  execute_tool task ok 2-3`},
		{"after its answer it is as it was", proxied(), run(tool("ValueError"), final), want("ok", "error tool_error (ValueError)")},
	})
}
