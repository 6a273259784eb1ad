package adk

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/event"
)

// factsOf decodes frames, each given as its data. It returns a line for each frame, with its facts separated
// by semicolons.
func factsOf(s *event.Stream, frames ...string) string {
	var lines []string
	for line := range strings.Lines(dialecttest.Facts(Dialect{}, s, encode(frames...))) {
		switch fact, isFact := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "  "); {
		case !isFact:
			lines = append(lines, "")
		case lines[len(lines)-1] == "":
			lines[len(lines)-1] = fact
		default:
			lines[len(lines)-1] += "; " + fact
		}
	}
	return strings.Join(lines, "\n")
}

// encode returns frames as SSE.
func encode(frames ...string) string {
	return "data: " + strings.Join(frames, "\n\ndata: ") + "\n\n"
}

// by returns an event of agent a in run e-1.
func by(members string) string { return `{"invocationId":"e-1","author":"a",` + members + `}` }

// parts returns the content of an event.
func parts(parts ...string) string { return `"content":{"parts":[` + strings.Join(parts, ",") + `]}` }

// Parts and members of frames.
const (
	hi      = `{"text":"hi"}`
	thought = `{"text":"hm","thought":true}`
	call    = `{"functionCall":{"id":"c1","name":"look","args":{}}}`
	answer  = `{"functionResponse":{"id":"c1","name":"look","response":{}}}`
	stop    = `"finishReason":"STOP"`
	used    = `"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":2,"totalTokenCount":12}`
	partial = `"partial":true`
	whole   = `"partial":false`
	raised  = `"errorCode":"ValueError"`
	refused = `"errorCode":"SAFETY","finishReason":"SAFETY"`
	written = `"actions":{"stateDelta":{},"artifactDelta":{"f":0}}`
	ended   = `model_ended finish="STOP" input=10 output=2`

	modelRaised = `model_ended model_error code="ValueError"; error model_error code="ValueError" from_code; final`
	agentRaised = `error agent_error code="ValueError" from_code; final`
	toolRaised  = `tool_error code="ValueError"; error tool_error code="ValueError" from_code; final`
)

type decodeCase struct {
	name   string
	frames []string
	want   []string // a line for each frame
}

