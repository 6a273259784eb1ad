package source

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/sse"
)

// genericTable lists the members by which any protocol names the type of a frame, and those that hold
// nested frames.
var genericTable = event.Table{Discriminators: []string{"kind", "type"}, Envelopes: []string{"event", "result", "rawEvent", "data"}}

// declaresInternal reports whether a frame of an unconfirmed stream declares itself internal: the name or type of
// the frame, or of a frame nested in it, begins with "internal". Such frames must not reach clients. Data that is
// not strict JSON, but may be an object or a list for a lenient parser, is searched for a string that begins so.
func declaresInternal(b *event.Batch) bool {
	if lenient.IsInternal(b.Frame.Event) || lenient.HasInternalDiscriminator(&genericTable, b.JSON) {
		return true
	}
	return !b.JSON.Exists() && mayNameInternal(b.Frame.Data)
}

// mayNameInternal reports whether data that begins like an object or a list, but cannot be parsed, has a string that
// begins with "internal".
func mayNameInternal(data []byte) bool {
	if !mayBeJSON(data) {
		return false
	}
	for text := range bytes.SplitSeq(data, []byte(`"`)) { // also what is between two strings, which does no harm
		if lenient.IsInternal(escape.ReplaceAllFunc(text, unescape)) {
			return true
		}
	}
	return false
}

// mayBeJSON reports whether data begins like an object or a list.
func mayBeJSON(data []byte) bool {
	begin := bytes.TrimSpace(data)
	return len(begin) > 0 && (begin[0] == '{' || begin[0] == '[')
}

// escape matches an escape sequence in a JSON string. It also matches those that only lenient parsers accept.
var escape = regexp.MustCompile(`(?s)\\(?:u[0-9A-Fa-f]{4}|.)`)

// unescape returns the character that an escape sequence stands for, or nothing for a control character.
func unescape(sequence []byte) []byte {
	if code, err := strconv.ParseUint(string(sequence[2:]), 16, 16); err == nil {
		return utf8.AppendRune(nil, rune(code))
	}
	if bytes.IndexByte([]byte("bfnrt"), sequence[1]) >= 0 {
		return nil
	}
	return sequence[1:]
}

// mustWithholdCut reports whether a block of an unconfirmed stream must not reach the client, although only its
// beginning is known: it is too long, or the stream ended within it. Its data is completed, so that the judgment is that of
// a whole frame. A block that surely is an agent's cannot be filtered, so it is withheld too.
func mustWithholdCut(block []byte, decoding *collector.StreamDecoder) bool {
	frame := cutFrame(block)
	if lenient.IsInternal(frame.Event) || mayNameInternal(frame.Data) {
		return true
	}
	frame.Data = completeJSON(frame.Data)
	b, isAgent := decoding.Examine(frame)
	return isAgent || declaresInternal(b) || decoding.MustWithhold()
}

// cutFrame returns the frame of which a block is the beginning. If several lines name the event, an internal name counts.
func cutFrame(block []byte) (frame sse.Frame) {
	isFirst := true
	block = bytes.TrimPrefix(block, []byte("\ufeff"))
	for line := range bytes.FieldsFuncSeq(block, func(c rune) bool { return c == '\n' || c == '\r' }) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case string(name) == "event" && !lenient.IsInternal(frame.Event):
			frame.Event = value
		case string(name) == "data" && isFirst:
			frame.Data, isFirst = slices.Clip(value), false // so that a second line does not overwrite the block
		case string(name) == "data":
			frame.Data = append(append(frame.Data, '\n'), value...)
		}
	}
	return frame
}

// completeJSON closes what is open in an object or a list whose end is missing. A value that cannot be closed is left out.
// Other data is returned as it is.
func completeJSON(data []byte) []byte {
	if !mayBeJSON(data) {
		return data
	}
	var closing []byte               // of the open objects and lists, the innermost last
	end, quote, escaped := 0, -1, -1 // data[:end] can be closed; the others are where the open string and its last escape sequence begin
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quote >= 0 && c == '\\':
			escaped = i
			i++
		case quote >= 0 && c == '"':
			quote = -1
		case quote >= 0:
		case c == '"':
			quote, escaped = i, -1
		case c == '{' || c == '[':
			closing, end = append(closing, c+('}'-'{')), i+1
		case c == '}' || c == ']':
			closing, end = closing[:max(len(closing)-1, 0)], i+1
		case c == ',':
			end = i
		}
	}
	if len(closing) == 0 {
		return data // nothing is missing
	}
	slices.Reverse(closing)
	if quote < 0 || closing[0] == '}' && !bytes.HasSuffix(bytes.TrimSpace(data[:quote]), []byte(":")) { // it is no value
		return slices.Concat(data[:end], closing)
	}
	return slices.Concat(trimCharacter(data, escaped), []byte(`"`), closing)
}

// trimCharacter returns data without the character at its end if the character is incomplete. escaped is where the last
// escape sequence begins, or -1.
func trimCharacter(data []byte, escaped int) []byte {
	if escaped >= 0 {
		if sequence := data[escaped:]; len(sequence) < len(`\n`) || sequence[1] == 'u' && len(sequence) < len(`\u000a`) {
			return data[:escaped]
		}
	}
	for i := len(data) - 1; i >= max(0, len(data)-utf8.UTFMax); i-- {
		if utf8.RuneStart(data[i]) && !utf8.FullRune(data[i:]) {
			return data[:i]
		}
	}
	return data
}
