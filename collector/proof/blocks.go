package proof

import (
	"strings"
	"unicode"
)

// bareLabel is the state of reading the lines that follow a label on a line of its own.
type bareLabel struct {
	open    bool // a value may follow
	inList  bool // a value has been read from a list
	measure measure
}

var (
	// bareRest matches the rest of a label that has no value on its line, such as a heading.
	bareRest = lazily(`^⟨aspect⟩(?:⟨scale⟩|⟨object⟩[:：]|⟨foreign object⟩[:：]) *[:：]? *$`)
	element  = lazily(`^ *<confidence(?:[_-](?:score|level|rating))?> *$`)
	// column matches the rest of a label that names a column or a row of confidences.
	column = lazily(`^⟨aspect⟩⟨scale⟩$`)
)

// opensBareLabel reports whether a line is a label without a value. If so, the next lines are read as
// its value.
func (r *reader) opensBareLabel(l *line) bool {
	h := r.hits[0]
	rest := l.lower[h.at:]
	if len(rest) > shapeWindow || strings.Contains(rest, ": ") {
		return false
	}
	if h.at > 0 && l.lower[h.at-1] == '<' {
		r.bareLabel = bareLabel{open: element().MatchString(l.lower), measure: measure{of: 100}}
		return r.bareLabel.open
	}
	match := bareRest().FindStringSubmatchIndex(rest[h.nounSize:])
	start, _, own := l.qualify(h.at)
	if h.nounSize == 0 || match == nil || !own || strings.Trim(l.lower[:start], " #*+-•0123456789.)") != "" {
		return false
	}
	r.bareLabel = bareLabel{open: true, measure: measureOf(bareRest(), match)}
	return true
}

// readBelowLabel reads a line below a label without a value, and reports whether it belongs to the label.
func (r *reader) readBelowLabel(raw []byte) bool {
	text := strings.TrimSpace(readable(raw))
	if strings.Trim(text, "-=") == "" && !r.bareLabel.inList { // blank, or the line below a heading
		return true
	}
	item, isItem := listItem(text)
	r.bareLabel.open = isItem && !isQuote(raw)
	if isQuote(raw) || r.bareLabel.inList && !isItem {
		return false
	}
	l := newLine(item)
	from := 0
	if name, _, ok := strings.Cut(l.lower, ":"); ok && isItem && len(name) < shapeWindow {
		from = len(name) + 1
	}
	from = len(l.lower) - len(strings.TrimLeft(l.lower[from:], " "))
	s := strings.TrimRight(l.lower[from:valueEnd(l.lower, 0, from, min(len(l.lower), from+valueWindow))], " ")
	all, _ := readStatements(nil, s, r.bareLabel.measure)
	if len(all) == 0 || isAsked(l.lower[from:]) {
		r.bareLabel.open = isItem && r.bareLabel.inList
		return false
	}
	r.bareLabel.inList = isItem
	for _, st := range all {
		scope := l.text[from+st.scope[0] : from+st.scope[1]]
		if !st.hasScope() {
			scope = strings.TrimRight(l.text[:from], ": ")
		}
		r.addStatement(st, scope, "", strings.EqualFold(scope, "overall"))
	}
	return true
}

// table is a Markdown table that has a column of confidences.
type table struct {
	open    bool
	column  int
	measure measure
}

// columnOf reports whether a cell names a column of confidences, and returns their scale.
func columnOf(cell string) (m measure, overall, ok bool) {
	cell, overall = strings.CutPrefix(cell, "overall ")
	cell = strings.TrimPrefix(strings.TrimPrefix(cell, "our "), "model ")
	noun := nounAt(cell)
	if noun == 0 || len(cell) > shapeWindow {
		return measure{}, false, false
	}
	match := column().FindStringSubmatchIndex(cell[noun:])
	if match == nil {
		return measure{}, false, false
	}
	return measureOf(column(), match), overall, true
}

// opensTable reports whether a line is the header of a table with a column of confidences. If so, the
// next lines are read as its rows.
func (r *reader) opensTable(l *line, rest []byte) bool {
	if strings.IndexByte(l.lower, '|') < 0 || !isDelimiter(rest) {
		return false
	}
	cells := cellsOf(l.lower)
	for i, cell := range cells {
		if m, _, ok := columnOf(cell); ok && !(i == 0 && isPair(cells)) {
			r.table = table{open: true, column: i, measure: m}
			return true
		}
	}
	return false
}

// readLabelRow reads a row with a label in its first cell and values in the others. It reports whether
// the line is such a row.
func (r *reader) readLabelRow(l *line, rest []byte) bool {
	if strings.IndexByte(l.lower, '|') < 0 || !isRow([]byte(l.lower)) {
		return false
	}
	cells := cellsOf(l.lower)
	m, overall, ok := columnOf(cells[0])
	if !ok || isDelimiter(rest) && !isPair(cells) {
		return false
	}
	for _, cell := range cells[1:] {
		if st, ok := readStatement(cell, m); ok {
			r.addStatement(st, "", "", overall)
		}
	}
	return true
}

// isPair reports whether the cells of a row are a label and its value.
func isPair(cells []string) bool {
	if len(cells) != 2 {
		return false
	}
	_, ok := readStatement(cells[1], measure{})
	return ok
}

// cellsOf returns the cells of a row without spaces at their ends.
func cellsOf(row string) []string {
	row = strings.Trim(row, " ")
	cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(row, "|"), "|"), "|")
	for i := range cells {
		cells[i] = strings.Trim(cells[i], " ")
	}
	return cells
}

// readTableRow reads the confidence in a row of the open table, and reports whether the line is a row.
// The topic is the first other cell with letters.
func (r *reader) readTableRow(raw []byte) bool {
	l := newLine(readable(raw))
	if strings.IndexByte(l.lower, '|') < 0 {
		r.table = table{}
		return false
	}
	cells := cellsOf(l.text)
	if r.table.column >= len(cells) {
		return true
	}
	if st, ok := readStatement(lowerCase(cells[r.table.column]), r.table.measure); ok {
		topic := ""
		for i, cell := range cells {
			if i != r.table.column && topic == "" && strings.ContainsFunc(cell, unicode.IsLetter) {
				topic = cell
			}
		}
		r.addStatement(st, "", topic, false)
	}
	return true
}
