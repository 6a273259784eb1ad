package agui_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestJoinedPieces checks that a list does not repeat a piece that was withheld alone, wherever in a message, thought or call it stood.
// The agent's own text leaves: LangGraph keeps the texts of its nodes apart.
func TestJoinedPieces(t *testing.T) {
	audit := langChain("internal_audit", "two:3")
	const runEnd = `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`
	start, end := `{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}`, `{"type":"TEXT_MESSAGE_END","messageId":"m"}`
	content := func(delta string) string {
		return fmt.Sprintf(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":%q}`, delta)
	}
	chunk := func(delta string) string {
		return fmt.Sprintf(`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"assistant","delta":%q}`, delta)
	}
	args := func(delta string) string {
		return fmt.Sprintf(`{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":%q}`, delta)
	}
	think := func(delta string) string {
		return fmt.Sprintf(`{"type":"REASONING_MESSAGE_CONTENT","messageId":"m","delta":%q}`, delta)
	}
	call := []string{`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}`, `{"type":"TOOL_CALL_END","toolCallId":"c"}`}
	const (
		text    = `{"id":"m","role":"assistant","content":%q}`
		thought = `{"id":"m","role":"reasoning","content":%q}`
		caller  = `{"id":"n","role":"assistant","content":"","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":%q}}]}`
	)
	for what, c := range map[string]struct {
		sent    []string
		message string
		leaves  map[string]bool // by text
	}{
		"a message that ended": {[]string{chunk("public "), call[0], call[1], audit(chunk("CANARY"))}, text, map[string]bool{"public CANARY": false, "public ": true, "": true}},
		"a message that goes on": {[]string{chunk("public "), call[0], call[1], chunk("more "), audit(chunk("CANARY")), chunk(" end")}, text,
			map[string]bool{"public more CANARY end": false, "public more end": true}},
		"a message that starts again": {[]string{start, content("public "), end, start, audit(content("CANARY")), end}, text, map[string]bool{"public CANARY": false, "CANARY": false}},
		"a message that starts after": {[]string{start, audit(content("CANARY")), end, start, content("public"), end}, text, map[string]bool{"CANARYpublic": false, "public": true}},
		"a message of many runs":      {[]string{start, content("public "), end, runEnd, run, start, audit(content("CANARY")), end}, text, map[string]bool{"public CANARY": false}},
		"a text that is trimmed":      {[]string{start, content("\n public\t"), audit(content(" CANARY"))}, text, map[string]bool{"public\t CANARY": false, "public": true}},
		"a thought":                   {[]string{`{"type":"REASONING_MESSAGE_START","messageId":"m","role":"reasoning"}`, think("public "), audit(think("CANARY"))}, thought, map[string]bool{"public CANARY": false, "public": false}},
		"a thought without an ID":     {[]string{audit(`{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"CANARY"}`)}, thought, map[string]bool{"CANARY": false}},
		"a text beside it":            {[]string{audit(`{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"CANARY"}`)}, text, map[string]bool{"public": true}},
		"a call":                      {[]string{call[0], args(`{"q":`), audit(args(`"CANARY"}`)), call[1]}, caller, map[string]bool{`{"q": "CANARY"}`: false, `{"q": "x"}`: true}},
		"a call in chunks without IDs": {[]string{`{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","delta":"{"}`, `{"type":"TOOL_CALL_CHUNK","delta":"\"q\":"}`, audit(args(`"CANARY"}`))}, caller,
			map[string]bool{`{"q":"CANARY"}`: false, `{"q":"x"}`: true}},
	} {
		for text, leaves := range c.leaves {
			message := fmt.Sprintf(c.message, text)
			for _, list := range []string{`{"type":"MESSAGES_SNAPSHOT","messages":[%s]}`, `{"type":"STATE_SNAPSHOT","snapshot":{"messages":[%s]}}`} {
				if strings.HasPrefix(list, `{"type":"STATE`) && what == "a thought without an ID" {
					continue
				}
				sent := append(append([]string{run}, c.sent...), fmt.Sprintf(list, message))
				if got := last(filterFrames(t, allSettings[0], sent...)); strings.Contains(got, message) != leaves {
					t.Errorf("%s: %q leaves as %s", what, text, got)
				}
			}
		}
	}
	var many []string
	for i := range 1100 {
		many = append(many, fmt.Sprintf(`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m%d","role":"assistant","delta":"x"}`, i))
	}
	for text, sent := range map[string][]string{"CANARY": {chunk("public "), audit(chunk("CANARY"))}, "y": {chunk("x")}} {
		message := fmt.Sprintf(`{"id":"m","role":"assistant","content":%q}`, text)
		got := last(filterFrames(t, allSettings[0], append(append(append([]string{run}, many...), sent...), `{"type":"MESSAGES_SNAPSHOT","messages":[`+message+`]}`)...))
		if strings.Contains(got, message) == (text == "CANARY") {
			t.Errorf("after many: %q leaves as %s", text, got)
		}
	}
}
