package langgraph

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// announced is the metadata of a message of the node tools, in a task.
func announced(id, task string) sent {
	return sent{"messages/metadata", `{"` + id + `":{"metadata":{"langgraph_node":"tools","langgraph_checkpoint_ns":"tools:` + task + `"}}}`}
}

// TestResultsBesideInternalCalls runs a tool beside an internal one. The metadata of a result does not name the call, but the result does.
func TestResultsBesideInternalCalls(t *testing.T) {
	const internal = `{"name":"internal_read","args":{},"id":"cX","type":"tool_call"}`
	asked := sent{"messages/complete", `[{"type":"ai","id":"m1","content":"","tool_calls":[{"name":"write","args":{},"id":"cV","type":"tool_call"},` + internal + `]}]`}
	result := func(id, call string) sent {
		return sent{"messages/complete", `[{"type":"tool","id":"` + id + `","tool_call_id":"` + call + `","name":"w","content":"secret"}]`}
	}
	public := strings.ReplaceAll(result("t1", "cV").data, "secret", "shown")
	stream := []sent{asked, announced("t1", "U1"), {"messages/complete", public}, announced("t2", "U2"), result("t2", "cX")}
	for _, repeated := range []sent{{"updates", `{"tools":{"messages":` + public + `}}`}, {"values", `{"messages":` + public + `}`}} {
		if out := leaving(client, append(stream[:5:5], repeated)...); strings.Count(out, "shown") != 2 {
			t.Errorf("the result of a call that was shown does not leave, or not in %s:\n%s", repeated.name, out)
		}
	}
	checkStaysIn(t, []filter.Settings{client}, stream...)
	model := sent{"messages/complete", `[{"type":"ai","id":"t1","content":"secret"}]`}
	named := sent{"messages/complete", `[{"type":"ai","id":"t1","tool_call_id":"cV","content":"secret"}]`}
	node := sent{"updates", `{"internal_a":{"messages":[{"type":"tool","id":"t1","tool_call_id":"cV","content":"other"}]}}`}
	inside := sent{"messages/metadata", `{"t1":{"metadata":{"langgraph_node":"internal_a","langgraph_checkpoint_ns":"tools:U1"}}}`}
	for _, before := range [][]sent{{asked, announced("t1", "U1"), model}, {asked, announced("t1", "U1"), named}, {asked, announced("t1", "U1")}, {asked, announced("t1", "U1"), node}, {asked, inside}, {asked, inside, announced("t1", "U1")}} {
		call := "cV"
		if len(before) == 2 && before[1] == announced("t1", "U1") {
			call = "cY" // a call that was not shown
		}
		checkStaysIn(t, []filter.Settings{client}, append(before, result("t1", call))...)
	}
}

// TestRejectedInternalCalls rejects an internal call in a hook, which gets all calls and answers one. The other call leaves with its result.
func TestRejectedInternalCalls(t *testing.T) {
	const (
		shown    = `{"name":"weather","args":{},"id":"cV","type":"tool_call"}`
		asked    = `{"type":"ai","id":"m1","content":"","tool_calls":[` + shown + `,{"name":"internal_clock","args":{},"id":"cX","type":"tool_call"}]}`
		rejected = `{"type":"tool","id":"t1","tool_call_id":"cX","name":"internal_clock","content":"secret","status":"error"}`
		result   = `{"type":"tool","id":"t2","tool_call_id":"cV","name":"weather","content":"sunny"}`
	)
	taskOf := func(id, name, more string) string { return `{"id":"` + id + `","name":"` + name + `",` + more + `}` }
	for _, node := range []string{"HumanInTheLoopMiddleware.after_model", "Limit.before_model"} {
		tasks := []string{
			taskOf("U1", node, `"input":{"messages":[`+asked+`]},"triggers":[]`), taskOf("U1", node, `"result":{"messages":[`+asked+`,`+rejected+`]},"interrupts":[]`),
			taskOf("U2", "tools", `"input":[`+shown+`],"triggers":[]`), taskOf("U2", "tools", `"result":{"messages":[`+result+`]},"interrupts":[]`),
		}
		var inTasks, inDebug []sent
		for i, one := range tasks {
			inTasks = append(inTasks, sent{"tasks", one})
			inDebug = append(inDebug, sent{"debug", `{"step":1,"type":"` + []string{"task", "task_result"}[i%2] + `","payload":` + one + `}`})
		}
		for _, stream := range [][]sent{inTasks, inDebug} {
			checkStaysIn(t, []filter.Settings{client, public}, stream...)
			if out := leaving(client, stream...); strings.Count(out, "weather") != 3 || !strings.Contains(out, "sunny") {
				t.Errorf("%s: the other call does not leave:\n%s", node, out)
			}
		}
	}
	executes := task("U3", "my_tools", `{"messages":[`+asked+`]}`)
	if out := leaving(client, executes); strings.Contains(out, "my_tools") {
		t.Errorf("a task that may execute an internal call leaves: %s", out)
	}
}

