package openai_test

import (
	"strings"
	"testing"
)

// outlineOf returns the events of an answer from a model that the SDK for JavaScript calls by the Chat Completions API.
func outlineOf(id, model, reason, usage, output string) []string {
	chunk := `{"id":"` + id + `","object":"chat.completion.chunk","model":"` + model + `","choices":[{"index":0,"delta":{},"finish_reason":REASON}]}`
	first, last := strings.Replace(chunk, "REASON", "null", 1), strings.Replace(chunk, "REASON", `"`+reason+`"`, 1)
	return []string{`{"type":"raw_model_stream_event","data":{"type":"response_started","providerData":` + first + `}}`, ofModel(first), ofModel(last), outlineEnd(id, usage, output)}
}

func outlineEnd(id, usage, output string) string {
	return `{"type":"raw_model_stream_event","data":{"type":"response_done","response":{"id":"` + id + `","usage":{` + usage + `},"output":[` + output + `]}}}`
}

// TestModelsOfOtherAPIs reads answers of models that the SDK for JavaScript does not call by the Responses API. It shows their beginnings
// and ends, and its items show the texts and calls.
func TestModelsOfOtherAPIs(t *testing.T) {
	const (
		usage   = `"inputTokens":5,"outputTokens":2,"totalTokens":7,"inputTokensDetails":{"cached_tokens":0},"outputTokensDetails":{"reasoning_tokens":0}`
		unknown = `"inputTokens":0,"outputTokens":0,"totalTokens":0,"inputTokensDetails":{"cached_tokens":0},"outputTokensDetails":{"reasoning_tokens":0}`
		call    = `{"type":"function_call","id":"k","callId":"c","name":"w","arguments":"{}"}`
		text    = `{"type":"message","id":"l","role":"assistant","content":[{"type":"output_text","text":"secret"}]}`
		begun   = `{"type":"raw_model_stream_event","data":{"type":"response_started"}}`
		tool    = `; tool_started name="w" call="c" {}; tool_ended name="w" call="c" "o"`
	)
	item := strings.NewReplacer(`"id":"f"`, `"id":"k"`, `"id":"i"`, `"id":"l"`)
	part := func(data string) string {
		return `{"type":"raw_model_stream_event","data":{"type":"model","event":` + data + `}}`
	}
	first, second := outlineOf("k", "m", "tool_calls", usage, call), outlineOf("l", "m", "stop", usage, text)
	ofB := strings.NewReplacer(`"c"`, `"d"`, `"A"`, `"B"`, `"k"`, `"l"`)
	others := outlineOf("l", "n", "tool_calls", usage, ofB.Replace(call))
	for name, c := range map[string]struct {
		sent []string
		want string
	}{
		"two answers": {[]string{agentA, first[0], first[1], first[2], first[3], item.Replace(called), output, second[0], second[1], second[2], second[3], item.Replace(message), "[DONE]"},
			`run_started; model_started model="m"; model_ended model="m" finish="tool_calls" input=5 output=2` + tool + `; model_started model="m"; model_ended model="m" finish="stop" input=5 output=2; final; text "secret"; run_ended`},
		"no usage": {append(append([]string{agentA}, outlineOf("l", "m", "stop", unknown, text)...), item.Replace(message), "[DONE]"),
			`run_started; model_started model="m"; model_ended model="m" finish="stop"; final; text "secret"; run_ended`},
		"a filter": {append(append([]string{agentA}, outlineOf("l", "m", "content_filter", usage, text)...), "[DONE]"),
			`run_started; model_started model="m"; model_ended model="m" finish="content_filter" model_error code="content_filter" input=5 output=2; error model_error code="content_filter" from_code; run_ended`},
		"the AI SDK": {[]string{agentA, begun, part(`{"type":"stream-start","warnings":[]}`), part(`{"type":"response-metadata","id":"l","modelId":"m"}`), part(`{"type":"text-delta","id":"0","delta":"secret"}`),
			`{"type":"raw_model_stream_event","data":{"type":"output_text_delta","delta":"secret","itemId":"0"}}`,
			part(`{"type":"finish","finishReason":{"unified":"stop","raw":"end_turn"}}`), outlineEnd("l", `"inputTokens":5,"outputTokens":2`, text), message, "[DONE]"},
			`run_started; model_started; text "secret"; model_ended model="m" finish="stop" input=5 output=2; final; text "secret"; run_ended`},
		"no name": {[]string{agentA, begun, outlineEnd("FAKE_ID", usage, text), message, "[DONE]"},
			`run_started; model_started; model_ended input=5 output=2; final; text "secret"; run_ended`},
		"an end of another answer": {[]string{agentA, second[0], first[3], second[3], message, "[DONE]"},
			`run_started; model_started model="m"; model_ended model="m" input=5 output=2; final; text "secret"; run_ended`},
		"an end without a beginning": {[]string{agentA, second[3], message, "[DONE]"}, `run_started; text "secret"; run_ended`},
		"two answers at the same time": {[]string{agentA, first[0], agentB, others[0], first[1], others[2], first[3], called, others[3], ofB.Replace(called), "[DONE]"},
			`run_started; model_started model="m"; model_started model="n" uncertain; model_ended model="m" input=5 output=2; tool_started name="w" call="c" {}; model_ended model="n" finish="tool_calls" input=5 output=2; tool_started name="w" call="d" {}; run_ended`},
		"two unnamed ones at the same time": {[]string{agentA, begun, agentB, begun, outlineEnd("k", usage, text), "[DONE]"}, `run_started; model_started; model_started uncertain; run_ended`},
	} {
		if facts := factsOf(stream(c.sent...)); facts != c.want {
			t.Errorf("%s:\n%s, want\n%s", name, facts, c.want)
		}
		checkTruth(t, name, stream(c.sent...))
		if out := leaving(t, public, stream(c.sent...)); strings.Contains(out, "raw_model") || strings.Contains(out, "secret") != strings.Contains(c.want, `text "secret"`) {
			t.Errorf("%s: under public this leaves: %s", name, out)
		}
	}
}
