package openai_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
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

// TestSearchesOfTools reads searches of tools and programs, which the server or the client runs. The public sees that they ran.
func TestSearchesOfTools(t *testing.T) {
	done := func(n, item string) string {
		return `{"type":"response.output_item.done","output_index":` + n + `,"item":{` + item + `}}`
	}
	const (
		search  = `"id":"x","type":"tool_search_call","call_id":ID,"arguments":{"goal":"secret"},"execution":"BY","status":"completed"`
		found   = `"id":"y","type":"tool_search_output","call_id":ID,"tools":[{"type":"function","name":"secret"}],"execution":"BY","status":"completed"`
		program = `"id":"p","type":"program","call_id":"c","code":"secret","fingerprint":"secret"`
		result  = `"id":"q","type":"program_output","call_id":"c","result":"secret","status":"completed"`
		call    = `"id":"f","type":"function_call","call_id":"d","name":"w","arguments":"{}"`
		begins  = `run_started; model_started model="m"; `
		ends    = `model_ended model="m" finish="completed"; `
	)
	server, client := strings.NewReplacer("ID", "null", "BY", "server"), strings.NewReplacer("ID", `"c"`, "BY", "client")
	for name, c := range map[string]struct {
		items []string
		want  string
	}{
		"of the server": {[]string{server.Replace(search), server.Replace(found)}, begins + `tool_started name="tool_search" call="x" {"goal":"secret"}; tool_ended name="tool_search" call="x" [{"type":"function","name":"secret"}]; ` + ends + `final; run_ended`},
		"beside a call": {[]string{call, server.Replace(search), server.Replace(found)},
			begins + `tool_started name="w" call="d" {}; tool_started name="tool_search" call="x" {"goal":"secret"}; tool_ended name="tool_search" call="x" [{"type":"function","name":"secret"}]; ` + ends + `tool_paused call="d"; run_ended`},
		"of the client":          {[]string{client.Replace(search)}, begins + `tool_started name="tool_search" call="c" {"goal":"secret"}; ` + ends + `tool_paused call="c"; run_ended`},
		"a program":              {[]string{program, result}, begins + `tool_started name="program" call="c" "secret"; tool_ended name="program" call="c" "secret"; ` + ends + `final; run_ended`},
		"an open program":        {[]string{program}, begins + `tool_started name="program" call="c" "secret"; ` + ends + `tool_paused call="c"; run_ended`},
		"a program that was cut": {[]string{program, strings.Replace(result, "completed", "incomplete", 1)}, begins + `tool_started name="program" call="c" "secret"; ` + ends + `final; run_ended`},
	} {
		whole := `{"type":"response.completed","response":{"id":"r","status":"completed","output":[{` + strings.Join(c.items, "},{") + `}]}}`
		pieces := []string{created}
		for i, item := range c.items {
			pieces = append(pieces, done(strconv.Itoa(i), item))
		}
		for _, sent := range [][]string{append(pieces, whole), {created, whole}} {
			if got := factsOf(stream(sent...)); got != c.want {
				t.Errorf("%s:\n%s, want\n%s", name, got, c.want)
			}
			checkTruth(t, name, stream(sent...))
			if out := leaving(t, public, stream(sent...)); strings.Contains(out, "secret") {
				t.Errorf("%s: under public this leaves: %s", name, out)
			}
		}
	}
}

// TestNamesOfTools sends calls of tools with internal names, which leave. Only the name of a run item is an event's own.
func TestNamesOfTools(t *testing.T) {
	for _, name := range []string{"internal_docs_search", "Internal Search", "internalize"} {
		item := `{"type":"function_call","id":"f","call_id":"c","name":"` + name + `","arguments":"{}"}`
		sent := []string{created, `{"type":"response.output_item.added","output_index":0,"item":` + item + `}`}
		for _, kind := range []string{"function_call_arguments.delta", "function_call_arguments.done", "custom_tool_call_input.done", "mcp_call_arguments.done"} {
			sent = append(sent, `{"type":"response.`+kind+`","output_index":0,"item_id":"f","name":"`+name+`","delta":"secret","arguments":"secret"}`)
		}
		sent = append(sent, `{"type":"response.completed","response":{"id":"r","status":"completed","output":[`+item+`]}}`)
		if out := leaving(t, client, stream(sent...)); strings.Count(out, "\n") != len(sent) {
			t.Errorf("of a call of %s this leaves: %s", name, out)
		}
		if out := leaving(t, public, stream(sent...)); !strings.Contains(out, "response.completed") {
			t.Errorf("under public, of a call of %s this leaves: %s", name, out)
		}
		checkStaysIn(t, []filter.Settings{client, public}, `{"type":"run_item_stream_event","name":"`+name+`","item":{"type":"message_output_item","raw_item":{"id":"m","type":"message","role":"assistant","content":[{"type":"output_text","text":"secret"}]}}}`)
		checkStaysIn(t, []filter.Settings{client, public}, created, added, `{"type":"response.function_call_arguments.done","kind":"`+name+`","arguments":"secret"}`)
	}
}

