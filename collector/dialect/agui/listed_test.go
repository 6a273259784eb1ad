package agui_test

import (
	"strings"
	"testing"
)

// TestListedInWithheld checks that the messages and calls in a withheld list or result stay in afterwards, but not those that left before.
func TestListedInWithheld(t *testing.T) {
	const (
		list   = `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"assistant","content":"secret","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":"secret"}}]}]}`
		call   = `{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":"c","content":"secret"}`
		end    = `{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":{"messages":[{"id":"m","role":"assistant","content":"secret"}]}}`
		next   = `{"type":"RUN_STARTED","threadId":"t","runId":"q"}`
		input  = `{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"messages":[{"id":"m","role":"user","content":"secret"}]}}`
		nested = `{"type":"SUBAGENT_FINISHED","subagentRunId":"s","result":{"output":[{"messages":[{"id":"m","role":"assistant","content":"secret"}]}]}}`
		text   = `{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}`
		first  = `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parentMessageId":"m"}`
	)
	mark := with(`"kind":"internal"`)
	markResult := func(data string) string {
		return strings.Replace(data, `"result":{`, `"result":{"kind":"internal",`, 1)
	}
	for name, c := range map[string]struct {
		sent   []string
		leaves bool // the last frame, whole
	}{
		"a list":                       {[]string{run, mark(list), list}, false},
		"a result of a listed call":    {[]string{run, mark(list), call}, false},
		"a message":                    {[]string{run, mark(list), text}, false},
		"the result of a run":          {[]string{run, markResult(end), next, list}, false},
		"of a withheld end":            {[]string{run, mark(end), next, list}, false},
		"of a subagent":                {[]string{run, markResult(nested), list}, false},
		"an unmarked result":           {[]string{run, end, next, list}, true},
		"a list that left":             {[]string{run, list, mark(list), list}, true},
		"a list that left, earlier":    {[]string{run, list, end, next, mark(list), list}, true},
		"a message that left":          {[]string{run, text, mark(end), next, text}, true},
		"a call that left":             {[]string{run, first, mark(list), list}, true},
		"a result that left":           {[]string{run, first, call, mark(list), call}, true},
		"a request that left":          {[]string{input, mark(end), next, text}, true},
		"a list of an internal run":    {[]string{mark(run), list, end, next, list}, false},
		"a result with an instruction": {[]string{run, strings.Replace(end, `[{`, `[{"id":"p","role":"system","content":"x"},{`, 1), next, list}, true},
	} {
		if got := last(filterFrames(t, allSettings[0], c.sent...)); (got == last(c.sent)) != c.leaves || !c.leaves && strings.Contains(got, "secret") {
			t.Errorf("%s: %s\nbecomes %s", name, last(c.sent), got)
		}
	}
}
