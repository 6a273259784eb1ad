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

// TestInternalPieces checks that a piece of an internal agent does not leave in what an ordinary one began. The rest leaves: adapters
// of LangGraph keep one message for all agents of a run.
//
// Source: getMessageInProgress in src/agent.ts of @ag-ui/langgraph 0.0.43. It has the run's ID.
func TestInternalPieces(t *testing.T) {
	writer, audit := langChain("writer", "one:1|model:2"), langChain("internal_audit", "two:3|model:4")
	inStep := func(frame string) string { return frame }
	const (
		start = `{"type":"STEP_STARTED","stepName":"internal_review"}`
		end   = `{"type":"STEP_FINISHED","stepName":"internal_review"}`
	)
	text := []string{`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}`, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"%s"}`, `{"type":"TEXT_MESSAGE_END","messageId":"m"}`}
	for what, frames := range map[string][]string{ // the first, a piece, the last
		"a text":            text,
		"a text in chunks":  {`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"assistant","delta":"x"}`, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"%s"}`, text[0]},
		"without an ID":     {`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"assistant","delta":"x"}`, `{"type":"TEXT_MESSAGE_CHUNK","delta":"%s"}`, begun[2]},
		"a call":            {begun[2], `{"type":"TOOL_CALL_ARGS","toolCallId":"d","delta":"%s"}`, `{"type":"TOOL_CALL_END","toolCallId":"d"}`},
		"a call in chunks":  {begun[3], `{"type":"TOOL_CALL_CHUNK","toolCallId":"d","delta":"%s"}`, begun[0]},
		"a thought":         {`{"type":"REASONING_MESSAGE_START","messageId":"m","role":"reasoning"}`, `{"type":"REASONING_MESSAGE_CONTENT","messageId":"m","delta":"%s"}`, `{"type":"REASONING_MESSAGE_END","messageId":"m"}`},
		"an old thought":    {`{"type":"THINKING_TEXT_MESSAGE_START"}`, `{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"%s"}`, `{"type":"THINKING_TEXT_MESSAGE_END"}`},
		"encrypted":         {`{"type":"REASONING_MESSAGE_START","messageId":"m","role":"reasoning"}`, `{"type":"REASONING_ENCRYPTED_VALUE","subtype":"message","entityId":"m","encryptedValue":"%s"}`, `{"type":"REASONING_MESSAGE_END","messageId":"m"}`},
		"a second start":    {begun[2], `{"type":"TOOL_CALL_START","toolCallId":"d","toolCallName":"%s"}`, `{"type":"TOOL_CALL_END","toolCallId":"d"}`},
		"a thought's chunk": {`{"type":"REASONING_MESSAGE_CHUNK","messageId":"m","delta":"x"}`, `{"type":"REASONING_MESSAGE_CHUNK","messageId":"m","delta":"%s"}`, begun[0]},
	} {
		ordinary, canary := fmt.Sprintf(frames[1], "ord"), fmt.Sprintf(frames[1], "CANARY")
		for how, c := range map[string]struct {
			before, after []string
			by            func(string) string
		}{
			"agent": {nil, nil, audit}, "node": {nil, nil, langChain("writer", "internal_team:1|speak:2")},
			"step": {[]string{start}, []string{end}, inStep}, "last step": {[]string{`{"type":"STEP_STARTED","stepName":"x"}`, start, `{"type":"STEP_FINISHED","stepName":"x"}`}, []string{end}, inStep},
		} {
			if c.before != nil && (what == "a second start" || what == "without an ID") {
				continue // one begins in the step, which ends the other
			}
			end := frames[2]
			if strings.Contains(end, "_END") {
				end = c.by(end)
			}
			sent := slices.Concat([]string{run, writer(frames[0]), writer(ordinary)}, c.before, []string{c.by(canary)}, c.after, []string{writer(ordinary), end})
			got := filterFrames(t, allSettings[0], sent...)
			if strings.Contains(strings.Join(got, ""), "CANARY") {
				t.Errorf("%s, %s: %q", what, how, got)
			}
			if n := len(got); got[1] == withheld || got[2] == withheld || got[n-2] == withheld || got[n-1] == withheld {
				t.Errorf("%s, %s: ordinary frames are withheld: %q", what, how, got)
			}
		}
		if got := filterFrames(t, allSettings[0], run, audit(frames[0]), writer(canary), writer(canary)); got[1] != withheld || got[2] != withheld || got[3] != withheld {
			t.Errorf("%s that an internal agent began: %q", what, got)
		}
		beside := []string{run, frames[0], `{"type":"STEP_STARTED","stepName":"x"}`, start, ordinary}
		if got := last(filterFrames(t, allSettings[0], beside...)); got != ordinary && what != "a second start" && what != "without an ID" {
			t.Errorf("%s beside an internal step: %s", what, got)
		}
	}
	for how, before := range map[string][]string{"agent": nil, "step": {start}} {
		result := `{"type":"TOOL_CALL_RESULT","messageId":"y","toolCallId":"d","content":"CANARY"}`
		sent := slices.Concat([]string{run, begun[2]}, before, []string{result})
		if before == nil {
			sent[2] = audit(result)
		}
		if got := last(filterFrames(t, allSettings[0], sent...)); got != strings.Replace(result, "CANARY", "", 1) {
			t.Errorf("a result, %s: %s", how, got)
		}
	}
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
