package agui_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// partsOfEntities holds the start of an entity, and frames of something that is part of the entity.
var partsOfEntities = map[string][]string{
	"text of a subagent":       {startCases["a subagent"][0], `{"type":"TEXT_MESSAGE_START","messageId":"m","subagentRunId":"s"}`, startCases["a message"][1]},
	"chunks of a subagent":     {startCases["a subagent"][0], `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"assistant","delta":"x","subagentRunId":"s"}`},
	"a call of a subagent":     {startCases["a subagent"][0], `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","subagentRunId":"s"}`, startCases["a call"][1], startCases["a call"][3]},
	"data of a subagent":       {startCases["a subagent"][0], `{"type":"CUSTOM","name":"n","value":"x","subagentRunId":"s"}`},
	"state of a subagent":      {startCases["a subagent"][0], `{"type":"STATE_SNAPSHOT","snapshot":{},"subagentRunId":"s"}`},
	"a step of a subagent":     {startCases["a subagent"][0], `{"type":"STEP_STARTED","stepName":"x","subagentRunId":"s"}`},
	"an activity":              {startCases["a subagent"][0], `{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"a","content":{},"subagentRunId":"s"}`},
	"a subagent of a subagent": {startCases["a subagent"][0], `{"type":"SUBAGENT_STARTED","subagentRunId":"u","name":"n","parentSubagentRunId":"s"}`, `{"type":"STATE_SNAPSHOT","snapshot":{},"subagentRunId":"u"}`},
	"a subagent of a call":     {startCases["a call"][0], `{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n","parentToolCallId":"c"}`, startCases["a subagent"][1]},
	"a call of a message":      {startCases["a message"][0], `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parentMessageId":"m"}`, startCases["a call"][1], startCases["a call"][3]},
	"a call of a thought":      {startCases["a thought"][0], `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parentMessageId":"m"}`},
	"a subagent of a message":  {startCases["a message"][0], `{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n","parentMessageId":"m"}`},
	"an encrypted value":       {startCases["a call"][0], `{"type":"REASONING_ENCRYPTED_VALUE","subtype":"tool-call","entityId":"c","encryptedValue":"x"}`},
	"a thought of a phase":     append([]string{startCases["reasoning"][0]}, startCases["a thought"]...),
	"a thought of thinking":    append([]string{startCases["thinking"][0]}, startCases["a thinking message"]...),
}

// TestPartsOfUnreadable checks that nothing leaves of what may have started in an unreadable frame, and that all of it leaves if
// its start was seen.
func TestPartsOfUnreadable(t *testing.T) {
	const other = `{"type":"CUSTOM","name":"n","x":1,"X":1}`
	for name, frames := range partsOfEntities {
		for _, s := range allSettings {
			unread := append([]string{evasions["unreadable"](frames[0])}, frames[1:]...)
			if got := filterFrames(t, s, unread...); !allWithheld(got) {
				t.Errorf("%s, %s: got %q, want all withheld", name, s.Policy, got)
			}
			if strings.Contains(name, "thought") || strings.Contains(name, "chunks") {
				continue // the unreadable frame may have started another phase or chunk
			}
			want := filterFrames(t, s, frames...)
			if got := filterFrames(t, s, append([]string{other}, frames...)...); !slices.Equal(got[1:], want) {
				t.Errorf("%s, %s, started after an unreadable frame: got %q, want %q", name, s.Policy, got[1:], want)
			}
			seen := slices.Insert(slices.Clone(frames), 1, other)
			if got := filterFrames(t, s, seen...); !slices.Equal(slices.Delete(got, 1, 2), want) {
				t.Errorf("%s, %s, started before an unreadable frame: got %q, want %q", name, s.Policy, got, want)
			}
		}
	}
}

