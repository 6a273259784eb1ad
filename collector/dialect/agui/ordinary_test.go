package agui_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestNamesSayNothing checks that all frames leave unchanged of agents, tools, nodes and steps that are named internal, and of what runs in
// them or repeats them.
func TestNamesSayNothing(t *testing.T) {
	work := func(id string) []string {
		return []string{
			`{"type":"TEXT_MESSAGE_START","messageId":"m` + id + `","role":"assistant","name":"internal_x"}`, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m` + id + `","delta":"hi"}`, `{"type":"TEXT_MESSAGE_END","messageId":"m` + id + `"}`,
			`{"type":"REASONING_START","messageId":"r` + id + `"}`, `{"type":"REASONING_MESSAGE_CHUNK","messageId":"r` + id + `","delta":"hm"}`, `{"type":"REASONING_END","messageId":"r` + id + `"}`,
			`{"type":"TOOL_CALL_CHUNK","toolCallId":"c` + id + `","toolCallName":"internal_search","parentMessageId":"m` + id + `","delta":"{\"type\":\"internal\"}"}`,
			`{"type":"TOOL_CALL_RESULT","messageId":"t` + id + `","toolCallId":"c` + id + `","content":"found by internal_x"}`,
			`{"type":"STATE_SNAPSHOT","snapshot":{"messages":[{"type":"ai","name":"internal_x","content":"hi"}]}}`, `{"type":"STATE_DELTA","delta":[{"op":"add","path":"/next","value":"internal_x"}]}`,
			`{"type":"ACTIVITY_SNAPSHOT","messageId":"r:executor:internal_x` + id + `","activityType":"executor","content":{"executor_id":"internal_x","name":"internal_x"}}`,
			`{"type":"ACTIVITY_DELTA","messageId":"r:executor:internal_x` + id + `","activityType":"executor","patch":[{"op":"add","path":"/agent_name","value":"internal_x"}]}`,
			`{"type":"CUSTOM","name":"MultiAgentNodeInput","value":{"node_id":"internal_x","from_nodes":["internal_y"],"toolName":"agent-internal_x"}}`,
		}
	}
	call := func(id, tool, args string) []string {
		return []string{
			`{"type":"TOOL_CALL_START","toolCallId":"` + id + `","toolCallName":"` + tool + `"}`, `{"type":"TOOL_CALL_ARGS","toolCallId":"` + id + `","delta":"` + args + `"}`, `{"type":"TOOL_CALL_END","toolCallId":"` + id + `"}`,
		}
	}
	result := func(id string) string {
		return `{"type":"TOOL_CALL_RESULT","messageId":"t` + id + `","toolCallId":"` + id + `","content":"{\"error\":\"internal_x failed\"}"}`
	}
	sent := slices.Concat([]string{run, `{"type":"STEP_STARTED","stepName":"internal_node"}`}, work("1"), []string{`{"type":"STEP_FINISHED","stepName":"internal_node"}`},
		[]string{`{"type":"STEP_STARTED","stepName":"agent:internal_x"}`}, work("2"), []string{`{"type":"STEP_FINISHED","stepName":"agent:internal_x"}`},
		call("d", "task", `{\"subagent_type\":\"internal_x\"}`), []string{`{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"internal_x","parentToolCallId":"d"}`},
		work("3"), []string{`{"type":"SUBAGENT_FINISHED","subagentRunId":"s"}`, result("d")},
		call("e", "transfer_to_agent", `{\"agent_name\":\"internal_x\"}`), []string{result("e")}, work("4"),
		[]string{
			`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m1","role":"assistant","name":"internal_x","content":"hi","toolCalls":[{"id":"c1","type":"function","function":{"name":"internal_search","arguments":"{}"}}]},{"id":"t1","role":"tool","toolCallId":"c1","content":"found"}]}`,
			`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"x","message":"internal_x asks","toolCallId":"c1","subagentRunId":"s"}]},"result":{"messages":[{"role":"assistant","name":"internal_x","content":"hi"}]}}`,
			`{"type":"RUN_STARTED","threadId":"t","runId":"q","input":{"messages":[{"id":"m1","role":"assistant","name":"internal_x","content":"hi"}]}}`,
			`{"type":"RUN_ERROR","message":"internal_x: found by internal_x","code":"internal_error"}`,
		})
	for i, got := range filterFrames(t, allSettings[0], sent...) {
		if got != sent[i] {
			t.Errorf("%s\nbecomes %s", sent[i], got)
		}
	}
}

