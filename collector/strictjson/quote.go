package strictjson

import "unicode/utf8"

// AppendQuoted appends text as a JSON string (RFC 8259, section 7). It escapes what must be escaped,
// and also U+0085, U+2028 and U+2029: some readers of Server-Sent Events, such as those built on
// Python's str.splitlines, take them for line ends. Invalid UTF-8 becomes U+FFFD.
func AppendQuoted[T string | []byte](dst []byte, text T) []byte {
	return appendQuoted(dst, text, false)
}

// AppendQuoted appends a string as the function AppendQuoted does, but with halves of surrogate pairs as they
// were sent: two strings may make a character together. It appends "" for any other value.
func (v Value) AppendQuoted(dst []byte) []byte {
	return appendQuoted(dst, v.Text(), v.Escaped() && hasHalf(v.doc.sent(v.index)))
}

// appendQuoted is AppendQuoted. If hasHalves is set, text has characters that stand for halves (IsHalf).
func appendQuoted[T string | []byte](dst []byte, text T, hasHalves bool) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	copied := 0 // text[:copied] is in dst
	for i := 0; i < len(text); {
		c := text[i]
		if c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		r, size := rune(c), 1
		if c >= utf8.RuneSelf {
			end := min(i+utf8.UTFMax, len(text))
			r, size = utf8.DecodeRuneInString(string(text[i:end]))
			isHalf := hasHalves && IsHalf(r)
			if !isHalf && !isLineEnd(r) && !(r == utf8.RuneError && size == 1) {
				i += size
				continue
			}
			if isHalf {
				r -= halfOffset
			}
		}
		dst = append(dst, text[copied:i]...)
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', c)
		case r < ' ' && escapeLetters[r] != 0:
			dst = append(dst, '\\', escapeLetters[r])
		case r == utf8.RuneError:
			dst = utf8.AppendRune(dst, r)
		default:
			dst = append(dst, '\\', 'u', hex[r>>12], hex[r>>8&0xf], hex[r>>4&0xf], hex[r&0xf])
		}
		i += size
		copied = i
	}
	return append(append(dst, text[copied:]...), '"')
}

// escapeLetters maps a control character to the letter of its short escape.
var escapeLetters = [' ']byte{'\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't'}

// isLineEnd reports whether Unicode takes r for a line end that JSON does not escape.
func isLineEnd(r rune) bool { return r == '\u0085' || r == '\u2028' || r == '\u2029' }
