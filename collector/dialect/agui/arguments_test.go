package agui

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestArguments checks that the other formats get a call with its arguments, once these are whole.
func TestArguments(t *testing.T) {
	begins := func(tool string) string {
		return ev("TOOL_CALL_START", `"toolCallId":"c"`, `"toolCallName":"`+tool+`"`)
	}
	piece := func(delta string) string { return ev("TOOL_CALL_ARGS", `"toolCallId":"c"`, `"delta":"`+delta+`"`) }
	ends, result := ev("TOOL_CALL_END", `"toolCallId":"c"`), ev("TOOL_CALL_RESULT", `"toolCallId":"c"`, `"content":"x"`)
	const begun, more = "TOOL_CALL_START; other\n", "TOOL_CALL_ARGS; other\n"
	for name, c := range map[string]struct {
		frames []string
		want   string
	}{
		"in pieces":         {[]string{begins("f"), piece(`{\"a\"`), piece(":1}"), ends}, begun + more + more + `TOOL_CALL_END; tool_started name="f" call="c" {"a":1}`},
		"none":              {[]string{begins("f"), ends}, begun + `TOOL_CALL_END; tool_started name="f" call="c"`},
		"cut off":           {[]string{begins("f"), piece(`{\"a\"`), ends}, begun + more + `TOOL_CALL_END; tool_started name="f" call="c"`},
		"without their end": {[]string{begins("f"), piece("{}"), result}, begun + more + `TOOL_CALL_RESULT; tool_started name="f" call="c" {}; tool_ended name="f" call="c" settled "x"`},
		"after their end":   {[]string{begins("f"), piece(`{\"a\"`), ends, piece(":1}")}, begun + more + `TOOL_CALL_END; tool_started name="f" call="c"` + "\nTOOL_CALL_ARGS; other"},
		"of a delegation": {
			[]string{begins("task"), piece(`{\"subagent_type\":\"b\"}`), ends}, begun + more + `TOOL_CALL_END; tool_started name="task" call="c" {"subagent_type":"b"}`,
		},
		"in one chunk": {[]string{ev("TOOL_CALL_CHUNK", `"toolCallId":"c"`, `"toolCallName":"f"`, `"delta":"{}"`)}, `TOOL_CALL_CHUNK; tool_started name="f" call="c" {}`},
		"in two chunks": {
			[]string{ev("TOOL_CALL_CHUNK", `"toolCallId":"c"`, `"toolCallName":"f"`, `"delta":"{"`), ev("TOOL_CALL_CHUNK", `"delta":"}"`)},
			`TOOL_CALL_CHUNK; tool_started name="f" call="c"` + "\n" + "TOOL_CALL_ARGS; other",
		},
		"too long": {[]string{begins("f"), piece(`{\"a\":\"` + strings.Repeat("x", maxArgs) + `\"}`), ends}, begun + more + `TOOL_CALL_END; tool_started name="f" call="c"`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := factsOf(t, &event.Stream{WholeCalls: true}, c.frames...); strings.TrimSpace(got) != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestUnendedArguments checks that the other formats get a call whose arguments do not end when the work of its agent ends.
func TestUnendedArguments(t *testing.T) {
	begins := func(members ...string) string {
		return ev("TOOL_CALL_START", append([]string{`"toolCallId":"c"`, `"toolCallName":"f"`}, members...)...)
	}
	const call, tag = `tool_started name="f" call="c"`, `"subagentRunId":"s"`
	piece, fails := ev("TOOL_CALL_ARGS", `"toolCallId":"c"`, `"delta":"{"`), ev("RUN_ERROR", `"message":"x"`)
	subagent, node := ev("SUBAGENT_STARTED", tag, `"name":"b"`), ev("STEP_STARTED", `"stepName":"n"`)
	nested := ev("RUN_STARTED", `"threadId":"t"`, `"runId":"n"`, `"parentRunId":"r"`)
	named := ev("TEXT_MESSAGE_START", `"messageId":"m"`, `"role":"assistant"`, `"name":"a"`)
	for name, c := range map[string]struct {
		frames []string
		want   string // the facts of the last frame
	}{
		"a run":                     {[]string{begins(), piece, finish}, call + `; tool_paused call="c"; run_ended awaits_outcome`},
		"a run, whole arguments":    {[]string{begins(), ev("TOOL_CALL_ARGS", `"toolCallId":"c"`, `"delta":"{}"`), finish}, call + ` {}; tool_paused call="c"; run_ended awaits_outcome`},
		"a run that fails":          {[]string{begins(), piece, fails}, call + "; error agent_error; run_ended agent_error"},
		"a run that is canceled":    {[]string{begins(), piece, strings.TrimSuffix(finish, "}") + `,"outcome":{"type":"cancelled"}}`}, call + "; error canceled; run_ended canceled"},
		"a run that asks":           {[]string{begins(), strings.TrimSuffix(finish, "}") + `,"outcome":{"type":"interrupt","interrupts":[{"id":"i","toolCallId":"c"}]}}`}, call + `; tool_paused call="c"; input_requested call="i" clarification; run_ended awaits_outcome`},
		"a run with a named answer": {[]string{named, begins(`"parentMessageId":"m"`), fails}, call + "; error agent_error; run_ended agent_error"},
		"a subagent":                {[]string{subagent, begins(tag), piece, ev("SUBAGENT_FINISHED", tag)}, call + "; agent_ended"},
		"a subagent that fails":     {[]string{subagent, begins(tag), piece, ev("SUBAGENT_ERROR", tag, `"message":"x"`)}, call + "; agent_ended agent_error"},
		"a node":                    {[]string{node, begins(), piece, ev("STEP_FINISHED", `"stepName":"n"`)}, call + "; agent_ended"},
		"a nested run":              {[]string{nested, begins(), piece, strings.Replace(finish, `"r"`, `"n"`, 1)}, call + "; agent_ended"},
		"another agent":             {[]string{subagent, begins(), piece, ev("SUBAGENT_FINISHED", tag)}, "agent_ended"},
		"a run with open agents":    {[]string{subagent, begins(tag), node, begins(), fails}, call + "; " + call + "; error agent_error; run_ended agent_error"},
		"a node of a nested run":    {[]string{nested, node, begins(), strings.Replace(finish, `"r"`, `"n"`, 1), finish}, call + `; tool_paused call="c"; run_ended awaits_outcome`},
		"a run with an open text":   {[]string{subagent, begins(tag), ev("TEXT_MESSAGE_CHUNK", `"messageId":"m"`, `"role":"assistant"`, `"delta":"x"`), finish}, `text "x"; tool_paused call="c"; run_ended awaits_outcome`},
		"a call announced again":    {[]string{begins(), begins(), piece, ev("TOOL_CALL_END", `"toolCallId":"c"`)}, call},
		"a call with its end":       {[]string{begins(), ev("TOOL_CALL_END", `"toolCallId":"c"`), finish}, `tool_paused call="c"; run_ended awaits_outcome`},
		"a call announced twice":    {[]string{begins(), begins()}, "other"},
	} {
		t.Run(name, func(t *testing.T) {
			lines := strings.Split(factsOf(t, &event.Stream{WholeCalls: true}, append([]string{start}, c.frames...)...), "\n")
			if _, got, _ := strings.Cut(lines[len(lines)-1], "; "); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
