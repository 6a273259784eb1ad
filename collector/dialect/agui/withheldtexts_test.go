package agui_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"

	"github.com/delegraph/delegraph/collector/event"
)

// TestErrorsOfWithheldFrames ends a run or a subagent with an error that quotes something withheld.
func TestErrorsOfWithheldFrames(t *testing.T) {
	const start = `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`
	const failed, subFailed = `{"type":"RUN_ERROR","message":"tool failed: no secret","code":"x"}`, `{"type":"SUBAGENT_ERROR","subagentRunId":"o","message":"no secret"}`
	const call, args, ended = `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}`, `{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{\"q\":\"no sec"}`, `{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"ret\"}"}`
	result := func(id, content string) string {
		return `{"type":"TOOL_CALL_RESULT","messageId":"m` + id + `","toolCallId":"` + id + `","content":"` + content + `"}`
	}
	internal, unreadable := evasions["kind"], evasions["unreadable"]
	for name, c := range map[string]struct {
		sent   []string
		leaves bool // the text of the last frame
	}{
		"of a subagent":             {[]string{`{"type":"SUBAGENT_STARTED","subagentRunId":"s","kind":"internal:x"}`, `{"type":"SUBAGENT_ERROR","subagentRunId":"s","message":"no secret"}`, failed}, false},
		"of a subagent's result":    {[]string{`{"type":"SUBAGENT_STARTED","subagentRunId":"s","kind":"internal:x"}`, `{"type":"SUBAGENT_FINISHED","subagentRunId":"s","result":{"answer":"no secret"}}`, failed}, false},
		"of another subagent":       {[]string{internal(`{"type":"SUBAGENT_ERROR","subagentRunId":"s","message":"no secret"}`), `{"type":"SUBAGENT_STARTED","subagentRunId":"o","name":"n"}`, subFailed}, false},
		"of a pending call":         {[]string{internal(call), strings.Replace(failed, "no secret", "q=secret", 1)}, false},
		"of a call marked later":    {[]string{call, internal(args), strings.Replace(failed, "no secret", "q=secret", 1)}, false},
		"of the arguments":          {[]string{internal(call), args, ended, result("c", "1"), failed}, false},
		"of broken arguments":       {[]string{internal(call), args, result("c", "1"), failed}, false},
		"of a result":               {[]string{internal(call), result("c", "Error: no secret"), failed}, false},
		"of an encoded result":      {[]string{internal(call), result("c", `{\"error\":\"no secret\"}`), failed}, false},
		"of an event":               {[]string{internal(`{"type":"CUSTOM","name":"n","value":{"error":"no secret"}}`), failed}, false},
		"of an activity":            {[]string{`{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"internal:x","content":{"e":"no secret"}}`, failed}, false},
		"of a state":                {[]string{internal(`{"type":"STATE_SNAPSHOT","snapshot":{"s":"failed: no secret"}}`), failed}, false},
		"of a change of a state":    {[]string{internal(`{"type":"STATE_DELTA","delta":[{"op":"add","path":"/s","value":"failed: no secret"}]}`), failed}, false},
		"of a part of a state":      {[]string{`{"type":"STATE_SNAPSHOT","snapshot":{"m":{"role":"assistant","kind":"internal_x","content":"failed: no secret"}}}`, failed}, false},
		"of a word in a state":      {[]string{internal(`{"type":"STATE_SNAPSHOT","snapshot":{"s":"secret","n":"failed: no secre"}}`), failed}, true},
		"of a state that left":      {[]string{`{"type":"STATE_SNAPSHOT","snapshot":{"s":"failed: no secret"}}`, failed}, true},
		"of a description":          {[]string{`{"type":"SUBAGENT_STARTED","subagentRunId":"i","kind":"internal_x","description":"failed: no secret"}`, failed}, false},
		"of a question":             {[]string{`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"x","message":"failed: no secret","metadata":{"kind":"internal"}}]}}`, failed}, false},
		"of an internal error":      {[]string{internal(failed), failed}, false},
		"of the server":             {[]string{internal(call), result("c", "no secret"), `{"error":"no secret"}`}, false},
		"after an unreadable frame": {[]string{unreadable(internal(call)), failed}, false},
		"in a failed result":        {[]string{internal(call), result("c", "no secret"), `{"type":"TOOL_CALL_START","toolCallId":"d","toolCallName":"f"}`, result("d", `{\"error\":\"no secret\"}`)}, false},
		"in a result":               {[]string{internal(call), result("c", "no secret"), `{"type":"TOOL_CALL_START","toolCallId":"d","toolCallName":"f"}`, result("d", "no secret")}, true},
		"of a call that left":       {[]string{call, result("c", "no secret"), failed}, true},
		"of something else":         {[]string{internal(call), args, ended, result("c", "1"), strings.Replace(failed, "no secret", "another secret", 1)}, true},
		"of a framework's event":    {[]string{`{"type":"RAW","event":{"error":"no secret"}}`, failed}, true},
	} {
		got := last(filterFrames(t, filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed}, append([]string{start}, c.sent...)...))
		if got == "" || strings.HasPrefix(got, "withheld") || strings.Contains(got, "secret") != c.leaves {
			t.Errorf("%s: the error leaves as %s", name, got)
		}
	}
}