// TestNamedBeforeUnreadable checks that a subagent, a message and a nested run stay known that no frame starts, because some
// producers never send a start.
func TestNamedBeforeUnreadable(t *testing.T) {
	const other = `{"type":"CUSTOM","name":"n","x":1,"X":1}`
	for name, sent := range map[string][]string{
		"a subagent":      {`{"type":"STEP_STARTED","stepName":"x","subagentRunId":"s"}`, other, `{"type":"TEXT_MESSAGE_START","messageId":"m","subagentRunId":"s"}`},
		"of data":         {`{"type":"CUSTOM","name":"n","value":"x","subagentRunId":"s"}`, other, `{"type":"TEXT_MESSAGE_START","messageId":"m","subagentRunId":"s"}`},
		"a message":       {`{"type":"TOOL_CALL_START","toolCallId":"b","toolCallName":"f","parentMessageId":"m"}`, other, `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parentMessageId":"m"}`},
		"a nested run":    {other, `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`, `{"type":"RUN_STARTED","threadId":"t","runId":"n","parentRunId":"r"}`, `{"type":"TEXT_MESSAGE_START","messageId":"m","subagentRunId":"n"}`},
		"the run's own":   {other, `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`, `{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n","parentSubagentRunId":"r"}`},
		"without parents": {other, startCases["a message"][0]},
		"a phase":         {other, startCases["reasoning"][0], startCases["a thought"][0]},
		"thinking":        {other, startCases["thinking"][0], startCases["a thinking message"][0]},
	} {
		if got := last(filterFrames(t, allSettings[0], sent...)); got == withheld {
			t.Errorf("%s: the last frame is withheld", name)
		}
	}
	sent := []string{other, `{"type":"STEP_STARTED","stepName":"x","subagentRunId":"s"}`, `{"type":"CUSTOM","name":"n","value":"x","subagentRunId":"s"}`}
	if got := filterFrames(t, allSettings[0], sent...); !allWithheld(got) {
		t.Errorf("named after the unreadable frame: got %q, want all withheld", got)
	}
}

// TestBrokenErrors checks that only a frame of the type RUN_ERROR counts as an error if it cannot be read.
func TestBrokenErrors(t *testing.T) {
	for data, is := range map[string]bool{
		`{"type":"RUN_ERROR","message":"a "b""}`:                 true,
		`{ "message":"a "b"", "type" : "RUN_ERROR"}`:             true,
		`{"type":"CUSTOM","name":"codes","value":["RUN_ERROR",}`: false,
		`{"type":"CUSTOM","value":{"a":1,"type":"RUN_ERROR",}`:   false,
		`["type":"RUN_ERROR",`:                                   false,
	} {
		if got := slices.ContainsFunc(decode(t, data).Events, func(e event.Event) bool { return e.Kind == event.KindError }); got != is {
			t.Errorf("%s is an error: %t", data, got)
		}
	}
}

// TestWorkOfUnreadable begins an internal run or step in an unreadable frame. What comes in it stays in, and what comes after it leaves.
func TestWorkOfUnreadable(t *testing.T) {
	const (
		run   = `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`
		next  = `{"type":"RUN_STARTED","threadId":"t","runId":"s"}`
		state = `{"type":"STATE_SNAPSHOT","snapshot":{}}`
	)
	text := startCases["a message"]
	broken := func(frame string) string { return strings.TrimSuffix(frame, "}") + `,"z":1,"Z":2}` }
	internal := broken(`{"type":"STEP_STARTED","stepName":"internal_x"}`)
	for _, s := range allSettings {
		for _, frames := range [][]string{
			append([]string{broken(`{"type":"RUN_STARTED","threadId":"t","runId":"r","name":"internal_x"}`)}, text...),
			append([]string{internal}, text...),
			{internal, state},
		} {
			if got := filterFrames(t, s, frames...); !allWithheld(got[:2]) {
				t.Errorf("%s: of %s this leaves: %q", s.Policy, frames, got)
			}
		}
		for _, frames := range [][]string{
			{run, broken(`{"type":"STEP_STARTED","stepName":"x"}`), text[0]},
			{run, internal, `{"type":"STEP_FINISHED","stepName":"internal_x"}`, text[0]},
			{broken(`{"type":"RUN_STARTED","threadId":"t","runId":"r","name":"internal_x"}`), next, text[0]},
		} {
			if got := filterFrames(t, s, frames...); allWithheld(got[len(got)-1:]) {
				t.Errorf("%s: the last of %s does not leave: %q", s.Policy, frames, got)
			}
		}
	}
}
