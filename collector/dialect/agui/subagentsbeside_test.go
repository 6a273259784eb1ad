package agui_test

import (
	"slices"
	"strings"
	"testing"
)

// TestBesideInternalSubagents checks what leaves of an agent while an internal subagent works: all of its own, and nothing of the subagent.
func TestBesideInternalSubagents(t *testing.T) {
	of := func(owner, frame string) string {
		if owner == "" {
			return frame
		}
		return with(`"subagentRunId":"` + owner + `"`)(frame)
	}
	frames := func(owner, id, word string, isTagged bool) (all []string) {
		rest := owner
		if !isTagged {
			rest = ""
		}
		for i, frame := range []string{
			`{"type":"REASONING_START","messageId":"rID"}`, `{"type":"REASONING_MESSAGE_START","messageId":"rID","role":"reasoning"}`,
			`{"type":"REASONING_MESSAGE_CONTENT","messageId":"rID","delta":"WORD thinks"}`, `{"type":"REASONING_MESSAGE_END","messageId":"rID"}`, `{"type":"REASONING_END","messageId":"rID"}`,
			`{"type":"REASONING_MESSAGE_CHUNK","messageId":"uID","delta":"WORD"}`, `{"type":"REASONING_MESSAGE_CHUNK","delta":"WORD"}`,
			`{"type":"TOOL_CALL_CHUNK","toolCallId":"call-ID","toolCallName":"f","delta":"{\"q\":"}`, `{"type":"TOOL_CALL_CHUNK","delta":"\"WORD\"}"}`,
			`{"type":"TOOL_CALL_RESULT","messageId":"tID","toolCallId":"call-ID","content":"WORD"}`,
			`{"type":"TEXT_MESSAGE_START","messageId":"mID","role":"assistant"}`, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"mID","delta":"WORD words"}`, `{"type":"TEXT_MESSAGE_END","messageId":"mID"}`,
		} {
			by := rest
			if isFirst := i < 2 || strings.Contains(frame, "CHUNK") || strings.Contains(frame, "TEXT_MESSAGE_START"); isFirst {
				by = owner
			}
			all = append(all, of(by, strings.NewReplacer("ID", id, "WORD", word).Replace(frame)))
		}
		return all
	}
	list := `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m2","role":"assistant","content":"ordinary words"},{"id":"u2","role":"reasoning","content":"ordinary"}]}`
	listed := strings.Replace(list, `[`, `[{"id":"m1","role":"assistant","content":"CANARY words"},{"id":"u1","role":"reasoning","content":"CANARYCANARY"},`, 1)
	for _, isTagged := range []bool{true, false} {
		for _, owner := range []string{"s2", ""} {
			for _, isFirst := range []bool{true, false} {
				internal, ordinary := frames("s1", "1", "CANARY", true), frames(owner, "2", "ordinary", isTagged)
				sent := []string{run, `{"type":"SUBAGENT_STARTED","subagentRunId":"s1","kind":"internal_x"}`, `{"type":"SUBAGENT_STARTED","subagentRunId":"s2","name":"y"}`}
				want := []string{run, withheld, sent[2]}
				for i := range internal {
					pair, left := []string{internal[i], ordinary[i]}, []string{withheld, ordinary[i]}
					if isFirst {
						slices.Reverse(pair)
						slices.Reverse(left)
					}
					sent, want = append(sent, pair...), append(want, left...)
				}
				got := filterFrames(t, allSettings[0], append(sent, listed)...)
				for i, frame := range append(want, list) {
					if got[i] != frame {
						t.Errorf("owner %q, tagged %t, first %t: %s\nleaves as %s", owner, isTagged, isFirst, append(sent, listed)[i], got[i])
					}
				}
			}
		}
	}
}

// TestStatesOfInternalAgents checks that what an internal agent of LangChain reports besides its words does not leave.
func TestStatesOfInternalAgents(t *testing.T) {
	for _, frame := range []string{
		`{"type":"STATE_SNAPSHOT","rawEvent":{"metadata":{"lc_agent_name":"BY"}},"snapshot":{"todos":["CANARY"]}}`,
		`{"type":"STATE_DELTA","rawEvent":{"metadata":{"lc_agent_name":"BY"}},"delta":[{"op":"add","path":"/x","value":"CANARY"}]}`,
		`{"type":"CUSTOM","rawEvent":{"metadata":{"langgraph_node":"BY"}},"name":"progress","value":"CANARY"}`,
		`{"type":"ACTIVITY_SNAPSHOT","rawEvent":{"metadata":{"langgraph_checkpoint_ns":"BY:1|x:2"}},"messageId":"a","activityType":"PLAN","content":{"x":"CANARY"}}`,
	} {
		for by, leaves := range map[string]bool{"internal_expert": false, "expert": true} {
			sent := []string{run, strings.Replace(frame, "BY", by, 1), `{"type":"STATE_SNAPSHOT","snapshot":{"x":1}}`}
			if got := filterFrames(t, allSettings[0], sent...); strings.Contains(got[1], "CANARY") != leaves || got[2] != sent[2] {
				t.Errorf("%s: %q", sent[1], got[1:])
			}
		}
	}
}