// TestEmptiedMessages withholds the only call of a message. The end of the response leaves where it stood, and is no final answer for a
// decoder that reads what leaves.
func TestEmptiedMessages(t *testing.T) {
	const calls = `"tool_calls":[{"name":"internal_read","args":{},"id":"cX","type":"tool_call"}]`
	message := func(kind, more string) string {
		return `{"type":"` + kind + `","id":"lc_run--1","content":"",` + calls + more + `,"response_metadata":{"finish_reason":"tool_calls"}}`
	}
	const pieces = `,"tool_call_chunks":[{"name":"internal_read","args":"{}","id":"cX","index":0,"type":"tool_call_chunk"}]`
	unfinished := strings.ReplaceAll(message("ai", ""), `"finish_reason":"tool_calls"`, "")
	for _, c := range []struct {
		frame  sent
		leaves bool // under the policy public; under client all do
	}{
		{sent{"messages/complete", `[` + message("ai", "") + `]`}, true}, {sent{"messages/partial", `[` + message("ai", "") + `]`}, true},
		{sent{"messages/partial", `[` + message("AIMessageChunk", "") + `]`}, true}, {sent{"updates", `{"model":{"messages":[` + message("ai", "") + `]}}`}, true},
		{fromServer(message("ai", ""), "model"), true}, {fromServer(message("AIMessageChunk", pieces+`,"chunk_position":"last"`), "model"), true},
		{sent{"messages/complete", `[` + unfinished + `]`}, true}, {sent{"messages/partial", `[` + unfinished + `]`}, false},
		{fromServer(strings.ReplaceAll(message("AIMessageChunk", pieces), `"finish_reason":"tool_calls"`, ""), "model"), false},
	} {
		for _, reader := range []filter.Settings{client, public} {
			out := leaving(reader, c.frame)
			if leaves := strings.Contains(out, `"tool_calls":[]`); leaves != (c.leaves || reader.Policy == client.Policy) || strings.Contains(out, "cX") {
				t.Errorf("%s: of %v this leaves:\n%s", reader.Policy, c.frame, out)
			}
		}
	}
	for data, want := range map[string]bool{
		`[` + strings.Replace(message("ai", ""), calls, `"tool_calls":[]`, 1) + `]`:                                                                      false,
		`[` + strings.Replace(message("ai", ""), calls, `"tool_calls":[],"invalid_tool_calls":[{"name":"f","args":"{","id":"c1","error":"e"}]`, 1) + `]`: true,
		`[{"type":"ai","id":"lc_run--1","content":"","tool_calls":[],"response_metadata":{"finish_reason":"stop"}}]`:                                     true,
		`[{"type":"ai","id":"lc_run--1","content":"","tool_calls":[]}]`:                                                                                  true,
		`[{"type":"ai","id":"lc_run--1","content":"","tool_calls":[],"response_metadata":{"stop_reason":"tool_use"}}]`:                                   false,
	} {
		d := (Dialect{}).New(&event.Stream{})
		decodeFrame(d, sent{"metadata", started})
		if got := decodeFrame(d, sent{"messages/complete", data}).Has(event.KindFinal); got != want {
			t.Errorf("%s: final is %t, want %t", data, got, want)
		}
	}
}
