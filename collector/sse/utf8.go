package sse

import "unicode/utf8"

// AppendValidUTF8 appends b, decoded as the WHATWG Encoding Standard says: each
// maximal subpart of a sequence that is not UTF-8 becomes one U+FFFD.
// (bytes.ToValidUTF8 makes one of a whole run, a range loop one of each byte.)
func AppendValidUTF8(dst, b []byte) []byte {
	for len(b) > 0 {
		valid := validPrefix(b)
		dst = append(dst, b[:valid]...)
		b = b[valid:]
		if len(b) > 0 {
			dst = utf8.AppendRune(dst, utf8.RuneError)
			b = b[maximalSubpart(b):]
		}
	}
	return dst
}

func validPrefix(b []byte) int {
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(b)
}

// maximalSubpart returns how many bytes at the start of b, which does not begin
// with a whole sequence, begin one together; at least 1.
func maximalSubpart(b []byte) int {
	more, low, high := 0, byte(0x80), byte(0xBF)
	switch c := b[0]; {
	case c >= 0xC2 && c <= 0xDF:
		more = 1
	case c >= 0xE0 && c <= 0xEF:
		more = 2
	case c >= 0xF0 && c <= 0xF4:
		more = 3
	}
	switch b[0] { // overlong forms, surrogates and what is past U+10FFFF end at the first byte
	case 0xE0:
		low = 0xA0
	case 0xED:
		high = 0x9F
	case 0xF0:
		low = 0x90
	case 0xF4:
		high = 0x8F
	}
	n := 1
	for ; n <= more && n < len(b) && b[n] >= low && b[n] <= high; n++ {
		low, high = 0x80, 0xBF
	}
	return n
}
