package agui_test

import (
	"slices"
	"strings"
	"testing"
)

// TestUnknownDelegates checks that nothing leaves that may be of an internal agent to which a call delegates whose arguments do not say so. The
// arguments may be in a list.
func TestUnknownDelegates(t *testing.T) {
	long := strings.Repeat("x", 20<<10)
	const internal, writer = `{"subagent_type":"internal_x"}`, `{"subagent_type":"writer"}`
	longInternal, longWriter := strings.Replace(internal, "{", `{"description":"`+long+`",`, 1), strings.Replace(writer, "{", `{"description":"`+long+`",`, 1)
	call := func(args string) []string { return toolCall("c", "task", args, "CANARY")[:3] }
	bare := []string{call("")[0], call("")[2]}
	chunk := `{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"task"}`
	const thought = `{"type":"REASONING_MESSAGE_START","messageId":"z"}`
	listed := func(args string) string {
		return `[{"id":"a","role":"assistant","content":"","tool_calls":[{"id":"c","name":"task","args":` + args + `}]}]`
	}
	state := func(args string) string {
		return `{"type":"STATE_SNAPSHOT","snapshot":{"messages":` + listed(args) + `}}`
	}
	list := func(args string) string { return `{"type":"MESSAGES_SNAPSHOT","messages":` + listed(args) + `}` }
	raw := func(args string) string {
		return `{"type":"RAW","event":{"event":"on_chat_model_end","data":{"output":` + strings.Trim(listed(args), "[]") + `}}}`
	}
	with := func(frames []string, more ...string) []string { return append(slices.Clone(frames), more...) }
	for name, c := range map[string]struct {
		before []string
		leaves bool
	}{
		"its start":                        {bare[:1], true},
		"no arguments":                     {bare, false},
		"the end of arguments":             {call(`nal_x"}`), false},
		"arguments":                        {call(writer), true},
		"another tool's arguments":         {call(`{"title":"x"}`), true},
		"repeated arguments":               {with(call(writer), call(writer)...), true},
		"repeated arguments, internal":     {with(call(internal), call(internal)...), false},
		"a repeated start, internal":       {with(call(internal), bare[0]), false},
		"long arguments":                   {call(longInternal), false},
		"no arguments, in a chunk":         {[]string{chunk, thought}, false},
		"a member's call, no arguments":    {[]string{strings.Replace(bare[0], "task", "execute_task", 1), bare[1]}, true},
		"a state with the arguments":       {with(bare, state(writer)), true},
		"an internal state":                {with(bare, state(internal)), false},
		"a list with the arguments":        {with(bare, list(writer)), true},
		"a list with other arguments":      {with(bare, list(`{"title":"x"}`)), true},
		"an internal list":                 {with(bare, list(internal)), false},
		"an internal list, long":           {with(bare, list(longInternal)), false},
		"a long list alone":                {[]string{list(longInternal)}, false},
		"a list with two arguments":        {with(bare, strings.Replace(list(writer), `"args"`, `"function":{"name":"task","arguments":{"subagent_type":"internal_x"}},"args"`, 1)), false},
		"long arguments and a list":        {with(call(longWriter), list(longWriter)), true},
		"a list after other arguments":     {with(call(internal), list(writer)), false},
		"a list of another tool":           {with(bare, strings.Replace(list(writer), `"task"`, `"execute_task"`, 1)), false},
		"a list of another call":           {with(bare, strings.Replace(list(writer), `"c"`, `"d"`, 1)), false},
		"LangChain's event":                {with(bare[:1], raw(writer), bare[1]), true},
		"LangChain's event, internal":      {with(bare[:1], raw(internal), bare[1]), false},
		"a subagent that names the call":   {with(bare, `{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n","parentToolCallId":"c"}`), true},
		"a subagent that names no call":    {with(bare, `{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n"}`), false},
		"the result":                       {with(bare, toolCall("c", "task", "", "x")[3]), true},
		"no arguments of no such function": {[]string{strings.Replace(bare[0], "task", "f", 1), bare[1]}, true},
	} {
		before := append([]string{run}, c.before...)
		for _, frame := range []string{begun[1], begun[2], begun[3], begun[4], `{"type":"STATE_SNAPSHOT","snapshot":{"x":1}}`, `{"type":"CUSTOM","name":"n","value":{"x":1}}`} {
			if got := last(filterFrames(t, allSettings[0], with(before, frame)...)); (got == frame) != c.leaves {
				t.Errorf("after %s: %.200s leaves as %.200s", name, frame, got)
			}
		}
		if got := last(filterFrames(t, allSettings[0], with(before, toolCall("c", "task", "", "CANARY")[3])...)); strings.Contains(got, "CANARY") != (c.leaves && name != "the result") {
			t.Errorf("after %s: the result leaves as %s", name, got)
		}
		if got := last(filterFrames(t, allSettings[0], with(before, `{"type":"RUN_ERROR","message":"CANARY"}`)...)); strings.Contains(got, "CANARY") != c.leaves {
			t.Errorf("after %s: the error leaves as %s", name, got)
		}
	}
}
