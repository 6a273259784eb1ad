package agui_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// begun holds frames that begin something, with all that a client needs.
var begun = []string{
	`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}`, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"assistant","delta":"x"}`,
	`{"type":"TOOL_CALL_START","toolCallId":"d","toolCallName":"g"}`, `{"type":"TOOL_CALL_CHUNK","toolCallId":"d","toolCallName":"g","delta":"x"}`,
	`{"type":"REASONING_START","messageId":"m"}`, `{"type":"REASONING_MESSAGE_START","messageId":"m"}`, `{"type":"THINKING_TEXT_MESSAGE_START"}`,
	`{"type":"SUBAGENT_STARTED","subagentRunId":"u","name":"n"}`,
}

// checkBegun checks whether each of the frames leaves after others.
func checkBegun(t *testing.T, what string, before []string, leave bool) {
	t.Helper()
	for _, frame := range begun {
		if got := last(filterFrames(t, allSettings[0], append(slices.Clone(before), frame)...)); (got == frame) != leave {
			t.Errorf("%s: %s leaves as %s", what, frame, got)
		}
	}
}

// TestInternalTransfers checks that nothing begins that an agent with an internal name has taken over.
func TestInternalTransfers(t *testing.T) {
	transfer := func(to string) []string {
		return []string{`{"type":"TOOL_CALL_START","toolCallId":"` + to + `","toolCallName":"transfer_to_agent"}`, `{"type":"TOOL_CALL_ARGS","toolCallId":"` + to + `","delta":"{\"agent_name\":\"` + to + `\"}"}`,
			`{"type":"TOOL_CALL_END","toolCallId":"` + to + `"}`, `{"type":"TOOL_CALL_RESULT","messageId":"r` + to + `","toolCallId":"` + to + `","content":"{\"result\":null}"}`}
	}
	before := append([]string{run}, transfer("internal_x")...)
	checkBegun(t, "to an internal agent", before, false)
	checkBegun(t, "to a public agent", append([]string{run}, transfer("public_x")...), true)
	checkBegun(t, "back", append(before, transfer("root")...), true)
	one, two := transfer("internal_x"), transfer("public_x")
	both := slices.Concat([]string{run}, one[:3], two[:3])
	checkBegun(t, "to an internal agent and another beside it", append(slices.Clone(both), one[3], two[3]), false)
	checkBegun(t, "to another agent and an internal one beside it", append(slices.Clone(both), two[3], one[3]), false)
	checkBegun(t, "to both, and back", append(slices.Clone(both), slices.Concat(one[3:], two[3:], transfer("root"))...), true)
	checkBegun(t, "in the next run", append(before, `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`, `{"type":"RUN_STARTED","threadId":"t","runId":"q"}`), true)
	checkBegun(t, "not done", before[:4], true)
	lost := append(slices.Clone(before[:4]), `{"type":"TOOL_CALL_RESULT",,`)
	if got := last(filterFrames(t, allSettings[0], append(lost, begun[0])...)); got != withheld {
		t.Errorf("after a lost result: %s", got)
	}
	if got := last(filterFrames(t, allSettings[0], append([]string{run, lost[4]}, append(before[1:4], begun[0])...)...)); got != begun[0] {
		t.Errorf("after an unreadable frame before the call: %s", got)
	}
}

// TestInternalDelegates checks that no answer leaves of a delegate with an internal name.
func TestInternalDelegates(t *testing.T) {
	args := map[string]string{"task": `{\"subagent_type\":\"NAME\"}`, "delegate_task_to_member": `{\"member_id\":\"NAME\"}`, "execute_task": `{\"task_id\":\"t1\",\"member_id\":\"NAME\"}`}
	for tool, args := range args {
		for name, want := range map[string]string{"internal_x": `""`, "writer": `"CANARY"`} {
			args := strings.Replace(args, "NAME", name, 1)
			call, result := `{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"`+tool+`","delta":"`+args+`"}`, `{"type":"TOOL_CALL_RESULT","messageId":"y","toolCallId":"c","content":`
			listed := `{"id":"a","role":"assistant","content":"x","toolCalls":[{"id":"c","type":"function","function":{"name":"` + tool + `","arguments":"` + args + `"}}]}`
			if got := last(filterFrames(t, allSettings[0], run, call, result+`"CANARY"}`)); got != result+want+`}` {
				t.Errorf("%s of %s: %s", name, tool, got)
			}
			pieces := []string{run, `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"` + tool + `"}`, `{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"` + args + `"}`, result + `"CANARY"}`}
			if got := last(filterFrames(t, allSettings[0], pieces...)); got != result+want+`}` {
				t.Errorf("%s of %s, in pieces: %s", name, tool, got)
			}
			got := last(filterFrames(t, allSettings[0], run, `{"type":"MESSAGES_SNAPSHOT","messages":[`+listed+`,{"id":"y","role":"tool","toolCallId":"c","content":"CANARY"}]}`))
			if strings.Contains(got, "CANARY") != (name == "writer") || !strings.Contains(got, listed) {
				t.Errorf("%s of %s in a list: %s", name, tool, got)
			}
			const text = `{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant","rawEvent":{"metadata":{"lc_agent_name":"NAME"}}}`
			got = last(filterFrames(t, allSettings[0], run, call, strings.Replace(text, "NAME", name, 1)))
			if (got == withheld) != (name == "internal_x") {
				t.Errorf("a text of %s: %s", name, got)
			}
		}
	}
}

// TestConfiguredName checks that the name in the configuration withholds nothing.
func TestConfiguredName(t *testing.T) {
	decodeStream(t, &event.Stream{ConfiguredAgent: "internal_bot"}, begun, func(b *event.Batch) {
		if _, why := filter.New(allSettings[0]).Apply(b); why != filter.Passed {
			t.Errorf("%s is withheld: %s", b.Frame.Data, why)
		}
	})
}
