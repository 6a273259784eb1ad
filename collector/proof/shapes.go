package proof

import (
	"iter"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// shape is one way to state a confidence, a row of tables/shapes.txt.
type shape struct {
	name, expression, reading, example, counterExample string

	label         bool // begins with the keyword; qualify judges the words before it
	noun          bool // the keyword begins a noun, and the expression after matches the text that follows the noun
	sign          bool // a colon or an equals sign may follow the word of the keyword
	before, after *regexp.Regexp
}

// shapes returns the shapes. They are tried in order at each keyword, and the first match is used. They
// are compiled when the first answer needs them, because compiling them would take most of the time of a
// start.
var shapes = sync.OnceValue(func() (all []*shape) {
	for _, row := range rows("shapes") {
		c := cells(row, 5)
		s := &shape{name: c[0], expression: c[1], reading: c[2], example: c[3], counterExample: c[4]}
		before, after, _ := strings.Cut(s.expression, "‸")
		after, s.noun = strings.CutPrefix(after, "⟨noun⟩")
		s.label = before == ""
		s.before, s.after = compile("(?:"+before+")$"), compile("^(?:"+after+")")
		s.sign = strings.ContainsAny(strings.ReplaceAll(s.after.String(), "(?:", ""), ":=")
		all = append(all, s)
	}
	return all
})

// shapesByStem returns the shapes that may have a stem as their keyword, by stem.
var shapesByStem = sync.OnceValue(func() map[string][]*shape {
	byStem := map[string][]*shape{}
	for _, k := range keywords {
		for _, s := range shapes() {
			if s.noun || strings.Contains(s.after.String(), k.word) {
				byStem[k.word] = append(byStem[k.word], s)
			}
		}
	}
	return byStem
})

var nouns = words("noun")

// nounAt returns the length of the noun that s, in lower case, begins with, or 0.
func nounAt(s string) int {
	for _, noun := range nouns {
		if strings.HasPrefix(s, noun) {
			return len(noun)
		}
	}
	return 0
}

// hit is an occurrence of a stem, the keyword of a statement of confidence.
type hit struct {
	at       int      // where the stem begins
	nounSize int      // length of the noun that begins with the stem, or 0
	shapes   []*shape // that may have the stem as their keyword
}

// appendHits appends the stems of a line in lower case, in order.
func appendHits(hits []hit, lower string) []hit {
	for from := 0; from < len(lower); {
		start, k := nextKeyword(lower, from, len(lower))
		if k == nil {
			break
		}
		if k.isStem {
			hits = append(hits, hit{start, nounAt(lower[start:]), shapesByStem()[k.word]})
		}
		from = start + len(k.word)
	}
	return hits
}

// shapeMatch is a shape that matches in a line. The statement begins at start, and its value is
// between from and to. If to is -1, the value begins at from.
type shapeMatch struct {
	*shape
	start, from, to int
	overall         bool
	measure         measure
}

// shapeWindow bounds the bytes before and after a keyword that a shape may cover.
const shapeWindow = 96

// candidates yields the shapes at a keyword of the line, in order.
func (l *line) candidates(h hit) iter.Seq[shapeMatch] {
	return func(yield func(shapeMatch) bool) {
		start, overall, own := l.qualify(h.at)
		behind := strings.TrimLeft(l.lower[h.at:], "abcdefghijklmnopqrstuvwxyz")
		sign := strings.HasPrefix(behind, ":") || strings.HasPrefix(behind, "=")
		for _, s := range h.shapes {
			if s.label && !own || s.noun && h.nounSize == 0 || sign && !s.sign {
				continue
			}
			f, ok := l.match(s, h)
			if !ok || !s.label && l.isStatistical() {
				continue
			}
			if s.label {
				f.start, f.overall = start, overall
			}
			if !yield(f) {
				return
			}
		}
	}
}

// match reports whether a shape matches at a keyword.
func (l *line) match(s *shape, h hit) (shapeMatch, bool) {
	at := h.at
	if s.noun {
		at += h.nounSize
	}
	ahead := l.lower[at:runeStart(l.lower, min(len(l.lower), at+shapeWindow+maxValue))]
	after := s.after.FindStringSubmatchIndex(ahead)
	if after == nil {
		return shapeMatch{}, false
	}
	f := shapeMatch{shape: s, start: h.at, from: at + after[1], to: -1, measure: measureOf(s.after, after)}
	f.setValue(s.after, after, at)
	if s.label {
		return f, true
	}
	floor := max(0, h.at-shapeWindow)
	for floor < h.at && !utf8.RuneStart(l.lower[floor]) {
		floor++
	}
	before := s.before.FindStringSubmatchIndex(l.lower[floor:h.at])
	if before == nil || before[0] == 0 && floor > 0 { // ^ is the beginning of the line
		return shapeMatch{}, false
	}
	f.start = floor + before[0]
	f.setValue(s.before, before, floor)
	if s.reading == "words" {
		f.from, f.to = f.start, at+after[1]
	}
	return f, true
}

// setValue sets the value to the group named value, if the expression has one. offset is where the matched
// text begins in the line.
func (f *shapeMatch) setValue(re *regexp.Regexp, match []int, offset int) {
	if g := re.SubexpIndex("value"); g > 0 && match[2*g] >= 0 {
		f.from, f.to = offset+match[2*g], offset+match[2*g+1]
	}
}

// measureOf returns the scale that a match names, as in "Confidence (0-10)".
func measureOf(re *regexp.Regexp, match []int) measure {
	for _, scale := range [...]struct {
		name string
		of   float64
	}{{"percent", 100}, {"ten", 10}, {"five", 5}} {
		if g := re.SubexpIndex(scale.name); g > 0 && match[2*g] >= 0 {
			return measure{of: scale.of}
		}
	}
	return measure{}
}
