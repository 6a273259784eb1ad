package openai_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestPublicCalls reads calls in chunks. The public gets the members that clients require, without the arguments.
//
// Source: openai/lib/streaming/chat/_completions.py of openai 3.54; lib/ChatCompletionStream.ts, finalizeChatCompletion, of the openai
// package for JavaScript; the schema of a chunk in @ai-sdk/openai-compatible.
func TestPublicCalls(t *testing.T) {
	excluding := public
	excluding.Exclude = []event.Kind{event.KindToolStarted}
	for _, c := range []struct{ sent, want string }{
		{`"tool_calls":[{"index":0,"id":"x","type":"function","function":{"name":"f","arguments":""}}]`, "="},
		{`"tool_calls":[{"index":0,"function":{"arguments":"{\"secret\":"}},{"index":1,"function":{"secret":1}}]`, `"tool_calls":[{"index":0,"function":{"arguments":""}},{"index":1,"function":{}}]`},
		{`"tool_calls":[{"index":0,"function":{"arguments":null}},{"index":0,"function":{"arguments":{"secret":1}}}]`, `"tool_calls":[{"index":0,"function":{"arguments":null}},{"index":0,"function":{"arguments":""}}]`},
		{`"tool_calls":[{"index":0,"id":"x","type":"custom","custom":{"name":"f","input":"secret"}}]`, `"tool_calls":[{"index":0,"id":"x","type":"custom","custom":{"name":"f","input":""}}]`},
		{`"function_call":{"name":"f","arguments":""}`, `"function_call":{"name":"f","arguments":" "}`},
		{`"function_call":{"arguments":"{\"secret\":1}"}`, `"function_call":{"arguments":" "}`},
	} {
		chunk := func(delta string) string {
			return `{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{` + delta + `},"finish_reason":null}]}`
		}
		begins := chunk(`"role":"assistant"`)
		if got, want := leaving(t, public, stream(begins, chunk(c.sent))), chunk(strings.Replace(c.want, "=", c.sent, 1)); got != begins+"\n"+want+"\n" {
			t.Errorf("%s leaves as\n%swant %s", c.sent, got, want)
		}
		if got := leaving(t, excluding, stream(begins, chunk(c.sent))); got != begins+"\n" {
			t.Errorf("%s leaves although calls are excluded:\n%s", c.sent, got)
		}
	}
}

// TestPublicCallItems reads calls in items of the Agents SDK. As in a response, the public gets the members that hold arguments, empty.
func TestPublicCallItems(t *testing.T) {
	const agent = `{"type":"agent_updated_stream_event","new_agent":{"name":"A"}}`
	excluding := public
	excluding.Exclude = []event.Kind{event.KindToolStarted}
	for _, c := range []struct{ sent, want string }{
		{`"raw_item":{"type":"function_call","call_id":"c","name":"f","arguments":"{\"secret\":1}"}`, `"raw_item":{"type":"function_call","call_id":"c","name":"f","arguments":""}`},
		{`"rawItem":{"type":"function_call","callId":"c","name":"f","arguments":{"secret":1}}`, `"rawItem":{"type":"function_call","callId":"c","name":"f","arguments":""}`},
		{`"raw_item":{"type":"custom_tool_call","call_id":"c","name":"f","input":"secret"}`, `"raw_item":{"type":"custom_tool_call","call_id":"c","name":"f","input":""}`},
		{`"raw_item":{"type":"mcp_call","id":"c","name":"f","arguments":"secret"}`, `"raw_item":{"type":"mcp_call","id":"c","name":"f","arguments":""}`},
		{`"rawItem":{"type":"hosted_tool_call","id":"c","name":"f","arguments":"secret"}`, `"rawItem":{"type":"hosted_tool_call","id":"c","name":"f","arguments":""}`},
		{`"raw_item":{"type":"function_call","call_id":"c","name":"f"}`, `"raw_item":{"type":"function_call","call_id":"c","name":"f"}`},
	} {
		item := func(members string) string {
			return `{"type":"run_item_stream_event","name":"tool_called","item":{"type":"tool_call_item",` + members + `}}`
		}
		if got, want := leaving(t, public, stream(agent, item(c.sent))), agent+"\n"+item(c.want)+"\n"; got != want {
			t.Errorf("%s leaves as\n%swant %s", c.sent, got, want)
		}
		if got := leaving(t, excluding, stream(agent, item(c.sent))); got != agent+"\n" {
			t.Errorf("%s leaves although calls are excluded:\n%s", c.sent, got)
		}
	}
}

// TestPublicApprovalItem checks that the public sees for which tool a person is asked.
func TestPublicApprovalItem(t *testing.T) {
	want := strings.Replace(asksMCP, `"{}"`, `""`, 1)
	want = strings.Replace(want, `,"server_label":"s"`, "", 1)
	if got := leaving(t, public, stream(agentA, asksMCP)); got != agentA+"\n"+want+"\n" {
		t.Errorf("this leaves:\n%swant %s", got, want)
	}
}
