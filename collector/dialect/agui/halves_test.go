package agui_test

import (
	"slices"
	"strings"
	"testing"
)

// TestSplitCharacters checks that a piece with half a surrogate pair in its text withholds only itself, and that its type, role and IDs count.
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
		want := slices.Clone(sent)
		want[1], want[2] = withheld, withheld
		if !slices.Equal(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestSplitStarts checks that what a piece with half a surrogate pair starts or makes internal is withheld, and nothing else.
func TestSplitStarts(t *testing.T) {
	const (
		half  = `"delta":"\ud83d"`
		start = `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"assistant","delta":"x"}`
		chunk = `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"CANARY"}`
		role  = `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"assistant","delta":"CANARY"}`
		list  = `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"assistant","content":"CANARY","toolCalls":[{"id":"c"}]}]}`
		other = `{"type":"TEXT_MESSAGE_CHUNK","messageId":"n","role":"assistant","delta":"x"}`
	)
	text := func(more ...string) string {
		return sent("TEXT_MESSAGE_CHUNK", append(more, `"messageId":"m"`, half)...)
	}
	for name, c := range map[string]struct {
		before []string
		piece  string
		narrow bool // it is known what the piece is part of
	}{
		"a first chunk":        {nil, text(`"role":"assistant"`), true},
		"instructions":         {nil, text(`"role":"system"`), true},
		"instructions, late":   {[]string{start}, text(`"role":"system"`), true},
		"in its metadata":      {[]string{start}, text(`"metadata":{"role":"system"}`), true},
		"internal":             {nil, text(`"kind":"internal"`), true},
		"a call":               {[]string{start}, sent("TOOL_CALL_CHUNK", `"toolCallId":"c"`, `"toolCallName":"f"`, half), true},
		"a half in its id":     {nil, sent("TEXT_MESSAGE_CHUNK", `"messageId":"m\ud83d"`, half), false},
		"a half in its role":   {nil, text(`"role":"assistant\ud83d"`), false},
		"a half in its type":   {nil, sent(`TEXT_MESSAGE_CHUNK\ud83d`, `"messageId":"m"`, half), false},
		"a half in a name":     {nil, text(`"x\ud83d":1`), false},
		"a half within":        {nil, sent("TEXT_MESSAGE_CHUNK", `"messageId":"m"`, `"delta":["\ud83d"]`), false},
		"a half in its data":   {nil, text(`"metadata":{"kind":"inter\ud83dnal"}`), false},
		"the member twice":     {nil, text(half), false},
		"another spelling":     {nil, sent("TEXT_MESSAGE_CHUNK", `"messageId":"m"`, `"Delta":"\ud83d"`), false},
		"an unknown type":      {nil, sent("X", `"messageId":"m"`, half), false},
		"a broken escape":      {nil, text(`"x":"\ud8"`), false},
		"unreadable otherwise": {nil, text(`"x":1,,"y":1`), false},
	} {
		for _, s := range allSettings {
			frames := append(slices.Clone(c.before), c.piece, chunk, role, list)
			if got := strings.Join(filterFrames(t, s, frames...)[len(c.before):], "\n"); strings.Contains(got, "CANARY") && name != "a call" {
				t.Errorf("%s, %s: this leaves: %s", name, s.Policy, got)
			}
			if got := last(filterFrames(t, s, append(frames, other)...)); got != other && c.narrow {
				t.Errorf("%s, %s: another message becomes %s", name, s.Policy, got)
			}
		}
		if got := last(filterFrames(t, allSettings[0], c.piece, other)); (got != withheld) != c.narrow {
			t.Errorf("%s: another message becomes %s, want it let out: %t", name, got, c.narrow)
		}
	}
}
