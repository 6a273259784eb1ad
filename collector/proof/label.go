package proof

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	reach     = 1 << 10 // bytes of a line that are read as the value of one confidence
	maxIndent = 128     // bytes of spaces and marks before a label at the start of its line
	lookBack  = 16      // bytes before a label that its qualifier stands in
)

// line is one readable line; lower is the same with ASCII letters in lower case, so that offsets agree.
type line struct {
	text, lower string
	header      bool             // of a table
	at          int              // labels before it have been returned
	next        [len(labels)]int // where each label's word stands next, -1 for nowhere
	seen        int              // what follows counts the bytes before it
	ticks       int              // backquotes
	depth       int              // brackets that are open
	word        int              // where the last word begins
	scheme      int              // where "://" stands last
	lastTick    int              // in the whole line
	bold        int              // bold text before it has been seen
	latest      string           // the bold label seen last
}

// label is "Confidence:" or "**Source:**" with its marks; its value begins at end.
type label struct {
	start, end int
	source     bool
	overall    bool
	enclosed   bool // within brackets, which end its value
}

// labels are the words that labels are found by.
var labels = [...]string{"confidence", "source", "regulatory basis"}

func newLine(text string) *line {
	return &line{text: text, lower: lowerASCII(text), lastTick: strings.LastIndexByte(text, '`'), scheme: -1}
}

// label returns the next label, in order.
func (l *line) label() (label, bool) {
	for end := l.at; ; {
		word, start := "", len(l.text)
		for i, w := range labels {
			if l.next[i] >= 0 && l.next[i] < l.at || l.at == 0 {
				l.next[i] = indexFrom(l.lower, w, l.at)
			}
			if l.next[i] >= 0 && l.next[i] < start {
				word, start = w, l.next[i]
			}
		}
		if word == "" {
			return label{}, false
		}
		l.at = start + len(word)
		found, ok := l.sourceLabel(start, l.at)
		if word == labels[0] {
			found, ok = l.confidenceLabel(start, l.at)
		}
		l.see(start)
		if quoted := l.ticks%2 == 1 && l.lastTick > start; ok && !quoted && l.scheme < l.word {
			found.start = max(found.start, end)
			found.enclosed = l.depth > 0
			l.at = found.end
			return found, true
		}
	}
}

// confidenceLabel reads around the word at start:end: "overall" before it, "score" behind it, marks on both sides.
func (l *line) confidenceLabel(start, end int) (label, bool) {
	overall := false
	before := strings.TrimRight(l.lower[:start], " *_")
	for _, w := range []string{"overall", "aggregate", "total", "final"} {
		if rest, ok := strings.CutSuffix(before, w); ok && len(before) < start && l.opens(len(rest)) {
			start, overall = len(rest), true
		}
	}
	if !overall && !l.opens(start) || l.qualified(start) {
		return label{}, false
	}
	c := cursor{text: l.text, lower: l.lower, at: end}
	c.skip(" *_")
	if c.word("score") || c.word("level") {
		c.skip(" *_")
	}
	if !c.sign(":") && !c.sign("：") && !c.sign("=") && !(c.sign("|") && l.pair(start)) {
		return label{}, false
	}
	return label{start: l.marks(start), end: c.at, overall: overall}, true
}

// sourceLabel reads around the word at start:end. It is a label at the start of its line, or in bold.
func (l *line) sourceLabel(start, end int) (label, bool) {
	marks := l.marks(start)
	if start-marks < 2 && !leads(l.text[:start]) {
		return label{}, false
	}
	c := cursor{text: l.text, lower: l.lower, at: end}
	if l.lower[start] == 's' && !c.sign("(s)") {
		c.sign("s")
	}
	c.skip(" *_")
	switch {
	case c.sign(":"), c.sign("："):
		if marks < start {
			c.skip("*_")
		}
	case l.header || !c.sign("|") || !l.pair(start): // a header names columns
		return label{}, false
	}
	return label{start: marks, end: c.at, source: true}, true
}

// marks returns where the marks of emphasis before start begin.
func (l *line) marks(start int) int {
	return len(strings.TrimRight(l.text[:start], "*_"))
}

