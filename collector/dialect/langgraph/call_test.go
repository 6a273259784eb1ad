package langgraph

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
)

// calling and resulting are a message with a call, and its result. An empty id is null.
func calling(id, text, call string) string {
	return fmt.Sprintf(`{"type":"ai","id":%s,"content":%q,"tool_calls":[{"name":"search","args":{},"id":%q,"type":"tool_call"}]}`, orNull(id), text, call)
}

func resulting(id, text, call string) string {
	return fmt.Sprintf(`{"type":"tool","name":"search","id":%s,"content":%q,"tool_call_id":%q}`, orNull(id), text, call)
}

func orNull(id string) string {
	if id == "" {
		return "null"
	}
	return fmt.Sprintf("%q", id)
}

func updated(node, message string) sent {
	return sent{"updates", fmt.Sprintf(`{%q:{"messages":[%s]}}`, node, message)}
}

// TestCallIDsOfARun has a model's server that only counts calls give two calls of a run the same ID.
func TestCallIDsOfARun(t *testing.T) {
	first, firstResult := calling("run-1", "", "call_0"), resulting("t1", "one", "call_0")
	second, secondResult := calling("run-2", "", "call_0"), resulting("t2", "two", "call_0")
	state := func(messages ...string) string {
		return frame("values", `{"messages":[`+strings.Join(messages, ",")+`]}`)
	}
	update := func(node, message string) string { return frame("updates", updated(node, message).data) }
	in := func(graph, node, message string) string { return frame("updates|"+graph, updated(node, message).data) }
	turn := func(message, result string) []string {
		return []string{update("model", message), update("tools", result)}
	}
	for _, c := range []struct {
		name    string
		frames  []string
		started int
		ended   int
	}{
		{"a call after the other's result", slices.Concat(turn(first, firstResult), turn(second, secondResult)), 2, 2},
		{"states repeat the messages", []string{
			state(`{"type":"human","id":"h","content":"x"}`), state(first), state(first, firstResult), state(first, firstResult, second), update("model", second),
			state(first, firstResult, second, secondResult), update("tools", secondResult),
		}, 2, 2},
		{"a message again", slices.Concat(turn(first, firstResult), turn(first, firstResult)), 1, 1},
		{"the second call has no result", slices.Concat(turn(first, firstResult), []string{update("model", second), state(first, firstResult, second)}), 2, 1},
		{"the first result again", slices.Concat(turn(first, firstResult), []string{update("model", second), update("tools", firstResult)}), 2, 1},
		{"a call of a graph beside the first's", []string{in("a:1", "model", first), in("b:2", "model", second), in("b:2", "tools", secondResult), in("a:1", "tools", firstResult)}, 2, 2},
		{"a call of a graph beside the first's, and results again", []string{
			in("a:1", "model", first), in("b:2", "model", second), in("b:2", "tools", secondResult), in("b:2", "tools", resulting("t3", "two", "call_0")),
		}, 2, 1},
		{"a copy of an open call with a unique ID in another graph", []string{in("a:1", "model", calling("run-1", "", "call_x1")), in("b:2", "model", calling("copy", "", "call_x1"))}, 1, 0},
		{"a copy of a call with a unique ID", slices.Concat(
			turn(calling("run-1", "", "call_x1"), resulting("t1", "one", "call_x1")), turn(calling("copy", "", "call_x1"), resulting("copy2", "one", "call_x1"))), 1, 1},
	} {
		got := strings.Join(facts(nil, c.frames...), "\n")
		if started, ended := strings.Count(got, "tool_started"), strings.Count(got, "tool_ended"); started != c.started || ended != c.ended {
			t.Errorf("%s: %d calls started and %d ended, want %d and %d:\n%s", c.name, started, ended, c.started, c.ended, got)
		}
	}
}

