package langgraph

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// asksTwice has the calls c1 and c2.
var asksTwice = frame("updates", `{"model":{"messages":[{"type":"ai","id":"lc_run--1","content":"","tool_calls":[{"name":"f","id":"c1","args":{}},{"name":"g","id":"c2","args":{}}]}]}}`)

const raised = `{"error":"ValueError","message":"x"}`

// toolEvent is an event of a tool or a node in a namespace.
func toolEvent(kind, name, namespace, data string) string {
	return frame("events", `{"event":"`+kind+`","name":"`+name+`","run_id":"r","data":`+data+`,"metadata":{"langgraph_node":"tools","langgraph_checkpoint_ns":"`+namespace+`"}}`)
}

// lastFacts returns the facts of the frames without those of the first ones and without what starts operations.
func lastFacts(frames []string, kinds ...string) []string {
	return slices.DeleteFunc(facts(&event.Stream{}, frames...), func(line string) bool {
		kind, _, _ := strings.Cut(line, " ")
		return !slices.Contains(kinds, kind)
	})
}

// TestRepeatedTool checks when the exception of a tool is the end of its call.
func TestRepeatedTool(t *testing.T) {
	failed := func(call, namespace string) string {
		return toolEvent("on_tool_error", "f", namespace, `{"tool_call_id":"`+call+`","error":`+raised+`}`)
	}
	result := func(status string) string {
		return `{"output":{"type":"tool","id":"m1","tool_call_id":"c1","name":"f","content":"","status":"` + status + `"}}`
	}
	inner := strings.NewReplacer(`"updates"`, `"updates|tools:1"`, "event: updates", "event: updates|tools:1", "c1", "c3", "c2", "c4", "run--1", "run--2").Replace(asksTwice)
	inTime := func(s string) string { return strings.ReplaceAll(s, "ValueError", "TimeoutError") }
	const left = `tool_ended name="f" call="c1" tool_error code="ValueError"` // the exception has left the graph
	const ended = left + ` settled`
	for _, c := range []struct {
		name   string
		frames []string
		want   []string
	}{
		{"a later success", []string{failed("c1", "tools:1"), failed("c1", "tools:1"), toolEvent("on_tool_end", "f", "tools:1", result("success"))}, []string{`tool_ended name="f" call="c1" settled ""`}},
		{"a result that says so", []string{failed("c1", "tools:1"), toolEvent("on_tool_end", "f", "tools:1", result("error"))}, []string{ended + ` ""`}},
		{"nothing more", []string{failed("c1", "tools:1")}, nil},
		{"the end of its node", []string{failed("c1", "tools:1"), toolEvent("on_chain_end", "tools", "tools:1", `{"output":{}}`)}, []string{ended}},
		{"the end of another node", []string{failed("c1", "tools:1"), toolEvent("on_chain_end", "tools", "tools:2", `{"output":{}}`)}, nil},
		{"the end of what its node runs", []string{failed("c1", "tools:1"), toolEvent("on_chain_end", "prompt", "tools:1", `{"output":{}}`)}, nil},
		{"the error of the run", []string{failed("c1", "tools:1"), frame("error", raised)}, []string{left}},
		{"a timeout of the tool", []string{inTime(failed("c1", "tools:1")), inTime(frame("error", raised))}, []string{inTime(left)}},
		{"another attempt", []string{
			failed("c1", "tools:1"), frame("metadata", `{"run_id":`+runID+`,"attempt":2}`), frame("updates", `{"model":{"messages":[{"type":"ai","id":"lc_run--9","content":"Hi"}]}}`),
		}, []string{ended, `tool_ended name="g" call="c2" canceled settled`}},
		{"the tool around it", []string{inner, failed("c3", "tools:1|tools:2"), failed("c1", "tools:1"), frame("error", raised)}, []string{strings.Replace(left, "c1", "c3", 1), left}},
		{"the end of a node around it", []string{inner, failed("c3", "tools:1|tools:2"), toolEvent("on_chain_end", "tools", "tools:1", `{"output":{}}`)}, []string{strings.Replace(ended, "c1", "c3", 1)}},
	} {
		if diff := cmp.Diff(c.want, lastFacts(append([]string{asksTwice}, c.frames...), "tool_ended"), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestOriginOfError checks which call or response the error of a run ends.
func TestOriginOfError(t *testing.T) {
	taskFailed := func(name, id, exception string) string {
		return frame("tasks", `{"id":"`+id+`","name":"`+name+`","error":`+exception+`,"result":{},"interrupts":[]}`)
	}
	task := func(id, call string) string {
		return frame("tasks", `{"id":"`+id+`","name":"tools","triggers":["__pregel_push"],"input":{"__type":"tool_call_with_context","tool_call":{"name":"f","id":"`+call+`","args":{},"type":"tool_call"}}}`)
	}
	pieceIn := func(namespace string) string {
		return frame("messages", `[{"type":"AIMessageChunk","id":"lc_run--2","content":"Hi"},{"langgraph_node":"ok","langgraph_step":1,"langgraph_checkpoint_ns":"`+namespace+`"}]`)
	}
	piece, agentPiece := pieceIn("ok:1"), pieceIn("model:1")
	chunkOf := func(graph string) string {
		return frame("updates|"+graph, `{"model":{"messages":[{"type":"ai","id":"lc_run--4","content":"Hi"}]}}`)
	}
	within := func(graph string) string {
		return strings.NewReplacer("event: updates", "event: updates|"+graph, `,{"name":"g","id":"c2","args":{}}`, "", "c1", "c3", "run--1", "run--3").Replace(asksTwice)
	}
	asksOnce := within("tools:9")
	failed := toolEvent("on_tool_error", "f", "tools:1", `{"tool_call_id":"c1","error":`+raised+`}`)
	result := frame("updates", `{"tools":{"messages":[{"type":"tool","id":"m2","tool_call_id":"c2","name":"g","content":""}]}}`)
	const (
		f, g = `tool_ended name="f" call="c1" tool_error code="ValueError"`, `tool_ended name="g" call="c2" tool_error code="ValueError"`
		ends = `error agent_error code="ValueError"`
	)
	both := []string{asksTwice, task("1", "c1"), task("2", "c2")}
	for _, c := range []struct {
		name   string
		frames []string
		want   []string
	}{
		{"the tool of another call", []string{asksTwice, failed}, []string{f, ends}},
		{"the task of another call", append(both, taskFailed("tools", "1", raised)), []string{f + " settled", ends}},
		{"the only call", []string{asksTwice, result}, []string{`tool_ended name="g" call="c2" settled ""`, f, ends}},
		{"the only call, in a node of tools", []string{asksTwice, result, taskFailed("tools", "1", raised)}, []string{`tool_ended name="g" call="c2" settled ""`, f, ends}},
		{"another node beside the only call", []string{asksTwice, result, taskFailed("bad", "1", raised)}, []string{`tool_ended name="g" call="c2" settled ""`, ends}},
		{"another exception of another node", []string{asksTwice, result, taskFailed("bad", "1", `{"error":"ValueError","message":"y"}`)}, []string{`tool_ended name="g" call="c2" settled ""`, f, ends}},
		{"a printed exception", append(both, taskFailed("tools", "2", `"ValueError('x')"`)), []string{g + " settled", ends}},
		{"the only call, whose tool has no event with an exception", []string{node("start", "tools", "1", "1", ""), asksTwice, result}, []string{`tool_ended name="g" call="c2" settled ""`, ends}},
		{"a call of an agent in the only call", []string{asksTwice, result, asksOnce}, []string{`tool_ended name="g" call="c2" settled ""`, strings.Replace(f, "c1", "c3", 1), ends}},
		{"a call of an agent in one of two calls", []string{asksTwice, asksOnce}, []string{ends + " elsewhere"}},
		{"an agent in one of two calls", []string{asksTwice, chunkOf("tools:9")}, []string{ends + " elsewhere"}},
		{"an agent in the only call", []string{asksTwice, result, chunkOf("tools:9")}, []string{`tool_ended name="g" call="c2" settled ""`, f, ends}},
		{"an agent with two calls", []string{asksTwice}, []string{ends}},
		{"an agent in the only call, with two calls", []string{asksTwice, result, strings.NewReplacer("updates", "updates|tools:9", "c1", "c3", "c2", "c4", "run--1", "run--3").Replace(asksTwice)}, []string{`tool_ended name="g" call="c2" settled ""`, ends}},
		{"a call of an agent in a node", []string{within("research:9")}, []string{ends}},
		{"the only response of an agent", []string{agentPiece}, []string{ends}},
		{"the only response of an agent in a call", []string{asksTwice, result, pieceIn("tools:9|model:1")}, []string{`tool_ended name="g" call="c2" settled ""`, ends}},
		{"the only response of an agent in one of two calls", []string{asksTwice, pieceIn("tools:9|model:1")}, []string{ends + " elsewhere"}},
		{"the only response of an agent in a node", []string{pieceIn("research:9|model:1")}, []string{ends + " elsewhere"}},
		{"the only response of a node in a call", []string{asksTwice, result, pieceIn("tools:9|ok:1")}, []string{`tool_ended name="g" call="c2" settled ""`, ends + " elsewhere"}},
		{"the only response of a node", []string{piece}, []string{ends + " elsewhere"}},
		{"another node", []string{piece, taskFailed("bad", "1", raised)}, []string{ends + " elsewhere"}},
		{"another exception before", []string{agentPiece, taskFailed("bad", "1", `{"error":"KeyError","message":"x"}`)}, []string{ends}},
		{"another attempt", []string{agentPiece, taskFailed("bad", "1", raised), frame("metadata", `{"run_id":`+runID+`,"attempt":2}`)}, []string{ends}},
		{"the node of the response", []string{piece, taskFailed("ok", "1", raised)}, []string{ends}},
		{"another task of the node", []string{piece, taskFailed("ok", "11", raised)}, []string{ends + " elsewhere"}},
		{"nodes that run at the same time", []string{node("start", "ok", "1", "1", ""), node("start", "bad", "2", "1", ""), piece}, []string{ends + " elsewhere"}},
		{"a node after another", []string{node("start", "bad", "2", "1", ""), node("end", "bad", "2", "1", ""), node("start", "ok", "1", "1", ""), piece}, []string{ends}},
		{"what waits is no failure", []string{agentPiece, taskFailed("bad", "1", `{"error":"GraphInterrupt","message":"x"}`), frame("error", `{"error":"GraphInterrupt","message":"x"}`)},
			[]string{`error agent_error code="GraphInterrupt"`}},
	} {
		frames := append(slices.Clip(c.frames), frame("error", raised))
		if strings.Contains(c.frames[len(c.frames)-1], "event: error") {
			frames = c.frames
		}
		if diff := cmp.Diff(c.want, lastFacts(frames, "tool_ended", "error")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestModelFailure checks that the policy public hides the exception in an answer that LangChain's middleware writes if a model fails, and
// that this answer is no chat.
func TestModelFailure(t *testing.T) {
	message := func(id, text string) string {
		return `{"type":"ai","id":"` + id + `","name":"helper","content":` + text + `,"tool_calls":[],"response_metadata":{}}`
	}
	const failed, once = `"Model call failed after 3 attempts with ValueError: secret"`, `[{"type":"text","text":"Model call failed after 1 attempt with ValueError: secret"}]`
	in := func(m string) []sent {
		return []sent{fromServer(m, "model"), {"messages/complete", `[` + m + `]`}, {"updates", `{"model":{"messages":[` + m + `]}}`}, {"values", `{"messages":[` + userAsks + `,` + m + `]}`}, {"values", m}}
	}
	for _, text := range []string{failed, once} {
		for _, one := range in(message("m1", text)) {
			checkStaysIn(t, []filter.Settings{public}, one)
			if out := leaving(public, one); !strings.Contains(out, `"content":""`) {
				t.Errorf("the message does not leave without its text: %s", out)
			}
			if out := leaving(client, one); !strings.Contains(out, "secret") {
				t.Errorf("the client does not get %v", one)
			}
			if got := lastFacts([]string{frame(one.name, one.data)}, "model_ended"); len(got) > 0 {
				t.Errorf("%v is a chat: %q", one, got)
			}
		}
	}
	for _, m := range []string{message("lc_run--1", failed), message("m1", `"No model call failed after 3 attempts with secret"`), message("m1", `"Model call failed after a secret"`)} {
		for _, one := range in(m) {
			if out := leaving(public, one); !strings.Contains(out, "secret") {
				t.Errorf("%v does not leave: %s", one, out)
			}
		}
	}
}

// TestAgentOfFailedTask checks that the exception of a task ends the agent in whose graph the task is, and that the agent may be retried.
func TestAgentOfFailedTask(t *testing.T) {
	task := func(graph, id, name, more string) string {
		return frame("tasks"+graph, `{"id":"`+id+`","name":"`+name+`",`+more+`}`)
	}
	starts := `"triggers":[],"input":{}`
	answers := func(message string) string {
		return `"error":null,"result":{"messages":[{"type":"ai","name":"x","content":"Hi","id":"lc_run--` + message + `"}]},"interrupts":[]`
	}
	failed := `"error":` + raised + `,"result":{},"interrupts":[]`
	began := []string{task("", "1", "x", starts), task("|x:1", "2", "model", starts), task("|x:1", "2", "model", answers("1"))}
	const ended = `agent_ended agent_error code="ValueError"`
	for _, c := range []struct {
		name   string
		frames []string
		want   []string
	}{
		{"no exception", []string{task("", "1", "x", `"error":null,"result":{},"interrupts":[]`)}, []string{"agent_ended"}},
		{"an exception that the caller catches", []string{task("|x:1", "3", "tools", failed), task("", "1", "x", `"error":null,"result":{},"interrupts":[]`)}, []string{ended}},
		{"an exception that ends the run", []string{task("|x:1", "3", "tools", failed), task("", "1", "x", failed), frame("error", raised)}, []string{ended}},
		{"a retry", []string{task("|x:1", "3", "tools", failed), task("|x:1", "2", "model", starts), task("|x:1", "2", "model", answers("2"))}, []string{ended, "agent_started"}},
		{"a question", []string{task("|x:1", "3", "tools", `"error":"GraphInterrupt(())","interrupts":[]`)}, nil},
		{"the first model call of a subagent", []string{frame("updates", strings.Replace(delegation, "lc_run--1", "lc_run--9", 1)), task("|tools:9", "3", "model", starts), task("|tools:9", "3", "model", failed)}, []string{ended}},
		{"the first model call of an agent in a node", []string{startOf("|y:9", "3", "model", "{}", "y"), task("|y:9", "3", "model", failed)}, []string{ended}},
		{"a step that is no agent", []string{task("|prepare:9", "3", "load", starts), task("|prepare:9", "3", "load", failed)}, nil},
	} {
		if diff := cmp.Diff(c.want, lastFacts(append(began[:len(began):len(began)], c.frames...), "agent_ended", "agent_started"), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
