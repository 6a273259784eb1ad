package agui_test

import (
	"slices"
	"strings"
	"testing"
)

// workFrames are the start, a piece and the end of what an agent says.
var workFrames = map[string][]string{
	"a text":            {begun[0], `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"%s"}`, `{"type":"TEXT_MESSAGE_END","messageId":"m"}`},
	"a text in chunks":  {begun[1], `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"%s"}`, `{"type":"STEP_STARTED","stepName":"s"}`},
	"a thought":         {`{"type":"REASONING_MESSAGE_START","messageId":"m","role":"reasoning"}`, `{"type":"REASONING_MESSAGE_CONTENT","messageId":"m","delta":"%s"}`, `{"type":"REASONING_MESSAGE_END","messageId":"m"}`},
	"a thought's chunk": {`{"type":"REASONING_MESSAGE_CHUNK","messageId":"m","delta":"x"}`, `{"type":"REASONING_MESSAGE_CHUNK","messageId":"m","delta":"%s"}`, `{"type":"STEP_STARTED","stepName":"s"}`},
	"an old thought":    {`{"type":"THINKING_TEXT_MESSAGE_START"}`, `{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"%s"}`, `{"type":"THINKING_TEXT_MESSAGE_END"}`},
}

// toolCall returns the frames of a call, the last of which is its result.
func toolCall(id, tool, args, result string) []string {
	return []string{
		`{"type":"TOOL_CALL_START","toolCallId":"` + id + `","toolCallName":"` + tool + `"}`,
		`{"type":"TOOL_CALL_ARGS","toolCallId":"` + id + `","delta":"` + strings.ReplaceAll(args, `"`, `\"`) + `"}`,
		`{"type":"TOOL_CALL_END","toolCallId":"` + id + `"}`,
		`{"type":"TOOL_CALL_RESULT","messageId":"r` + id + `","toolCallId":"` + id + `","content":"` + strings.ReplaceAll(result, `"`, `\"`) + `"}`,
	}
}

// TestOpenWork checks that words of an internal agent do not leave in what an ordinary agent began before it transferred or delegated,
// and that words of ordinary agents leave.
//
// Source: translate_adk_event in ag_ui_adk/event_translator.py of ag-ui-adk 0.11, which ends a thought only before other texts.
func TestOpenWork(t *testing.T) {
	transfer := func(to string) []string {
		return toolCall("c", "transfer_to_agent", `{"agent_name":"`+to+`"}`, `{"result":null}`)
	}
	task := func(to string) []string { return toolCall("c", "task", `{"subagent_type":"`+to+`"}`, "done") }
	member := func(to string) []string {
		return toolCall("c", "delegate_task_to_member", `{"member_id":"`+to+`"}`, "done")
	}
	for what, frames := range workFrames {
		say := func(text string) string { return strings.Replace(frames[1], "%s", text, 1) }
		chunked := strings.Contains(frames[0], "TEXT_MESSAGE_CHUNK") // a call ends it
		for how, c := range map[string]struct {
			before []string
			leaves bool
		}{
			"transfer":                 {transfer("internal_x"), false},
			"transfer back":            {slices.Concat(transfer("internal_x"), transfer("root")), true},
			"transfer to an ordinary":  {transfer("writer"), true},
			"transfer without result":  {transfer("internal_x")[:3], true},
			"task":                     {task("internal_x")[:2], false},
			"task with a result":       {task("internal_x"), true},
			"task of an ordinary":      {task("writer")[:2], true},
			"delegation":               {member("internal_x")[:2], false},
			"delegation with a result": {member("internal_x"), true},
		} {
			sent := slices.Concat([]string{run, frames[0], say("a")}, c.before, []string{say("CANARY"), frames[2]})
			for i, s := range allSettings {
				got := filterFrames(t, s, sent...)
				n := len(got)
				if strings.Contains(got[n-2], "CANARY") != c.leaves && (i == 0 || !c.leaves) && !(c.leaves && chunked) {
					t.Errorf("%s, %s: %s", what, how, got[n-2])
				}
				if i == 0 && (got[2] == withheld || got[n-1] == withheld) {
					t.Errorf("%s, %s: ordinary frames are withheld: %q", what, how, got)
				}
			}
		}
	}
}

// TestOrdinaryWorkBesideDelegates checks that words leave that are of the response that delegates, or of an agent that was named.
func TestOrdinaryWorkBesideDelegates(t *testing.T) {
	const say, named = `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x"}`, `"rawEvent":{"metadata":{"lc_agent_name":"writer"}}`
	call := toolCall("c", "task", `{"subagent_type":"internal_x"}`, "done")[:2]
	other := toolCall("e", "look", `{}`, "found")
	parent := with(`"parentMessageId":"m"`)
	for what, sent := range map[string][]string{
		"the same response":  {begun[0], parent(call[0]), call[1], say},
		"a named message":    {with(named)(begun[0]), call[0], call[1], say},
		"a subagent's":       {`{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n"}`, with(`"subagentRunId":"s"`)(begun[0]), call[0], call[1], say},
		"a named piece":      {begun[0], call[0], call[1], with(named)(say)},
		"arguments":          {begun[0], parent(other[0]), parent(call[0]), call[1], other[1]},
		"its arguments":      {begun[0], parent(call[0]), call[1], `{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":" "}`},
		"the earlier result": {other[0], other[1], other[2], call[0], call[1], other[3]},
	} {
		if got := last(filterFrames(t, allSettings[0], append([]string{run}, sent...)...)); got == withheld {
			t.Errorf("%s: %s", what, got)
		}
	}
	transfer := toolCall("c", "transfer_to_agent", `{"agent_name":"internal_x"}`, `{"result":null}`)
	if got := last(filterFrames(t, allSettings[0], slices.Concat([]string{run}, other[:3], transfer, other[3:])...)); got != other[3] {
		t.Errorf("a result after the transfer: %s", got)
	}
}

// TestListedThoughtPieces checks that no list repeats a thought of which an internal agent's piece was withheld.
func TestListedThoughtPieces(t *testing.T) {
	thought, transfer := workFrames["a thought"], toolCall("c", "transfer_to_agent", `{"agent_name":"internal_x"}`, `{"result":null}`)
	back := toolCall("e", "transfer_to_agent", `{"agent_name":"root"}`, `{"result":null}`)
	const listed = `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"ROLE","content":"a CANARY"},{"id":"n","role":"reasoning","content":"b"}]}`
	for role, leaves := range map[string]bool{"reasoning": false, "assistant": true} { // a text may have the same ID
		sent := slices.Concat([]string{run, thought[0]}, transfer, []string{strings.Replace(thought[1], "%s", "CANARY", 1), thought[2]}, back, []string{strings.Replace(listed, "ROLE", role, 1)})
		if got := last(filterFrames(t, allSettings[0], sent...)); strings.Contains(got, "CANARY") != leaves || !strings.Contains(got, `"b"`) {
			t.Errorf("%s: %s", role, got)
		}
	}
}
