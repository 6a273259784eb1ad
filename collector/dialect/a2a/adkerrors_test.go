package a2a

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestADKErrors checks which operation an error of an ADK agent ends. Over A2A, an error has at most a code and a text.
func TestADKErrors(t *testing.T) {
	const (
		code     = `,"adk_error_code":"ValueError"`
		call     = `calls agent="a"; tool_started name="f" call="c" {"agent_name":"x"}`
		raised   = `working agent="a"; tool_ended name="f" call="c" tool_error code="ValueError"; error tool_error code="ValueError" from_code`
		agent    = `working agent="a"; error agent_error code="ValueError" from_code`
		model    = `working agent="a"; model_ended model_error code="ValueError"; error model_error code="ValueError" from_code`
		result   = `results agent="a"; tool_ended name="f" call="c" {}`
		transfer = `results agent="a"; tool_ended name="transfer_to_agent" call="c" {}; transfer name="b" call="c"`
		ended    = `working; error agent_error; run_ended agent_error awaits_outcome`
		failed   = `working; tool_ended name="f" call="c" tool_error; error agent_error; run_ended agent_error awaits_outcome`
	)
	fails := func(message, metadata string) string { return statusIs("working", text(message), adkEvent(metadata)) }
	by := func(author, metadata string) string {
		return `,"metadata":{"adk_author":"` + author + `"` + metadata + `}`
	}
	asks, answers := statusIs("working", calls("c", "f", false), adkEvent("")), statusIs("working", toolResult("c", "f", `{}`), adkEvent(""))
	inBranch := func(branch string) string {
		return statusIs("working", calls("c", "f", false), adkEvent(`,"adk_branch":"`+branch+`"`))
	}
	callIn := func(place string) string { return strings.Replace(call, `;`, place+`;`, 1) }
	const inParallel, inCall = ` branch="p.a" place="…/p:container/a[p.a]"`, ` branch="b@c.a" place="…/b@c[b@c]:workflow/a[b@c]"`
	runDecode(t, []decodeCase{
		{"the end of the task beside a call in a branch", []string{inBranch("p.a"), statusIs("failed", text("x"), "")}, []string{callIn(inParallel), ended}},
		{"the end of the task that names such a call", []string{inBranch("p.a"), statusIs("failed", text("f: x"), "")}, []string{callIn(inParallel), failed}},
		{"the end of the task in the branch of a call", []string{inBranch("b@c.a"), statusIs("failed", text("x"), "")}, []string{callIn(inCall), failed}},
		{"an exception that anything may have raised", []string{fails("x", code), fails("x", code)}, []string{agent, agent}},
		{"an exception of an agent that got a tool's response", []string{asks, answers, fails("x", code)}, []string{call, result, model}},
		{"another agent's exception", []string{asks, answers, statusIs("working", text("x"), by("b", "")), statusIs("working", text("y"), by("b", code))},
			[]string{call, result, `working agent="b"; text "x"`, `working agent="b"; error agent_error code="ValueError" from_code`}},
		{"a workflow's exception", []string{asks, answers, statusIs("working", text("x"), by("w", code)), statusIs("failed", text("x"), "")},
			[]string{call, result, `working; error agent_error code="ValueError" from_code`, `working; error agent_error code="ValueError"; run_ended agent_error code="ValueError" awaits_outcome`}},
		{"an exception of an agent before any other has spoken", []string{statusIs("working", text("x"), by("w", code))}, []string{`working agent="w"; error agent_error code="ValueError" from_code`}},
		{"a status of another agent's model", []string{asks, answers, statusIs("working", text("x"), by("b", `,"adk_error_code":"SAFETY"`))},
			[]string{call, result, `working agent="b"; model_ended model_error code="SAFETY"; error model_error code="SAFETY" from_code`}},
		{"an exception of an agent that was called", []string{statusIs("working", calls("c", "b", false), adkEvent("")), statusIs("working", text("x"), by("b", code))},
			[]string{strings.Replace(call, `"f"`, `"b"`, 1), `working agent="b"; error agent_error code="ValueError" from_code`}},
		{"an exception of an agent that got control", []string{
			statusIs("working", `{"kind":"data","data":{"id":"c","name":"transfer_to_agent","args":{"agent_name":"b"}},"metadata":{"adk_type":"function_call"}}`, adkEvent("")),
			statusIs("working", toolResult("c", "transfer_to_agent", `{}`), adkEvent("")), statusIs("working", text("x"), by("b", code)),
		}, []string{strings.NewReplacer(`"f"`, `"transfer_to_agent"`, `:"x"`, `:"b"`).Replace(call), transfer, `working agent="b"; error agent_error code="ValueError" from_code`}},
		{"the limit of model calls after a tool's response", []string{asks, answers, fails("x", `,"adk_error_code":"LlmCallsLimitExceededError"`)},
			[]string{call, result, strings.ReplaceAll(agent, "ValueError", "LlmCallsLimitExceededError")}},
		{"a canceled run", []string{asks, answers, fails("x", `,"adk_error_code":"INVOCATION_ABORTED"`)},
			[]string{call, result, `working agent="a"; error canceled code="INVOCATION_ABORTED"`}},
		{"an exception after an agent handed control over", []string{
			statusIs("working", toolResult("c", "transfer_to_agent", `{}`), adkEvent(`,"adk_actions":{"transferToAgent":"b"}`)), fails("x", code),
		}, []string{transfer, agent}},
		{"an exception after a tool's response that ends the turn", []string{asks, statusIs("working", toolResult("c", "f", `{}`), adkEvent(`,"adk_actions":{"skipSummarization":true}`)), fails("x", code)},
			[]string{call, strings.Replace(result, ` {}`, ` settled {}`, 1), agent}},
		{"an exception in a response", []string{statusIs("working", text("h"), adkEvent(`,"adk_partial":true`)), fails("x", code)},
			[]string{`working agent="a" partial; model_started; text "h"`, model}},
		{"the status of a model's API", []string{fails("x", `,"adk_error_code":"UNAVAILABLE"`)},
			[]string{`working agent="a"; model_ended model_error code="UNAVAILABLE"; error model_error code="UNAVAILABLE" from_code`}},
		{"the text of an SDK for models", []string{fails("litellm.InternalServerError: x", code)}, []string{model}},
		{"the text of an SDK for models, only in the last status", []string{statusIs("working", "", adkEvent(code)), statusIs("failed", text("litellm.X: x"), adkEvent(code))},
			[]string{agent, `working agent="a"; model_ended model_error code="ValueError"; error agent_error code="ValueError"; run_ended agent_error code="ValueError" awaits_outcome`}},
		{"an error with the response of another call", []string{asks, statusIs("working", toolResult("d", "g", `{"error":"x"}`), adkEvent(code))},
			[]string{call, `results agent="a"; tool_ended name="g" call="d" tool_error {"error":"x"}; error agent_error code="ValueError" from_code`}},
		{"an error with the responses of calls", []string{asks, statusIs("working", toolResult("c", "f", `{"error":"x"}`), adkEvent(`,"adk_error_code":"INVOCATION_ABORTED"`))},
			[]string{call, `results agent="a"; tool_ended name="f" call="c" tool_error {"error":"x"}; error canceled code="INVOCATION_ABORTED"`}},
		{"the status of a model's API, raised by a tool", []string{asks, fails("x", `,"adk_error_code":"UNAVAILABLE"`), statusIs("failed", text("x"), adkEvent(`,"adk_error_code":"UNAVAILABLE"`))},
			[]string{call, strings.ReplaceAll(raised, "ValueError", "UNAVAILABLE"), `working agent="a"; error agent_error code="UNAVAILABLE"; run_ended agent_error code="UNAVAILABLE" awaits_outcome`}},
		{"a status without a code", []string{asks, statusIs("failed", text("x"), "")}, []string{call, failed}},
		{"a status that repeats an error", []string{asks, statusIs("working", calls("d", "g", false), adkEvent("")), fails("f broke", code), statusIs("failed", text("f broke"), "")},
			[]string{call, `calls agent="a"; tool_started name="g" call="d" {"agent_name":"x"}`, raised, `working; error agent_error code="ValueError"; run_ended agent_error code="ValueError" awaits_outcome`}},
		{"a status without a code while a call waits for a confirmation", []string{
			asks, statusIs("working", pauses("q", "adk_request_confirmation", `"originalFunctionCall":{"id":"c"}`), adkEvent("")), statusIs("failed", text("x"), ""),
		}, []string{call, `calls agent="a"; input_requested call="q" confirmation; tool_paused call="c"`, ended}},
	})
}

