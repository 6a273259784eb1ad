package proof

import (
	"strings"
	"testing"
)

// TestPrefilter checks that the prefilter reports each keyword at every offset and in every case, and
// reports nothing else.
func TestPrefilter(t *testing.T) {
	var words []string
	for _, k := range keywords {
		words = append(words, k.word, strings.ToUpper(k.word))
	}
	for _, word := range words {
		if strings.ContainsAny(word, "ÀÛ") {
			continue // capitals of these letters are not keywords
		}
		for offset := range 17 {
			before := strings.Repeat("-", offset)
			for _, after := range []string{"", " and more"} {
				text := before + word + after
				if at := findKeyword([]byte(text), 0); at < offset-1 || at >= offset+len(word) {
					t.Errorf("findKeyword(%q) = %d, want about %d", text, at, offset)
				}
			}
		}
		if text := "-- -" + word[:len(word)-1]; mentions([]byte(text)) {
			t.Errorf("mentions(%q) = true, want false", text)
		}
	}
	for after := range 256 { // pairs with the second byte of the shortest keyword
		text := "-[^" + string([]byte{byte(after)})
		if at := findKeyword([]byte(text), 0); at != 1 {
			t.Errorf("findKeyword(%q) = %d, want 1", text, at)
		}
	}
	for _, text := range []string{"resource", "ensure", "a^b", "a\\b", ""} {
		if mentions([]byte(text)) {
			t.Errorf("mentions(%q) = true, want false", text)
		}
	}
}
