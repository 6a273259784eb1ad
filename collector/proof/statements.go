package proof

import (
	"regexp"
	"strings"
	"unicode"
)

// statement is one confidence as it stands behind a label.
type statement struct {
	figure
	scope [2]int // where what it is about begins and ends
	size  int    // bytes read
	rated bool   // both in words and in figures, so that what follows a dash is what the rating rests on
}

const (
	opening = " *_`([]\"'“”「【~"
	closing = " *_`)]\"'”」】"
)

// glue is what may part a level from a figure of the same statement.
var glue = regexp.MustCompile("^[ *_`()\\[\\],:/=]*(?:[-–—] [ *_`()\\[\\],:/=]*)?")

// readStatement reads a level, a figure or both, in either order, and what they are for. It returns the bytes read.
func readStatement(s string, m measure) (st statement, size int, ok bool) {
	at := len(s) - len(strings.TrimLeftFunc(s, func(r rune) bool {
		return strings.ContainsRune(opening, r) || isSymbol(r)
	}))
	f, n, ok := readValue(s[at:], m)
	if !ok {
		return statement{}, 0, false
	}
	st.figure = f
	at += n
	if rest, is := strings.CutPrefix(s[at:], " confidence"); is && ends(rest, true) {
		at = len(s) - len(rest)
	}
	gap := at
	if at < len(s) {
		gap += len(glue.FindString(s[at:]))
	}
	if gap > at {
		if other, n, ok := readValue(s[gap:], measure{of: m.of}); ok && other.worded != f.worded {
			st.merge(other, s[at:gap+n])
			st.rated, at = true, gap+n
		}
	}
	if at = len(s) - len(strings.TrimLeft(s[at:], closing)); at < len(s) && s[at-1] == ' ' {
		at-- // it belongs to a dash that follows
	}
	if at == len(s) {
		return st, at, true
	}
	begin, end := readScope(s[at:])
	if end > begin {
		st.scope, at = [2]int{at + begin, at + end}, at+end
	}
	return st, at, true
}

// merge adds a level to a figure or the reverse.
func (st *statement) merge(other figure, written string) {
	level := st.figure
	if other.worded {
		level = other
	}
	if !st.worded {
		st.worded = true
	} else {
		st.value, st.low, st.high = other.value, other.low, other.high
	}
	switch label := st.label; {
	case st.value.Known:
		st.label = level.label
	case strings.HasSuffix(strings.TrimRight(written, " "), ")") || strings.Contains(written, "("):
		st.label = label + written + ")"
	default:
		st.label = label + written
	}
}

// isSymbol reports the marks and pictures that models put before a value ("🟢 High"), stars excepted.
func isSymbol(r rune) bool {
	return unicode.In(r, unicode.So, unicode.Sk, unicode.Mn, unicode.Me) && !strings.ContainsRune("★⭐✭●☆✩○", r)
}

var (
	scopeBegins = regexp.MustCompile(`^ ?(?:for|für|pour|para|per|voor) `)
	scopeEnds   = regexp.MustCompile(`[,;()\[\]—]|\.(?: |$)| [-–] | (?:and|but|&|und|et|y|e|en) `)
)

// readScope returns where what a value is for begins and ends: "timber" of "for timber, 90% for trails".
func readScope(s string) (from, end int) {
	if !strings.ContainsAny(s[:1], " fpv") {
		return 0, 0
	}
	begin := scopeBegins.FindStringIndex(s[:runeStart(s, min(len(s), 9))])
	if begin == nil {
		return 0, 0
	}
	from = begin[1]
	for at := from; ; {
		found := scopeEnds.FindStringIndex(s[at:])
		if found == nil {
			return from, len(s)
		}
		sign := s[at+found[0] : at+found[1]]
		if sign[0] != ' ' || strings.ContainsAny(sign, "-–") {
			return from, at + found[0]
		}
		if _, _, follows := readValue(s[at+found[1]:], measure{}); follows {
			return from, at + found[0]
		}
		at += found[1] - 1
	}
}

// separators part a statement from the next.
var separators = regexp.MustCompile(`[,;(/&–—，；、]| - |\. | (?:and|but|und|et|y|e|en) `)

// readStatements reads "High (90%) - Direct CFR citations" or "95% for timber, 90% for trails". The first statement begins the value,
// or there is none. Of those without a scope only the first counts, for a later percentage is part of what explains it; those with a
// scope all count. They are appended to all. The rationale begins at the offset returned, -1 for none.
func readStatements(all []statement, s string, m measure) (_ []statement, rationale int) {
	m.loose = true
	first, at, ok := readStatement(s, m)
	if !ok {
		return all, -1
	}
	first.size = at
	all, rationale = append(all, first), -1
	plain := !first.scoped()
	m.loose = false
	for at < len(s) {
		sep := separators.FindStringIndex(s[at:])
		if sep == nil {
			return all, rationale
		}
		sign := s[at+sep[0] : at+sep[1]]
		at += sep[1]
		if rationale < 0 && first.rated && strings.ContainsAny(sign, "-–—") {
			rationale = at
		}
		next, n, ok := readStatement(s[at:], m)
		if !ok {
			continue
		}
		if next.scoped() {
			next.scope[0], next.scope[1] = next.scope[0]+at, next.scope[1]+at
		}
		at += n
		if !plain || next.scoped() {
			plain = plain || !next.scoped()
			all = append(all, next)
		}
	}
	return all, rationale
}

func (st *statement) scoped() bool { return st.scope[1] > 0 }
