package langgraph

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestCallsOfServers has a model's server execute a call. The call and its result are cut, and the rest of the message leaves. If the tool is
// not internal, all of it leaves to clients.
func TestCallsOfServers(t *testing.T) {
	const answer = `{"type":"text","text":"answer"}`
	for name, message := range map[string]string{
		"LangChain's form":      `"content":[{"type":"server_tool_call","id":"s1","name":"TOOL","args":{"q":"secret"}},{"type":"server_tool_result","tool_call_id":"s1","output":"secret"},` + answer + `]`,
		"Anthropic's search":    `"content":[{"type":"server_tool_use","id":"s1","name":"TOOL","input":{"q":"secret"}},{"type":"web_search_tool_result","tool_use_id":"s1","content":[{"title":"secret"}]},` + answer + `]`,
		"Anthropic's MCP":       `"content":[{"type":"mcp_tool_use","id":"s1","name":"TOOL","input":{}},{"type":"mcp_tool_result","tool_use_id":"s1","content":[{"type":"text","text":"secret"}]},` + answer + `]`,
		"OpenAI's MCP":          `"content":[{"type":"mcp_call","id":"s1","name":"TOOL","arguments":"secret","output":"secret"},` + answer + `]`,
		"a form of no standard": `"content":[{"type":"non_standard","value":{"type":"mcp_call","name":"TOOL","arguments":"secret","output":"secret"}},` + answer + `]`,
		"OpenAI's old form":     `"content":"answer","additional_kwargs":{"tool_outputs":[{"type":"mcp_call","name":"TOOL","arguments":"secret","output":"secret"}]}`,
		"Groq's form":           `"content":"answer","additional_kwargs":{"executed_tools":[{"name":"TOOL","arguments":"secret","type":"function","index":0,"output":"secret"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			of := func(tool string) []sent {
				message := `{"type":"ai","id":"lc_run--2",` + strings.ReplaceAll(message, "TOOL", tool) + `,"response_metadata":{},"tool_calls":[]}`
				return []sent{{"updates", `{"model":{"messages":[` + message + `]}}`}, {"values", `{"messages":[` + message + `]}`}}
			}
			for _, reader := range []filter.Settings{client, public} {
				checkStaysIn(t, []filter.Settings{reader}, of("internal_search")...)
				if out := leaving(reader, of("internal_search")...); strings.Count(out, "answer") != 2 {
					t.Errorf("%s: the rest of the message does not leave:\n%s", reader.Policy, out)
				}
			}
			if out := leaving(client, of("search")...); strings.Count(out, "secret") != 2*strings.Count(message, "secret") {
				t.Errorf("of a call of another tool this leaves:\n%s", out)
			}
		})
	}
}
