package a2a_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// paused returns an ADK agent's request that pauses a call, with arguments.
func paused(name, args string) string {
	return `{"kind":"data","data":{"id":"q","name":"` + name + `"` + args + `},"metadata":{"adk_type":"function_call"}}`
}

// marked returns a call or a response that is marked as a thought.
func marked(part string) string {
	return strings.Replace(part, `"metadata":{`, `"metadata":{"adk_thought":true,`, 1)
}

// nested returns a call or a response as servers of 0.3 over HTTP+JSON send it.
func nested(part string) string {
	return strings.NewReplacer(`"data":{`, `"data":{"data":{`, `},"metadata"`, `}},"metadata"`).Replace(part)
}

// artifactCase returns the case of an artifact with parts.
func artifactCase(parts, public string) policyCase {
	const before, after = ids + `,"artifact":{"artifactId":"a","parts":[`, `]}`
	return update("artifact-update", before+parts+after, before+public+after)
}

// callCases have tool calls of ADK agents. Names and IDs leave, but no arguments and no results.
var callCases = []policyCase{
	update("status-update", status("working", message("agent", called)), ids+`,"status":{"state":"working","timestamp":"2026-01-01T00:00:00Z","message":`+publicMessage("agent", `,"parts":[`+publicCalled+`]`)+`},"final":true`),
	update("status-update", status("input-required", message("agent", called+`,`+pendingResult)), ids+`,"status":{"state":"input-required","timestamp":"2026-01-01T00:00:00Z","message":`+publicMessage("agent", `,"parts":[`+publicCalled+`,`+publicPending+`]`)+`},"final":true`),
	update("status-update", status("working", message("agent", pendingResult)), ids+`,"status":{"state":"working","timestamp":"2026-01-01T00:00:00Z","message":`+publicMessage("agent", `,"parts":[`+publicPending+`]`)+`},"final":true`),
	update("status-update", status("input-required", message("agent", called+`,`+data)), ids+`,"status":{"state":"input-required","timestamp":"2026-01-01T00:00:00Z","message":`+publicMessage("agent", `,"parts":[`+publicCalled+`]`)+`},"final":true`),
	update("status-update", status("input-required", message("agent", hi+`,`+called)), ids+`,"status":{"state":"input-required","timestamp":"2026-01-01T00:00:00Z","message":`+publicMessage("agent", `,"parts":[`+hi+`,`+publicCalled+`]`)+`},"final":true`),
	update("status-update", status("working", message("agent", secret+`,`+called)), ids+`,"status":{"state":"working","timestamp":"2026-01-01T00:00:00Z","message":`+publicMessage("agent", `,"parts":[`+publicCalled+`]`)+`},"final":true`),
	update("status-update", status("working", message("agent", called+`,`+data)), ids+`,"status":{"state":"working","timestamp":"2026-01-01T00:00:00Z","message":`+publicMessage("agent", `,"parts":[`+publicCalled+`]`)+`},"final":true`),
	update("status-update", status("working", message("agent", called+`,`+thought)), ids+`,"status":{"state":"working","timestamp":"2026-01-01T00:00:00Z","message":`+publicMessage("agent", `,"parts":[`+publicCalled+`]`)+`},"final":true`),
	update("task", `"id":"t","status":{"state":"input-required","message":`+message("agent", called)+`},"artifacts":[{"artifactId":"a","parts":[`+data+`]}]`, `"id":"t","status":{"state":"input-required","message":`+publicMessage("agent", `,"parts":[`+publicCalled+`]`)+`},"artifacts":[{"artifactId":"a","parts":[{"kind":"data","data":{}}]}]`),
	update("artifact-update", ids+`,"artifact":{"artifactId":"a","parts":[`+toolResult+`]},"append":true`, ids+`,"artifact":{"artifactId":"a","parts":[{"kind":"data","data":{"id":"c1","name":"f"},"metadata":{"adk_type":"function_response"}}]},"append":true`),
	update("status-update", status("input-required", message("agent", `{"text":"hi","metadata":{"adk_thought":false,"x":"secret"}},`+called)), ids+`,"status":{"state":"input-required","timestamp":"2026-01-01T00:00:00Z","message":`+publicMessage("agent", `,"parts":[{"text":"hi","metadata":{"adk_thought":false}},`+publicCalled+`]`)+`},"final":true`),
	update("status-update", status("working", message("agent", thought+`,`+toolResult)), ids+`,"status":{"state":"working","timestamp":"2026-01-01T00:00:00Z","message":`+publicMessage("agent", `,"parts":[`+publicResult+`]`)+`},"final":true`),
	update("status-update", status("working", message("agent", marked(called)+`,`+toolResult)), ids+`,"status":{"state":"working","timestamp":"2026-01-01T00:00:00Z","message":`+publicMessage("agent", `,"parts":[`+publicResult+`]`)+`},"final":true`),
	update("status-update", status("working", message("agent", called))+`,"metadata":{"thought":true}`, ids+`,"status":{"state":"working","timestamp":"2026-01-01T00:00:00Z"},"final":true`),
	update("status-update", status("working", message("user", secret+`,`+toolResult)), ids+`,"status":{"state":"working","timestamp":"2026-01-01T00:00:00Z","message":`+publicMessage("user", `,"parts":[`+publicResult+`]`)+`},"final":true`),
	update("message", `"messageId":"m","role":"user","parts":[`+secret+`,`+file+`,`+toolResult+`]`, `"messageId":"m","role":"user","parts":[`+publicResult+`]`),

	// Calls beside an answer or a thought.
	artifactCase(hi+`,`+called, hi+`,`+publicCalled),
	artifactCase(hi+`,`+toolResult, hi+`,`+publicResult),
	artifactCase(called+`,`+toolResult+`,`+file+`,`+data, publicCalled+`,`+publicResult+`,{"kind":"file","file":{"name":"n","mimeType":"m/t","uri":"about:blank","fileWithUri":"about:blank"}},{"kind":"data","data":{}}`),
	artifactCase(thought+`,`+called, publicCalled),
	artifactCase(thought+`,`+hi+`,`+pendingResult, hi+`,`+publicPending),
	artifactCase(hi+`,`+marked(called)+`,`+marked(toolResult), hi),
	artifactCase(hi+`,`+strings.Replace(called, `"metadata":{`, `"thought":"x","metadata":{`, 1), hi),
	artifactCase(hi+`,`+paused("adk_request_confirmation", `,"args":{"originalFunctionCall":{"id":"c1","name":"secret"}}`)+`,`+paused("f", `,"args":{"functionCallId":"secret"}`),
		hi+`,`+paused("adk_request_confirmation", `,"args":{"originalFunctionCall":{"id":"c1"}}`)+`,`+paused("f", "")),
	artifactCase(hi+`,{"kind":"data","data":{"id":"secret","code":"secret"},"metadata":{"adk_type":"executable_code"}}`, hi+`,{"kind":"data","data":{}}`),
	artifactCase(hi+`,`+strings.Replace(called, `"data":{`, `"url":"secret","data":{`, 1)+`,`+strings.Replace(toolResult, `"kind":"data"`, `"text":"secret"`, 1), hi),
	artifactCase(hi+`,`+nested(called)+`,`+nested(toolResult), hi+`,`+nested(publicCalled)+`,`+nested(publicResult)),
	artifactCase(strings.Replace(nested(called), `"data":{`, `"data":{"id":"secret","x":"secret",`, 1)+`,{"kind":"data","data":{"id":"secret"},"metadata":{"adk_type":"function_call"}}`, nested(publicCalled)),
	artifactCase(strings.Replace(called, `"data":{`, `"data":{"data":{"id":"secret","name":"secret"},`, 1), publicCalled),
	artifactCase(hi+`,{"kind":"data","data":"secret","metadata":{"adk_type":"function_call"}}`, hi),
	update("artifact-update", ids+`,"artifact":{"artifactId":"a","parts":[`+hi+`,`+toolResult+`],"metadata":{"adk_author":"a","adk_actions":{"stateDelta":{"x":"secret"},"requestedAuthConfigs":{},"requestedToolConfirmations":{"c1":{"hint":"secret"}}}}}`,
		ids+`,"artifact":{"artifactId":"a","parts":[`+hi+`,`+publicResult+`],"metadata":{"adk_author":"a","adk_actions":{"requestedAuthConfigs":{},"requestedToolConfirmations":{"c1":{}}}}}`),
	update("artifact-update", ids+`,"artifact":{"artifactId":"a","parts":[`+hi+`],"metadata":{"adk_author":"a","adk_actions":{"requestedToolConfirmations":{}}}}`,
		ids+`,"artifact":{"artifactId":"a","parts":[`+hi+`],"metadata":{"adk_author":"a"}}`),
	update("artifact-update", ids+`,"artifact":{"artifactId":"a","parts":[`+secret+`,`+called+`],"metadata":{"thought":true}}`, withheld),
	update("status-update", status("working", message("agent", paused("adk_request_credential", `,"args":{"functionCallId":"c1","authConfig":{"x":"secret"}}`)+`,`+paused("adk_request_confirmation", `,"args":{"originalFunctionCall":{"id":"c1","name":"secret","args":{"x":"secret"}},"toolConfirmation":{"hint":"secret"}}`))),
		ids+`,"status":{"state":"working","timestamp":"2026-01-01T00:00:00Z","message":`+publicMessage("agent", `,"parts":[`+paused("adk_request_credential", `,"args":{"functionCallId":"c1"}`)+`,`+paused("adk_request_confirmation", `,"args":{"originalFunctionCall":{"id":"c1"}}`)+`]`)+`},"final":true`),
	update("status-update", status("working", message("agent", paused("adk_request_credential", `,"args":{"functionCallId":"c1"}`)+`,`+called)), ids+`,"status":{"state":"working","timestamp":"2026-01-01T00:00:00Z","message":`+publicMessage("agent", `,"parts":[`+paused("adk_request_credential", `,"args":{"functionCallId":"c1"}`)+`,`+publicCalled+`]`)+`},"final":true`),
	update("status-update", status("working", message("agent", toolResult))+`,"metadata":{"adk_author":"a","adk_actions":{"stateDelta":{"x":"secret"},"requestedToolConfirmations":{"c1":{"hint":"secret","payload":{"x":"secret"}}},"requestedAuthConfigs":{"c1":{"x":"secret"}}}}`,
		ids+`,"status":{"state":"working","timestamp":"2026-01-01T00:00:00Z","message":`+publicMessage("agent", `,"parts":[{"kind":"data","data":{"id":"c1","name":"f"},"metadata":{"adk_type":"function_response"}}]`)+`},"final":true,"metadata":{"adk_author":"a","adk_actions":{"requestedToolConfirmations":{"c1":{}},"requestedAuthConfigs":{"c1":{}}}}`),
	update("status-update", status("working", message("agent", toolResult))+`,"metadata":{"adk_author":"a","adk_actions":{"requestedAuthConfigs":{"c1":{"x":"secret"}}}}`,
		ids+`,"status":{"state":"working","timestamp":"2026-01-01T00:00:00Z","message":`+publicMessage("agent", `,"parts":[{"kind":"data","data":{"id":"c1","name":"f"},"metadata":{"adk_type":"function_response"}}]`)+`},"final":true,"metadata":{"adk_author":"a","adk_actions":{"requestedAuthConfigs":{"c1":{}}}}`),
}

