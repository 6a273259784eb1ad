package langgraph

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// repeatedCalls are messages with a call of a TOOL, or a description of one, in forms that servers of models and LangChain's packages have
// beside LangChain's own. A call of another tool is beside it.
var repeatedCalls = map[string]string{
	"Google's joined calls":        `"content":"shown","additional_kwargs":{"function_call":{"name":"weatherTOOL","arguments":"{}{\"q\":\"secret\"}"}},` + calledBoth,
	"Google's joined calls, saved": `"kwargs":{"content":"shown","additional_kwargs":{"function_call":{"name":"weatherTOOL","arguments":"{}{\"q\":\"secret\"}"}},` + calledBoth + `}`,
	"Google's blocks":              `"content":[{"type":"functionCall","functionCall":{"name":"weather","args":{"q":"shown"}}},{"type":"functionCall","functionCall":{"name":"TOOL","args":{"q":"secret"}}}],` + calledBoth,
	"Google's IDs":                 `"content":"shown","additional_kwargs":{"__gemini_function_call_thought_signatures__":{"c1":"shown","c2":"secret"}},` + calledBoth,
	"OpenAI's output": `"content":"shown","response_metadata":{"output":[{"type":"function_call","id":"f1","call_id":"c1","name":"weather","arguments":"shown"},
		{"type":"mcp_call","id":"s1","name":"TOOL","arguments":"secret","output":"secret"},{"type":"custom_tool_call","call_id":"s2","name":"TOOL","input":"secret"}]}`,
	"OpenAI's output of a known call": `"content":"shown","response_metadata":{"output":[{"type":"function_call","call_id":"c2","arguments":"secret"},{"type":"function_call","call_id":"c1","name":"weather","arguments":"shown"}]},` + calledBoth,
	"a remote tool": `"content":[{"type":"server_tool_call","id":"s1","name":"remote_mcp","args":{"q":"secret"},"extras":{"tool_name":"TOOL"}},{"type":"server_tool_result","tool_call_id":"s1","output":"secret"},
		{"type":"server_tool_call","id":"s2","name":"remote_mcp","args":{"q":"shown"},"extras":{"tool_name":"weather"}},{"type":"server_tool_result","tool_call_id":"s2","output":"shown"}]`,
	"a result of LangChain.js": `"content":[{"type":"server_tool_call","id":"s1","name":"TOOL","args":{}},{"type":"server_tool_call_result","toolCallId":"s1","output":{"x":"secret"}},{"type":"text","text":"shown"}]`,
	"a saved message":          `"content":"shown","lc_kwargs":{"lc_kwargs":{"content":"shown","response_metadata":{"output":[{"type":"function_call","name":"TOOL","arguments":"secret"}]},"tool_calls":[{"name":"TOOL","args":{"q":"secret"},"id":"c2"}]}},` + calledBoth,
	"listed tools": `"content":[{"type":"server_tool_call","name":"mcp_list_tools","args":{},"id":"l1"},
		{"type":"server_tool_result","tool_call_id":"l1","output":[{"name":"TOOL","description":"secret","input_schema":{}},{"name":"weather","description":"shown","input_schema":{}}]}]`,
	"listed tools of OpenAI": `"content":"shown","additional_kwargs":{"tool_outputs":[{"type":"mcp_list_tools","tools":[{"name":"TOOL","description":"secret","input_schema":{}},{"name":"weather","description":"shown","input_schema":{}}]}]}`,
	"offered tools":          `"content":"shown","response_metadata":{"tools":[{"type":"function","name":"TOOL","description":"secret","parameters":{}}],"tool_choice":{"type":"function","name":"TOOL"},"x":"shown"}`,
	"found tools":            `"content":[{"type":"tool_search_tool_result","tool_use_id":"s1","content":{"tool_references":[{"type":"tool_reference","tool_name":"TOOL","x":"secret"},{"type":"tool_reference","tool_name":"weather","x":"shown"}]}}]`,
}

const calledBoth = `"tool_calls":[{"name":"weather","args":{"q":"shown"},"id":"c1","type":"tool_call"},{"name":"TOOL","args":{"q":"secret"},"id":"c2","type":"tool_call"}]`

// inModes returns frames of several modes with the message of a model.
func inModes(message string) [][]sent {
	return [][]sent{
		{{"updates", `{"model":{"messages":[` + message + `]}}`}}, {{"values", `{"messages":[` + message + `]}`}}, {{"messages/complete", `[` + message + `]`}}, {inTuple(message, "")},
		{returns("", "t1", "model", `{"messages":[`+message+`]}`)},
		{{"events", `{"event":"on_chat_model_end","name":"M","run_id":"r1","data":{"output":` + message + `},"metadata":{"langgraph_node":"model"}}`}},
	}
}

