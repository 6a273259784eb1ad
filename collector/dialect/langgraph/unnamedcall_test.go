package langgraph

import (
	"fmt"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestCallsWithoutID has a model's server give calls no ID. What a withheld one sends stays in, until each call of the tool has its result.
func TestCallsWithoutID(t *testing.T) {
	asks := func(id string, tools ...string) string {
		var calls []string
		for _, tool := range tools {
			calls = append(calls, `{"name":"`+tool+`","args":{"subagent_type":"writer"},"id":"","type":"tool_call"}`)
		}
		return fmt.Sprintf(`{"type":"ai","id":%q,"content":"plan","tool_calls":[%s]}`, id, strings.Join(calls, ","))
	}
	result := func(id, tool, content string) string {
		return fmt.Sprintf(`{"type":"tool","id":%q,"name":%q,"tool_call_id":"","content":%q}`, id, tool, content)
	}
	inTools := func(m string) sent {
		return sent{"messages", `[` + m + `,{"langgraph_node":"tools","langgraph_checkpoint_ns":"tools:t1"}]`}
	}
	state := func(messages ...string) sent {
		return sent{"values", `{"messages":[` + strings.Join(messages, ",") + `]}`}
	}
	task := func(more string) sent { return sent{"tasks", `{"id":"t1","name":"tools",` + more + `}`} }
	piece := func(name, args string) sent {
		return sent{"messages", `[{"type":"AIMessageChunk","id":"m1","content":"","tool_call_chunks":[{"name":` + orNull(name) + `,"args":` + args + `,"id":"","index":0}]},` + atModel + `]`}
	}
	const lookup = "internal_lookup"
	secret, visible := sent{"custom", `{"progress":"secret"}`}, sent{"custom", `{"progress":"visible"}`}
	within := sent{"updates|tools:t1", `{"model":{"messages":[{"type":"ai","id":"s1","content":"secret"}]}}`}
	delegated := strings.ReplaceAll(asks("m1", "task"), "writer", "internal_x")
	ended := []sent{inTools(result("r1", lookup, "secret")), updated("tools", result("r1", lookup, "secret"))}
	for name, stream := range map[string][]sent{
		"a message":           append([]sent{inTuple(asks("m1", lookup), ""), secret, within}, ended...),
		"an update":           append([]sent{updated("model", asks("m1", lookup)), secret, within}, ended...),
		"a state":             append([]sent{state(userAsks), state(userAsks, asks("m1", lookup)), secret, within}, ended...),
		"a task":              {task(`"input":[{"name":"internal_lookup","args":{},"id":"","type":"tool_call"}],"triggers":["__pregel_push"]`), secret, task(`"result":{"messages":[` + result("r1", lookup, "secret") + `]},"interrupts":[]`)},
		"two calls":           {updated("model", asks("m1", lookup, lookup)), ended[0], ended[1], secret, updated("tools", result("r2", lookup, "secret"))},
		"another result":      {inTuple(asks("m1", lookup), ""), updated("tools", result("r0", "search", "shown")), secret, ended[0]},
		"a result of before":  {updated("model", asks("m0", "search")), updated("tools", result("r0", "search", "shown")), updated("internal_x", asks("m1", "search")), updated("tools", result("r0", "search", "shown")), secret, updated("tools", result("r1", "search", "secret"))},
		"a subagent":          {inTuple(delegated, ""), within, secret, inTools(result("r1", "task", "secret")), updated("tools", result("r1", "task", "secret"))},
		"beside a subagent":   {updated("model", strings.Replace(asks("m1", "task", "task"), "writer", "internal_x", 1)), inTools(result("r1", "task", "secret")), secret, inTools(result("r2", "task", "secret"))},
		"pieces":              {piece(lookup, `""`), piece("", `"secret"`), secret, within, ended[0]},
		"pieces of a name":    {piece("inter", `""`), piece("nal_lookup", `"secret"`), secret, within, ended[0]},
		"a name that grows":   {piece("internal_", `""`), piece("lookup", `"secret"`), secret, within, ended[0]},
		"pieces of arguments": {piece("task", `""`), piece("", `"{\"subagent_type\":\"int"`), piece("", `"ernal_x\",\"secret"`), secret, within, inTools(result("r1", "task", "secret"))},
		"in an internal node": {updated("internal_x", asks("m1", "search")), secret, updated("tools", result("r1", "search", "secret"))},
		"beside the result":   {updated("internal_x", asks("m1", "search")), updated("tools", result("r1", "search", "secret")+`,{"type":"ai","id":"b1","content":"secret"}`)},
		"a later state": {
			state(userAsks), updated("model", asks("m1", lookup)), ended[0], updated("model", asks("m2", lookup)), state(userAsks, asks("m1", lookup), result("r1", lookup, "secret"), asks("m2", lookup)), secret,
			inTools(result("r2", lookup, "secret")),
		},
		"a canceled call": {updated("model", asks("m1", lookup)), secret, state(userAsks, asks("m1", lookup), userAsks, `{"type":"ai","id":"m3","content":"x"}`)},
	} {
		t.Run(name, func(t *testing.T) {
			checkStaysIn(t, []filter.Settings{client, public}, stream...)
			if out := leaving(client, append(stream, visible)...); !strings.Contains(out, "visible") {
				t.Errorf("after the results nothing leaves:\n%s", out)
			}
		})
	}
	mixed := []sent{updated("model", asks("m1", "search", lookup, "list")), updated("tools", result("r1", "search", "visible")), updated("tools", result("r2", "list", "visible"))}
	if out := leaving(client, mixed...); strings.Count(out, "visible") != 2 || strings.Count(out, `"search"`)+strings.Count(out, `"list"`) != 4 || strings.Contains(out, lookup) {
		t.Errorf("of other calls beside a withheld one this leaves:\n%s", out)
	}
	ordinary := []sent{
		piece("search", `""`), piece("", `"{\"subagent_type\":\"writer\"}"`), updated("model", asks("m1", "search", "search")), visible, within, inTools(result("r1", "search", "visible")), visible,
		state(userAsks, asks("m1", "search", "search"), result("r1", "search", "visible")),
	}
	if out := leaving(client, ordinary...); strings.Count(out, "\n") != len(ordinary)+1 || strings.Count(out, `"search"`) != 1+2+1+3 {
		t.Errorf("of ordinary calls this leaves:\n%s", out)
	}
}