// TestCallsAndSettings checks that calls beside an answer or a thought leave if the settings say so.
func TestCallsAndSettings(t *testing.T) {
	everything := filter.Settings{Policy: event.PolicyPublic, Thoughts: event.ThoughtsDetailed}
	without := func(kinds ...event.Kind) filter.Settings {
		return filter.Settings{Policy: event.PolicyPublic, Exclude: kinds}
	}
	const publicThought, markedCall = `{"kind":"text","text":"secret","metadata":{"adk_thought":true}}`, `{"kind":"data","data":{"id":"c1","name":"f"},"metadata":{"adk_thought":true,"adk_type":"function_call","adk_is_long_running":true}}`
	request := paused("adk_request_confirmation", `,"args":{"originalFunctionCall":{"id":"c1"}}`)
	for _, c := range []struct {
		settings    filter.Settings
		sent, given string
	}{
		{everything, thought + `,` + called + `,` + hi, publicThought + `,` + publicCalled + `,` + hi},
		{everything, thought + `,` + hi, publicThought + `,` + hi},
		{everything, marked(called) + `,` + hi, markedCall + `,` + hi},
		{without(event.KindToolStarted), hi + `,` + called + `,` + toolResult, hi + `,` + publicResult},
		{without(event.KindToolEnded), hi + `,` + called + `,` + toolResult, hi + `,` + publicCalled},
		{without(event.KindText), hi + `,` + called, publicCalled},
		{without(event.KindInputRequested), hi + `,` + request, hi},
	} {
		artifact := func(parts string) string {
			return envelopes["0.3"]("artifact-update", "", artifactCase(parts, "").sent+`,"metadata":{"adk_author":"a"}`)
		}
		question := func(parts string) string {
			return envelopes["0.3"]("status-update", "", ids+`,"status":{"state":"input-required","message":{"role":"agent","parts":[`+parts+`]}}`)
		}
		if got := filterStream(t, everything, "data: "+question(c.sent)+"\n\n")[0]; c.settings.Exclude == nil && got != question(c.given) {
			t.Errorf("filtering the question\n%s\ngives\n%s", c.sent, got)
		}
		if got := filterStream(t, c.settings, "data: "+artifact(c.sent)+"\n\n")[0]; got != artifact(c.given) {
			t.Errorf("without %v, filtering\n%s\ngives\n%s", c.settings.Exclude, c.sent, got)
		}
	}
}
