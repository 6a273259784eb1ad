package lenient

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestCanonicalStart compares the beginning of canonical forms with the whole of them, for texts of letters, marks, invisible characters and
// invalid bytes.
func TestCanonicalStart(t *testing.T) {
	pieces := []string{"i", "nternal", "ｉ", "é", "e\u0301", "ﬁ", "\u200b", "\u2800", "\u00ad", " ", "\x80", "\xe2\x80", "ı", "ſ", "K", "각", "\u1100\u1161", strings.Repeat("\u0301", 40), strings.Repeat("ạ̈", 50)}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var text []byte
		for range random.IntN(8) {
			text = append(text, pieces[random.IntN(len(pieces))]...)
		}
		whole, limit := canonical(text), random.IntN(12)
		start := canonicalStart(text, limit)
		if !bytes.HasPrefix(whole, start) || len(start) <= limit && len(start) != len(whole) {
			t.Fatalf("%q: the form begins with %q, want %q", text, start, whole)
		}
	}
}

// TestLongNames matches names that are short, but have much that does not count.
func TestLongNames(t *testing.T) {
	for _, name := range []string{strings.Repeat("\u200b", 1<<16) + "type", "ty" + strings.Repeat("\u0301", 1<<12) + "pe", "type" + strings.Repeat("\u2800", 1<<16)} {
		if !MatchesAny([]byte(name), []string{"kind", "type"}) || MatchesAny([]byte(name+"s"), []string{"kind", "type"}) {
			t.Errorf("a name of %d bytes is not the one of four", len(name))
		}
	}
}
