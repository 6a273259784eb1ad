package proof

import (
	"strings"
	"testing"
)

// TestPrefilter checks that the prefilter reports each clue at every offset and in every case, and reports nothing else.
func TestPrefilter(t *testing.T) {
	words := []string{"[^", `\u`, "90% sicher", "certain 90%", "gewissheit: 90%"}
	for _, c := range clues {
		words = append(words, c.word, strings.ToUpper(c.word))
	}
	for _, word := range words {
		if strings.ContainsAny(word, "ÀÛ") {
			continue // in capitals they are not looked for
		}
		for offset := range 17 {
			before := strings.Repeat("-", offset)
			for _, after := range []string{"", " and more"} {
				text := before + word + after
				if at := findClue([]byte(text), 0); at < offset-1 || at >= offset+len(word) {
					t.Errorf("%q is found at %d", text, at)
				}
			}
		}
		if text := "-- -" + word[:len(word)-1]; mentions([]byte(text)) {
			t.Errorf("%q mentions something", text)
		}
	}
	for _, text := range []string{"resource", "ensure", "50% of it", "a^b", "a\\b", ""} {
		if mentions([]byte(text)) {
			t.Errorf("%q mentions something", text)
		}
	}
}
