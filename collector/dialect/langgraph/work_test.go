package langgraph

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// tasksOf are the frames of a task's beginning and end in the modes tasks and debug.
func tasksOf(id, name, more string) (begun, ended [2]sent) {
	task, result := `{"id":"`+id+`","name":"`+name+`","input":{},"triggers":[]}`, `{"id":"`+id+`","name":"`+name+`",`+more+`}`
	return [2]sent{{"tasks", task}, {"debug", `{"type":"task","step":1,"payload":` + task + `}`}},
		[2]sent{{"tasks", result}, {"debug", `{"type":"task_result","step":1,"payload":` + result + `}`}}
}

// TestQuestionsOfOpenTasks asks a question while an internal task works. The modes updates and values do not name its task.
func TestQuestionsOfOpenTasks(t *testing.T) {
	const question = `[{"value":"secret","id":"i1"}]`
	asked := []sent{{"updates", `{"__interrupt__":` + question + `}`}, {"values", `{"messages":[],"__interrupt__":` + question + `}`}}
	begun, ended := tasksOf("t1", "internal_x", `"error":null,"result":{},"interrupts":[]`)
	_, other := tasksOf("t2", "ask", `"error":null,"result":{},"interrupts":`+question)
	run := ofEvents("on_chain_start", "internal_x", `{}`, `,"run_id":"r1","parent_ids":["r0"]`)
	for _, start := range []sent{begun[0], begun[1], run, {"tasks|a:t0", begun[0].data}} {
		for _, one := range asked {
			checkStaysIn(t, []filter.Settings{client, public}, start, one)
			checkStaysIn(t, []filter.Settings{client, public}, start, ofEvents("on_chain_end", "a", `{}`, `,"run_id":"r9"`), one)
		}
	}
	_, around := tasksOf("t0", "a", `"error":null,"result":{},"interrupts":[]`)
	for _, shown := range [][]sent{
		{begun[0], ended[0]}, {begun[1], ended[1]}, {begun[0], other[0]}, {begun[0], other[1]}, {{"tasks|a:t0", begun[0].data}, around[0]},
		{run, ofEvents("on_chain_end", "internal_x", `{}`, `,"run_id":"r1"`)}, {run, ofEvents("on_chain_end", "a", `{}`, `,"run_id":"r0"`)},
		{begun[0], {"metadata", `{"run_id":"` + joinedID + `","attempt":2}`}},
	} {
		for _, one := range asked {
			for _, reader := range []filter.Settings{client, public} {
				if out := leaving(reader, append(shown, one)...); !strings.Contains(out, one.name+" ") || !strings.Contains(out, "secret") {
					t.Errorf("%s, after %v the question of another node does not leave: %s", reader.Policy, shown, out)
				}
			}
		}
	}
	answer := sent{"values", `{"messages":[{"type":"ai","id":"m9","content":"answer"}]}`}
	if out := leaving(client, begun[0], asked[1], answer); !strings.Contains(out, answer.data) {
		t.Errorf("after a question in doubt the answer does not leave: %s", out)
	}
}

// TestErrorsOfInternalWork sends the error of an internal node or tool, and the errors of what is around it.
func TestErrorsOfInternalWork(t *testing.T) {
	const failure = `{"error":"ValueError","message":"a secret"}`
	failed := sent{"error", failure}
	begun, ended := tasksOf("t1", "internal_x", `"error":`+failure+`,"result":{},"interrupts":[]`)
	_, around := tasksOf("t0", "tools", `"error":`+failure+`,"result":{},"interrupts":[]`)
	_, wrapped := tasksOf("t0", "tools", `"error":{"error":"KeyError","message":"in another secret"},"result":{},"interrupts":[]`)
	run := ofEvents("on_chain_start", "internal_x", `{}`, `,"run_id":"r2","parent_ids":["r0","r1"]`)
	tool := func(text string) sent {
		return ofEvents("on_tool_error", "audit", `{"error":`+text+`,"tool_call_id":"c1"}`, `,"run_id":"r1","parent_ids":["r0"]`)
	}
	for _, stream := range [][]sent{
		{begun[0], failed}, {begun[1], failed}, {begun[0], ended[0], failed}, {begun[1], ended[1], failed}, {ended[0], failed}, {ended[0], around[0]}, {ended[1], around[1], failed},
		{{"tasks|tools:t0", begun[0].data}, wrapped[0], {"error", `{"error":"KeyError","message":"in another secret"}`}},
		{run, failed}, {run, tool(failure), failed}, {run, tool(`{"error":"GraphInterrupt","message":"(Interrupt(value='secret'),)"}`)},
		{run, tool(`"secret"`), {"error", `"secret"`}},
		{ofEvents("on_tool_error", "internal_x", `{"error":`+failure+`}`, `,"run_id":"r3","parent_ids":["r0","r1"]`), tool(failure), failed},
	} {
		checkStaysIn(t, []filter.Settings{client, public}, stream...)
	}
	if out := leaving(client, begun[0], ended[0], failed); !strings.Contains(out, `error {"error":"Error","message":"the run failed"}`) {
		t.Errorf("the client does not learn of the failure: %s", out)
	}
	done := ofEvents("on_chain_end", "internal_x", `{}`, `,"run_id":"r2","parent_ids":["r0","r1"]`)
	_, succeeded := tasksOf("t1", "internal_x", `"error":null,"result":{},"interrupts":[]`)
	for _, shown := range [][]sent{{failed}, {begun[0], succeeded[0], failed}, {run, done, tool(failure)}, {run, done, failed}, {around[0]}} {
		if out := leaving(client, shown...); !strings.Contains(out, failure) {
			t.Errorf("of %v the error of another node does not leave: %s", shown, out)
		}
	}
}
