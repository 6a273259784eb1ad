package proof

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// statement is one confidence as written after a label.
type statement struct {
	figure
	scope    [2]int // where its subject begins and ends
	size     int    // bytes read
	combined bool   // in words and in figures; a rationale may follow after a dash
}

func (st *statement) hasScope() bool { return st.scope[1] > 0 }

const (
	opening = " *_`([]\"'“”「【~"
	closing = " *_`)]\"'”」】"
	glue    = " *_`()[],:/=" // may stand between the level and the figure of one statement
)

// readStatement reads a level, a figure or both, in either order, and their scope.
func readStatement(s string, m measure) (st statement, ok bool) {
	at := len(s) - len(strings.TrimLeftFunc(s, func(r rune) bool {
		return strings.ContainsRune(opening, r) || isSymbol(r)
	}))
	f, n, ok := readValue(s[at:], m)
	if !ok {
		return statement{}, false
	}
	st.figure = f
	at += n
	if gap := len(s) - len(skipGlue(s[at:])); gap > at {
		if other, n, ok := readValue(s[gap:], measure{of: m.of}); ok && other.inWords != f.inWords {
			st.merge(other, s[at:gap+n])
			st.combined, at = true, gap+n
		}
	}
	if at = len(s) - len(strings.TrimLeft(s[at:], closing)); at < len(s) && s[at-1] == ' ' {
		at-- // it belongs to a dash that follows
	}
	if begin, end := readScope(s[at:]); end > begin {
		st.scope, at = [2]int{at + begin, at + end}, at+end
	}
	st.size = at
	return st, true
}

func skipGlue(s string) string {
	s = strings.TrimLeft(s, glue)
	for _, dash := range []string{"- ", "– ", "— "} {
		if rest, ok := strings.CutPrefix(s, dash); ok {
			return strings.TrimLeft(rest, glue)
		}
	}
	return s
}

// merge adds a level to a figure, or a figure to a level.
func (st *statement) merge(other figure, written string) {
	level := st.figure
	if other.inWords {
		level = other
	} else {
		st.value, st.low, st.high = other.value, other.low, other.high
	}
	st.inWords = true
	switch {
	case st.value.Known:
		st.label = level.label
	case strings.Contains(written, "("):
		st.label += written + ")"
	default:
		st.label += written
	}
}

// isSymbol reports whether a rune is a mark or a picture before a value, as in "🟢 High". Stars are
// values.
func isSymbol(r rune) bool {
	return r >= utf8.RuneSelf && unicode.In(r, unicode.So, unicode.Mn, unicode.Me, unicode.Sk) && !strings.ContainsRune("★⭐✭●☆✩○", r)
}

// conjunctions separate statements.
var conjunctions = setOf("conjunctions")

// nextSeparator returns where the next separator begins and ends, or -1. A separator is one of the given
// signs, a period, a dash between spaces or a conjunction.
func nextSeparator(s, signs string) (from, end int) {
	for i, r := range s {
		switch {
		case r == ' ':
			word, _, ok := strings.Cut(s[i+1:min(len(s), i+6)], " ")
			if ok && (conjunctions[word] || word == "-" || word == "–") {
				return i, i + len(word) + 2
			}
		case r == '.':
			if strings.HasPrefix(s[i:], ". ") {
				return i, i + 2
			}
		case (r < 'a' || r > 'z') && strings.ContainsRune(signs, r):
			return i, i + utf8.RuneLen(r)
		}
	}
	return -1, -1
}

// prepositions introduce the scope of a value.
var prepositions = words("prepositions")

// readScope returns where the scope of a value begins and ends: "timber" in "for timber, 90% for trails".
func readScope(s string) (from, end int) {
	for _, word := range prepositions {
		if rest, ok := strings.CutPrefix(strings.TrimPrefix(s, " "), word); ok && strings.HasPrefix(rest, " ") {
			from = len(s) - len(rest) + 1
		}
	}
	if from == 0 {
		return 0, 0
	}
	for at := from; ; {
		sign, behind := nextSeparator(s[at:], ",;()[]—")
		if sign < 0 {
			return from, len(strings.TrimSuffix(s, "."))
		}
		if !conjunctions[strings.Trim(s[at+sign:at+behind], " ")] {
			return from, at + sign
		}
		if _, _, follows := readValue(s[at+behind:], measure{}); follows {
			return from, at + sign
		}
		at += behind - 1
	}
}

// readStatements reads "High (90%) - Direct CFR citations" or "95% for timber, 90% for trails", and
// appends the statements to all. The text must begin with a statement. All statements with a scope
// count. Of those without a scope, only the first counts: later percentages explain it. It also returns
// the offset of the rationale, or -1.
func readStatements(all []statement, s string, m measure) (_ []statement, rationale int) {
	m.loose = true
	first, ok := readStatement(s, m)
	if !ok {
		return all, -1
	}
	all, rationale = append(all, first), -1
	plain := !first.hasScope()
	m.loose = false
	for at := first.size; at < len(s); {
		from, end := nextSeparator(s[at:], ",;(/&–—，；、")
		if from < 0 {
			break
		}
		sign := s[at+from : at+end]
		at += end
		if rationale < 0 && first.combined && strings.ContainsAny(sign, "-–—") {
			rationale = at
		}
		next, ok := readStatement(s[at:], m)
		if !ok {
			continue
		}
		if next.hasScope() {
			next.scope[0], next.scope[1] = next.scope[0]+at, next.scope[1]+at
		}
		at += next.size
		if !plain || next.hasScope() {
			plain = plain || !next.hasScope()
			all = append(all, next)
		}
	}
	return all, rationale
}