// TestEventsOfOneID has parallel graphs call tools with one numbered ID. Events show the results and failures of one of the calls.
func TestEventsOfOneID(t *testing.T) {
	both := []string{frame("updates|a:1", updated("model", calling("run-1", "", "call_0")).data), frame("updates|b:2", updated("model", calling("run-2", "", "call_0")).data)}
	ends := func(name, namespace string) string {
		return frame("events", `{"event":"on_chain_end","name":"`+name+`","data":{"output":{"messages":[`+resulting("", "two", "call_0")+`]}},"metadata":{"langgraph_node":"`+name+`","langgraph_checkpoint_ns":"`+namespace+`"}}`)
	}
	failed := toolEvent("on_tool_error", "search", "b:2|tools:3", `{"tool_call_id":"call_0","error":`+raised+`}`)
	for name, c := range map[string]struct {
		frames []string
		want   string
	}{
		"a result":             {[]string{ends("tools", "b:2|tools:3")}, "b:2"},
		"a result, then again": {[]string{ends("tools", "b:2|tools:3"), ends("tools", "b:2|tools:3"), ends("b", "b:2")}, "b:2"},
		"a failure":            {[]string{failed, frame("error", raised)}, "b:2"},
	} {
		d, b := (Dialect{}).New(&event.Stream{}), new(event.Batch)
		var got []string
		for _, raw := range slices.Concat([]string{frame("metadata", started)}, both, c.frames) {
			name, data, _ := strings.Cut(strings.TrimPrefix(raw, "event: "), "\ndata: ")
			b.Begin(new(event.Stream), frameOf(name, strings.TrimSpace(data)).Frame, time.Time{})
			b.Parse(200)
			d.Decode(dialect.Frame{Frame: b.Frame, JSON: b.JSON}, b)
			for _, e := range b.Events {
				if e.Kind == event.KindToolEnded {
					got = append(got, b.Branch)
				}
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: calls of %q ended, want %s", name, got, c.want)
		}
	}
}

// Calls of subagents.
const (
	callX = `{"name":"task","args":{"subagent_type":"expert"},"id":"cX","type":"tool_call"}`
	callV = `{"name":"task","args":{"subagent_type":"writer"},"id":"cV","type":"tool_call"}`

	bothInOne = `{"type":"ai","id":"m7","content":"","tool_calls":[` + callX + `,` + callV + `]}`
)

// formsOf are the inputs of a task that executes a call.
func formsOf(call string) []string {
	message := `{"type":"ai","id":"m7","content":"","tool_calls":[` + call + `]}`
	return []string{
		call, `[` + call + `]`, `{"__type":"tool_call_with_context","tool_call":` + call + `,"state":{"messages":[` + bothInOne + `]}}`,
		`{"messages":[` + userAsks + `,` + message + `]}`, `[` + message + `]`,
		`{"messages":[` + bothInOne + `],"lg_tool_call":` + call + `}`, // of LangGraph.js
	}
}

// task is the start of a task.
func task(id, node, input string) sent {
	return sent{"tasks", `{"id":"` + id + `","name":"` + node + `","input":` + input + `,"triggers":[]}`}
}

// TestTaskOfCall links the graph of a task with the only call that the task executes.
func TestTaskOfCall(t *testing.T) {
	both := fromServer(bothInOne, "model")
	for _, form := range formsOf(callV) {
		d := (Dialect{}).New(&event.Stream{}).(*decoder)
		for _, one := range []sent{{"metadata", started}, both, task("U8", "tools", form)} {
			decodeFrame(d, one)
		}
		if sc := d.scopeOf([]byte("tools:U8")); sc.call != "cV" {
			t.Errorf("a graph in a task with the input %s works in the call %q", form, sc.call)
		}
	}
	d := (Dialect{}).New(&event.Stream{}).(*decoder)
	decodeFrame(d, both)
	for _, node := range []string{"model.after_model", "a"} {
		if decodeFrame(d, task("U8", node, formsOf(callV)[3])); len(d.taskCall) > 0 {
			t.Errorf("%s executes the call of the message that it gets", node)
		}
	}
}

// TestAlternatingPieces has the pieces of two calls take turns. Only the first piece of a call has the ID.
func TestAlternatingPieces(t *testing.T) {
	piece := func(index, id, name, args, more string) string {
		return frame("messages", `[{"type":"AIMessageChunk","id":"lc_run--1","content":"","tool_call_chunks":[{"index":`+index+`,"id":`+id+`,"name":`+name+`,"args":"`+args+`"}]`+more+`},{"langgraph_node":"model"}]`)
	}
	got := strings.Join(facts(nil, piece("0", `"c1"`, `"f"`, `{\"a\":`, ""), piece("1", `"c2"`, `"g"`, `{\"b\":`, ""), piece("0", "null", "null", "1}", ""), piece("1", "null", "null", "2}", `,"chunk_position":"last"`)), "\n")
	if !strings.Contains(got, `tool_started name="f" call="c1" {"a":1}`) || !strings.Contains(got, `tool_started name="g" call="c2" {"b":2}`) {
		t.Errorf("facts are\n%s", got)
	}
}

// TestLostCalls has a response without the calls that its finish reason states, as in a filtered stream. It is no answer.
func TestLostCalls(t *testing.T) {
	for reason, isFinal := range map[string]bool{"tool_calls": false, "stop": true} {
		message := `{"type":"ai","id":"lc_run--1","content":"","response_metadata":{"finish_reason":"` + reason + `"},"tool_calls":[]}`
		if got := lastFacts([]string{frame("updates", `{"model":{"messages":[`+message+`]}}`)}, "final"); len(got) > 0 != isFinal {
			t.Errorf("%s: %q", reason, got)
		}
	}
}

// TestResultsInStates checks that the result of a call may be older than a state that repeats it, if the stream joined the run.
func TestResultsInStates(t *testing.T) {
	call, result := calling("run-1", "", "call_1"), resulting("t1", "one", "call_1")
	asks := frame("updates", updated("model", call).data)
	for name, repeats := range map[string][]string{
		"values":  {frame("values", `{"messages":[]}`), asks, frame("values", `{"messages":[`+call+`,`+result+`]}`)},
		"tasks":   {asks, frame("tasks", `{"id":"t","name":"model","input":{"messages":[`+call+`,`+result+`]},"triggers":["x"]}`)},
		"updates": {asks, frame("updates", updated("tools", result).data)},
	} {
		for _, request := range []event.Identity{inThread(threadID, ""), inThread(threadID, joinedID), {Session: threadID, JoinedSession: threadID}} {
			got := strings.Join(facts(&event.Stream{Identity: request}, repeats...), "\n")
			want := request.JoinedRun+request.JoinedSession != "" && name != "updates"
			if strings.Count(got, "tool_ended") != 1 || strings.Contains(got, "uncertain") != want {
				t.Errorf("%s, %+v: uncertain is not %t:\n%s", name, request, want, got)
			}
		}
	}
}
