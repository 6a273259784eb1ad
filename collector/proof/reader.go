package proof

import (
	"github.com/delegraph/delegraph/collector/event"
)

// reach bounds the bytes of a line that are read as the value of one label.
const reach = 1 << 10

// reader collects findings within their limit.
type reader struct {
	Findings
	origin    event.Origin
	room      int
	mentioned scanner
	fence     fence
	listing   bool // below a "Sources:" that has the rest of its line empty
	below     below
	table     table
	line      line
	hits      []hit
	all       []statement
	above     []byte // the last line before that is not blank
}

// take reports whether there is room for one more finding, and counts it if not.
func (r *reader) take() bool {
	if r.room <= 0 {
		r.Dropped++
		return false
	}
	r.room--
	return true
}

// cite keeps a citation for which there is room.
func (r *reader) cite(c event.Citation) {
	c.Origin = r.origin
	r.Citations = append(r.Citations, c)
}

// read takes what one line states; rest is the text below it. A line that mentions nothing can only belong to one above.
func (r *reader) read(raw, rest []byte, mentions bool) {
	if r.listing && r.listed(raw) || r.table.open && r.cells(raw) || r.below.waits && r.value(raw) {
		return
	}
	if !mentions {
		return
	}
	l := &r.line
	l.set(readable(raw))
	r.hits = appendHits(r.hits[:0], l.lower)
	if isQuote(raw) {
		r.hits = r.hits[:0]
	}
	if len(r.hits) > 0 && (r.opensTable(l, rest) || r.row(l, rest) || r.opensBelow(l)) {
		return
	}
	r.statements(l, raw, rest)
}

func isQuote(raw []byte) bool {
	for _, c := range raw {
		if c != ' ' && c != '\t' {
			return c == '>'
		}
	}
	return false
}

// statements takes the statements of a line, and its sources, which end where a confidence begins.
func (r *reader) statements(l *line, raw, rest []byte) {
	var cuts []region
	for i := 0; i < len(r.hits); i++ {
		for f := range l.candidates(r.hits[i]) {
			from, end, ok := r.rate(l, f, i, rest)
			if !ok {
				continue
			}
			cuts = append(cuts, region{start: l.rawAt(f.start), from: from, end: end})
			for i+1 < len(r.hits) && r.hits[i+1].at < f.from+r.all[0].size {
				i++
			}
			break
		}
	}
	r.sources(l, cuts, headsTable(raw, rest))
}

// limit returns where the value behind a stem ends at the latest: where another stem begins a label.
func (r *reader) limit(l *line, i int) int {
	for _, h := range r.hits[min(i+1, len(r.hits)):] {
		if h.at > r.hits[i].at+reach {
			break
		}
		if start, _, ok := l.leads(h.at); ok && h.noun > 0 {
			return start
		}
	}
	return len(l.lower)
}

// rate takes the statements of confidence of one shape. It returns where in the raw line the rationale that names a source begins, -1
// for none, and where all of it ends.
func (r *reader) rate(l *line, f found, hit int, rest []byte) (rationale, end int, ok bool) {
	to := f.to
	if to < 0 {
		to = valueEnd(l.lower, f.from, min(r.limit(l, hit), f.from+reach), l.brackets.enclose(f.start))
	}
	s := l.lower[f.from:max(f.from, to)]
	all, dash := readStatements(r.all[:0], s, f.measure)
	r.all = all
	if len(all) == 0 || l.isAsked(f.from) || !r.fits(f, l, all[0], rest) {
		return -1, 0, false
	}
	for _, st := range all {
		c := st.confidence(r.origin)
		c.Scope, c.Topic, c.Overall = bounded(l.text[f.from+st.scope[0]:f.from+st.scope[1]]), bounded(l.topic(f.start)), f.overall
		r.keep(c)
	}
	if dash < 0 {
		return -1, l.rawAt(to), true
	}
	return l.rawAt(f.from + dash), l.rawAt(to), true
}

// keep takes a confidence if there is room.
func (r *reader) keep(c event.Confidence) {
	if r.take() {
		if r.Confidences == nil {
			r.Confidences = make([]event.Confidence, 0, 4)
		}
		r.Confidences = append(r.Confidences, c)
	}
}

func (st *statement) confidence(origin event.Origin) event.Confidence {
	return event.Confidence{
		Value: st.value.Value, Known: st.value.Known, Low: st.low, High: st.high, Label: bounded(st.label), Origin: origin,
	}
}