// TestErrorsWithContent reads events that have both an error and content. Python's server sends two updates of such an event: first the
// error, then the content, with the same metadata.
func TestErrorsWithContent(t *testing.T) {
	const (
		failed = `; error agent_error code="SAFETY"; run_ended agent_error code="SAFETY" awaits_outcome`
		model  = `model_ended model_error code="SAFETY" input=3 output=2; error model_error code="SAFETY" from_code`
	)
	event := func(id, more string) string { return adkEvent(`,"adk_event_id":"` + id + `"` + more) }
	message := func(state, code, metadata string) string {
		update := statusIs(state, text("blocked"), metadata)
		return strings.Replace(update, `"messageId":"m"`, `"messageId":"error","metadata":{"adk_error_code":"`+code+`"}`, 1)
	}
	safety, cut := event("1", usage+`,"adk_error_code":"SAFETY"`), event("1", usage+`,"adk_error_code":"MAX_TOKENS"`)
	later := strings.Replace(event("2", usage), `"adk_author":"a"`, `"adk_author":"b"`, 1)
	runDecode(t, []decodeCase{
		{"a refusal after a text", []string{message("working", "SAFETY", safety), statusIs("working", text("hi"), safety), message("failed", "SAFETY", event("1", ""))},
			[]string{`working agent="a"; ` + model, `working agent="a"; text "hi"`, `working agent="a"` + failed}},
		{"a refusal after a text, without a code in the message", []string{statusIs("working", text("blocked"), safety), statusIs("working", text("hi"), safety)},
			[]string{`working agent="a"; ` + model, `working agent="a"; text "hi"`}},
		{"a refusal after a thought and a call", []string{
			message("working", "SAFETY", safety), statusIs("working", `{"text":"hm","metadata":{"adk_thought":true}},`+calls("c", "f", false), safety),
		}, []string{`working agent="a"; ` + model, `calls agent="a"; thought "hm"; tool_started name="f" call="c" {"agent_name":"x"}`}},
		{"an error that any step may have raised", []string{message("working", "E", event("1", `,"adk_error_code":"E"`)), statusIs("working", text("hi"), event("1", `,"adk_error_code":"E"`))},
			[]string{`working agent="a"; error agent_error code="E" from_code`, `working agent="a"; text "hi"`}},
		{"an error while two calls wait", []string{
			statusIs("working", calls("c", "f", false)+","+calls("d", "g", false), event("0", "")),
			strings.Replace(message("working", "E", event("1", `,"adk_error_code":"E"`)), "blocked", "f broke", 1), statusIs("working", text("hi"), event("1", `,"adk_error_code":"E"`)),
		}, []string{`calls agent="a"; tool_started name="f" call="c" {"agent_name":"x"}; tool_started name="g" call="d" {"agent_name":"x"}`,
			`working agent="a"; tool_ended name="f" call="c" tool_error code="E"; error tool_error code="E" from_code`, `working agent="a"; text "hi"`}},
		{"two refusals", []string{message("working", "SAFETY", safety), message("working", "SAFETY", strings.Replace(safety, `"1"`, `"2"`, 1))},
			[]string{`working agent="a"; ` + model, `working agent="a"; ` + model}},
		{"a refusal after pieces without a mark", []string{
			statusIs("working", text("h"), event("1", usage)), message("working", "SAFETY", strings.ReplaceAll(safety, `Count":2`, `Count":5`)), statusIs("working", text("hi"), safety), message("failed", "SAFETY", event("1", "")),
		}, []string{`working agent="a"; model_ended input=3 output=2; text "h"`, `working agent="a"; usage output=3; error model_error code="SAFETY" from_code`, `working agent="a"; text "hi"`, `working agent="a"` + failed}},
		{"a refusal before another agent's answer", []string{message("working", "SAFETY", safety), statusIs("working", text("hi"), safety), statusIs("working", text("ho"), later), message("failed", "SAFETY", strings.Replace(later, usage, "", 1))},
			[]string{`working agent="a"; ` + model, `working agent="a"; text "hi"`, `working agent="b"; model_ended input=3 output=2; text "ho"`, `working agent="b"` + failed}},
		{"a refusal before the same agent's answer, with the extension", []string{piece("x", text("hi"), last+safety), piece("y", text("ho"), last+event("2", usage)), statusIs("failed", text("blocked"), safety)},
			[]string{`artifact-update agent="a"; artifact id="x" other bytes=2 complete; model_ended model_error code="SAFETY" input=3 output=2; text "hi"; error model_error code="SAFETY" from_code`, `artifact-update agent="a"; artifact id="y" other bytes=2 complete; model_ended input=3 output=2; text "ho"`, `working agent="a"` + failed}},
		{"an answer that was cut off", []string{message("working", "MAX_TOKENS", cut), statusIs("working", text("hi"), cut)},
			[]string{`working agent="a"; model_ended input=3 output=2`, `working agent="a"; text "hi"`}},
		{"an answer that was cut off, without usage", []string{message("working", "MAX_TOKENS", strings.Replace(cut, usage, "", 1)), statusIs("working", text("hi"), strings.Replace(cut, usage, "", 1))},
			[]string{`working agent="a"; other`, `working agent="a"; text "hi"`}},
		{"pieces of an answer that was cut off", []string{
			statusIs("working", text("h"), event("1", "")), statusIs("working", text("i"), event("1", "")), message("working", "MAX_TOKENS", cut), statusIs("working", text("hi"), cut),
		}, []string{`working agent="a"; text "h"`, `working agent="a" partial; model_started; text "i"`, `working agent="a"; model_ended input=3 output=2`, `working agent="a"; text "hi"`}},
		{"an event with all its metadata in the message", []string{strings.Replace(statusIs("working", text("hi"), ""), `"messageId":"m"`, `"messageId":"m"`+cut, 1)},
			[]string{`working agent="a"; model_ended input=3 output=2; text "hi"`}},
	})
}

