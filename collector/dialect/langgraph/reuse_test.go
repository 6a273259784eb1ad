package langgraph

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
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

// TestReusedCallID gives a call the ID that a withheld call had.
func TestReusedCallID(t *testing.T) {
	const call = "functions.search:0"
	planned, executed := updated("internal_planner", calling("i1", "secret", call)), updated("internal_tools", resulting("t1", "secret", call))
	shown := []sent{updated("model", calling("m1", "visible 1", call)), updated("tools", resulting("t2", "visible 2", call))}
	tuple := func(message string) sent { return inTuple(message, `,"langgraph_checkpoint_ns":"model:1"`) }
	chunk := fmt.Sprintf(`{"type":"AIMessageChunk","id":"m1","content":"visible 1","tool_call_chunks":[{"name":"search","args":"","id":%q,"index":0}]}`, call)
	subgraph := sent{"updates|tools:11111111-2222-3333-4444-555555555555", `{"model":{"messages":[{"type":"ai","id":"s1","content":"secret"}]}}`}
	for _, c := range []struct {
		name   string
		frames []sent
		want   int // the number of texts that leave under the policy client
	}{
		{"after the result", append([]sent{planned, executed}, shown...), 2},
		{"in pieces", []sent{planned, executed, tuple(chunk), tuple(resulting("t2", "visible 2", call)), shown[0], shown[1]}, 4},
		{"before the result", append([]sent{planned}, shown...), 0},
		{"the result comes late", []sent{planned, shown[0], executed}, 0},
		{"a unique id", []sent{updated("internal_planner", calling("i1", "secret", "call_x1")), updated("internal_tools", resulting("t1", "secret", "call_x1")),
			updated("model", calling("m1", "visible", "call_x1"))}, 0},
		{"the messages again", append([]sent{planned, executed, shown[0], shown[1], updated("model", calling("i1", "secret", call)), updated("tools", resulting("t1", "secret", call))}, shown...), 4},
		{"the messages again, first", []sent{planned, executed, updated("model", calling("i1", "secret", call)), updated("tools", resulting("t1", "secret", call)), shown[0], shown[1]}, 2},
		{"the messages again, without ids", []sent{planned, executed, shown[0], shown[1], updated("model", calling("", "secret", call)), updated("tools", resulting("", "secret", call))}, 2},
		{"a state repeats all", append([]sent{planned, executed, shown[0], {"values", `{"messages":[` + strings.Join([]string{
			calling("i1", "secret", call), resulting("t1", "secret", call), calling("m1", "visible 1", call)}, ",") + `]}`}}, shown[1]), 3},
		{"an internal call has the id again", []sent{planned, executed, shown[0], shown[1], updated("internal_planner", calling("i2", "secret", call)), updated("tools", resulting("t3", "secret", call))}, 2},
		{"a subgraph of the next internal call", []sent{planned, executed, updated("internal_planner", calling("i2", "secret", call)),
			subgraph}, 0},
		{"a subgraph of the next call of an internal message", []sent{planned, executed,
			updated("model", strings.Replace(calling("i2", "secret", call), `{`, `{"name":"internal_planner",`, 1)), subgraph}, 0},
	} {
		checkStaysIn(t, []filter.Settings{client, public}, c.frames...)
		if got := strings.Count(leaving(client, c.frames...), "visible"); got != c.want {
			t.Errorf("%s: %d texts leave, want %d:\n%s", c.name, got, c.want, leaving(client, c.frames...))
		}
	}
}

