package sse

import "unicode/utf8"

// AppendValidUTF8 appends b, decoded as the WHATWG Encoding Standard specifies: each maximal subpart
// of an ill-formed sequence becomes one U+FFFD. bytes.ToValidUTF8 would replace a whole run by one
// U+FFFD, and a range loop each byte.
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

// maximalSubpart returns the length of the maximal subpart that b begins with, at least 1. b must not
// begin with a complete sequence.
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
	switch b[0] { // the second byte excludes overlong forms, surrogates and code points above U+10FFFF
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