// TestFailedResultsInLists checks that a list leaves without the results of failed calls that quote something withheld, or may, and that
// errors quote nothing that was withheld of a list.
func TestFailedResultsInLists(t *testing.T) {
	const internal, args = `{"type":"TOOL_CALL_START","kind":"internal","toolCallId":"c","toolCallName":"f"}`, `{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{\"q\":\"my secret\"}"}`
	const other, result = `{"type":"TOOL_CALL_START","toolCallId":"d","toolCallName":"g"}`, `{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"no secret"}`
	const failed, answered = `{"type":"RUN_ERROR","message":"failed: no secret"}`, `{"type":"TOOL_CALL_RESULT","messageId":"n","toolCallId":"d","content":"{\"error\":\"no secret\"}"}`
	list := func(members string) string {
		return `{"type":"MESSAGES_SNAPSHOT","messages":[` + hello + `,{"id":"n","role":"tool","toolCallId":"d",` + members + `}]}`
	}
	// Source of the shape: ag_ui_langgraph/utils.py of ag-ui-langgraph 0.0.47.
	flagged := list(`"content":"bad: no secret","error":"failed"`)
	for name, c := range map[string]struct {
		sent   []string
		leaves bool // the secret in the last frame
	}{
		"an error":              {[]string{internal, result, other, list(`"content":"","error":"bad: no secret"`)}, false},
		"a flag":                {[]string{internal, result, other, flagged}, false},
		"an encoded error":      {[]string{internal, result, other, list(`"content":"{\"error\":\"no secret\"}"`)}, false},
		"arguments":             {[]string{internal, args, result, other, list(`"content":"q=my secret","error":"x"`)}, false},
		"an open call":          {[]string{internal, other, list(`"content":"a secret","error":"x"`)}, false},
		"repeated":              {[]string{internal, other, flagged, result, list(`"content":"a secret","error":"x"`)}, false},
		"sent before":           {[]string{internal, result, other, answered, list(`"content":"a secret"`)}, false},
		"sent, an open call":    {[]string{internal, other, answered}, false},
		"of an earlier call":    {[]string{internal, list(`"content":"a secret","error":"x"`)}, true},
		"no failure":            {[]string{internal, result, other, list(`"content":"no secret"`)}, true},
		"of a call that left":   {[]string{strings.Replace(internal, `"kind":"internal",`, "", 1), result, other, flagged}, true},
		"of an internal result": {[]string{list(`"kind":"internal","content":"no secret"`), failed}, false},
		"of internal arguments": {[]string{`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"assistant","kind":"internal","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"q\":\"no secret\"}"}}]}]}`, failed}, false},
		"of a listed call":      {[]string{internal, result, `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m2","role":"assistant","content":"x","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"q\":\"a secret\"}"}}]}]}`, strings.Replace(failed, "no secret", "a secret", 1)}, false},
		"of an internal text":   {[]string{`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"assistant","kind":"internal","content":"no secret"}]}`, failed}, true},
		"in an outcome":         {[]string{internal, result, `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"error","message":"no secret"}}`}, false},
		"in another outcome":    {[]string{internal, result, `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success","message":"no secret"}}`}, true},
	} {
		got := last(filterFrames(t, allSettings[0], append([]string{run}, c.sent...)...))
		if got == withheld || strings.Contains(got, "secret") != c.leaves || strings.Contains(last(c.sent), hello) && !strings.Contains(got, hello) {
			t.Errorf("%s: the last frame leaves as %s", name, got)
		}
	}
}