// TestFailedRemoteAgents checks that a remote agent whose task failed has failed, and that its error is no answer. The server completes its
// own task, and repeats the text of the last event in an artifact.
func TestFailedRemoteAgents(t *testing.T) {
	relayed := func(id, state, code string) string {
		status := `{"status":{"state":"` + state + `","message":{"parts":[{"text":"x"}]` + code + `}},"metadata":{"adk_error_code":"ValueError"}}`
		return adkEvent(`,"adk_event_id":"` + id + `","adk_custom_metadata":{"a2a:response":` + status + `}`)
	}
	const failed = `working agent="a"; error agent_error code="ValueError" from_code`
	coded := statusIs("working", text("x"), relayed("1", "working", `,"metadata":{"adk_error_code":"ValueError"}`))
	fails, repeated := statusIs("working", text("x"), relayed("2", "TASK_STATE_FAILED", "")), piece("x", text("x"), last+adkEvent(`,"adk_event_id":"2"`))
	completed := statusIs("completed", "", adkEvent(`,"adk_event_id":"2"`))
	const ended = `status-update agent="a"; run_ended awaits_outcome`
	runDecode(t, []decodeCase{
		{"the last agent", []string{coded, fails, repeated, completed}, []string{`working agent="a"; other`, failed, `artifact-update agent="a"; other`, ended}},
		{"a call that waits", []string{statusIs("working", calls("c", "f", false), relayed("0", "working", "")), fails, completed},
			[]string{`calls agent="a"; tool_started name="f" call="c" {"agent_name":"x"}`, failed, ended}},
		{"an agent before another", []string{fails, strings.Replace(statusIs("working", text("hi"), adkEvent("")), `"a"`, `"b"`, 1), statusIs("completed", "", "")},
			[]string{failed, `working agent="b"; text "hi"`, `status-update; final; run_ended awaits_outcome`}},
		{"a canceled task", []string{statusIs("working", text("x"), relayed("1", "canceled", ""))}, []string{failed}},
	})
}

