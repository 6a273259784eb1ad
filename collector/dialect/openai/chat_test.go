package openai

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/event"
)

// TestChats reads chat completions as servers vary them: the facts are those of the whole stream.
func TestChats(t *testing.T) {
	chunk := func(choices, rest string) string {
		return `{"id":"c","object":"chat.completion.chunk","model":"m","choices":[` + choices + `]` + rest + `}`
	}
	choice := func(index, delta, finish string) string {
		return `{"index":` + index + `,"delta":{` + delta + `},"finish_reason":` + finish + `}`
	}
	const done = `[DONE]`
	usage := chunk("", `,"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}`)
	stop := chunk(choice("0", "", `"stop"`), "")
	hello := chunk(choice("0", `"role":"assistant","content":"Hello"`, "null"), "")
	const begins, ends = `run_started; model_started model="m"; `, `model_ended model="m" finish="stop" unmetered; final`
	gemini := strings.NewReplacer(`"m"`, `"models/gemini-3-flash"`, `"total_tokens":7`, `"total_tokens":100`)
	for name, c := range map[string]struct {
		sent []string
		want string
	}{
		"a piece that is repeated": {[]string{strings.Replace(hello, `"index":0,`, `"index":0,"text":"Hello",`, 1), stop, done}, begins + `text "Hello"; text "Hello"; ` + ends + `; run_ended`},
		"usage at the end":         {[]string{hello, stop, usage, done}, begins + `text "Hello"; text "Hello"; ` + ends + `; usage model="m" unmetered input=5 output=2; run_ended`},
		"usage before the end":     {[]string{hello, usage, stop, done}, begins + `text "Hello"; text "Hello"; ` + ends + `; usage model="m" unmetered input=5 output=2; run_ended`},
		"usage in every chunk": {[]string{strings.Replace(usage, `[]`, `[`+choice("0", `"role":"assistant","content":"Hello"`, "null")+`]`, 1), strings.Replace(usage, `[]`, `[`+choice("0", "", `"stop"`)+`]`, 1), usage, done},
			begins + `text "Hello"; text "Hello"; ` + ends + `; usage model="m" unmetered input=5 output=2; run_ended`},
		"usage without an end": {[]string{hello, usage, done}, begins + `text "Hello"; text "Hello"; model_ended model="m" unmetered; final; usage model="m" unmetered input=5 output=2; run_ended`},
		"usage and an error":   {[]string{hello, usage, `{"error":{"message":"broken","type":"server_error"}}`}, begins + `text "Hello"; model_ended model="m" model_error code="server_error" input=5 output=2; error agent_error code="server_error"; run_ended agent_error code="server_error"`},
		"choices null":         {[]string{hello, stop, strings.Replace(usage, `[]`, `null`, 1), done}, begins + `text "Hello"; text "Hello"; ` + ends + `; usage model="m" unmetered input=5 output=2; run_ended`},
		"no choices":           {[]string{hello, stop, `{"id":"c","usage":{"prompt_tokens":5,"completion_tokens":2}}`, done}, begins + `text "Hello"; text "Hello"; ` + ends + `; usage model="m" unmetered input=5 output=2; run_ended`},
		"Gemini's thoughts": {[]string{gemini.Replace(hello), gemini.Replace(stop), gemini.Replace(usage), done},
			strings.ReplaceAll(begins+`text "Hello"; text "Hello"; `+ends+`; usage model="m" unmetered input=5 output=95; run_ended`, `"m"`, `"models/gemini-3-flash"`)},
		"another's greater total": {[]string{hello, stop, strings.Replace(usage, ":7", ":100", 1), done}, begins + `text "Hello"; text "Hello"; ` + ends + `; usage model="m" unmetered input=5 output=2; run_ended`},
		"Groq":                    {[]string{hello, strings.Replace(stop, `]}`, `],"x_groq":{"id":"r","usage":{"prompt_tokens":5,"completion_tokens":2,"total_time":0.1}}}`, 1), done}, begins + `text "Hello"; text "Hello"; ` + ends + `; usage model="m" unmetered input=5 output=2; run_ended`},
		"Groq's error": {[]string{hello, chunk(choice("0", "", "null"), `,"x_groq":{"id":"r","error":"over capacity"}`), done},
			begins + `text "Hello"; text "Hello"; model_ended model="m" model_error unmetered; error model_error from_code; run_ended model_error`},
		"Moonshot":       {[]string{hello, strings.Replace(stop, `"stop"}`, `"stop","usage":{"prompt_tokens":5,"completion_tokens":2}}`, 1), done}, begins + `text "Hello"; text "Hello"; ` + ends + `; usage model="m" unmetered input=5 output=2; run_ended`},
		"without [DONE]": {[]string{hello, stop, usage}, begins + `text "Hello"; text "Hello"; ` + ends + `; usage model="m" unmetered input=5 output=2`},
		"calls in two choices": {[]string{
			chunk(choice("0", `"role":"assistant","tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}]`, "null")+","+
				choice("1", `"role":"assistant","tool_calls":[{"index":0,"id":"b","function":{"name":"f","arguments":"{}"}}]`, "null"), ""),
			chunk(choice("0", `"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]`, "null"), ""),
			chunk(choice("0", "", `"tool_calls"`), ""), chunk(choice("1", "", `"tool_calls"`), ""), done,
		}, begins + `tool_started name="f" call="a" {"x":1}; tool_started name="f" call="b" {}; model_ended model="m" finish="tool_calls" unmetered; tool_paused call="a"; tool_paused call="b"; run_ended`},
		"a name in pieces": {[]string{
			chunk(choice("0", `"role":"assistant","tool_calls":[{"index":0,"id":"a","function":{"name":"get_","arguments":""}}]`, "null"), ""),
			chunk(choice("0", `"tool_calls":[{"index":0,"function":{"name":"weather"}}]`, "null"), ""),
			chunk(choice("0", `"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]`, "null"), ""), chunk(choice("0", "", `"tool_calls"`), ""), done,
		}, begins + `tool_started name="get_weather" call="a" {}; model_ended model="m" finish="tool_calls" unmetered; tool_paused call="a"; run_ended`},
		"a repeated name": {[]string{
			chunk(choice("0", `"role":"assistant","tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]`, "null"), ""),
			chunk(choice("0", `"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"\"x\":"}}]`, "null"), ""),
			chunk(choice("0", `"tool_calls":[{"index":0,"id":"","function":{"name":"f","arguments":"1}"}}]`, "null"), ""), chunk(choice("0", "", `"tool_calls"`), ""), done,
		}, begins + `tool_started name="f" call="a" {"x":1}; model_ended model="m" finish="tool_calls" unmetered; tool_paused call="a"; run_ended`},
		"a new ID in each piece of a call": {[]string{
			chunk(choice("0", `"role":"assistant","tool_calls":[{"index":0,"id":"a","function":{"name":"f"}}]`, "null"), ""),
			chunk(choice("0", `"tool_calls":[{"index":0,"id":"b","function":{"arguments":"{\"x\":"}}]`, "null"), ""),
			chunk(choice("0", `"tool_calls":[{"index":0,"id":"d","function":{"name":null,"arguments":"1}"}}]`, "null"), ""), chunk(choice("0", "", `"tool_calls"`), ""), done,
		}, begins + `tool_started name="f" call="a" {"x":1}; model_ended model="m" finish="tool_calls" unmetered; tool_paused call="a"; run_ended`},
		"one ID for two calls": {[]string{
			chunk(choice("0", `"role":"assistant","tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"1"}},{"index":1,"id":"a","function":{"name":"f","arguments":"2"}}]`, `"tool_calls"`), ""), done,
		}, begins + `tool_started name="f" call="a" 1; tool_started name="f" call="a" reuses_id 2; model_ended model="m" finish="tool_calls" unmetered; tool_paused call="a"; run_ended`},
		"empty IDs": {[]string{
			chunk(choice("0", `"role":"assistant","tool_calls":[{"index":0,"id":"","function":{"name":"f","arguments":"{"}}]`, "null"), ""),
			chunk(choice("0", `"tool_calls":[{"index":0,"id":"","function":{"name":"","arguments":"}"}}]`, "null"), ""),
			chunk(choice("0", `"tool_calls":[{"index":1,"id":"","function":{"name":"f","arguments":"{}"}}]`, "null"), ""),
			chunk(choice("0", `"tool_calls":[{"index":1,"id":"","function":{"name":"g","arguments":"{}"}}]`, "null"), ""), chunk(choice("0", "", `"tool_calls"`), ""), done,
		}, begins + `tool_started name="f" {}; tool_started name="f" {}; tool_started name="g" {}; model_ended model="m" finish="tool_calls" unmetered; run_ended`},
		"empty IDs, under public": {[]string{ // Gemini
			chunk(choice("0", `"role":"assistant","tool_calls":[{"index":0,"id":"","function":{"name":"f","arguments":""}}]`, "null"), ""),
			chunk(choice("0", `"tool_calls":[{"index":0,"id":"","function":{"name":"g","arguments":""}}]`, `"tool_calls"`), ""), done,
		}, begins + `tool_started name="f"; tool_started name="g"; model_ended model="m" finish="tool_calls" unmetered; run_ended`},
		"calls without IDs and indexes": {[]string{ // Gemini
			chunk(choice("0", `"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":""}},{"id":"","function":{"name":"g"}},{"index":0,"function":{"name":"g"}},{"index":0,"function":{"arguments":"{}"}}]`, `"tool_calls"`), ""), done,
		}, begins + `tool_started name="f"; tool_started name="g"; tool_started name="g" {}; model_ended model="m" finish="tool_calls" unmetered; run_ended`},
		"a call twice in a chunk": {[]string{
			chunk(choice("0", `"role":"assistant","tool_calls":[{"index":0,"id":"a","function":{"name":"f"}},{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]`, `"tool_calls"`), ""), done,
		}, begins + `tool_started name="f" call="a" {}; model_ended model="m" finish="tool_calls" unmetered; tool_paused call="a"; run_ended`},
		"function_call": {[]string{
			chunk(choice("0", `"role":"assistant","function_call":{"name":"f","arguments":""}`, "null"), ""),
			chunk(choice("0", `"function_call":{"arguments":"{\"x\":1}"}`, "null"), ""), chunk(choice("0", "", `"function_call"`), ""), done,
		}, begins + `tool_started name="f" {"x":1}; model_ended model="m" finish="function_call" unmetered; run_ended`},
		"content filter": {[]string{hello, chunk(choice("0", "", `"content_filter"`), ""), done},
			begins + `text "Hello"; text "Hello"; model_ended model="m" finish="content_filter" model_error code="content_filter" unmetered; error model_error code="content_filter" from_code; run_ended model_error code="content_filter"`},
		"a filter in Gemini's words": {[]string{hello, chunk(choice("0", "", `"content_filter: RECITATION"`), ""), done},
			begins + `text "Hello"; text "Hello"; model_ended model="m" finish="content_filter: RECITATION" model_error code="RECITATION" unmetered; error model_error code="RECITATION" from_code; run_ended model_error code="RECITATION"`},
		"DeepSeek": {[]string{hello, chunk(choice("0", "", `"insufficient_system_resource"`), ""), done},
			begins + `text "Hello"; text "Hello"; model_ended model="m" finish="insufficient_system_resource" model_error code="insufficient_system_resource" unmetered; error model_error code="insufficient_system_resource" from_code; run_ended model_error code="insufficient_system_resource"`},
		"SGLang": {[]string{hello, chunk(choice("0", "", `"abort"`), ""), done},
			begins + `text "Hello"; text "Hello"; model_ended model="m" finish="abort" canceled unmetered; error canceled; run_ended canceled`},
		"an empty reason until the end": {[]string{chunk(choice("0", `"role":"assistant","content":"Hel"`, `""`), ""), chunk(choice("0", `"content":"lo"`, `""`), ""), stop, done}, begins + `text "Hel"; text "lo"; text "Hello"; ` + ends + `; run_ended`},
		"null as a text until the end": {[]string{chunk(choice("0", `"role":"assistant","content":"Hello"`, `"null"`), ""), chunk(choice("0", `"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]`, `"null"`), ""), chunk(choice("0", "", `"content_filter"`), ""), done},
			begins + `text "Hello"; text "Hello"; tool_started name="f" call="a" {}; model_ended model="m" finish="content_filter" model_error code="content_filter" unmetered; error model_error code="content_filter" from_code; tool_paused call="a"; run_ended model_error code="content_filter"`},
		"more after a reason": {[]string{hello, stop, chunk(choice("0", `"content":" you"`, "null"), ""), chunk(choice("0", `"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]`, "null"), ""), done},
			begins + `text "Hello"; text "Hello"; ` + ends + `; text " you"; text " you"; tool_started name="f" call="a" {}; tool_paused call="a"; run_ended`},
		"more after a reason, and the reason again": {[]string{hello, stop, chunk(choice("0", `"content":" you"`, `"stop"`), ""), done}, begins + `text "Hello"; text "Hello"; ` + ends + `; text " you"; run_ended`},
		"Mistral's limit": {[]string{hello, chunk(choice("0", "", `"model_length"`), ""), done},
			begins + `text "Hello"; text "Hello"; model_ended model="m" finish="model_length" unmetered; final; run_ended`},
		"Azure": {[]string{
			`{"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0,"content_filter_results":{"hate":{"filtered":false,"severity":"safe"}}}]}`, hello, stop, done,
		}, begins + `text "Hello"; text "Hello"; ` + ends + `; run_ended`},
		"only an error": {[]string{`{"error":{"message":"broken","type":"invalid_request_error"}}`},
			`run_started; error agent_error code="invalid_request_error"; run_ended agent_error code="invalid_request_error"`},
		"OpenAI's error": {[]string{hello, `{"error":{"message":"broken","type":"server_error","param":null,"code":null}}`},
			begins + `text "Hello"; model_ended model="m" model_error code="server_error"; error agent_error code="server_error"; run_ended agent_error code="server_error"`},
		"vLLM's error": {[]string{hello, `{"error":{"message":"broken","type":"BadRequestError","param":null,"code":400}}`, done},
			begins + `text "Hello"; model_ended model="m" model_error code="BadRequestError"; error agent_error code="BadRequestError"; run_ended agent_error code="BadRequestError"`},
		"vLLM's error of old": {[]string{hello, `{"error":{"object":"error","message":"broken","type":"BadRequestError","param":null,"code":400}}`, done},
			begins + `text "Hello"; model_ended model="m" model_error code="BadRequestError"; error agent_error code="BadRequestError"; run_ended agent_error code="BadRequestError"`},
		"vLLM's error of older": {[]string{hello, `{"object":"error","message":"broken","type":"BadRequestError","param":null,"code":400}`, done},
			begins + `text "Hello"; model_ended model="m" model_error code="BadRequestError"; error agent_error code="BadRequestError"; run_ended agent_error code="BadRequestError"`},
		"an unreadable error": {[]string{hello, `{"error":{"message":"no "x" here"}}`, done},
			begins + `text "Hello"; model_ended model="m" model_error; error agent_error; run_ended agent_error`},
		"only an unreadable error": {[]string{`{"error":{"message":"no "x" here"}}`, done}, `error agent_error`},
		"Mistral's error": {[]string{hello, `{"object":"error","message":"broken","code":429}`},
			begins + `text "Hello"; model_ended model="m" model_error code="429"; error agent_error code="429"; run_ended agent_error code="429"`},
		"LiteLLM's error": {[]string{hello, `{"error":{"message":"litellm.RateLimitError: broken","type":"None","param":"None","code":"429"}}`},
			begins + `text "Hello"; model_ended model="m" model_error code="litellm.RateLimitError"; error agent_error code="litellm.RateLimitError"; run_ended agent_error code="litellm.RateLimitError"`},
		"OpenRouter's error": {[]string{hello,
			`{"id":"c","object":"chat.completion.chunk","model":"m","provider":"p","error":{"code":502,"message":"broken","metadata":{"error_type":"provider_unavailable"}},"choices":[` + choice("0", `"content":""`, `"error"`) + `]}`, done},
			begins + `text "Hello"; text "Hello"; model_ended model="m" finish="error" model_error code="502" unmetered; error model_error code="502" from_code; run_ended model_error code="502"`},
		"reasoning_content": {[]string{chunk(choice("0", `"role":"assistant","reasoning_content":"Hm"`, "null"), ""), hello, stop}, begins + `thought "Hm"; text "Hello"; text "Hello"; ` + ends},
		"reasoning": {[]string{chunk(choice("0", `"role":"assistant","content":"","reasoning":"Hm","reasoning_details":[{"type":"reasoning.text","text":"Hm"}]`, "null"), ""), hello, stop},
			begins + `thought "Hm"; text "Hello"; text "Hello"; ` + ends},
		"Mistral": {[]string{
			chunk(choice("0", `"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm"}]}]`, "null"), ""),
			chunk(choice("0", `"content":[{"type":"text","text":"Hello"}]`, "null"), ""), stop,
		}, begins + `thought "Hm"; text "Hello"; text "Hello"; ` + ends},
		"only thinking_blocks": {[]string{chunk(choice("0", `"role":"assistant","thinking_blocks":[{"type":"thinking","thinking":"Hm"}]`, "null"), ""), hello, stop}, begins + `thought "Hm"; text "Hello"; text "Hello"; ` + ends},
		"only reasoning_details": {[]string{chunk(choice("0", `"role":"assistant","reasoning_details":[{"type":"reasoning.summary","summary":"Hm"}]`, "null"), ""), hello, stop},
			begins + `thought "Hm"; text "Hello"; text "Hello"; ` + ends},
		"thinking_blocks": {[]string{
			chunk(choice("0", `"role":"assistant","content":"","reasoning_content":"Hm","thinking_blocks":[{"type":"thinking","thinking":"Hm","signature":"s"}]`, "null"), ""), hello, stop,
		}, begins + `thought "Hm"; text "Hello"; text "Hello"; ` + ends},
	} {
		t.Run(name, func(t *testing.T) {
			facts := dialecttest.Facts(Dialect{}, &event.Stream{SingleRun: true}, ": OPENROUTER PROCESSING\n\ndata: "+strings.Join(c.sent, "\n\ndata: ")+"\n\n")
			var got []string
			for _, line := range strings.Split(facts, "\n") {
				if fact := strings.TrimSpace(line); strings.HasPrefix(line, " ") && fact != "other" {
					got = append(got, fact)
				}
			}
			if diff := cmp.Diff(strings.Split(c.want, "; "), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestOutcomeOfChoices ends two choices in either order. The answer fails only if both do.
func TestOutcomeOfChoices(t *testing.T) {
	finish := func(index int, reason string) string {
		return `data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":` + strconv.Itoa(index) + `,"delta":{},"finish_reason":"` + reason + `"}]}` + "\n\n"
	}
	const begins = `data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"A"}},{"index":1,"delta":{"role":"assistant","content":"B"}}]}` + "\n\n"
	for reasons, want := range map[[2]string]string{
		{"stop", "content_filter"}: `finish="stop" unmetered`, {"content_filter", "stop"}: `finish="stop" unmetered`, {"stop", "length"}: `finish="stop" unmetered`,
		{"error", "length"}:                  `finish="length" unmetered`,
		{"content_filter", "content_filter"}: `finish="content_filter" model_error code="content_filter" unmetered`,
		{"abort", "length"}:                  `finish="length" unmetered`,
		{"abort", "content_filter"}:          `finish="abort" canceled unmetered`,
		{"content_filter", "error"}:          `finish="content_filter" model_error code="content_filter" unmetered`,
	} {
		for _, ends := range []string{finish(0, reasons[0]) + finish(1, reasons[1]), finish(1, reasons[1]) + finish(0, reasons[0])} {
			facts := dialecttest.Facts(Dialect{}, &event.Stream{SingleRun: true}, begins+ends+"data: [DONE]\n\n")
			if !strings.Contains(facts, "model_ended "+want) || strings.Contains(facts, "run_ended model_error") != strings.Contains(want, "model_error") || strings.Contains(facts, "run_ended canceled") != strings.Contains(want, "canceled") {
				t.Errorf("%s: want %s:\n%s", ends, want, facts)
			}
		}
	}
}

// TestLeftCalls checks that each call that an answer leaves to the client is reported as paused.
func TestLeftCalls(t *testing.T) {
	for _, n := range []int{1, 7, maxCalls} {
		var pieces, items []string
		for i := range n {
			id := strconv.Itoa(i)
			pieces = append(pieces, `{"index":`+id+`,"id":"c`+id+`","function":{"name":"f","arguments":"{}"}}`)
			items = append(items, `{"type":"function_call","id":"i`+id+`","call_id":"c`+id+`","name":"f","arguments":"{}"}`)
		}
		for _, sent := range []string{
			`{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[` + strings.Join(pieces, ",") + `]},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]",
			`{"type":"response.completed","response":{"id":"r","status":"completed","output":[` + strings.Join(items, ",") + `]}}`,
		} {
			facts := dialecttest.Facts(Dialect{}, &event.Stream{SingleRun: true}, "data: "+sent+"\n\n")
			if started, paused := strings.Count(facts, "tool_started"), strings.Count(facts, "tool_paused"); started != n || paused != n {
				t.Errorf("of %d calls, %d start and %d are paused", n, started, paused)
			}
		}
	}
}

// TestErrorsAfterEnd checks that an error after the end of a run starts no run in a capture of several answers.
func TestErrorsAfterEnd(t *testing.T) {
	const failure = "data: {\"error\":{\"message\":\"x\",\"type\":\"server_error\",\"code\":\"500\"}}\n\n"
	const answer = "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	for sent, want := range map[string]int{answer + "data: [DONE]\n\n": 1, answer + failure: 1, failure + failure: 1, failure + answer: 2} {
		facts := dialecttest.Facts(Dialect{}, &event.Stream{}, sent)
		if n := strings.Count(facts, "run_started"); n != want {
			t.Errorf("%d runs, want %d: %s", n, want, facts)
		}
	}
}