// opens reports whether a label may begin at start: not within a word, a compound ("low-confidence") or a path.
func (l *line) opens(start int) bool {
	marks := l.marks(start)
	if marks == 0 || strings.HasPrefix(l.text[marks:start], "**") {
		return true
	}
	before, size := utf8.DecodeLastRuneInString(l.text[:marks])
	if before == '-' { // of a list
		return marks == size || l.text[marks-size-1] == ' '
	}
	return strings.ContainsRune(" ([|>#•·–—", before) || unicode.Is(unicode.So, before)
}

// qualified reports whether the word before start makes another thing of it: "low confidence: 12 %" counts pixels, "95% confidence: …" opens an interval.
func (l *line) qualified(start int) bool {
	before := strings.TrimRight(l.lower[:start], " ")
	before = before[max(0, len(before)-lookBack):]
	word := before[strings.LastIndexAny(before, " *_([|>")+1:]
	switch word {
	case "no", "not", "without", "zero", "low", "medium", "moderate", "high":
		return true
	}
	return strings.HasSuffix(word, "%")
}

// see takes notice of backquotes, brackets and URLs up to start.
func (l *line) see(start int) {
	for ; l.seen < start; l.seen++ {
		switch l.text[l.seen] {
		case '`':
			l.ticks++
		case '(', '[':
			l.depth++
		case ')', ']':
			l.depth = max(0, l.depth-1)
		case ' ':
			l.word = l.seen + 1
		case ':':
			if strings.HasPrefix(l.text[l.seen:], "://") {
				l.scheme = l.seen
			}
		}
	}
}

// pair reports whether the line is a row of two cells, of which the first holds only the label at start. In a row of more the label may name a column or a row of several values.
func (l *line) pair(start int) bool {
	first := strings.Trim(l.text[:start], " >*_")
	row := strings.TrimRight(l.text, " ")
	return first == "|" && strings.Count(strings.TrimSuffix(row, "|"), "|") == 2
}

// valueEnd returns where a value within from:end ends: with its cell, or with the brackets that enclose its label.
func (l *line) valueEnd(from, end int, enclosed bool) int {
	depth := 0
	for i := from; i < end; i++ {
		switch l.text[i] {
		case '(', '[':
			depth++
		case ')', ']':
			if depth--; depth < 0 && enclosed {
				return i
			}
		case '|':
			return i
		}
	}
	for end > from && end < len(l.text) && !utf8.RuneStart(l.text[end]) {
		end--
	}
	return end
}

// topic returns the last label in bold before start, which is what the statement there is about.
func (l *line) topic(start int) string {
	for {
		open := l.doubled(l.bold, start)
		if open < 0 {
			l.bold = max(l.bold, start-1)
			return l.latest
		}
		size := strings.Index(l.text[open+2:start], l.text[open:open+2])
		if size < 0 {
			l.bold = open
			return l.latest
		}
		l.bold = open + 2 + size + 2
		inner, inside := strings.CutSuffix(l.text[open+2:open+2+size], ":")
		if (inside || l.bold < start && l.text[l.bold] == ':') && !isLabel(inner) {
			l.latest = inner
		}
	}
}

// doubled returns where the first "**" or "__" in from:end stands, -1 for nowhere.
func (l *line) doubled(from, end int) int {
	for i := from; i+1 < end; i++ {
		if c := l.text[i]; (c == '*' || c == '_') && l.text[i+1] == c {
			return i
		}
	}
	return -1
}

// isLabel reports whether bold text is a label of ours and no topic.
func isLabel(bold string) bool {
	bold = lowerASCII(strings.Trim(bold, " *_"))
	switch bold {
	case "source", "sources", "source(s)", "regulatory basis":
		return true
	}
	return strings.Contains(bold, "confidence")
}

// leads reports whether what stands before a label leaves it at the start of its line: marks of quotes, lists, headings and cells.
func leads(before string) bool {
	const marks = " >#*_+-•·–—|(["
	if len(before) > maxIndent {
		return false
	}
	before = strings.TrimLeft(before, marks)
	if number := strings.TrimLeft(before, "0123456789"); number != before && number != "" && strings.ContainsRune(".)", rune(number[0])) {
		before = strings.TrimLeft(number[1:], marks)
	}
	return before == ""
}

func indexFrom(s, word string, from int) int {
	if i := strings.Index(s[from:], word); i >= 0 {
		return from + i
	}
	return -1
}
