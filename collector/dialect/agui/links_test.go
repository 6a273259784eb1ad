package agui_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestMisspelledLinks checks that a frame is withheld, and what it starts, if a lenient reader may
// find its speaker, its own id or that of its parent in a member with another name.
func TestMisspelledLinks(t *testing.T) {
	spellings := map[string][]string{
		"messageId":     {"MessageId", "MESSAGEID", "message_id", "messageid", "messageId ", "message\u200bId"},
		"toolCallId":    {"ToolCallId", "tool_call_id", "toolCallID"},
		"subagentRunId": {"SubagentRunId", "subagent_run_id", "ſubagentRunId"},
	}
	for what, frames := range startCases {
		for member, others := range spellings {
			for _, other := range others {
				for _, s := range allSettings {
					first := swap(`"`+member+`"`, `"`+other+`"`)(frames[0])
					if first == frames[0] {
						continue
					}
					for _, evade := range []func(string) string{evasions["kind"], with(`"role":"system"`), with(`"x":1`)} {
						got := filterFrames(t, s, append([]string{evade(first)}, frames[1:]...)...)
						if slices.ContainsFunc(got, func(one string) bool { return one != withheld }) {
							t.Errorf("%s, %s, %s: %q", what, other, s.Policy, got)
						}
					}
				}
			}
		}
	}
	const start = `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`
	for name, sent := range map[string][]string{
		"a role":              {`{"type":"TEXT_MESSAGE_START","messageId":"m","Role":"system"}`, startCases["a message"][1]},
		"a role with a blank": {`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"assistant"," role":"system","delta":"x"}`, startCases["a message"][1]},
		"a parent":            {evasions["kind"](startCases["a message"][0]), `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parent_message_id":"m"}`, startCases["a call"][1]},
		"an entity":           {evasions["kind"](startCases["a call"][0]), `{"type":"REASONING_ENCRYPTED_VALUE","subtype":"tool-call","EntityId":"c","encryptedValue":"x"}`},
		"a run":               {start, evasions["kind"](`{"type":"RUN_STARTED","threadId":"t","RunId":"n","parent_run_id":"r"}`), `{"type":"RUN_FINISHED","threadId":"t","run_id":"n"}`},
	} {
		for _, s := range allSettings {
			got := filterFrames(t, s, sent...)
			if got[0] == start {
				got = got[1:]
			}
			if slices.ContainsFunc(got, func(one string) bool { return one != withheld }) {
				t.Errorf("%s, %s: %q", name, s.Policy, got)
			}
		}
	}
	nested := evasions["kind"](`{"type":"RUN_STARTED","threadId":"t","RunId":"n","parent_run_id":"r"}`)
	if got := last(filterFrames(t, allSettings[0], start, nested, startCases["a step"][0])); got == withheld {
		t.Error("a run with a parent in another spelling counts as one of its own")
	}
	for _, sent := range []string{
		`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant","message_id":null}`, `{"type":"TEXT_MESSAGE_START","messageId":"m","roles":["x"],"content":{"Role":"x"}}`,
		`{"type":"RUN_FINISHED","threadId":"t","runId":"r","message_id":"m"}`, `{"type":"TEXT_MESSAGE_START","messag\u0065Id":"m"}`,
	} {
		if got := last(filterFrames(t, allSettings[0], sent)); got != sent {
			t.Errorf("%s: %s", sent, got)
		}
	}
}

// TestMarkedMessages continues a message of which one frame says that it is a thought. Another message leaves.
func TestMarkedMessages(t *testing.T) {
	const run = `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`
	piece := func(id string) string {
		return `{"type":"TEXT_MESSAGE_CONTENT","messageId":"` + id + `","delta":"secret"}`
	}
	for _, before := range [][]string{
		{`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant","thought":true}`},
		{`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}`, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x","thought":true}`},
		{`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"assistant","delta":"x","thought":true}`},
	} {
		for _, s := range []filter.Settings{{Policy: event.PolicyPublic}, {Policy: event.PolicyClient}} {
			for _, more := range []string{piece("m"), `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"secret"}`} {
				if got := last(filterFrames(t, s, append(append([]string{run}, before...), more)...)); strings.Contains(got, "secret") {
					t.Errorf("under %s, %s after %s leaves", s.Policy, got, before)
				}
			}
			other := append([]string{run}, before...)
			other = append(other, `{"type":"TEXT_MESSAGE_START","messageId":"n","role":"assistant"}`, piece("n"))
			if got := last(filterFrames(t, s, other...)); got != piece("n") {
				t.Errorf("under %s, the text of another message becomes %q", s.Policy, got)
			}
		}
	}
}
