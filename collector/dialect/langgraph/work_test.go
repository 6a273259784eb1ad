package langgraph

import (
	"fmt"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
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

// TestQuestionsOfEarlierRuns withholds a question in doubt. The run that resumes begins with a saved state that repeats it.
func TestQuestionsOfEarlierRuns(t *testing.T) {
	const question = `[{"value":"secret","id":"474d8daa6fce60d40ddf63dba24ae14a"}]`
	const state = `{"values":null,"next":["flow"],"tasks":[{"id":"t0","name":"flow","interrupts":` + question + `}]}`
	begun, ended := tasksOf("t1", "internal_x", `"error":null,"result":{},"interrupts":[]`)
	_, placed := tasksOf("t0", "flow", `"error":null,"result":{},"interrupts":`+question)
	asked := sent{"updates", `{"__interrupt__":` + question + `}`}
	raised := ofEvents("on_tool_error", "flow", `{"error":{"error":"GraphInterrupt","message":"(Interrupt(value='secret', id='474d8daa6fce60d40ddf63dba24ae14a'),)"}}`, "")
	for _, repeated := range []sent{{"checkpoints", state}, {"debug", `{"type":"checkpoint","step":-1,"payload":` + state + `}`}} {
		for _, then := range []event.Identity{{Session: threadID, Answers: []string{resumes}}, {Session: threadID, JoinedSession: threadID}} {
			for _, c := range []struct {
				first []sent
				leave bool
			}{{[]sent{begun[0], asked}, false}, {[]sent{begun[0], asked, ended[0], placed[0]}, true}, {[]sent{asked}, true}, {[]sent{raised}, true}} {
				memory, states := new(event.Withheld), new(event.States)
				leavingOf(client, &event.Stream{Identity: inThread(threadID, ""), Withheld: memory, States: states}, append([]sent{{"metadata", begin}}, c.first...)...)
				if out := leavingOf(client, &event.Stream{Identity: then, Withheld: memory, States: states}, sent{"metadata", nextRun}, repeated); strings.Contains(out, "secret") != c.leave {
					t.Errorf("after %v this leaves of the next run, expected the question %t: %s", c.first, c.leave, out)
				}
			}
			out := leavingOf(client, &event.Stream{Identity: then, Withheld: new(event.Withheld)}, sent{"metadata", nextRun}, repeated)
			if strings.Contains(out, "secret") || !strings.Contains(out, `"name":"flow"`) {
				t.Errorf("of a question that no frame has shown, this leaves: %s", out)
			}
		}
		if out := leavingOf(client, &event.Stream{Identity: inThread(threadID, "")}, sent{"metadata", nextRun}, repeated); !strings.Contains(out, "secret") {
			t.Errorf("the question of a run that continues none does not leave: %s", out)
		}
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

// TestNextStepEndsWork has only metadata show when an internal node has ended: that of the graph's next step.
func TestNextStepEndsWork(t *testing.T) {
	speaks := func(node, task string, step int) sent {
		return sent{"messages", fmt.Sprintf(`[{"type":"AIMessageChunk","id":"m-%s","content":"x"},{"langgraph_node":"%s","langgraph_step":%d,"langgraph_checkpoint_ns":"%s"}]`, task, node, step, task)}
	}
	for _, internal := range []sent{speaks("internal_x", "internal_x:1", 1), speaks("internal_x", "named:1", 1)} {
		checkStaysIn(t, []filter.Settings{client}, internal, speaks("model", "model:2", 1), writes)
		checkStaysIn(t, []filter.Settings{client}, internal, speaks("model", "a:2|model:3", 2), writes)
		if out := leaving(client, internal, speaks("model", "model:2", 2), writes, fails); strings.Count(out, "secret") != 2 {
			t.Errorf("after the next step, this leaves: %s", out)
		}
	}
}
