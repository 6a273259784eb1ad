package strictjson

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// eachByte multiplied by a byte is a word of eight such bytes.
const eachByte = 0x0101010101010101

// special sets the high bit of the lowest byte of w that needs attention in a string: a quote,
// backslash, control character or non-ASCII byte. Higher bits may be wrong because the subtractions
// borrow. Flipping bit 1 swaps the quote with the space, so that one comparison finds quotes and
// control characters. A non-ASCII byte keeps its high bit in at least one of the two terms.
func special(w uint64) uint64 {
	quoteOrControl := (w ^ 0x02*eachByte) - 0x21*eachByte
	backslash := (w ^ '\\'*eachByte) - eachByte
	return (quoteOrControl | backslash) & (0x80 * eachByte)
}

// scanString parses the string whose opening quote is at i. It returns the offset after the closing
// quote, or -1 after a failure, and the info of the string's node. A name must not contain a half of a
// surrogate pair.
func (d *Doc) scanString(i int, isName bool) (end int, info uint32) {
	data := d.data
	info = uint32(String)
	i++
	for {
		for i+8 <= len(data) {
			if found := special(binary.LittleEndian.Uint64(data[i:])); found != 0 {
				i += bits.TrailingZeros64(found) / 8
				break
			}
			i += 8
		}
		switch c := at(data, i); {
		case c == '"':
			return i + 1, info
		case c == '\\':
			r, size := unescape(data[i:])
			if size == 0 {
				return d.fail(Syntax, i), 0
			}
			if isName && utf16.IsSurrogate(r) {
				return d.fail(InvalidUTF8, i), 0
			}
			info |= escapedBit
			i += size
		case c < ' ':
			return d.fail(Syntax, i), 0
		case c < utf8.RuneSelf:
			i++
		default:
			r, size := utf8.DecodeRune(data[i:])
			if r == utf8.RuneError && size == 1 {
				return d.fail(InvalidUTF8, i), 0
			}
			i += size
		}
	}
}

// unescape decodes the escape, or the surrogate pair of two escapes, that b begins with. It returns
// half of a surrogate pair as it is. The size is 0 if the escape is invalid.
func unescape(b []byte) (r rune, size int) {
	c := at(b, 1)
	if c != 'u' {
		r = shortEscapes[c]
		if r == 0 {
			return 0, 0
		}
		return r, 2
	}
	r, ok := hex4(b[2:])
	if !ok {
		return 0, 0
	}
	if utf16.IsSurrogate(r) && at(b, 6) == '\\' && at(b, 7) == 'u' {
		low, _ := hex4(b[8:]) // 0 if malformed, which completes no pair
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return r, 6
}

var shortEscapes = [256]rune{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		switch {
		case c-'0' <= 9:
			c -= '0'
		case (c|0x20)-'a' <= 5:
			c = (c | 0x20) - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// appendDecoded appends the text of a valid string, which is given as sent and without its quotes. Each
// half of a surrogate pair becomes U+FFFD. If distinct is set, it becomes the character of halfChar.
func appendDecoded(dst, sent []byte, distinct bool) []byte {
	for {
		plain := bytes.IndexByte(sent, '\\')
		if plain < 0 {
			return append(dst, sent...)
		}
		dst = append(dst, sent[:plain]...)
		r, size := unescape(sent[plain:])
		if distinct {
			r = halfChar(r)
		}
		dst = utf8.AppendRune(dst, r) // U+FFFD for a half
		sent = sent[plain+size:]
	}
}

// decodesTo reports whether a string, given as for appendDecoded, decodes to s.
func decodesTo(sent []byte, s string) bool {
	for {
		plain := bytes.IndexByte(sent, '\\')
		if plain < 0 {
			return string(sent) == s
		}
		if len(s) < plain || string(sent[:plain]) != s[:plain] {
			return false
		}
		r, size := unescape(sent[plain:])
		var b [utf8.UTFMax]byte
		char := string(utf8.AppendRune(b[:0], halfChar(r)))
		if s = s[plain:]; !strings.HasPrefix(s, char) {
			return false
		}
		s, sent = s[len(char):], sent[plain+size:]
	}
}
