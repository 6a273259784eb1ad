package agui_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// langChain returns the member rawEvent of a frame of an agent and a checkpoint of LangGraph.
func langChain(agent, checkpoint string) func(string) string {
	return with(fmt.Sprintf(`"rawEvent":{"event":"on_chat_model_stream","metadata":{"lc_agent_name":%q,"langgraph_checkpoint_ns":%q}}`, agent, checkpoint))
}

// TestInternalPiecesOfText checks that other formats lack the pieces that are withheld, and that nothing repeats them.
func TestInternalPiecesOfText(t *testing.T) {
	audit := langChain("internal_audit", "two:3")
	piece := func(text string) string {
		return `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"` + text + `"}`
	}
	sent := []string{run, begun[0], piece("one "), audit(piece("CANARY ")), piece("two"), `{"type":"TEXT_MESSAGE_END","messageId":"m"}`}
	if got := lastText(t, sent); got != "one two" {
		t.Errorf("the text is %q", got)
	}
	for content, leaves := range map[string]bool{"one two": true, "one ": true, "one CANARY two": false, "one CANARY ": false} {
		for _, list := range []string{`{"type":"MESSAGES_SNAPSHOT","messages":[%s]}`, `{"type":"STATE_SNAPSHOT","snapshot":{"messages":[%s]}}`} {
			message := `{"id":"m","role":"assistant","content":"` + content + `"}`
			if got := last(filterFrames(t, allSettings[0], append(slices.Clone(sent), fmt.Sprintf(list, message))...)); strings.Contains(got, message) != leaves {
				t.Errorf("%q leaves as %s", content, got)
			}
		}
	}
}

// TestMembersOfTeams checks that nothing leaves of an internal agent to which an open call delegates, although its frames do not name
// it. Agno's leader goes on in the member's last message, so the message starts and ends.
//
// Source: agno/os/interfaces/agui/handlers.py of agno 3.1.
func TestMembersOfTeams(t *testing.T) {
	call := func(id, tool, args, message string) []string {
		return []string{`{"type":"TOOL_CALL_START","toolCallId":"` + id + `","toolCallName":"` + tool + `","parentMessageId":"` + message + `"}`, `{"type":"TOOL_CALL_ARGS","toolCallId":"` + id + `","delta":"` + args + `"}`}
	}
	end := func(id, content string) []string {
		return []string{`{"type":"TOOL_CALL_END","toolCallId":"` + id + `"}`, `{"type":"TOOL_CALL_RESULT","messageId":"` + id + `","toolCallId":"` + id + `","content":"` + content + `"}`}
	}
	open := func(id string) []string {
		return []string{`{"type":"TEXT_MESSAGE_START","messageId":"` + id + `","role":"assistant"}`}
	}
	say := func(id, text string) []string {
		return []string{`{"type":"TEXT_MESSAGE_CONTENT","messageId":"` + id + `","delta":"` + text + `"}`}
	}
	closed := func(id string) []string { return []string{`{"type":"TEXT_MESSAGE_END","messageId":"` + id + `"}`} }
	thought := []string{`{"type":"REASONING_START","messageId":"t"}`, `{"type":"REASONING_MESSAGE_START","messageId":"t"}`, `{"type":"REASONING_MESSAGE_CONTENT","messageId":"t","delta":"CANARY"}`, `{"type":"REASONING_MESSAGE_END","messageId":"t"}`, `{"type":"REASONING_END","messageId":"t"}`}
	raw := []string{`{"type":"RAW","source":"agno","event":{"event":"RunStarted"}}`}
	for tool, argument := range map[string]string{"delegate_task_to_member": "member_id", "execute_task": "member_id", "task": "subagent_type"} {
		delegate := func(id, to, message string) []string { return call(id, tool, `{\"`+argument+`\":\"`+to+`\"}`, message) }
		member := slices.Concat(raw, open("n"), say("n", "CANARY"), closed("n"), call("c2", "ledger", "CANARY", "n"), end("c2", "CANARY"), thought, open("o"), say("o", "CANARY"))
		sent := slices.Concat([]string{run}, open("m"), say("m", "lead"), closed("m"), delegate("c1", "internal_audit", "m"), member, end("c1", "CANARY"),
			say("o", "lead "), closed("o"), delegate("c3", "writer", "o"), raw, open("p"), closed("p"), call("c4", "look", "{}", "p"), end("c4", "found"), open("q"), say("q", "poem"), end("c3", "poem"), say("q", "done"), closed("q"))
		for _, s := range allSettings {
			got := filterFrames(t, s, sent...)
			if strings.Contains(strings.Join(got, ""), "CANARY") {
				t.Errorf("%s: %q", tool, got)
			}
			for i, frame := range sent {
				isInner := strings.Contains(frame, "CANARY") || strings.Contains(frame, `"c2"`) || strings.Contains(frame, "REASONING") || strings.Contains(frame, "RAW") || strings.Contains(frame, "ARGS")
				if !isInner && got[i] == withheld {
					t.Errorf("%s: withheld: %s", tool, frame)
				}
			}
		}
		two := slices.Concat([]string{run}, open("m"), closed("m"), delegate("c1", "internal_audit", "m"), delegate("c2", "writer", "m"), raw)
		for _, frame := range begun[:len(begun)-1] {
			if got := filterFrames(t, allSettings[0], append(slices.Clone(two), frame)...); got[5] == withheld || last(got) != withheld && !strings.Contains(frame, "TEXT_MESSAGE_START") {
				t.Errorf("%s beside another: %q", frame, got)
			}
			named := with(`"rawEvent":{"metadata":{"lc_agent_name":"writer"}}`)(frame)
			if got := last(filterFrames(t, allSettings[0], append(slices.Clone(two), named)...)); got == withheld {
				t.Errorf("of a named agent: %s", named)
			}
		}
		same := slices.Concat(two[:5], call("c5", "look", "{}", "m"))
		if got := last(filterFrames(t, allSettings[0], same...)); got == withheld {
			t.Errorf("%s: a call of the same response is withheld", tool)
		}
		snapshot := `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"y","role":"tool","toolCallId":"c1","content":"CANARY"}]}`
		if got := last(filterFrames(t, allSettings[0], slices.Concat(two[:5], raw, []string{snapshot}, open("r"), say("r", "lead"))...)); got == withheld {
			t.Errorf("%s: withheld after a result in a snapshot", tool)
		}
	}
}

// lastText returns the last whole text that leaves.
func lastText(t *testing.T, sent []string) (text string) {
	t.Helper()
	f := filter.New(allSettings[0])
	decodeEach(t, sent, func(b *event.Batch) {
		_, why := f.Apply(b)
		for i := range b.Events {
			if e := &b.Events[i]; e.Kind == event.KindText && why == filter.Passed && !b.Partial {
				text = string(e.Text())
			}
		}
	})
	return text
}
