package aisdk_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestFullSet withholds more items than are remembered. After that, the rest of an item of which a chunk is withheld stays in, and what
// begins or has left leaves.
func TestFullSet(t *testing.T) {
	const (
		input, piece = `{"type":"tool-input-start","toolCallId":"c","toolName":"f"}`, `{"type":"tool-input-delta","toolCallId":"c","inputTextDelta":"x"}`
		think        = `{"type":"reasoning-start","id":"0"}`
		data         = `{"type":"data-y","id":"q","data":1}`
		steering     = `{"type":"steering-message","id":"s","parts":[]}`
	)
	fill := func(format string, n int) (frames []string) {
		for id := range n {
			frames = append(frames, fmt.Sprintf(format, id))
		}
		return frames
	}
	full := hide(fill(`{"type":"data-x","id":"%d","data":{"kind":"internal"}}`, 1100)...)
	texts := hide(fill(`{"type":"text-start","id":"%d","kind":"internal"}`, 1030)...)
	for _, restarted := range fill(`{"type":"text-start","id":"%d"}`, 1024) {
		texts = append(texts, restarted, strings.Replace(restarted, "start", "end", 1))
	}
	many := fill(`{"type":"tool-input-start","toolCallId":"%d","toolName":"f"}`, 1024)
	forgotten := append(fill(`{"type":"text-start","id":"%d"}`, 16), endStep)
	for name, sent := range map[string][]string{
		"a text":                    slices.Concat(full, hide(inKind(textStart), text, textEnd)),
		"a piece of a text":         slices.Concat(full, []string{textStart, text}, hide(inKind(text), text, text)),
		"a piece of an open text":   slices.Concat([]string{textStart}, full, hide(inKind(text), text), []string{textEnd}, hide(text), []string{textStart, text}),
		"a thought with its ID":     slices.Concat(full, []string{textStart, think}, hide(inKind(`{"type":"reasoning-delta","id":"0","delta":"x"}`), `{"type":"reasoning-delta","id":"0","delta":"x"}`), []string{text}),
		"a forgotten text":          slices.Concat(forgotten, []string{`{"type":"text-start","id":"new"}`}, full, []string{text}, forgotten[16:], fill(`{"type":"text-start","id":"x%d"}`, 15), hide(inKind(text), text)),
		"a text that is forgotten":  slices.Concat(full, forgotten[:16], hide(inKind(text)), forgotten[16:], []string{`{"type":"text-start","id":"new"}`}, hide(text)),
		"a set that is empty again": slices.Concat(texts, hide(`{"type":"text-delta","id":"1027","delta":"x"}`)),
		"a call":                    slices.Concat(full, hide(inKind(input), piece, started, ask, approve, result)),
		"a piece of a call":         slices.Concat(full, []string{input}, hide(inKind(piece), started, result)),
		"a preliminary result":      slices.Concat(full, []string{started}, hide(inKind(result), result)),
		"a question":                slices.Concat(full, []string{started}, hide(inKind(ask), approve, result)),
		"a decision":                slices.Concat(full, []string{started, ask}, hide(inKind(approve), approve)),
		"another call":              slices.Concat(full, hide(inKind(input)), []string{strings.ReplaceAll(started, `"c"`, `"d"`), other}),
		"an open call":              slices.Concat([]string{input}, full, []string{piece, started, result}),
		"a call without room":       slices.Concat(many, full, hide(inKind(input), started)),
		"a data part":               slices.Concat(full, hide(inKind(data), data)),
		"a data part that has left": slices.Concat([]string{data}, full, []string{data}, hide(inKind(data), data)),
		"a data part without an ID": slices.Concat(full, []string{`{"type":"data-y","data":1}`}),
		"a message of the user":     slices.Concat(full, hide(inKind(steering), steering)),
		"what belongs to no item":   slices.Concat(full, []string{begin, beginStep, `{"type":"source-url","sourceId":"s","url":"https://x"}`, endStep, end}),
		"the next answer":           slices.Concat(full, []string{"[DONE]", data}),
	} {
		frames := make([]string, len(sent))
		for i, frame := range sent {
			frames[i] = strings.TrimPrefix(frame, "hidden ")
		}
		for i, got := range leavesOf(t, newAnswer(), event.PolicyClient, frames...) {
			if isHidden := strings.HasPrefix(sent[i], "hidden "); isHidden != (got == withheld) {
				t.Errorf("%s: frame %d, %s, is %s", name, i, frames[i], got)
			}
		}
	}
}