// TestReusedCallIDInThread gives a call the ID that a withheld call of an earlier run of the thread had.
func TestReusedCallIDInThread(t *testing.T) {
	const call = "call_0"
	var withheld event.Withheld
	stream := func(run string) *event.Stream {
		return &event.Stream{SingleRun: true, Withheld: &withheld, Identity: event.Identity{Session: run[:8] + "-0000-4000-8000-000000000001"}}
	}
	begun := sent{"metadata", started}
	planned, executed := updated("internal_planner", calling("i1", "secret", call)), updated("internal_tools", resulting("t1", "secret", call))
	if out := leavingOf(client, stream("aaaaaaaa"), begun, planned, executed); strings.Contains(out, "secret") {
		t.Errorf("this leaves:\n%s", out)
	}
	out := leavingOf(client, stream("aaaaaaaa"), begun, updated("model", calling("m1", "visible", call)), updated("tools", resulting("t2", "visible", call)), updated("tools", resulting("", "secret", call)))
	if strings.Count(out, "visible") != 2 || strings.Contains(out, "secret") {
		t.Errorf("of the next run this leaves:\n%s", out)
	}
}

// TestReusedCallIDInState gives internal calls the IDs of those of an earlier turn, which the states repeat with their results.
func TestReusedCallIDInState(t *testing.T) {
	asking := func(id string) string {
		const call = `{"name":"task","args":{"subagent_type":%q,"description":"d"},"id":"call_898e205c2a1d4d62be92730%d"}`
		return fmt.Sprintf(`{"type":"ai","id":%q,"content":"","tool_calls":[`+call+`,`+call+`,`+call+`]}`, id, "internal_r", 0, "internal_r", 1, "writer", 2)
	}
	human := func(id string) string { return fmt.Sprintf(`{"type":"human","id":%q,"content":"x"}`, id) }
	answer := `{"type":"ai","id":"a1","content":"done"}`
	history := strings.Join([]string{human("h1"), asking("i1"), resulting("t1", "secret", "call_898e205c2a1d4d62be927300"), resulting("u1", "secret", "call_898e205c2a1d4d62be927301"), resulting("v1", "x", "call_898e205c2a1d4d62be927302"), answer, human("h2")}, ",")
	within := sent{"values|tools:11111111-2222-3333-4444-555555555555", `{"messages":[{"type":"human","id":"w","content":"secret"}]}`}
	state := func(messages string) sent { return sent{"values", `{"messages":[` + messages + `]}`} }
	custom := sent{"custom", `{"progress":"secret"}`}
	checkStaysIn(t, []filter.Settings{client, public}, state(history), state(history+","+asking("i2")), within, custom)
	done := state(history + "," + asking("i2") + "," + resulting("t2", "secret", "call_898e205c2a1d4d62be927300") + "," + resulting("u2", "secret", "call_898e205c2a1d4d62be927301") + "," + resulting("v2", "x", "call_898e205c2a1d4d62be927302"))
	checkStaysIn(t, []filter.Settings{client, public}, state(history), state(history+","+asking("i2")), done)
	if out := leaving(client, state(history), state(history+","+asking("i2")), done, sent{"custom", `{"progress":"visible"}`}); !strings.Contains(out, "visible") {
		t.Errorf("after the result nothing leaves:\n%s", out)
	}
}

// TestCallIDsOfARun has a model's server that only counts calls give two calls of a run the same ID.
func TestCallIDsOfARun(t *testing.T) {
	first, firstResult := calling("run-1", "", "call_0"), resulting("t1", "one", "call_0")
	second, secondResult := calling("run-2", "", "call_0"), resulting("t2", "two", "call_0")
	state := func(messages ...string) string {
		return frame("values", `{"messages":[`+strings.Join(messages, ",")+`]}`)
	}
	update := func(node, message string) string { return frame("updates", updated(node, message).data) }
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
		{"a copy of a call with a unique ID", slices.Concat(
			turn(calling("run-1", "", "call_x1"), resulting("t1", "one", "call_x1")), turn(calling("copy", "", "call_x1"), resulting("copy2", "one", "call_x1"))), 1, 1},
	} {
		got := strings.Join(facts(nil, c.frames...), "\n")
		if started, ended := strings.Count(got, "tool_started"), strings.Count(got, "tool_ended"); started != c.started || ended != c.ended {
			t.Errorf("%s: %d calls started and %d ended, want %d and %d:\n%s", c.name, started, ended, c.started, c.ended, got)
		}
	}
}
