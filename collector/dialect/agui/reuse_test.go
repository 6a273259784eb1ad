package agui_test

import (
	"slices"
	"strings"
	"testing"
)

// sent returns an event of a type with members.
func sent(kind string, members ...string) string {
	return `{"type":"` + kind + `",` + strings.Join(members, ",") + "}"
}

// TestWithheldRunEndsLate ends a run within a withheld one after the outer run has ended.
func TestWithheldRunEndsLate(t *testing.T) {
	run := func(kind, id, more string) string { return sent(kind, `"threadId":"t"`, `"runId":"`+id+`"`+more) }
	inner, late := run("RUN_STARTED", "q", `,"parentRunId":"p"`), run("RUN_FINISHED", "q", `,"result":"CANARY"`)
	for _, frames := range [][]string{
		{run("RUN_STARTED", "p", `,"kind":"internal"`), inner, run("RUN_FINISHED", "p", ""), late},
	} {
		for _, s := range allSettings {
			if got := strings.Join(filterFrames(t, s, frames...), "\n"); strings.Contains(got, `"q"`) || strings.Contains(got, "CANARY") {
				t.Errorf("of %s this leaves:\n%s", frames, got)
			}
		}
	}
}

// TestReusedIDs begins something under an id that was withheld, as the same kind of message or another, in the same run and the next.
func TestReusedIDs(t *testing.T) {
	text, thought := sent("TEXT_MESSAGE_START", `"messageId":"m"`, `"role":"assistant"`), sent("REASONING_MESSAGE_START", `"messageId":"m"`, `"role":"reasoning"`)
	call := sent("TOOL_CALL_START", `"toolCallId":"m"`, `"toolCallName":"n"`)
	messages := [][]string{
		{sent("TEXT_MESSAGE_CHUNK", `"messageId":"m"`, `"role":"assistant"`, `"delta":"CANARY"`)}, {text, sent("TEXT_MESSAGE_CONTENT", `"messageId":"m"`, `"delta":"CANARY"`)},
		{sent("REASONING_MESSAGE_CHUNK", `"messageId":"m"`, `"delta":"CANARY"`)}, {thought, sent("REASONING_MESSAGE_CONTENT", `"messageId":"m"`, `"delta":"CANARY"`)},
		{sent("TOOL_CALL_RESULT", `"messageId":"m"`, `"toolCallId":"z"`, `"content":"CANARY"`)},
	}
	calls := [][]string{
		{sent("TOOL_CALL_CHUNK", `"toolCallId":"m"`, `"toolCallName":"n"`, `"delta":"CANARY"`)}, {call, sent("TOOL_CALL_ARGS", `"toolCallId":"m"`, `"delta":"CANARY"`)},
	}
	between := []string{sent("RUN_FINISHED", `"threadId":"t"`, `"runId":"r"`), sent("RUN_STARTED", `"threadId":"t"`, `"runId":"p"`)}
	for _, c := range []struct {
		start string
		next  [][]string
	}{{text, messages}, {strings.Replace(text, "assistant", "system", 1), messages}, {thought, messages}, {call, calls}} {
		if !strings.Contains(c.start, "system") {
			c.start = with(`"kind":"internal"`)(c.start)
		}
		for _, next := range c.next {
			for _, before := range [][]string{{c.start}, {c.start, between[0], between[1]}} {
				for _, s := range allSettings {
					if got := strings.Join(filterFrames(t, s, slices.Concat(before, next)...), "\n"); strings.Contains(got, "CANARY") {
						t.Errorf("after %s this leaves:\n%s", before, got)
					}
				}
			}
		}
	}
}
