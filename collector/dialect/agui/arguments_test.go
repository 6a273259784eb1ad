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
			if got := factsOf(t, &event.Stream{ForReaders: true}, c.frames...); strings.TrimSpace(got) != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}
