package dialect

import (
	"bytes"
	"unicode/utf8"

	"github.com/delegraph/delegraph/collector/event"
)

// TextTailSize is how many bytes of the end of a longer text are always kept, up to 3 less if a character would be cut.
const TextTailSize = 65 << 10

// TextTail is a text that arrives in pieces, or the end of it if it is too long.
type TextTail struct {
	text      []byte
	truncated bool // the beginning is missing
}

// Add appends a piece. It keeps at most 2*TextTailSize bytes and does not split a rune.
func (t *TextTail) Add(piece []byte) {
	if len(piece) > TextTailSize {
		t.text, t.truncated = t.text[:0], true // the start of this piece is lost, so the kept text must not be joined to its end
	}
	t.text = append(t.text, tail(piece)...)
	if len(t.text) > 2*TextTailSize {
		t.text, t.truncated = append(t.text[:0], tail(t.text)...), true
	}
}

// Reset empties the text and keeps its memory.
func (t *TextTail) Reset() { *t = TextTail{text: t.text[:0]} }

// Len returns the number of bytes that are kept.
func (t *TextTail) Len() int { return len(t.text) }

// IsTruncated reports whether the beginning of the text is missing.
func (t *TextTail) IsTruncated() bool { return t.truncated }

// Continuation returns what a text adds to t, or nil if it does not continue t.
func (t *TextTail) Continuation(text []byte) []byte {
	if t.truncated || len(t.text) == 0 || len(text) <= len(t.text) || !bytes.HasPrefix(text, t.text) {
		return nil
	}
	return text[len(t.text):]
}

// Report adds the text to a batch, unless there is none. It reports whether there is one.
func (t *TextTail) Report(b *event.Batch) bool {
	if len(t.text) == 0 {
		return false
	}
	e := b.Add(event.KindText)
	e.SetText(t.text)
	e.Truncated = t.truncated
	return true
}

// tail returns the last TextTailSize bytes of a text, without a rune that is cut at the start.
func tail(text []byte) []byte {
	if len(text) <= TextTailSize {
		return text
	}
	text = text[len(text)-TextTailSize:]
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return text
}