// TestNamesOfCustomEvents checks that the name of a custom event is one.
func TestNamesOfCustomEvents(t *testing.T) {
	for _, name := range []string{`"name":"internal:planner"`, `"name":["x",{"Internal":1}]`, `"Name":"\u0131NTERNAL"`, `"ｎame":"ｉnternal x"`, `"name":"x","event":"internal"`} {
		for _, s := range allSettings {
			if got := last(filterFrames(t, s, run, `{"type":"CUSTOM",`+name+`,"value":"CANARY"}`)); got != withheld {
				t.Errorf("%s: the event %s becomes %s", s.Policy, name, got)
			}
		}
	}
}

// TestPiecesOfUnreadable checks that the pieces of what an unreadable frame may have begun are withheld, and nothing else.
func TestPiecesOfUnreadable(t *testing.T) {
	for what, frames := range startCases {
		for _, s := range allSettings {
			if got := filterFrames(t, s, append([]string{evasions["unreadable"](frames[0])}, frames[1:]...)...); !allWithheld(got) {
				t.Errorf("%s, %s: got %q, want all withheld", what, s.Policy, got)
			}
			got := filterFrames(t, s, append([]string{`{"x":1,"X":1}`}, frames...)...)[1:]
			hasStarts := !strings.HasSuffix(what, "chunks") && what != "reasoning" && what != "thinking" && what != "a thought"
			if want := filterFrames(t, s, frames...); hasStarts && !slices.Equal(got, want) {
				t.Errorf("%s, %s, begun after an unreadable frame: got %q, want %q", what, s.Policy, got, want)
			}
		}
	}
	for _, ordinary := range []string{
		`{"type":"CUSTOM","name":"n","value":"x","subagentRunId":"s"}`, `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"assistant","content":"x"}]}`, `{"type":"STATE_DELTA","delta":[]}`,
		`{"type":"TEXT_MESSAGE_START","messageId":"m","subagentRunId":"s"}`, `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parentMessageId":"m"}`, `{"type":"RUN_ERROR","message":"x"}`,
	} {
		if got := last(filterFrames(t, allSettings[0], run, `{"x":1,"X":1}`, ordinary)); got != ordinary {
			t.Errorf("after an unreadable frame, %s becomes %s", ordinary, got)
		}
	}
}

// TestPiecesAfterMany checks that only what shows its beginning leaves after more was withheld than is remembered.
func TestPiecesAfterMany(t *testing.T) {
	sent := []string{run}
	for i := range 1100 {
		sent = append(sent, fmt.Sprintf(`{"type":"TOOL_CALL_START","kind":"internal","toolCallId":"i%d","toolCallName":"f"}`, i))
	}
	const (
		text   = `{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}`
		call   = `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parentMessageId":"m"}`
		hidden = `{"type":"TEXT_MESSAGE_START","kind":"internal","messageId":"n","role":"assistant"}`
	)
	for _, c := range []struct {
		next   []string
		leaves bool // the last of them
	}{
		{[]string{text}, true},
		{[]string{text, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"hi"}`}, true},
		{[]string{text, call, `{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{}"}`}, true},
		{[]string{text, call, `{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":"c","content":"1"}`}, true},
		{[]string{`{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"b","parentToolCallId":"i1099"}`}, false},
		{[]string{`{"type":"TOOL_CALL_ARGS","toolCallId":"i1099","delta":"x"}`}, false},
		{[]string{`{"type":"TOOL_CALL_END","toolCallId":"i1099"}`}, false},
		{[]string{`{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":"i1099","content":"x"}`}, false},
		{[]string{`{"type":"TOOL_CALL_CHUNK","toolCallId":"i1099","toolCallName":"f","delta":"x"}`}, false},
		{[]string{`{"type":"TEXT_MESSAGE_CHUNK","messageId":"n","role":"assistant","delta":"x"}`}, false},
		{[]string{hidden, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"n","delta":"x"}`}, false},
		{[]string{text, `{"type":"TEXT_MESSAGE_CONTENT","kind":"internal","messageId":"m","delta":"x"}`, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x"}`}, false},
		{[]string{`{"type":"THINKING_START","kind":"internal"}`, `{"type":"THINKING_TEXT_MESSAGE_START"}`}, false},
		{[]string{`{"type":"ACTIVITY_SNAPSHOT","kind":"internal","messageId":"a","activityType":"x","content":{}}`, `{"type":"ACTIVITY_DELTA","messageId":"a","activityType":"x","patch":[]}`}, false},
	} {
		got := last(filterFrames(t, allSettings[0], append(sent[:len(sent):len(sent)], c.next...)...))
		if leaves := got == last(c.next); leaves != c.leaves || !leaves && got != withheld {
			t.Errorf("the last of %q leaves as %s", c.next, got)
		}
	}
}
