package sse

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// decodeUTF8 is the UTF-8 decoder of the Encoding Standard, step by step.
func decodeUTF8(b []byte) string {
	var out strings.Builder
	var codePoint rune
	seen, needed, lower, upper := 0, 0, byte(0x80), byte(0xBF)
	for i := 0; i < len(b); i++ {
		c := b[i]
		if needed == 0 {
			switch {
			case c <= 0x7F:
				out.WriteByte(c)
			case c >= 0xC2 && c <= 0xDF:
				needed, codePoint = 1, rune(c&0x1F)
			case c >= 0xE0 && c <= 0xEF:
				if c == 0xE0 {
					lower = 0xA0
				}
				if c == 0xED {
					upper = 0x9F
				}
				needed, codePoint = 2, rune(c&0xF)
			case c >= 0xF0 && c <= 0xF4:
				if c == 0xF0 {
					lower = 0x90
				}
				if c == 0xF4 {
					upper = 0x8F
				}
				needed, codePoint = 3, rune(c&0x7)
			default:
				out.WriteRune(utf8.RuneError)
			}
			continue
		}
		if c < lower || c > upper {
			codePoint, needed, seen, lower, upper = 0, 0, 0, 0x80, 0xBF
			out.WriteRune(utf8.RuneError)
			i-- // restore the byte
			continue
		}
		lower, upper = 0x80, 0xBF
		codePoint = codePoint<<6 | rune(c&0x3F)
		if seen++; seen == needed {
			out.WriteRune(codePoint)
			codePoint, needed, seen = 0, 0, 0
		}
	}
	if needed > 0 {
		out.WriteRune(utf8.RuneError)
	}
	return out.String()
}

// TestAppendValidUTF8 checks examples of the Unicode Standard and others.
func TestAppendValidUTF8(t *testing.T) {
	for in, want := range map[string]string{
		"":                 "",
		"plain €豆腐😀\x00":   "plain €豆腐😀\x00",
		"\ufffd":           "\ufffd",
		"a\xffb":           "a\ufffdb",
		"\xc0\xaf":         "\ufffd\ufffd",
		"\xe2\x82":         "\ufffd",
		"\xe2\x82a":        "\ufffda",
		"\xf0\x9f\x98":     "\ufffd",
		"\xf0\x9f\x98\xf0": "\ufffd\ufffd",
		"\xed\xa0\x80":     "\ufffd\ufffd\ufffd",
		"\xf4\x90\x80\x80": "\ufffd\ufffd\ufffd\ufffd",
		// The Unicode Standard, tables 3-8 to 3-11.
		"\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41":             "\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffdA",
		"\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41":             "\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffdA",
		"\xf4\x91\x92\x93\xff\x41\x80\xbf\x42":             "\ufffd\ufffd\ufffd\ufffd\ufffdA\ufffd\ufffdB",
		"\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41\xf1\x80\x80": "\ufffd\ufffd\ufffd\ufffdA\ufffd",
	} {
		if got := string(AppendValidUTF8([]byte("x"), []byte(in))); got != "x"+want {
			t.Errorf("AppendValidUTF8(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestAppendValidUTF8Boundaries checks each sequence of up to four bytes next to a boundary in the standard.
func TestAppendValidUTF8Boundaries(t *testing.T) {
	edges := []byte{'a', 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5}
	var in [4]byte
	var out []byte
	var try func(n int)
	try = func(n int) {
		out = AppendValidUTF8(out[:0], in[:n])
		if want := decodeUTF8(in[:n]); string(out) != want {
			t.Fatalf("AppendValidUTF8(%q) = %q, want %q", in[:n], out, want)
		}
		if n == len(in) {
			return
		}
		for _, c := range edges {
			in[n] = c
			try(n + 1)
		}
	}
	try(0)
}

// FuzzAppendValidUTF8 compares with the decoder of the Encoding Standard.
func FuzzAppendValidUTF8(f *testing.F) {
	f.Add([]byte("a\xf0\x9f\x98\xe2\x82\xac\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got := AppendValidUTF8(nil, b)
		if want := decodeUTF8(b); string(got) != want {
			t.Fatalf("AppendValidUTF8(%q) = %q, want %q", b, got, want)
		}
		if utf8.Valid(b) != (string(got) == string(b)) {
			t.Fatalf("the valid text %q becomes %q", b, got)
		}
	})
}