// TestResultsInChunks sends results of calls in another completion than the calls. If the chunk with the call was withheld or unreadable,
// the result stays in too. The results of other calls leave.
func TestResultsInChunks(t *testing.T) {
	const (
		begun  = `{"id":"w","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"open"}}]}`
		called = `{"id":"v","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"t","type":"function","function":{"name":"f","arguments":""}}]}}]}`
		result = `{"id":"w","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"tool","tool_call_id":"t","content":"secret"}}]}`
		again  = `{"id":"w","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t","function":{"name":"f","arguments":"secret"}}]}}]}`
		// As LiteLLM calls MCP tools.
		ran    = `{"id":"u","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","provider_specific_fields":{"mcp_call_results":[{"tool_call_id":"t","result":"secret"}]}}}]}`
		listed = `{"id":"u","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","provider_specific_fields":{"mcp_tool_calls":[{"id":"t","type":"function","function":{"name":"f","arguments":"secret"}}]}}}]}`
		both   = `{"id":"u","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"t","function":{"name":"f"}}],"provider_specific_fields":{"mcp_call_results":[{"tool_call_id":"t","result":"secret"}]}}}]}`
	)
	mark := func(member string) string { return strings.Replace(called, `{"id":"v"`, `{`+member+`"id":"v"`, 1) }
	for _, single := range []bool{true, false} {
		leavesOf := func(sent ...string) string {
			return leavingOf(t, client, &event.Stream{SingleRun: single}, stream(sent...))
		}
		for _, hidden := range []string{
			strings.Replace(called, "chat.completion.chunk", "internal.chat.completion.chunk", 1), mark(`"kind":"internal",`), mark(`"event":"internal_x",`),
			strings.Replace(called, `"type":"function"`, `"type":"internal"`, 1), mark(`"x":1,"x":2,`),
			strings.Replace(called, `}}]}}]}`, `}}]}},{"index":1,"delta":{"role":"system","content":"x"}}]}`, 1),
		} {
			for _, next := range [][]string{{result}, {strings.Replace(result, `"id":"w"`, `"id":"u"`, 1)}, {again}, {ran}, {listed}, {both}, {strings.Replace(result, "secret", "", 1), strings.NewReplacer(`"role":"tool","tool_call_id":"t",`, "").Replace(result)}} {
				if isCut := strings.Contains(hidden, `"x":2`); isCut && (next[0] == again || next[0] == both) {
					continue // it may begin the call
				}
				if out := leavesOf(append([]string{begun, hidden}, next...)...); strings.Contains(out, "secret") {
					t.Errorf("a single run: %t, of %s\nthis leaves: %s", single, hidden, out)
				}
			}
		}
		for _, sent := range [][]string{{begun, called, result}, {begun, called, `{"x":1,"x":2}`, result}, {begun, result}, {called, ran}, {called, listed}, {called, `{"x":1,"x":2}`, ran}, {`{"x":1,"x":2}`, both}} {
			if out := leavesOf(sent...); !strings.Contains(out, "secret") {
				t.Errorf("a single run: %t, of %s\nthis leaves: %s", single, sent, out)
			}
		}
	}
}

// TestCompletionsBesideWithheld withholds a completion between the chunks of another one. The other one leaves to its end.
func TestCompletionsBesideWithheld(t *testing.T) {
	const (
		begun  = `{"id":"w","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"open"}}]}`
		hidden = `{"id":"v","object":"internal.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"secret"}}]}`
		piece  = `{"id":"v","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"secret"}}]}`
		ended  = `{"id":"w","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":" end"},"finish_reason":"stop"}]}`
	)
	unnamed := strings.Replace(piece, `"id":"v",`, "", 1)
	for _, s := range []filter.Settings{client, public} {
		for _, sent := range [][]string{
			{begun, hidden, piece, ended, piece}, {begun, hidden, unnamed, ended}, {begun, hidden, strings.Replace(piece, `"v"`, `"u"`, 1), ended},
		} {
			if out := leaving(t, s, stream(append(sent, "[DONE]")...)); strings.Contains(out, "secret") || !strings.Contains(out, " end") || !strings.Contains(out, `"finish_reason":"stop"`) {
				t.Errorf("under %s, of %s\nthis leaves: %s", s.Policy, sent, out)
			}
		}
	}
}
