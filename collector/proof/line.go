package proof

import (
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// line is one line of an answer in the form that shapes match: without emphasis, and without quotations
// and inline code that contain a keyword.
type line struct {
	raw        string // the result of readable
	text       string
	lower      string  // text in lower case, byte for byte
	rawOffsets []int32 // offset in raw of each byte of text; nil if they are equal
	bold       []bold

	// Memory for text and rawOffsets, reused for the next line.
	buffer  []byte
	offsets []int32

	statisticalKnown, statistical bool // whether isStatistical has searched the line, and its result
}

// isStatistical reports whether the line is about samples. It searches the line once.
func (l *line) isStatistical() bool {
	if !l.statisticalKnown {
		l.statisticalKnown, l.statistical = true, isStatistical(l.lower)
	}
	return l.statistical
}

// bold is the start of bold text, and its words if it is a label.
type bold struct {
	at    int
	topic string
}

// tags are the HTML elements that only format text.
var tags = lazily(`(?i)</?(?:b|strong|i|em|u|p|span|div|li|ul|td|tr|br|mark|small|h[1-6])(?: [^<>]{0,200})?/?>|&nbsp;`)

// quotations are pairs of marks.
var quotations = [...]struct {
	open  rune
	close string
}{{'“', "”"}, {'„', "“"}, {'«', "»"}, {'「', "」"}, {'『', "』"}, {'"', `"`}, {'`', "`"}}

// quotation returns the index of the quotation that a mark opens, or -1.
func quotation(mark rune) int {
	for i, q := range quotations {
		if q.open == mark {
			return i
		}
	}
	return -1
}

// newLine reads a line.
func newLine(raw string) *line {
	l := new(line)
	l.set(raw)
	return l
}

// set replaces the line and reuses its memory.
func (l *line) set(raw string) {
	if strings.IndexByte(raw, '<') >= 0 || strings.IndexByte(raw, '&') >= 0 {
		raw = tags().ReplaceAllString(raw, " ")
	}
	*l = line{raw: raw, text: raw, buffer: l.buffer[:0], offsets: l.offsets[:0], bold: l.bold[:0]}
	if strings.ContainsAny(raw, "*_`\"") || !isPlain(raw) {
		l.removeMarkup()
	}
	l.lower = lowerCase(l.text)
}

// removeMarkup removes emphasis, and quotations that have a keyword, from the text.
func (l *line) removeMarkup() {
	raw, out, moved := l.raw, slices.Grow(l.buffer, len(l.raw)), slices.Grow(l.offsets, len(l.raw))
	var skipTo [len(quotations)]int // before this offset, no quotation of the kind has a keyword
	closing := -1                   // where the bold text that is open ends
	keep := func(from, to int) {
		out = append(out, raw[from:to]...)
		for ; from < to; from++ {
			moved = append(moved, int32(from))
		}
	}
	for i := 0; i < len(raw); {
		plain := i
		for i < len(raw) && raw[i] < utf8.RuneSelf && raw[i] != '*' && raw[i] != '_' && raw[i] != '"' && raw[i] != '`' {
			i++
		}
		keep(plain, i)
		if i == len(raw) {
			break
		}
		r, size := utf8.DecodeRuneInString(raw[i:])
		q := quotation(r)
		switch {
		case (r == '*' || r == '_') && isEmphasis(raw, i):
			if i+1 < len(raw) && raw[i+1] == raw[i] {
				if i != closing {
					closing = l.addBold(i, len(out))
				}
				size = 2
			}
		case q >= 0 && i >= skipTo[q]:
			inner, _, found := strings.Cut(raw[i+size:], quotations[q].close)
			hasKeyword := found && mentions([]byte(inner))
			if !hasKeyword {
				skipTo[q] = i + size + len(inner)
			}
			if hasKeyword || r != '`' {
				keep(i, i+size)
			}
			if hasKeyword {
				size += len(inner)
			}
		case r == '`':
		default:
			keep(i, i+size)
		}
		i += size
	}
	l.text, l.rawOffsets, l.buffer, l.offsets = string(out), moved, out, moved
}

// isEmphasis reports whether a star or an underscore marks emphasis. Between spaces, in a list or
// within a name it does not.
func isEmphasis(raw string, i int) bool {
	before, after := byte(' '), byte(' ')
	if i > 0 {
		before = raw[i-1]
	}
	if i+1 < len(raw) {
		after = raw[i+1]
	}
	if raw[i] == '_' && inWord(before) && inWord(after) && before != '_' && after != '_' {
		return false
	}
	return before != ' ' || after != ' '
}

// addBold records bold text that begins at raw[from:], with its words if a colon follows. It returns
// where the text ends, or -1.
func (l *line) addBold(from, at int) int {
	mark, rest := l.raw[from:from+2], l.raw[from+2:]
	size := strings.Index(rest[:min(len(rest), 4*maxString)], mark)
	b := bold{at: at}
	if size > 0 {
		inner, inside := strings.CutSuffix(rest[:size], ":")
		if behind := rest[size+2:]; (inside || strings.HasPrefix(behind, ":")) && !isLabel(inner) {
			b.topic = inner
		}
	}
	l.bold = append(l.bold, b)
	if size < 0 {
		return -1
	}
	return from + 2 + size
}

// isLabel reports whether bold text labels a confidence or a source, so that it is not a topic.
func isLabel(bold string) bool {
	bold = lowerCase(strings.Trim(bold, " *_"))
	switch bold {
	case "source", "sources", "source(s)", "regulatory basis":
		return true
	}
	_, k := nextKeyword(bold, 0, len(bold))
	return k != nil && k.isStem
}

// topic returns the last bold label before an offset of text.
func (l *line) topic(at int) string {
	for i := sort.Search(len(l.bold), func(i int) bool { return l.bold[i].at >= at }) - 1; i >= 0; i-- {
		if l.bold[i].topic != "" {
			return l.bold[i].topic
		}
		if at-l.bold[i].at > maxString {
			break
		}
	}
	return ""
}

// opensBold reports whether bold text begins at this offset of text.
func (l *line) opensBold(at int) bool {
	i := sort.Search(len(l.bold), func(i int) bool { return l.bold[i].at >= at })
	return i < len(l.bold) && l.bold[i].at == at
}

// rawAt returns the offset in raw of a byte of text.
func (l *line) rawAt(at int) int {
	if l.rawOffsets == nil {
		return at
	}
	if at >= len(l.rawOffsets) {
		return len(l.raw)
	}
	return int(l.rawOffsets[at])
}

// lowerCase returns s in lower case, with all offsets unchanged.
func lowerCase(s string) string {
	if isPlain(s) {
		return strings.ToLower(s)
	}
	return strings.Map(func(r rune) rune {
		if low := unicode.ToLower(r); utf8.RuneLen(low) == utf8.RuneLen(r) {
			return low
		}
		return r
	}, s)
}

// boundaries separate a label from the text before it.
const boundaries = "([{|>#•·:;,.!?)]）。：；，、｜（【「→–—=\""

var (
	ownWords = setOf("own words")
	overalls = setOf("overall")
)

// qualify examines the words between the last boundary and a label. It returns where these words begin,
// whether they say that the confidence is that of the whole answer, and whether the answer states the
// confidence about itself.
func (l *line) qualify(at int) (start int, overall, ok bool) {
	floor := max(0, at-64)
	if inURL(l.lower, at) {
		return 0, false, false
	}
	start = at
	for start > floor && !l.opensBold(start) {
		r, size := utf8.DecodeLastRuneInString(l.lower[floor:start])
		if strings.ContainsRune(boundaries, r) || unicode.In(r, unicode.So, unicode.Mn) {
			if closesURL := start < len(l.lower) && l.lower[start] != ' ' && strings.ContainsRune(".:=/,", r); closesURL {
				return 0, false, false
			}
			break
		}
		if (r == '-' || r == '*' || r == '+') && (start-size == 0 || l.lower[start-size-1] == ' ') && (r == '-' || start < len(l.lower) && l.lower[start] == ' ') {
			break
		}
		start -= size
	}
	if start == floor && floor > 0 {
		return 0, false, false
	}
	qualifiers := strings.Fields(l.lower[start:at])
	for _, w := range qualifiers {
		if !ownWords[w] {
			return 0, false, false
		}
		overall = overall || overalls[w]
	}
	start += len(l.lower[start:at]) - len(strings.TrimLeft(l.lower[start:at], " "))
	if len(qualifiers) == 0 && start < at {
		return 0, false, false
	}
	return start, overall, true
}

// isEnclosed reports whether a bracket is open at the end of a text. It searches only the end of a
// long text.
func isEnclosed(before string) bool {
	depth := 0
	for i := max(0, len(before)-valueWindow); i < len(before); i++ {
		switch before[i] {
		case '(', '[':
			depth++
		case ')', ']':
			depth = max(0, depth-1)
		}
	}
	return depth > 0
}

// valueEnd returns where a value within from:end ends: with its cell, its element, or the brackets
// that enclose its label.
func valueEnd(text string, label, from, end int) int {
	depth := 0
	for i := from; i < end; i++ {
		switch text[i] {
		case '(', '[':
			depth++
		case ')', ']':
			if depth--; depth < 0 && isEnclosed(text[:label]) {
				return i
			}
		case '|':
			return i
		case '<':
			if i+1 < end && text[i+1] == '/' {
				return i
			}
		}
	}
	return runeStart(text, end)
}

// isAsked reports whether the sentence that a text continues is a question.
func isAsked(rest string) bool {
	for i, r := range rest[:min(len(rest), valueWindow)] {
		switch r {
		case '?', '？':
			return true
		case '。', '！', '|', '(':
			return false
		case '.', '!', ';':
			if i+1 == len(rest) || rest[i+1] == ' ' {
				return false
			}
		}
	}
	return false
}