// TestRepeatedCalls has calls of an internal tool in each form: only they are cut. Calls of other tools leave unchanged.
func TestRepeatedCalls(t *testing.T) {
	for name, message := range repeatedCalls {
		t.Run(name, func(t *testing.T) {
			of := func(tool string) [][]sent {
				return inModes(`{"type":"ai","id":"lc_run--2",` + strings.ReplaceAll(strings.ReplaceAll(message, "TOOL", tool), "\n\t\t", "") + `}`)
			}
			for _, stream := range of("internal_search") {
				checkStaysIn(t, []filter.Settings{client, public}, stream...)
				if out := leaving(client, stream...); strings.Count(out, "shown") != strings.Count(message, "shown") {
					t.Errorf("the rest of the message does not leave:\n%s", out)
				}
			}
			for _, stream := range of("search") {
				if out := leaving(client, stream...); strings.Count(out, "secret") != strings.Count(message, "secret") {
					t.Errorf("of a call of another tool this leaves:\n%s", out)
				}
			}
		})
	}
}

// TestRepeatedSubagents has calls of an internal subagent in such forms, and a call in pieces, of which another message has the result.
func TestRepeatedSubagents(t *testing.T) {
	asks := `{"type":"function_call","call_id":"c1","name":"task","arguments":"{\"subagent_type\":\"internal_critic\",\"q\":\"secret\"}"}`
	for _, more := range []string{
		`"content":"shown","response_metadata":{"output":[` + asks + `]}`,
		`"lc":1,"id":["langchain_core","messages","AIMessage"],"kwargs":{"content":"shown","response_metadata":{"output":[` + asks + `]}}`,
		`"content":[{"type":"functionCall","functionCall":{"name":"task","args":{"subagent_type":"internal_critic","q":"secret"}}},{"type":"text","text":"shown"}]`,
	} {
		message := `{"type":"ai","id":"lc_run--2",` + more + `}`
		if strings.Contains(more, "kwargs") {
			message = `{"type":"constructor",` + more + `}`
		}
		for _, stream := range inModes(message) {
			checkStaysIn(t, []filter.Settings{client, public}, stream...)
			if out := leaving(client, stream...); !strings.Contains(out, "shown") || strings.Contains(out, "functionCall") {
				t.Errorf("not just the rest of the message leaves:\n%s", out)
			}
		}
	}
	both := `"content":[{"type":"functionCall","functionCall":{"name":"task","args":{"subagent_type":"internal_critic","q":"secret"}}},{"type":"functionCall","functionCall":{"name":"task","args":{"subagent_type":"writer","q":"shown"}}}]`
	both += `,"tool_calls":[{"name":"task","args":{"subagent_type":"internal_critic","q":"secret"},"id":"c1"},{"name":"task","args":{"subagent_type":"writer","q":"shown"},"id":"c2"}]`
	for _, stream := range inModes(`{"type":"ai","id":"lc_run--2",` + both + `}`) {
		checkStaysIn(t, []filter.Settings{client, public}, stream...)
		if out := leaving(client, stream...); strings.Count(out, "shown") != 2 {
			t.Errorf("the other call does not leave:\n%s", out)
		}
	}
	block := func(block string) sent {
		return inTuple(`{"type":"AIMessageChunk","id":"lc_run--1","content":[`+block+`]}`, "")
	}
	checkStaysIn(t, []filter.Settings{client, public}, block(`{"type":"server_tool_call_chunk","name":"remote_mcp","args":"","id":"s1","extras":{"tool_name":"internal_read"},"index":6}`),
		block(`{"type":"server_tool_call_chunk","args":"secret","index":6}`), block(`{"type":"server_tool_result","tool_call_id":"s1","output":"secret","index":7}`),
		inTuple(`{"type":"ai","id":"lc_run--2","content":[{"type":"server_tool_call_result","toolCallId":"s1","output":"secret"}]}`, ""))
}

// TestNamesInArguments has internal names in what a model or a tool has written: such a name does not make the call internal.
func TestNamesInArguments(t *testing.T) {
	const named = `{"name":"internal_report","args":{"q":"shown"},"type":"x"}`
	for _, more := range []string{
		`"content":"","tool_calls":[{"name":"save","args":{"file":` + named + `},"id":"c1"}]`,
		`"content":[{"type":"mcp_tool_use","id":"s1","name":"save","input":{"file":` + named + `}}]`,
		`"content":[{"type":"server_tool_result","tool_call_id":"s1","output":[` + named + `]}]`,
		`"content":[{"type":"text","text":"shown","annotations":[{"name":"internal_report"}]}]`,
		`"content":"","response_metadata":{"output":[{"type":"mcp_call","name":"list","arguments":"","output":[` + named + `]}]}`,
		`"content":"","additional_kwargs":{"parsed":{"file":{"name":"internal_report","description":"shown","type":"function"}}}`,
	} {
		for _, stream := range inModes(`{"type":"ai","id":"lc_run--2",` + more + `}`) {
			if out := leaving(client, stream...); strings.Count(out, "shown") != 1 || !strings.Contains(out, "internal_report") {
				t.Errorf("of %s this leaves:\n%s", more, out)
			}
		}
	}
}
