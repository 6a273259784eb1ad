package proof

import (
	"bytes"

	"github.com/delegraph/delegraph/collector/event"
)

// valueWindow bounds the bytes of a line that are read as the value of one label.
const valueWindow = 1 << 10

// reader collects findings up to a limit.
type reader struct {
	Findings
	origin    event.Origin
	remaining int // findings that may still be added
	fence     fence
	inSources bool // in the list below "Sources:"
	bareLabel bareLabel
	table     table
	line      line
	hits      []hit
	parsed    []statement // by the last readShape; reused
	previous  []byte      // the last line that was not blank
}

// reserve reports whether there is room for one more finding. If not, it counts the finding as dropped.
func (r *reader) reserve() bool {
	if r.remaining <= 0 {
		r.Dropped++
		return false
	}
	r.remaining--
	return true
}

// addConfidence adds a confidence if there is room.
func (r *reader) addConfidence(c event.Confidence) {
	if !r.reserve() {
		return
	}
	if r.Confidences == nil {
		r.Confidences = make([]event.Confidence, 0, 4)
	}
	r.Confidences = append(r.Confidences, c)
}

// addCitation adds a citation if there is room.
func (r *reader) addCitation(c event.Citation) {
	if r.reserve() {
		r.Citations = append(r.Citations, c)
	}
}

// addStatement adds a statement with its scope and its topic.
func (r *reader) addStatement(st statement, scope, topic string, overall bool) {
	c := st.confidence(r.origin)
	c.Scope, c.Topic, c.Overall = clean(scope), clean(topic), overall
	r.addConfidence(c)
}

func (st *statement) confidence(origin event.Origin) event.Confidence {
	return event.Confidence{
		Value: st.value.Value, Known: st.value.Known, Low: st.low, High: st.high, Label: clean(st.label), Origin: origin,
	}
}

// read reads a line; rest is the text below it. A line without a keyword can only continue a label, a
// list or a table above it.
func (r *reader) read(raw, rest []byte, hasKeyword bool) {
	if r.inSources && r.readListed(raw) || r.table.open && r.readTableRow(raw) || r.bareLabel.open && r.readBelowLabel(raw) {
		return
	}
	if !hasKeyword {
		return
	}
	l := &r.line
	l.set(readable(raw))
	r.hits = appendHits(r.hits[:0], l.lower)
	if isQuote(raw) {
		r.hits = r.hits[:0]
	}
	if len(r.hits) > 0 && (r.opensTable(l, rest) || r.readLabelRow(l, rest) || r.opensBareLabel(l)) {
		return
	}
	r.statements(l, raw, rest)
}

func isQuote(raw []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(raw, " \t"), []byte(">")) }

// statements reads the confidences and sources of a line.
func (r *reader) statements(l *line, raw, rest []byte) {
	var regions []region
	for i := 0; i < len(r.hits); i++ {
		for f := range l.candidates(r.hits[i]) {
			if at, ok := r.readShape(l, f, i, rest); ok {
				regions = append(regions, at)
				for i+1 < len(r.hits) && r.hits[i+1].at < f.from+r.parsed[0].size {
					i++
				}
				break
			}
		}
	}
	r.addSources(l, regions, headsTable(raw, rest))
}

// readShape reads the statements of one shape, and returns the region of the rationale after them.
func (r *reader) readShape(l *line, f shapeMatch, hit int, rest []byte) (region, bool) {
	to := f.to
	if to < 0 {
		to = valueEnd(l.lower, f.start, f.from, min(r.nextLabel(l, hit), f.from+valueWindow))
	}
	all, rationale := readStatements(r.parsed[:0], l.lower[f.from:max(f.from, to)], f.measure)
	r.parsed = all
	if len(all) == 0 || isAsked(l.lower[f.from:]) || !r.isOwn(f, l, all[0], rest) {
		return region{}, false
	}
	for _, st := range all {
		r.addStatement(st, l.text[f.from+st.scope[0]:f.from+st.scope[1]], l.topic(f.start), f.overall)
	}
	at := region{start: l.rawAt(f.start), from: -1, end: l.rawAt(to)}
	if rationale >= 0 {
		at.from = l.rawAt(f.from + rationale)
	}
	return at, true
}

// nextLabel returns where the next label after a keyword begins. The keyword's value ends there at the
// latest.
func (r *reader) nextLabel(l *line, i int) int {
	for _, h := range r.hits[i+1:] {
		if h.at > r.hits[i].at+valueWindow {
			break
		}
		if start, _, ok := l.qualify(h.at); ok && h.nounSize > 0 {
			return start
		}
	}
	return len(l.lower)
}
