package agui_test

import (
	"slices"
	"strings"
	"testing"
)

// TestSplitCharacters checks that a piece with half a surrogate pair in its text leaves unchanged, and withholds nothing.
func TestSplitCharacters(t *testing.T) {
	const (
		first, second = `"delta":"\ud83d"`, `"delta":"\ude00"`
		chunk         = `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"x"}`
		other         = `{"type":"TEXT_MESSAGE_CHUNK","messageId":"n","role":"assistant","delta":"x"}`
		list          = `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"assistant","content":"x"},{"id":"n","role":"user","content":"x"}]}`
		delta         = `{"type":"STATE_DELTA","delta":[]}`
		thought       = `{"type":"REASONING_MESSAGE_CHUNK","messageId":"r","delta":"x"}`
	)
	call, result := startCases["a call"], startCases["a call"][3]
	rest := []string{other, thought, list, delta}
	for name, frames := range map[string][]string{ // a start, pieces and what follows them
		"a message":              {startCases["a message"][0], sent("TEXT_MESSAGE_CONTENT", `"messageId":"m"`, first), sent("TEXT_MESSAGE_CONTENT", `"messageId":"m"`, second), startCases["a message"][1], startCases["a message"][3]},
		"a message in chunks":    {with(`"role":"assistant"`)(chunk), sent("TEXT_MESSAGE_CHUNK", `"messageId":"m"`, first), sent("TEXT_MESSAGE_CHUNK", second), chunk},
		"chunks without ids":     {chunk, sent("TEXT_MESSAGE_CHUNK", first), sent("TEXT_MESSAGE_CHUNK", `"delta":"a\\\uDE00\ud83d\ude00"`), `{"type":"TEXT_MESSAGE_CHUNK","delta":"x"}`},
		"arguments":              {call[0], sent("TOOL_CALL_ARGS", `"toolCallId":"c"`, first), sent("TOOL_CALL_ARGS", `"toolCallId":"c"`, second), call[1], call[2], result},
		"a result":               {call[0], sent("TOOL_CALL_RESULT", `"messageId":"z"`, `"toolCallId":"c"`, `"content":"x\ud83d"`), sent("TOOL_CALL_RESULT", `"messageId":"z"`, `"toolCallId":"c"`, `"content":"\ud83d"`), other},
		"a thought":              {startCases["a thought"][0], sent("REASONING_MESSAGE_CONTENT", `"messageId":"m"`, first), sent("REASONING_MESSAGE_CONTENT", `"messageId":"m"`, second), startCases["a thought"][1], startCases["a thought"][3]},
		"a thought without ids":  {startCases["a thinking message"][0], sent("THINKING_TEXT_MESSAGE_CONTENT", first), sent("THINKING_TEXT_MESSAGE_CONTENT", second), startCases["a thinking message"][1]},
		"a thought in chunks":    {thought, sent("REASONING_MESSAGE_CHUNK", first), sent("REASONING_MESSAGE_CHUNK", second), `{"type":"REASONING_MESSAGE_CHUNK","delta":"x"}`},
		"with other escapes too": {startCases["a message"][0], sent("TEXT_MESSAGE_CONTENT", `"messageId":"m"`, `"delta":"\"\\\\\ud83d\"{\ud83d\u0041"`, `"timestamp":1`), sent("TEXT_MESSAGE_CONTENT", `"messageId":"m"`, `"delta" : "\udc00\udc00"`), startCases["a message"][1]},
	} {
		sent := append(slices.Clone(frames), rest...)
		got := filterFrames(t, allSettings[0], sent...)
		if !slices.Equal(got, sent) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(sent, "\n"))
		}
	}
}

// TestHalvesInMarks checks that half a surrogate pair hides no role, and that IDs that differ only by it are different.
func TestHalvesInMarks(t *testing.T) {
	const (
		hidden  = `{"type":"TEXT_MESSAGE_START","messageId":"m\ud83d","role":"system"}`
		shown   = `{"type":"TEXT_MESSAGE_START","messageId":"m\ude00","role":"assistant"}`
		content = `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m\ude00","delta":"x"}`
		canary  = `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m\uD83D","delta":"x"}`
		list    = `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m\ud83d","role":"assistant","content":"x"},{"id":"m\ude00","role":"assistant","content":"x"}]}`
		rest    = `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m\ude00","role":"assistant","content":"x"}]}`
	)
	if got, want := filterFrames(t, allSettings[0], hidden, shown, content, canary, list), []string{withheld, shown, content, withheld, rest}; !slices.Equal(got, want) {
		t.Errorf("IDs with halves: got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, mark := range []string{`"role":"sys\ud83dtem"`, `"role":"assistant","kind":"inter\ude00nal"`, `"role":"assistant","metadata":{"role":"\ud83ddeveloper"}`, `"r\ud83dole":"system"`} {
		frame := `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"x",` + mark + `}`
		for _, s := range allSettings {
			if got := last(filterFrames(t, s, frame)); got != withheld {
				t.Errorf("%s, %s: this leaves: %s", mark, s.Policy, got)
			}
		}
	}
}