// TestFailedModelsAfterAnswers checks that the model that failed is not that of an agent that has answered: with the extension, an error that
// ends a task has no author.
func TestFailedModelsAfterAnswers(t *testing.T) {
	const model, marked = "429 RESOURCE_EXHAUSTED. {}", " beside"
	answer, branch := piece("x", text("hi"), last+adkEvent(usage)), piece("x", text("hi"), last+adkEvent(`,"adk_branch":"p.a"`))
	for name, c := range map[string]struct {
		sent   []string
		beside bool
	}{
		"an answer":                   {[]string{answer, statusIs("failed", text(model), "")}, true},
		"an answer in pieces":         {[]string{piece("x", text("h"), adkEvent("")), piece("x", text("i"), more+last+adkEvent("")), statusIs("failed", text(model), "")}, true},
		"another error":               {[]string{answer, statusIs("failed", text("x"), "")}, false},
		"an error with an author":     {[]string{answer, statusIs("failed", text(model), adkEvent(""))}, false},
		"an answer without its end":   {[]string{piece("x", text("h"), adkEvent("")), statusIs("failed", text(model), "")}, false},
		"a partial text":              {[]string{piece("x", text("h"), last+adkEvent(`,"adk_partial":true`)), statusIs("failed", text(model), "")}, false},
		"a call":                      {[]string{piece("x", calls("c", "f", false), last+adkEvent("")), statusIs("failed", text(model), "")}, false},
		"a parallel agent":            {[]string{branch, statusIs("failed", text(model), "")}, false},
		"a refused text":              {[]string{piece("x", text("hi"), last+adkEvent(`,"adk_error_code":"SAFETY"`)), statusIs("failed", text(model), "")}, false},
		"an event without parts":      {[]string{answer, statusIs("working", "", adkEvent("")), statusIs("failed", text(model), "")}, false},
		"an artifact without parts":   {[]string{piece("x", "", last+adkEvent("")), statusIs("failed", text(model), "")}, false},
		"an artifact of other agents": {[]string{piece("x", text("hi"), last), statusIs("failed", text(model), "")}, false},
	} {
		got := factsOf(&event.Stream{}, c.sent...)
		if strings.Contains(got, marked) != c.beside {
			t.Errorf("%s: the stream decodes to\n%s", name, got)
		}
	}
}