func runDecode(t *testing.T, cases []decodeCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(strings.Join(c.want, "\n"), factsOf(&event.Stream{}, c.frames...)); diff != "" {
				t.Errorf("the facts differ (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSpellings checks that an event decodes to the same facts in each server's spelling.
func TestSpellings(t *testing.T) {
	const want = `model_ended model="m" finish="F" input=13 output=9 cached=5 reasoning=4; tool_paused call="c9"; thought "Hm."; ` +
		`text "hi"; tool_started name="look" call="c1" {"x":1}; tool_started name="wait" call="c2" long_running {}; ` +
		`transfer name="b" id="f1"; artifact name="map.png" file complete; state; final`
	camel := by(`"id":"f1",` + parts(`{"text":"Hm.","thought":true}`, hi,
		`{"functionCall":{"id":"c1","name":"look","args":{"x":1}}}`, `{"functionCall":{"id":"c2","name":"wait","args":{}}}`) + `,
		"modelVersion":"m","finishReason":"F","longRunningToolIds":["c2"],
		"usageMetadata":{"promptTokenCount":10,"toolUsePromptTokenCount":3,"candidatesTokenCount":5,"thoughtsTokenCount":4,"cachedContentTokenCount":5,"totalTokenCount":22},
		"actions":{"stateDelta":{"k":1},"artifactDelta":{"map.png":0},"transferToAgent":"b","skipSummarization":false,"requestedToolConfirmations":{"c9":{}}}`)
	camel = strings.NewReplacer("\n", "", "\t", "").Replace(camel)
	snake := strings.NewReplacer(
		"functionCall", "function_call", "modelVersion", "model_version", "finishReason", "finish_reason", "longRunningToolIds", "long_running_tool_ids",
		"usageMetadata", "usage_metadata", "promptTokenCount", "prompt_token_count", "toolUsePromptTokenCount", "tool_use_prompt_token_count",
		"candidatesTokenCount", "candidates_token_count", "thoughtsTokenCount", "thoughts_token_count", "cachedContentTokenCount", "cached_content_token_count",
		"totalTokenCount", "total_token_count", "stateDelta", "state_delta", "artifactDelta", "artifact_delta", "transferToAgent", "transfer_to_agent",
		"skipSummarization", "skip_summarization", "requestedToolConfirmations", "requested_tool_confirmations", "invocationId", "invocation_id").Replace(camel)
	rust := strings.NewReplacer(
		`{"text":"Hm.","thought":true}`, `{"thinking":"Hm.","signature":"c2ln"}`,
		`{"function_call":{"id":"c1","name":"look","args":{"x":1}}}`, `{"name":"look","args":{"x":1},"id":"c1"}`,
		`{"function_call":{"id":"c2","name":"wait","args":{}}}`, `{"name":"wait","args":{},"id":"c2"}`).Replace(snake)
	for name, frame := range map[string]string{
		"camel":     camel,
		"snake":     snake,
		"rust":      rust,
		"enveloped": `{"ui_protocol":"adk","event":` + rust + `}`,
		// Go writes empty members as null. If both spellings are there, camel case counts unless it is null.
		"nulls":  strings.Replace(camel, `"modelVersion":"m"`, `"modelVersion":"m","model_version":"other","errorCode":null,"groundingMetadata":null,"finish_reason":"other"`, 1),
		"marked": strings.Replace(camel, `"thought":true`, `"partMetadata":{"adk_thought":true}`, 1),
		"null":   strings.Replace(camel, `"modelVersion":"m"`, `"modelVersion":null,"model_version":"m"`, 1),
	} {
		if diff := cmp.Diff(want, factsOf(&event.Stream{}, frame)); diff != "" {
			t.Errorf("%s: the facts differ (-want +got):\n%s", name, diff)
		}
	}
	if camel == snake || snake == rust || strings.Contains(snake, "Count") {
		t.Fatal("the spellings are the same")
	}
}

// TestResponses checks when a model's response starts and ends, and that its usage is reported once.
func TestResponses(t *testing.T) {
	runDecode(t, []decodeCase{
		{"ended by a finish reason", []string{by(stop)}, []string{`model_ended finish="STOP"; final`}},
		{"ended by usage", []string{by(used + "," + parts(hi))}, []string{`model_ended input=10 output=2; text "hi"; final`}},
		{"pieces of a call", []string{by(parts(`{"functionCall":{"id":"p1","partialArgs":[{"jsonPath":"$.x","stringValue":"1"}],"willContinue":true}}`)), by(parts(`{"functionCall":{"id":"p2"}}`)), by(stop + "," + parts(call))},
			[]string{"other", "other", `model_ended finish="STOP"; tool_started name="look" call="c1" {}`}},
		{"text, then calls with the usage",
			[]string{by(partial + "," + parts(hi)), by(parts(hi)), by(used + "," + stop + "," + parts(call)), by(parts(answer)), by(used + "," + stop + "," + parts(hi))},
			[]string{`model_started; text "hi"`, `model_ended unmetered; text "hi"; final`, `usage input=10 output=2; tool_started name="look" call="c1" {}`, `tool_ended name="look" call="c1" {}`, ended + `; text "hi"; final`}},
		{"a thought and text, then calls, which are also sent in a piece",
			[]string{by(partial + "," + parts(thought)), by(partial + "," + parts(hi)), by(parts(thought)), by(parts(hi)), by(partial + "," + used + "," + parts(call)), by(whole + "," + used + "," + stop + "," + parts(call))},
			[]string{`model_started; thought "hm"`, `text "hi"`, `model_ended unmetered; thought "hm"; final`, `usage unmetered; text "hi"; final`, "usage unmetered", `usage input=10 output=2; tool_started name="look" call="c1" {}`}},
		{"a thought, then text with the usage",
			[]string{by(partial + "," + parts(thought)), by(partial + "," + used + "," + parts(hi)), by(parts(thought)), by(used + "," + stop + "," + parts(hi)), by(used + "," + stop + "," + parts(hi))},
			[]string{`model_started; thought "hm"`, `text "hi"`, `model_ended unmetered; thought "hm"; final`, `usage input=10 output=2; text "hi"; final`, ended + `; text "hi"; final`}},
		{"a response without usage, another agent, and calls",
			[]string{by(partial + "," + parts(hi)), by(parts(hi)), `{"invocationId":"e-1","author":"b",` + parts(hi) + "}", by(used + "," + stop + "," + parts(call))},
			[]string{`model_started; text "hi"`, `model_ended unmetered; text "hi"; final`, `text "hi"; final`, ended + `; tool_started name="look" call="c1" {}`}},
		{"two responses without usage that stream",
			[]string{by(partial + "," + parts(hi)), by(parts(hi)), by(partial + "," + parts(hi)), by(parts(hi))},
			[]string{`model_started; text "hi"`, `model_ended unmetered; text "hi"; final`, `model_started; text "hi"`, `model_ended unmetered; text "hi"; final`}},
		{"a response without usage, and a failure",
			[]string{by(partial + "," + parts(hi)), by(parts(hi)), by(used + "," + refused)},
			[]string{`model_started; text "hi"`, `model_ended unmetered; text "hi"; final`, `model_ended finish="SAFETY" model_error code="SAFETY" input=10 output=2; error model_error code="SAFETY" from_code; final`}},
		{"without either, and without partials", []string{by(parts(hi))}, []string{`text "hi"; final`}},
		{"without either, after partials", []string{by(partial + "," + parts(hi)), by(parts(hi))}, []string{`model_started; text "hi"`, `model_ended unmetered; text "hi"; final`}},
		{"empty usage", []string{by(`"usageMetadata":{},` + parts(hi)), by(`"usageMetadata":null`)}, []string{`text "hi"; final`, "final"}},
		{"the model only in partials",
			[]string{by(partial + `,"modelVersion":"m"`), by(partial + "," + parts(hi)), by(stop), by(stop)},
			[]string{`model_started model="m"`, `text "hi"`, `model_ended model="m" finish="STOP"; final`, `model_ended finish="STOP"; final`}},
		{"usage and calls in a partial",
			[]string{by(partial + "," + used + "," + stop + "," + parts(call) + `,"longRunningToolIds":["c1"],"actions":{"transferToAgent":"b"}`)},
			[]string{"model_started"}},
		{"parallel branches",
			[]string{by(partial + `,"branch":"p.x"`), by(partial + `,"branch":"p.y"`), by(stop + `,"branch":"p.x"`), by(partial + `,"branch":"p.y"`), by(parts(hi) + `,"branch":"p.y"`)},
			[]string{"model_started", "model_started", `model_ended finish="STOP"; final`, "", `model_ended unmetered; text "hi"; final`}},
		{"more usage in an empty frame", []string{by(partial + "," + parts(hi)), by(whole + `,"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":2,"totalTokenCount":12},` + parts(call)),
			by(whole + "," + stop + `,"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":5,"totalTokenCount":15}`)},
			[]string{`model_started; text "hi"`, `model_ended unmetered input=10 output=2; tool_started name="look" call="c1" {}`, "usage output=3; final"}},
		{"usage once: empty frame after a streamed response",
			[]string{by(partial + "," + parts(hi)), by(used + "," + parts(hi)), by(used)},
			[]string{`model_started; text "hi"`, `model_ended unmetered input=10 output=2; text "hi"; final`, "final"}},
		{"usage once: empty frame after the answer to a call",
			[]string{by(whole + "," + used + "," + stop + "," + parts(call)), by(parts(answer)), by(whole + "," + used + "," + stop)},
			[]string{ended + `; tool_started name="look" call="c1" {}`, `tool_ended name="look" call="c1" {}`, "final"}},
		{"usage once: text, then calls",
			[]string{by(partial + "," + parts(hi)), by(whole + "," + used + "," + parts(hi)), by(whole + "," + used + "," + stop + "," + parts(call)), by(parts(answer)), by(whole + "," + used + "," + stop)},
			[]string{`model_started; text "hi"`, `model_ended unmetered input=10 output=2; text "hi"; final`, `tool_started name="look" call="c1" {}`, `tool_ended name="look" call="c1" {}`, "final"}},
		{"usage once: refused twice",
			[]string{by(used + "," + refused), by(whole + "," + used + "," + refused)},
			[]string{`model_ended finish="SAFETY" model_error code="SAFETY" input=10 output=2; error model_error code="SAFETY" from_code; final`, `error model_error code="SAFETY" from_code; final`}},
		{"refused a third time",
			[]string{by(used + "," + refused), by(whole + "," + used + "," + refused), by(whole + "," + used + "," + refused)},
			[]string{`model_ended finish="SAFETY" model_error code="SAFETY" input=10 output=2; error model_error code="SAFETY" from_code; final`, `error model_error code="SAFETY" from_code; final`,
				`model_ended finish="SAFETY" model_error code="SAFETY" input=10 output=2; error model_error code="SAFETY" from_code; final`}},
		{"refused after a response with the same usage",
			[]string{by(partial), by(whole + "," + used + "," + stop), by(whole + "," + used + "," + refused)},
			[]string{"model_started", ended + "; final", `model_ended finish="SAFETY" model_error code="SAFETY" input=10 output=2; error model_error code="SAFETY" from_code; final`}},
		{"a frame without parts", []string{by(partial), by(`"actions":{"stateDelta":{"k":1}}`), by(stop)},
			[]string{"model_started", "state; final", `model_ended finish="STOP"; final`}},
		{"a third frame is another response",
			[]string{by(partial), by(used + "," + parts(hi)), by(used + "," + parts(call)), by(used + "," + parts(hi))},
			[]string{"model_started", `model_ended unmetered input=10 output=2; text "hi"; final`, `tool_started name="look" call="c1" {}`, `model_ended input=10 output=2; text "hi"; final`}},
		{"the same usage in a loop without streaming",
			[]string{by(used + "," + stop + "," + parts(hi)), by(used + "," + stop + "," + parts(hi)), by(used + "," + stop)},
			[]string{ended + `; text "hi"; final`, ended + `; text "hi"; final`, ended + "; final"}},
		{"the same refusal in a loop without streaming",
			[]string{by(used + "," + refused), by(used + "," + refused)},
			[]string{`model_ended finish="SAFETY" model_error code="SAFETY" input=10 output=2; error model_error code="SAFETY" from_code; final`, `model_ended finish="SAFETY" model_error code="SAFETY" input=10 output=2; error model_error code="SAFETY" from_code; final`}},
		{"the same usage in a loop that streams",
			[]string{by(partial), by(whole + "," + used + "," + stop + "," + parts(hi)), by(partial), by(whole + "," + used + "," + stop + "," + parts(hi)), by(whole + "," + used + "," + stop + "," + parts(call))},
			[]string{"model_started", ended + `; text "hi"; final`, "model_started", ended + `; text "hi"; final`, ended + `; tool_started name="look" call="c1" {}`}},
		{"the same usage in a loop that streams, without finish reasons",
			[]string{by(partial), by(used + "," + parts(hi)), by(partial), by(used + "," + parts(hi))},
			[]string{"model_started", `model_ended unmetered input=10 output=2; text "hi"; final`, "model_started", `model_ended unmetered input=10 output=2; text "hi"; final`}},
		{"the same usage of another agent",
			[]string{by(partial), by(used), `{"invocationId":"e-1","author":"b",` + whole + "," + used + "}"},
			[]string{"model_started", "model_ended unmetered input=10 output=2; final", "model_ended unmetered input=10 output=2; final"}},
		{"the same usage of another run",
			[]string{by(partial), by(used), strings.Replace(by(used), "e-1", "e-2", 1)},
			[]string{"model_started", "model_ended unmetered input=10 output=2; final", "model_ended input=10 output=2; final"}},
		{"usage once: an event in two frames, its content and its artifacts",
			[]string{by(`"id":"x",` + used + "," + stop + "," + parts(hi)), by(`"id":"x",` + used + "," + stop + "," + written)},
			[]string{ended + `; text "hi"; final`, `artifact name="f" file complete`}},
		{"a call in two frames",
			[]string{by(`"id":"x",` + used + "," + stop + "," + parts(call)), by(`"id":"x",` + used + "," + stop + "," + written), by(parts(answer))},
			[]string{ended + `; tool_started name="look" call="c1" {}`, `artifact name="f" file complete`, `tool_ended name="look" call="c1" {}`}},
		{"a failure in two frames",
			[]string{by(`"id":"x",` + refused + "," + parts(hi)), by(`"id":"x",` + refused + "," + written)},
			[]string{`model_ended finish="SAFETY" model_error code="SAFETY"; text "hi"; error model_error code="SAFETY" from_code; final`, `artifact name="f" file complete`}},
		{"a transfer in two frames",
			[]string{by(`"id":"x",` + parts(answer) + `,"actions":{"transferToAgent":"b"}`), by(`"id":"x","actions":{"transferToAgent":"b","artifactDelta":{"f":0}}`)},
			[]string{`tool_ended name="look" call="c1" {}; transfer name="b" id="x"`, `artifact name="f" file complete`}},
		{"artifacts in an event of their own",
			[]string{by(`"id":"x",` + used + "," + stop + "," + parts(hi)), by(`"id":"y",` + used + "," + stop + "," + written)},
			[]string{ended + `; text "hi"; final`, ended + `; artifact name="f" file complete; final`}},
		{"artifacts of events without ids",
			[]string{by(used + "," + stop + "," + parts(hi)), by(used + "," + stop + "," + written)},
			[]string{ended + `; text "hi"; final`, ended + `; artifact name="f" file complete; final`}},
		{"after an open response of another run",
			[]string{by(partial), strings.Replace(by(parts(hi)), "e-1", "e-2", 1)},
			[]string{"model_started", `text "hi"; final`}},
	})
}

// TestErrors checks which operation an error ends.
func TestErrors(t *testing.T) {
	runDecode(t, []decodeCase{
		{"a frame", []string{`{"error":"boom"}`}, []string{"error agent_error"}},
		{"a frame with details", []string{`{"error":"ValueError: boom","error_details":{"error_type":"ValueError","timestamp":1767081420.5}}`}, []string{`error agent_error code="ValueError"`}},
		{"a broken frame of 2025", []string{`{"error": "no "x" here"}`}, []string{"error agent_error"}},
		{"no error", []string{`{"error":null}`, `{"error":"x","author":"a"}`}, []string{"", "final"}},
		{"a code", []string{by(raised)}, []string{modelRaised}},
		{"codes that are no failures", []string{by(`"errorCode":"STOP",` + stop), by(`"errorCode":"MAX_TOKENS","finishReason":"MAX_TOKENS",` + parts(hi)), by(`"errorCode":""`)},
			[]string{`model_ended finish="STOP"; final`, `model_ended finish="MAX_TOKENS"; text "hi"; final`, "final"}},
		{"empty finish reasons", []string{by(`"finishReason":"",` + parts(hi)), by(`"finish_reason":"null",` + parts(hi))},
			[]string{`text "hi"; final`, `text "hi"; final`}},
		{"a finish reason that is a failure", []string{by(`"finishReason":"SAFETY",` + parts(hi)), by(`"finishReason":"OTHER",` + parts(hi))},
			[]string{`model_ended finish="SAFETY" model_error code="SAFETY"; text "hi"; final`, `model_ended finish="OTHER"; text "hi"; final`}},
		{"a code in a partial", []string{by(partial + "," + refused), by(refused)},
			[]string{`model_started; error model_error code="SAFETY" from_code`, `model_ended finish="SAFETY" model_error code="SAFETY"; error model_error code="SAFETY" from_code; final`}},
		{"the model fails in a response", []string{by(partial), by(raised)}, []string{"model_started", modelRaised}},
		{"a tool raises", []string{by(stop + "," + parts(call)), by(raised), by(raised)},
			[]string{`model_ended finish="STOP"; tool_started name="look" call="c1" {}`, `tool_ended name="look" call="c1" ` + toolRaised, modelRaised}},
		{"one of two tools raises", []string{by(stop + "," + parts(call, strings.Replace(call, "c1", "c2", 1))), by(parts(answer)), by(raised)},
			[]string{`model_ended finish="STOP"; tool_started name="look" call="c1" {}; tool_started name="look" call="c2" {}`, `tool_ended name="look" call="c1" {}`, `tool_ended name="look" call="c2" ` + toolRaised}},
		{"the model fails after a tool", []string{by(stop + "," + parts(call)), by(parts(answer)), by(raised)},
			[]string{`model_ended finish="STOP"; tool_started name="look" call="c1" {}`, `tool_ended name="look" call="c1" {}`, modelRaised}},
		{"the model refuses despite an open call", []string{by(stop + "," + parts(call)), by(refused)},
			[]string{`model_ended finish="STOP"; tool_started name="look" call="c1" {}`, `model_ended finish="SAFETY" model_error code="SAFETY"; error model_error code="SAFETY" from_code; final`}},
		{"the model fails during a long-running call", []string{by(stop + `,"longRunningToolIds":["c1"],` + parts(call)), by(raised)},
			[]string{`model_ended finish="STOP"; tool_started name="look" call="c1" long_running {}; final`, modelRaised}},
		{"the model fails in a response despite an open call", []string{by(stop + "," + parts(call)), by(partial), by(raised)},
			[]string{`model_ended finish="STOP"; tool_started name="look" call="c1" {}`, "model_started", modelRaised}},
		{"a call after the answer to another run's", []string{by(parts(answer)), by(parts(call)), by(raised)},
			[]string{`tool_ended name="look" call="c1" {}`, `tool_started name="look" call="c1" {}`, `tool_ended name="look" call="c1" ` + toolRaised}},
		{"the model fails while a question is open", []string{by(used + "," + parts(call, `{"functionCall":{"id":"q","name":"adk_request_input"}}`)), by(parts(answer)), by(raised)},
			[]string{`model_ended input=10 output=2; tool_started name="look" call="c1" {}; input_requested call="q" clarification`, `tool_ended name="look" call="c1" {}`,
				modelRaised}},
		{"a callback raises after the final answer", []string{by(stop + "," + parts(hi)), by(raised)},
			[]string{`model_ended finish="STOP"; text "hi"; final`, agentRaised}},
		{"the model refuses after a final answer", []string{by(stop + "," + parts(hi)), by(refused)},
			[]string{`model_ended finish="STOP"; text "hi"; final`, `model_ended finish="SAFETY" model_error code="SAFETY"; error model_error code="SAFETY" from_code; final`}},
		{"a container fails after a step's final answer", []string{by(stop + "," + parts(hi) + `,"nodeInfo":{"path":"b@1/c@1"}`), by(raised + `,"nodeInfo":{"path":"b@1/c@1"}`)},
			[]string{`model_ended finish="STOP"; text "hi"; final`, agentRaised}},
		{"the model of a container's next step fails", []string{by(stop + "," + parts(hi) + `,"nodeInfo":{"path":"b@1/c@1"}`), by(`"errorCode":"UNAVAILABLE","nodeInfo":{"path":"b@1/c@1"}`)},
			[]string{`model_ended finish="STOP"; text "hi"; final`, `model_ended model_error code="UNAVAILABLE"; error model_error code="UNAVAILABLE" from_code; final`}},
		{"a workflow fails", []string{by(`"nodeInfo":{"path":"a@1/f@1","outputFor":["a@1/f@1"]}`), by(raised + `,"nodeInfo":{"path":"a@1"}`)},
			[]string{"final", agentRaised}},
		{"the model of a task fails first", []string{by(raised + `,"nodeInfo":{"path":"a@1/b@c1"},"branch":"b@c1","isolationScope":"c1"`)}, []string{modelRaised}},
		{"the limit of model calls after a tool", []string{by(stop + "," + parts(call)), by(parts(answer)), by(`"errorCode":"LlmCallsLimitExceededError"`)},
			[]string{`model_ended finish="STOP"; tool_started name="look" call="c1" {}`, `tool_ended name="look" call="c1" {}`, strings.Replace(agentRaised, "ValueError", "LlmCallsLimitExceededError", 1)}},
		{"a tool raises an exception of ADK", []string{by(stop + "," + parts(call)), by(`"errorCode":"StateSchemaError"`)},
			[]string{`model_ended finish="STOP"; tool_started name="look" call="c1" {}`, `tool_ended name="look" call="c1" ` + strings.ReplaceAll(toolRaised, "ValueError", "StateSchemaError")}},
		{"an exception of ADK in a response", []string{by(partial), by(`"errorCode":"StateSchemaError"`)},
			[]string{"model_started", strings.ReplaceAll(modelRaised, "ValueError", "StateSchemaError")}},
		{"a canceled run", []string{by(`"errorCode":"INVOCATION_ABORTED","errorMessage":"Invocation was aborted by client."`)}, []string{`error canceled code="INVOCATION_ABORTED"; final`}},
		{"a run that is canceled during a call", []string{by(stop + "," + parts(call)), by(`"errorCode":"INVOCATION_ABORTED",` + parts(answer))},
			[]string{`model_ended finish="STOP"; tool_started name="look" call="c1" {}`, `tool_ended name="look" call="c1" {}; error canceled code="INVOCATION_ABORTED"`}},
		{"another agent's call", []string{by(stop + "," + parts(call)), strings.Replace(by(raised), `"a"`, `"b"`, 1)},
			[]string{`model_ended finish="STOP"; tool_started name="look" call="c1" {}`, modelRaised}},
	})
}

// TestFinal compares with the conditions of ADK's is_final_response().
func TestFinal(t *testing.T) {
	const result = `{"codeExecutionResult":{"outcome":"OUTCOME_OK"}}`
	for members, want := range map[string]bool{
		parts(hi):                              true,
		parts():                                true,
		`"content":{}`:                         true,
		`"x":0`:                                true,
		parts(`{"text":"Hm.","thought":true}`): true,
		parts(call):                            false,
		parts(answer):                          false,
		parts(hi, call):                        false,
		parts(call, hi):                        false,
		parts(result):                          false,
		parts(hi, `{"code_execution_result":{}}`):                false,
		parts(result, hi):                                        true,
		parts(`{"executableCode":{"code":"1"}}`):                 true,
		parts(call) + `,"longRunningToolIds":["c1"]`:             true,
		parts(call) + `,"longRunningToolIds":[]`:                 false,
		parts(call) + `,"long_running_tool_ids":["x"]`:           true,
		parts(answer) + `,"actions":{"skipSummarization":true}`:  true,
		parts(answer) + `,"actions":{"skip_summarization":true}`: true,
		parts(answer) + `,"actions":{"skipSummarization":false}`: false,
		parts(answer) + `,"actions":{"skipSummarization":"yes"}`: false,
		parts(answer) + `,"actions":{"escalate":true}`:           false,
		`"actions":{"stateDelta":{"k":1}}`:                       true,
		raised:                                                   true,
		partial + "," + parts(hi):                                false,
	} {
		if got := strings.HasSuffix(factsOf(&event.Stream{}, by(members)), "final"); got != want {
			t.Errorf("%s is final: %t, want %t", members, got, want)
		}
	}
}

// TestTurnMayEnd checks after which tool responses the agent's turn may end.
func TestTurnMayEnd(t *testing.T) {
	for members, want := range map[string]bool{
		``: false, `,"actions":{"skipSummarization":true}`: true, `,"actions":{"escalate":true}`: true, `,"actions":{"endInvocation":true}`: true,
		`,"actions":{"end_invocation":true}`: true, `,"longRunningToolIds":["c2"]`: true, `,"actions":{"escalate":false}`: false,
	} {
		if got := strings.Contains(factsOf(&event.Stream{}, by(parts(answer)+members)), "settled"); got != want {
			t.Errorf("after %s the turn may end: %t, want %t", members, got, want)
		}
	}
}

// TestCallsAndActions checks the facts of function calls, responses and actions.
func TestCallsAndActions(t *testing.T) {
	request := func(name, args string) string {
		return fmt.Sprintf(`{"functionCall":{"id":"q","name":%q,"args":%s}}`, name, args)
	}
	runDecode(t, []decodeCase{
		{"questions",
			[]string{by(parts(request("adk_request_credential", `{}`), request("adk_request_confirmation", `{}`), request("adk_request_input", `{"responseSchema":{}}`),
				request("adk_request_input", `{"response_schema":null}`), request("adk_request_new", `null`)) + `,"longRunningToolIds":["q"]`)},
			[]string{`input_requested call="q" credential; input_requested call="q" confirmation; input_requested call="q" data; input_requested call="q" clarification; input_requested call="q" clarification; final`}},
		{"questions with usage, alone and beside a call",
			[]string{by(used + "," + parts(request("adk_request_input", `{}`))), by(used + "," + parts(request("adk_request_input", `{}`), call))},
			[]string{`model_ended input=10 output=2; input_requested call="q" clarification`, `model_ended input=10 output=2; input_requested call="q" clarification; tool_started name="look" call="c1" {}`}},
		{"an answer to a question", []string{by(parts(`{"functionResponse":{"id":"q","name":"adk_request_input","response":{"result":1}}}`))}, []string{`input_answered call="q"`}},
		{"waiting for the user", []string{by(parts(strings.Replace(answer, `{}`, `{"error":"requires confirmation"}`, 1)) + `,"actions":{"requestedToolConfirmations":{"c1":{}},"requestedAuthConfigs":{"c2":{},"c3":null}}`)},
			[]string{`tool_paused call="c1"; tool_paused call="c2"; tool_paused call="c3"; tool_ended name="look" call="c1" tool_error {"error":"requires confirmation"}`}},
		{"waiting for the user, as only the request says",
			[]string{by(parts(request("adk_request_credential", `{"functionCallId":"c1"}`))), by(parts(answer)), by(parts(answer))},
			[]string{`input_requested call="q" credential`, `tool_paused call="c1"; tool_ended name="look" call="c1" {}`, `tool_ended name="look" call="c1" {}`}},
		{"a request that was answered first",
			[]string{by(parts(request("adk_request_confirmation", `{"original_function_call":{"id":"c1"}}`))), by(parts(`{"functionResponse":{"id":"q","name":"adk_request_confirmation"}}`)), by(parts(answer))},
			[]string{`input_requested call="q" confirmation`, `input_answered call="q"`, `tool_ended name="look" call="c1" {}`}},
		{"a text and answers of the user",
			[]string{`{"invocationId":"e-1","author":"user",` + stop + "," + used + "," + parts(hi, call, answer, `{"functionResponse":{"id":"q","name":"adk_request_confirmation"}}`) + `,"actions":{"stateDelta":{"k":1},"transferToAgent":"b"}}`},
			[]string{`tool_ended name="look" call="c1" {}; input_answered call="q"`}},
		{"a transfer with the ids of its frame and its call",
			[]string{by(`"id":"f7",` + parts(answer, `{"functionResponse":{"id":"t1","name":"transfer_to_agent","response":{"result":null}}}`) + `,"actions":{"transferToAgent":"b"}`)},
			[]string{`tool_ended name="look" call="c1" {}; tool_ended name="transfer_to_agent" call="t1" {"result":null}; transfer name="b" call="t1" id="f7"`}},
		{"no transfer", []string{by(`"actions":{"transferToAgent":""}`), by(`"actions":{"transferToAgent":null}`), by(`"actions":{"transferToAgent":7}`)}, []string{"final", "final", "final"}},
		{"deltas", []string{by(`"actions":{"stateDelta":{"temp:x":1},"artifactDelta":{"b.txt":1,"a.txt":0}}`), by(`"actions":{"stateDelta":{},"artifactDelta":null}`)},
			[]string{`artifact name="b.txt" file complete; artifact name="a.txt" file complete; state; final`, "final"}},
		{"an event with content and an artifact, in two frames of one id",
			[]string{by(`"id":"f1",` + parts(answer) + `,"actions":{"stateDelta":{"k":1},"artifactDelta":{}}`), by(`"id":"f1","actions":{"stateDelta":{"k":1},"artifactDelta":{"a.txt":0}}`)},
			[]string{`tool_ended name="look" call="c1" {}; state`, `artifact name="a.txt" file complete`}},
		{"calls and answers without ids", []string{by(parts(`{"functionCall":{"name":"look"}}`)), by(parts(`{"functionResponse":{"name":"look"}}`)), by(parts(`{"functionResponse":{"name":"look","response":{}},"id":"c1"}`))},
			[]string{`tool_started name="look"`, `tool_ended name="look"`, `tool_ended name="look" call="c1" {}`}},
		{"empty and unknown parts", []string{by(parts(`{}`, `{"text":""}`, `null`, `7`, `{"inlineData":{"data":"AA=="}}`, `{"name":"not a call"}`))}, []string{"other; other; other; other; other; final"}},
		{"no parts", []string{by(`"content":null`), by(`"content":{"parts":null}`), by(`"content":{"parts":{"text":"hi"}}`)}, []string{"final", "final", "final"}},
	})
}

// TestTooManyParts checks that a frame with too many parts is rejected before they are read, so that its
// cost is at most proportional to its length.
func TestTooManyParts(t *testing.T) {
	ids := strings.Repeat(`"a",`, 20_000) + `"a"`
	parts := strings.Repeat(`{"functionCall":{"id":"x","name":"t"}},`, 20_000) + `{}`
	for _, frame := range []string{
		`{"author":"a","invocationId":"e-1","longRunningToolIds":[` + ids + `],"content":{"parts":[` + parts + `]}}`,
		`{"author":"a","invocationId":"e-1","content":{"parts":[` + strings.Repeat(`{},`, 100_000) + `{}]}}`,
	} {
		b := &event.Batch{Table: &table}
		Dialect{}.New(&event.Stream{}).Decode(dialect.Frame{JSON: value(t, frame)}, b)
		if b.Rejected != event.ReasonTooLarge || len(b.Events) > 0 {
			t.Errorf("Rejected = %q with %d events, want %q and none", b.Rejected, len(b.Events), event.ReasonTooLarge)
		}
	}
}
