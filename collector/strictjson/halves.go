package strictjson

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// The halves of surrogate pairs, U+D800 to U+DFFF, are not characters. Texts have the private characters
// U+10D800 to U+10DFFF in their place, for which no other use is known.
const (
	firstHalf  = 0xd800
	halfOffset = 0x10_0000
	halfBits   = 11
	halfPrefix = "\xf4\x8d" // the first bytes of these private characters in UTF-8
)

// IsHalf reports whether a character of Value.Text stands for a half of a surrogate pair.
func IsHalf(r rune) bool { return r>>halfBits == (firstHalf+halfOffset)>>halfBits }

// halfChar returns the character that stands for r in texts.
func halfChar(r rune) rune {
	if utf16.IsSurrogate(r) {
		return r + halfOffset
	}
	return r
}

// MakeReadable changes a text of Value.Text for display and returns it. Two halves become the character that they
// make, even if they come from two texts that were joined. Any other half becomes U+FFFD.
func MakeReadable(text []byte) []byte {
	at := bytes.Index(text, []byte(halfPrefix))
	if at < 0 {
		return text
	}
	readable := text[:at] // never longer than what was read
	for at < len(text) {
		r, size := utf8.DecodeRune(text[at:])
		at += size
		if IsHalf(r) {
			low, size := utf8.DecodeRune(text[at:])
			if r = utf16.DecodeRune(r-halfOffset, low-halfOffset); r != utf8.RuneError {
				at += size
			}
		}
		readable = utf8.AppendRune(readable, r)
	}
	return readable
}

// hasHalf reports whether a string, given as for appendDecoded, has a half of a surrogate pair.
func hasHalf(sent []byte) bool {
	for {
		plain := bytes.IndexByte(sent, '\\')
		if plain < 0 {
			return false
		}
		r, size := unescape(sent[plain:])
		if utf16.IsSurrogate(r) {
			return true
		}
		sent = sent[plain+size:]
	}
}
