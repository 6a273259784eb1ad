package proof

import (
	"bytes"
	"unicode/utf8"
)

// clue is a word without which nothing can be found, and the place in it of the letter by which it is looked for: one that is rare in
// prose, so that a search has few places to look at.
type clue struct {
	word  string
	at    int
	whole bool // it begins a word
}

// anchor is a letter, in both cases, and the clues that are looked for by it.
type anchor struct {
	letter        byte
	clues         []clue
	before, after [256]uint16 // the clues that the bytes beside the letter leave possible, as bits
}

var anchors = [...]*anchor{
	newAnchor('f', clue{"onfid", 2, false}, clue{"onfian", 2, false}, clue{"affidab", 1, true}, clue{"references", 2, true}),
	newAnchor('F', clue{"onfid", 2, false}, clue{"onfian", 2, false}, clue{"affidab", 1, true}, clue{"references", 2, true}),
	newAnchor('u', latin...), newAnchor('U', latin...),
	newAnchor('z', clue{"certez", 5, true}, clue{"zeker", 0, true}),
	newAnchor('Z', clue{"certez", 5, true}, clue{"zeker", 0, true}),
	newAnchor('y', clue{"certainty", 8, true}),                        // in capitals it is not looked for
	newAnchor(0xC3, clue{"sûr", 1, true}, clue{"certain à", 8, true}), // the first byte of û and à
	newAnchor('^', clue{"[^", 1, false}),
}

// latin are the clues that hold a u.
var latin = []clue{
	{"source", 2, true}, {"regulatory", 3, true}, {`\u`, 1, false}, {"sure", 1, true}, {"segur", 3, true}, {"sicur", 3, true},
	{"zuversicht", 1, true}, {"vertrau", 6, true}, {"vertrouw", 6, true}, {"betrouw", 5, true}, {"fiduc", 3, true}, {"certitud", 6, true},
}

func newAnchor(letter byte, clues ...clue) *anchor {
	a := &anchor{letter: letter, clues: clues}
	for i, c := range clues {
		for b := range 256 {
			if low := lowerByte(byte(b)); c.at == 0 && !inWord(byte(b)) || c.at > 0 && low == c.word[c.at-1] {
				a.before[b] |= 1 << i
			}
			if c.at+1 == len(c.word) || lowerByte(byte(b)) == c.word[c.at+1] {
				a.after[b] |= 1 << i
			}
		}
	}
	return a
}

// ideographs are in all clues of the languages that do not part words.
var ideographs = [...][]byte{[]byte("信"), []byte("신"), []byte("把握"), []byte("確度")}

// scanner finds the words without which nothing can be found. Nearly all text has none.
type scanner struct {
	text  []byte
	first int                                     // what find has returned last
	next  [len(anchors) + len(ideographs) + 1]int // where each of them stands next, one more than that; 0 if it has not been looked for
}

// mentions reports whether there is such a word.
func mentions(text []byte) bool {
	for _, a := range anchors {
		if a.find(text, 0) < len(text) {
			return true
		}
	}
	for _, word := range ideographs {
		if bytes.IndexByte(text, word[0]) >= 0 && bytes.Contains(text, word) {
			return true
		}
	}
	return findRated(text, 0) < len(text)
}

// find returns where the first such word from an offset on stands, len(text) if there is none.
func (s *scanner) find(from int) int {
	if from > 0 && from <= s.first {
		return s.first
	}
	first := len(s.text)
	for i := range s.next {
		if s.next[i] <= from {
			switch words := i - len(anchors); {
			case words < 0:
				s.next[i] = anchors[i].find(s.text, from)
			case words < len(ideographs):
				s.next[i] = len(s.text)
				if at := bytes.Index(s.text[from:], ideographs[words]); at >= 0 {
					s.next[i] = from + at
				}
			default:
				s.next[i] = findRated(s.text, from)
			}
			s.next[i]++
		}
		first = min(first, s.next[i]-1)
	}
	s.first = first
	return first
}

// find returns where the anchor's letter stands in one of its clues, in whatever case, from an offset on; len(text) if nowhere.
func (a *anchor) find(text []byte, from int) int {
	for i := from; i < len(text); i++ {
		next := bytes.IndexByte(text[i:], a.letter)
		if next < 0 {
			break
		}
		i += next
		before, after := byte(' '), byte(' ')
		if i > 0 {
			before = text[i-1]
		}
		if i+1 < len(text) {
			after = text[i+1]
		}
		for set, n := a.before[before]&a.after[after], 0; set != 0; set, n = set>>1, n+1 {
			if set&1 != 0 && a.clues[n].standsAt(text, i-a.clues[n].at) {
				return i
			}
		}
	}
	return len(text)
}

func (c clue) standsAt(text []byte, from int) bool {
	if from < 0 || !folds(text[from:], c.word) {
		return false
	}
	return !c.whole || from == 0 || text[from-1] == '_' || !inWord(text[from-1]) || text[from-1] == 'n' && from > 1 && text[from-2] == '\\'
}

// findRated returns where a percentage stands at a word for sure that has no rare letter, len(text) if nowhere.
func findRated(text []byte, from int) int {
	for i := from; i < len(text); i++ {
		next := bytes.IndexByte(text[i:], '%')
		if next < 0 {
			break
		}
		i += next
		behind := i + 1
		for behind < len(text) && behind < i+4 && (text[behind] == ' ' || text[behind] == '-') {
			behind++
		}
		if folds(text[behind:], "certain") || folds(text[behind:], "sicher") {
			return i
		}
		if bytes.Contains(text[max(0, i-24):i], []byte("certain")) {
			return i
		}
		at := i
		for at > 0 && at > i-16 && (text[at-1] == ' ' || text[at-1] == '*' || '+' < text[at-1] && text[at-1] < ':') {
			at--
		}
		if at > 8 && text[at-1] == ':' {
			label := bytes.TrimRight(text[at-8:at], ": *_")
			if n := len(label); n >= 4 && (folds(label[n-4:], "heit") || folds(label[n-4:], "grad")) {
				return i
			}
		}
	}
	return len(text)
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
