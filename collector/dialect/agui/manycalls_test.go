package agui_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestManyOpenCalls checks that no internal agent speaks by a call that is not remembered: too many are open, it has no ID, or its ID is
// that of another open call.
func TestManyOpenCalls(t *testing.T) {
	start := func(id, tool string) string {
		return fmt.Sprintf(`{"type":"TOOL_CALL_START","toolCallId":%s,"toolCallName":%q}`, id, tool)
	}
	args := func(id, args string) string {
		return fmt.Sprintf(`{"type":"TOOL_CALL_ARGS","toolCallId":%s,"delta":%q}`, id, args)
	}
	result := func(id string) string {
		return `{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":` + id + `,"content":"CANARY"}`
	}
	var crowd []string
	for i := range 256 {
		crowd = append(crowd, start(fmt.Sprintf(`"c%d"`, i), "f"))
	}
	text := []string{`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}`, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"CANARY"}`}
	for what, c := range map[string]struct {
		before []string
		id     string
	}{"many": {crowd, `"c"`}, "no ID": {nil, `7`}, "another": {[]string{start(`"c"`, "f")}, `"c"`}} {
		delegation := []string{start(c.id, "task"), args(c.id, `{"subagent_type":"internal_planner"}`)}
		transfer := []string{start(c.id, "transfer_to_agent"), args(c.id, `{"agent_name":"internal_planner"}`), `{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":` + c.id + `,"content":"{}"}`}
		for _, sent := range [][]string{slices.Concat(delegation, text), slices.Concat(transfer, text), append(delegation, result(c.id)), append(delegation, `{"type":"RUN_ERROR","message":"CANARY"}`)} {
			for _, s := range allSettings {
				if got := filterFrames(t, s, slices.Concat([]string{run}, c.before, sent)...); strings.Contains(last(got), "CANARY") && !(what == "another" && strings.Contains(last(sent), "RESULT")) {
					t.Errorf("%s, %s: %q leaves", what, s.Policy, last(got))
				}
			}
		}
	}
	for _, sent := range [][]string{text, {start(`"c"`, "f"), result(`"c"`)}, {text[0], start(`"c255"`, "f"), text[1]}} {
		if got := last(filterFrames(t, allSettings[0], slices.Concat([]string{run}, crowd, sent)...)); got != last(sent) {
			t.Errorf("after many calls %s leaves as %s", last(sent), got)
		}
	}
}

// TestQuotesAnywhere checks that an error may quote nothing withheld in any member, whatever the end of the run calls it.
func TestQuotesAnywhere(t *testing.T) {
	withheldCall := []string{evasions["kind"](`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}`), `{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{\"a\":\"CANARY-VALUE-12345\"}"}`, `{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":"c","content":"done"}`}
	end := `{"type":"RUN_FINISHED","threadId":"t","runId":"r",`
	for frame, leaves := range map[string]bool{
		`{"type":"RUN_ERROR","message":"failed","details":"a is CANARY-VALUE-12345"}`:                                    false,
		`{"type":"RUN_ERROR","message":"failed","causes":[{"text":"CANARY-VALUE-12345"}]}`:                               false,
		end + `"outcome":"failed","error":"CANARY-VALUE-12345"}`:                                                         false,
		end + `"outcome":{"type":"failed","error":"CANARY-VALUE-12345"}}`:                                                false,
		end + `"outcome":{"type":"cancelled","reason":"CANARY-VALUE-12345"}}`:                                            false,
		end + `"outcome":"error","message":"CANARY-VALUE-12345"}`:                                                        false,
		end + `"outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"why","message":"CANARY-VALUE-12345?"}]}}`: true,
		end + `"outcome":"success","result":"CANARY-VALUE-12345"}`:                                                       true,
		`{"type":"RUN_ERROR","message":"failed","details":"other","threadId":"CANARY-VALUE-12345"}`:                      true,
	} {
		got := last(filterFrames(t, allSettings[0], slices.Concat([]string{run}, withheldCall, []string{frame})...))
		if got == withheld || strings.Contains(got, "CANARY") != leaves || leaves && got != frame {
			t.Errorf("%s leaves as %s", frame, got)
		}
	}
}

// TestManyThoughts checks that a message does not leave that may be a thought that is forgotten.
func TestManyThoughts(t *testing.T) {
	sent := []string{run}
	for i := range 1100 {
		sent = append(sent, fmt.Sprintf(`{"type":"TEXT_MESSAGE_START","messageId":"m%d","role":"reasoning"}`, i), fmt.Sprintf(`{"type":"TEXT_MESSAGE_END","messageId":"m%d"}`, i))
	}
	next := []string{`{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`, `{"type":"RUN_STARTED","threadId":"t","runId":"q"}`, `{"type":"TEXT_MESSAGE_START","messageId":"m1050","role":"assistant"}`, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1050","delta":"CANARY"}`}
	s := filter.Settings{Policy: event.PolicyClient}
	for n, leaves := range map[int]bool{len(sent): false, 1000: true} {
		if got := last(filterFrames(t, s, slices.Concat(sent[:n:n], next)...)); (got != withheld) != leaves {
			t.Errorf("after %d frames: %s", n, got)
		}
	}
}
