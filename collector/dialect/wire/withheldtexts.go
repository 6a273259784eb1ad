package wire

import (
	"bytes"
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// WithheldTexts remembers texts that a stream withheld: arguments and results of internal calls, and messages of internal errors. An
// error that leaves may quote one, because tools, agents and servers put the texts of others into their own errors. The zero value is
// empty.
type WithheldTexts struct {
	MinLine    int       // lines with fewer bytes of words do not count; if it is set, parts of words do not either
	lines      lineIndex // as words returns them
	size       int       // of lines, in bytes
	incomplete bool      // there may be texts that are not in lines, so any error may quote one
	AreAnswers bool      // lines that other texts may have by chance do not count
}

const (
	maxWithheldLines = 1024
	maxWithheldBytes = 64 << 10
	maxLongBytes     = 256 << 10 // with a MinLine
	maxWithheldLine  = 256       // a longer line is cut
	minWithheldLine  = 4         // a shorter line is in many other texts
	minAnswerLine    = 12        // a shorter line of an answer without a digit is in many other texts
	minAnswerNumber  = 6         // the same of a line with a digit
	maxErrorWords    = 16 << 10  // a longer error is not searched
	maxSearch        = 16 << 20  // the bytes of a value times the lines, beyond which the value is not searched
)

// Add remembers the strings and the longer numbers in values, at any depth and also in strings with JSON.
func (t *WithheldTexts) Add(b *event.Batch, values ...strictjson.Value) {
	for _, v := range values {
		if t.incomplete {
			return
		}
		for _, member := range v.Members() {
			t.Add(b, member)
		}
		for element := range v.Elements() {
			t.Add(b, element)
		}
		switch v.Kind() {
		case strictjson.String:
			switch inner := b.Embedded(v); {
			case inner.Kind() == strictjson.Object, inner.Kind() == strictjson.Array, inner.Kind() == strictjson.String && inner != v:
				t.Add(b, inner)
			default:
				t.addText(v.Text())
			}
		case strictjson.Number:
			if raw := v.Raw(); len(raw) >= minWithheldLine {
				t.addText(raw)
			}
		}
	}
}

// AddText remembers a text as one line.
func (t *WithheldTexts) AddText(text []byte) {
	if !t.incomplete {
		t.addLine(text)
	}
}

// addText remembers the first and the last line of a text. Errors quote a text from its beginning, and a traceback from its end.
func (t *WithheldTexts) addText(text []byte) {
	lines := bytes.FieldsFunc(text, isLineEnd)
	for _, line := range lines {
		if t.addLine(line) {
			break
		}
	}
	for _, line := range slices.Backward(lines) {
		if t.addLine(line) {
			break
		}
	}
}

func isLineEnd(r rune) bool { return strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", r) }

// addLine remembers a line, and reports whether it says anything.
func (t *WithheldTexts) addLine(line []byte) bool {
	words := strings.TrimPrefix(string(appendWords(nil, line, maxWithheldLine)), "error ") // frameworks add it to results
	if words == "" || len(words) < t.MinLine || slices.Contains(genericLines, words) || t.AreAnswers && !isTellingLine(words) {
		return false
	}
	if t.lines.contains(words) {
		return true
	}
	if t.size += len(words); t.size > t.maxBytes() || t.lines.len() == maxWithheldLines {
		t.Overflow()
		return true
	}
	t.lines.add(words)
	return true
}

func (t *WithheldTexts) maxBytes() int {
	if t.MinLine > 0 {
		return maxLongBytes
	}
	return maxWithheldBytes
}

// isTellingLine reports whether few texts have a line of an answer by chance.
func isTellingLine(words string) bool {
	return len(words) >= minAnswerLine || len(words) >= minAnswerNumber && strings.ContainsAny(words, "0123456789")
}

// genericLines say nothing about what failed. The last one is ADK's own, for any call that waits for a confirmation.
//
// Source: google/adk/tools/_confirmation_utils.py of google-adk 2.13.
var genericLines = []string{"error", "exception", "failed", "failure", "none", "null", "true", "false", "ok", "success", "unknown error", "internal server error", "traceback most recent call last", "this tool call requires confirmation please approve or reject"}

// Overflow records that a text was withheld that Add did not get.
func (t *WithheldTexts) Overflow() { t.incomplete, t.lines = true, lineIndex{} }

// Miss records a frame that cannot be read.
func (t *WithheldTexts) Miss(f dialect.Frame) {
	if MayHideInternal(f) {
		t.Overflow()
	}
}

// MayBeIn reports whether a string in values quotes one of the texts, or may quote one.
func (t *WithheldTexts) MayBeIn(values ...strictjson.Value) bool {
	if !t.incomplete && t.lines.len() == 0 {
		return false
	}
	return t.mayBeIn(maxErrorWords, values...)
}

// MayBeInLong is MayBeIn for values that may be much longer than errors are.
func (t *WithheldTexts) MayBeInLong(values ...strictjson.Value) bool {
	return (t.incomplete || t.lines.len() > 0) && t.mayBeIn(max(maxErrorWords, maxSearch/(t.lines.len()+1)), values...)
}

// mayBeIn is MayBeIn for values of at most limit bytes in all. It searches no longer ones.
func (t *WithheldTexts) mayBeIn(limit int, values ...strictjson.Value) bool {
	var words []byte
	for _, v := range values {
		words = appendStrings(words, v, limit)
	}
	switch {
	case len(words) <= t.MinLine:
		return false
	case t.incomplete, len(words) > limit:
		return true
	}
	return t.lines.isIn(words, t.MinLine > 0)
}

// appendStrings appends the words of each string or number in v until there are more than limit bytes. A line feed ends those of each.
func appendStrings(dst []byte, v strictjson.Value, limit int) []byte {
	for _, member := range v.Members() {
		dst = appendStrings(dst, member, limit)
	}
	for element := range v.Elements() {
		dst = appendStrings(dst, element, limit)
	}
	if len(dst) > limit {
		return dst
	}
	text := v.Text()
	if v.Kind() == strictjson.Number {
		text = v.Raw()
	}
	if n := len(dst); len(text) > 0 {
		if dst = appendWords(append(dst, ' '), text, limit+1); len(dst) == n+1 {
			return dst[:n]
		}
		dst = append(dst, '\n')
	}
	return dst
}

// appendWords appends the words of a text in lower case, with a blank between them, until there are limit bytes of them. It drops
// quotes and decodes escapes, which JSON, HTML and Python's repr add to a text that they quote.
func appendWords(dst, text []byte, limit int) []byte {
	if bytes.IndexByte(text, '&') >= 0 {
		text = []byte(html.UnescapeString(string(text)))
	}
	start, isGap := len(dst), false
	for len(text) > 0 && len(dst)-start < limit {
		r, n := decodeRune(text)
		text = text[n:]
		switch {
		case !isInWord(r):
			isGap = true
			continue
		case isGap && len(dst) > start:
			dst = append(dst, ' ')
		}
		dst, isGap = utf8.AppendRune(dst, unicode.ToLower(r)), false
	}
	return dst
}

// isInWord reports whether a character is part of a word. Those beyond ASCII are, unless no reader sees them.
func isInWord(r rune) bool {
	if r < utf8.RuneSelf {
		return '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z'
	}
	return r != utf8.RuneError && unicode.IsGraphic(r) && !unicode.IsSpace(r)
}

// decodeRune returns the first character of a text and its length. An escape counts as its character, however many backslashes it has:
// a text may be quoted more than once.
func decodeRune(text []byte) (rune, int) {
	slashes := len(text) - len(bytes.TrimLeft(text, `\`))
	if slashes == 0 {
		return utf8.DecodeRune(text)
	}
	r, n := decodeEscape(text[slashes:])
	n += slashes
	if !utf16.IsSurrogate(r) {
		return r, n
	}
	rest := bytes.TrimLeft(text[n:], `\`)
	low, m := decodeEscape(rest)
	if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
		n = len(text) - len(rest) + m
	}
	return r, n
}

// decodeEscape returns the character of an escape without its backslash, and the length. Without an escape, it is a blank of length 0.
func decodeEscape(text []byte) (rune, int) {
	if len(text) == 0 {
		return ' ', 0
	}
	digits := 0
	switch text[0] {
	case 'n', 'r', 't', 'b', 'f', 'v':
		return ' ', 1
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	}
	if digits == 0 || len(text) <= digits {
		return ' ', 0
	}
	code, err := strconv.ParseUint(string(text[1:1+digits]), 16, 31)
	if err != nil {
		return ' ', 0
	}
	return rune(code), 1 + digits
}
