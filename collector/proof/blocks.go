package proof

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// below is a label that stands alone in its line: its values follow in the lines below.
type below struct {
	waits   bool
	listed  bool // one value has been read of a list
	measure measure
}

// alone is what follows the noun of a label without a value: a heading, or a line of its own.
var (
	alone   = compile(`^⟨aspect⟩(?:⟨scale⟩|⟨object⟩[:：]|⟨foreign object⟩[:：]) *[:：]? *$`)
	element = regexp.MustCompile(`^ *<confidence(?:[_-](?:score|level|rating))?>[ ]*$`)
)

// opensBelow reports whether a line is a label alone.
func (r *reader) opensBelow(l *line) bool {
	at := r.hits[0].at
	rest := l.lower[at:]
	if len(rest) > look || strings.Contains(rest, ": ") {
		return false
	}
	if at > 0 && l.lower[at-1] == '<' {
		r.below = below{waits: element.MatchString(l.lower), measure: measure{of: 100}}
		return r.below.waits
	}
	n := nounAt(rest)
	groups := alone.FindStringSubmatchIndex(rest[n:])
	if n == 0 || groups == nil {
		return false
	}
	start, _, ok := l.leads(at)
	if !ok || strings.Trim(l.lower[:start], " #*+-•0123456789.)") != "" {
		return false
	}
	r.below = below{waits: true, measure: measureOf(alone, groups)}
	return true
}

// value takes the line below a label that stands alone, and reports whether it belongs to it.
func (r *reader) value(raw []byte) bool {
	text := strings.TrimSpace(readable(raw))
	if strings.Trim(text, "-=") == "" && !r.below.listed { // blank, or the line below a heading
		return true
	}
	item, isItem := listItem(text)
	if r.below.waits = isItem; !isItem && r.below.listed || isQuote(raw) {
		r.below.waits = false
		return false
	}
	l := newLine(item)
	if !isItem {
		l = newLine(text)
	}
	l.lower = strings.TrimRight(l.lower, " ")
	from := 0
	if name, _, ok := strings.Cut(l.lower, ":"); ok && isItem && len(name) < look {
		from = len(name) + 1
		for from < len(l.lower) && l.lower[from] == ' ' {
			from++
		}
	}
	all, _ := readStatements(nil, l.lower[from:valueEnd(l.lower, from, min(len(l.lower), from+reach), false)], r.below.measure)
	if len(all) == 0 || l.isAsked(from) {
		r.below.waits = isItem && r.below.listed
		return false
	}
	r.below.listed = isItem
	for _, st := range all {
		c := st.confidence(r.origin)
		if c.Scope = bounded(l.text[from+st.scope[0] : from+st.scope[1]]); c.Scope == "" && from > 0 {
			c.Scope = bounded(strings.TrimRight(l.text[:from], ": "))
		}
		c.Overall = strings.EqualFold(c.Scope, "overall")
		r.keep(c)
	}
	return true
}

// table is a Markdown table that has a confidence column.
type table struct {
	open    bool
	column  int
	measure measure
}

// column is what follows the noun in the name of a column, or of a row, of confidences.
var column = compile(`^⟨aspect⟩⟨scale⟩$`)

// columnOf reports whether a cell names a column of confidences, and what they are measured on.
func columnOf(cell string) (m measure, overall, ok bool) {
	if len(cell) > look {
		return measure{}, false, false
	}
	cell, overall = strings.CutPrefix(cell, "overall ")
	cell = strings.TrimPrefix(strings.TrimPrefix(cell, "our "), "model ")
	if cell == "" {
		return measure{}, false, false
	}
	n := nounAt(cell)
	at := column.FindStringSubmatchIndex(cell[n:])
	if n == 0 || at == nil {
		return measure{}, false, false
	}
	return measureOf(column, at), overall, true
}

// opensTable reports whether a line is the header of a table with a column of confidence, or a row of confidences in another.
func (r *reader) opensTable(l *line, rest []byte) bool {
	if strings.IndexByte(l.lower, '|') < 0 || !isDelimiter(rest) {
		return false
	}
	cells := cellsOf(l.lower)
	for i, cell := range cells {
		if m, _, ok := columnOf(cell); ok && !isPair(cells, i) {
			r.table = table{open: true, column: i, measure: m}
			return true
		}
	}
	return false
}

// row takes a row whose first cell is a label, and whose others are its values.
func (r *reader) row(l *line, rest []byte) bool {
	if !isRow([]byte(l.lower)) || isDelimiter(rest) && !isPair(cellsOf(l.lower), 0) {
		return false
	}
	cells := cellsOf(l.lower)
	m, overall, ok := columnOf(cells[0])
	if !ok {
		return false
	}
	for _, cell := range cells[1:] {
		if st, ok := readStatement(cell, m); ok {
			c := st.confidence(r.origin)
			c.Overall = overall
			r.keep(c)
		}
	}
	return true
}

// isPair reports whether the cell at i begins a row of two, whose other cell is its value.
func isPair(cells []string, i int) bool {
	if i != 0 || len(cells) != 2 {
		return false
	}
	_, ok := readStatement(cells[1], measure{})
	return ok
}

// cellsOf returns the cells of a row without spaces at their ends.
func cellsOf(row string) []string {
	row = strings.Trim(row, " ")
	row = strings.TrimSuffix(strings.TrimPrefix(row, "|"), "|")
	cells := strings.Split(row, "|")
	for i := range cells {
		cells[i] = strings.Trim(cells[i], " ")
	}
	return cells
}

// cells takes a row of a table that has a column of confidence, and reports whether the line is one.
func (r *reader) cells(raw []byte) bool {
	l := newLine(readable(raw))
	if strings.IndexByte(l.lower, '|') < 0 {
		r.table = table{}
		return false
	}
	cells := cellsOf(l.text)
	if r.table.column >= len(cells) {
		return true
	}
	st, ok := readStatement(lowered(cells[r.table.column]), r.table.measure)
	if !ok {
		return true
	}
	c := st.confidence(r.origin)
	for i, cell := range cells {
		if i != r.table.column && strings.ContainsFunc(cell, func(r rune) bool { return r >= utf8.RuneSelf || inWord(byte(r)) && (r < '0' || r > '9') }) {
			c.Topic = bounded(cell)
			break
		}
	}
	r.keep(c)
	return true
}
