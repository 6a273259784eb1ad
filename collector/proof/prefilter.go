package proof

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// clue is a word without which nothing can be found. It is looked for by three of its bytes that are rare in prose: two of them stand
// next to each other at an even offset of any text.
type clue struct {
	word  string
	at    int  // where the three bytes begin
	whole bool // it begins a word
}

var clues = []clue{
	{"onfid", 1, false}, {"onfian", 1, false}, {"affidab", 1, true}, {"references", 1, true}, {"source", 2, true},
	{"regulatory", 2, true}, {"sure", 0, true}, {"segur", 1, true}, {"sicur", 2, true}, {"zuversicht", 0, true}, {"vertrau", 2, true},
	{"vertrouw", 2, true}, {"betrouw", 1, true}, {"fiduc", 2, true}, {"certitud", 5, true}, {"certez", 2, true}, {"zeker", 0, true},
	{"certainty", 2, true}, {"sûr", 1, true}, {"certain à", 7, true},
	{"信", 0, false}, {"신", 0, false}, {"把握", 0, false}, {"確度", 0, false}, // in languages that do not part words
}

// signs are looked for by themselves: of a percentage, an escape in JSON, and a footnote.
const signs = `%\^`

// pairs has for each two bytes the place in candidates of the clues that they may be of, 0 if there is none, and bySign if one of them
// is a sign.
var (
	pairs      [1 << 16]uint8
	candidates = [][]clue{0: nil, bySign: nil} // at is where the two bytes stand
)

const bySign = 1

func init() {
	for _, c := range clues {
		for at := c.at; at < c.at+2; at++ {
			addPair(c.word[at], c.word[at+1], clue{c.word, at, c.whole})
		}
	}
	for _, sign := range []byte(signs) {
		for b := range 256 {
			pairs[pairOf(sign, byte(b))], pairs[pairOf(byte(b), sign)] = bySign, bySign
		}
	}
}

// addPair adds a clue to those of two bytes, which are lower case, in whatever case.
func addPair(first, second byte, c clue) {
	n := pairs[pairOf(first, second)]
	if n == 0 {
		n = uint8(len(candidates))
		candidates = append(candidates, nil)
	}
	candidates[n] = append(candidates[n], c)
	for _, a := range [...]byte{first, upperByte(first)} {
		for _, b := range [...]byte{second, upperByte(second)} {
			pairs[pairOf(a, b)] = n
		}
	}
}

func pairOf(first, second byte) uint16 { return uint16(first) | uint16(second)<<8 }

// scanner finds the words without which nothing can be found. Nearly all text has none.
type scanner struct {
	text  []byte
	first int // what find has returned last
}

// mentions reports whether there is such a word.
func mentions(text []byte) bool { return findClue(text, 0) < len(text) }

// find returns a place within the first such word from an offset on, or the place before it; len(text) if there is none.
func (s *scanner) find(from int) int {
	if from == 0 || from > s.first {
		s.first = findClue(s.text, from)
	}
	return s.first
}

func findClue(text []byte, from int) int {
	i := from
	for ; i+8 <= len(text); i += 8 {
		eight := binary.LittleEndian.Uint64(text[i:])
		if pairs[uint16(eight)]|pairs[uint16(eight>>16)]|pairs[uint16(eight>>32)]|pairs[eight>>48] == 0 {
			continue
		}
		for at := i; at < i+8; at, eight = at+2, eight>>16 {
			if n := pairs[uint16(eight)]; n != 0 && standsAt(text, at, n) {
				return at
			}
		}
	}
	for ; i < len(text); i += 2 {
		next := byte(' ')
		if i+1 < len(text) {
			next = text[i+1]
		}
		if n := pairs[pairOf(text[i], next)]; n != 0 && standsAt(text, i, n) {
			return i
		}
	}
	return len(text)
}

// standsAt reports whether the two bytes at an offset are of a clue; n is their place in candidates.
func standsAt(text []byte, at int, n uint8) bool {
	if n == bySign {
		return isSign(text, at) || at+1 < len(text) && isSign(text, at+1)
	}
	for _, c := range candidates[n] {
		if c.standsAt(text, at-c.at) {
			return true
		}
	}
	return false
}

// isSign reports whether a sign stands at an offset, and what makes it one.
func isSign(text []byte, at int) bool {
	switch text[at] {
	case '%':
		return isRated(text, at)
	case '\\':
		return at+1 < len(text) && lowerByte(text[at+1]) == 'u'
	case '^':
		return at > 0 && text[at-1] == '['
	}
	return false
}

func (c clue) standsAt(text []byte, from int) bool {
	if from < 0 || !folds(text[from:], c.word) {
		return false
	}
	return !c.whole || from == 0 || text[from-1] == '_' || !inWord(text[from-1]) || text[from-1] == 'n' && from > 1 && text[from-2] == '\\'
}

// isRated reports whether the percentage whose sign is at an offset stands at a word for sure that has no rare letter.
func isRated(text []byte, at int) bool {
	behind := at + 1
	for behind < len(text) && behind < at+4 && (text[behind] == ' ' || text[behind] == '-') {
		behind++
	}
	if folds(text[behind:], "certain") || folds(text[behind:], "sicher") {
		return true
	}
	if before := text[max(0, at-24):at]; bytes.IndexByte(before, 'c') >= 0 && bytes.Contains(before, []byte("certain")) {
		return true
	}
	from := at
	for at > 0 && at > from-16 && (text[at-1] == ' ' || text[at-1] == '*' || '+' < text[at-1] && text[at-1] < ':') {
		at--
	}
	if at <= 8 || text[at-1] != ':' {
		return false
	}
	label := bytes.TrimRight(text[at-8:at], ": *_")
	n := len(label)
	return n >= 4 && (folds(label[n-4:], "heit") || folds(label[n-4:], "grad"))
}

// folds reports whether text begins with word, which is lower case, in whatever case.
func folds(text []byte, word string) bool {
	if len(text) < len(word) {
		return false
	}
	for i := range len(word) {
		if c := text[i]; c != word[i] && lowerByte(c) != word[i] {
			return false
		}
	}
	return true
}

func lowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func upperByte(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c + 'A' - 'a'
	}
	return c
}

// inWord reports whether a byte belongs to a word: an underscore does, as in "min_confidence".
func inWord(c byte) bool {
	return 'a' <= lowerByte(c) && lowerByte(c) <= 'z' || '0' <= c && c <= '9' || c == '_'
}

// stemsByByte lists the stems by their first byte.
var stemsByByte = func() (table [256][]string) {
	for _, s := range stems {
		table[s[0]] = append(table[s[0]], s)
	}
	return table
}()

// hit is a stem and where it stands.
type hit struct {
	at   int
	stem string
}

// appendHits appends the stems of a line in lower case, in order.
func appendHits(hits []hit, lower string) []hit {
	for i := 0; i < len(lower); i++ {
		all := stemsByByte[lower[i]]
		if all == nil || lower[i] < utf8.RuneSelf && i > 0 && inWord(lower[i-1]) && lower[i-1] != '_' {
			continue
		}
		for _, s := range all {
			if len(lower)-i >= len(s) && lower[i:i+len(s)] == s {
				hits = append(hits, hit{i, s})
				i += len(s) - 1
				break
			}
		}
	}
	return hits
}
