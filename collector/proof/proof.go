// Package proof reads what an answer says of its own trustworthiness, and adds nothing: what is not stated stays absent.
package proof

import (
	"strings"

	"github.com/delegraph/delegraph/collector/event"
)

// Findings is what one answer says of its own trustworthiness, in order of appearance.
type Findings struct {
	Confidences []event.Confidence
	Citations   []event.Citation
	Steps       int  // length of a structured reasoning chain; meaningful only where HasSteps
	HasSteps    bool // an empty chain is a chain
	Dropped     int  // confidences and citations beyond Limits.Findings
}

// Limits bounds the work on one answer and its result. A limit of 0 lets nothing through.
type Limits struct {
	Text     int // bytes read: the end of a longer text, from its first whole line on
	Findings int // confidences and citations together
}

// maxString bounds each string of a finding, in bytes; what is longer is cut at a rune, and a URI, which would lead elsewhere, left out.
const maxString = 512

// Text reads the lines of an answer that state a confidence or a source. Code, inline or fenced, states nothing.
func Text(text []byte, lim Limits) Findings {
	text, cut := tail(text, lim.Text)
	if !mentions(text) {
		return Findings{}
	}
	r := reader{room: lim.Findings, origin: event.OriginText}
	if cut {
		r.fence = openAtStart(text)
	}
	for rest := text; len(rest) > 0; {
		var line []byte
		line, rest = cutLine(rest)
		if !r.fence.hides(line) {
			r.read(line, rest)
		}
	}
	if len(text) > maxShared {
		r.Findings.detach()
	}
	return r.Findings
}

// maxShared is the length of a text, in bytes, up to which findings may keep whole lines of it in memory.
const maxShared = 4 * maxString

// detach replaces the strings of the findings by copies. They live as long as their run is remembered, and their lines may be a hundred
// times as long.
func (f *Findings) detach() {
	for i := range f.Confidences {
		c := &f.Confidences[i]
		c.Scope, c.Label, c.Topic = strings.Clone(c.Scope), strings.Clone(c.Label), strings.Clone(c.Topic)
	}
	for i := range f.Citations {
		c := &f.Citations[i]
		c.Source, c.Reference, c.URI = strings.Clone(c.Source), strings.Clone(c.Reference), strings.Clone(c.URI)
	}
}

// reader collects findings within their limit.
type reader struct {
	Findings
	origin  event.Origin
	room    int
	fence   fence
	listing bool // below a "Sources:" that has the rest of its line empty
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

// read takes what one line states; rest is the text below it.
func (r *reader) read(raw, rest []byte) {
	if r.listing && r.listed(raw) {
		return
	}
	if !mentions(raw) {
		return
	}
	l := newLine(readable(raw))
	l.header = headsTable(raw, rest)
	open := region{from: -1} // the citation that is being read
	for at, more := l.label(); more; {
		next, following := l.label()
		end := len(l.text)
		if following {
			end = next.start
		}
		if at.source {
			r.close(l, open, at.start)
			open = region{from: at.end, split: true, enclosed: at.enclosed}
		} else if rationale, ok := r.rate(l, at, end); ok {
			r.close(l, open, at.start)
			open = rationale
		}
		at, more = next, following
	}
	r.close(l, open, len(l.text))
}

// rate takes the statements of confidence behind one label; the region is that of the rationale which names a source, if there is one.
func (r *reader) rate(l *line, at label, end int) (region, bool) {
	c := cursor{text: l.text[:l.valueEnd(at.end, min(end, at.end+reach), at.enclosed)], lower: l.lower, at: at.end}
	all, rationale := c.statements()
	for _, s := range all {
		if !r.take() {
			continue
		}
		r.Confidences = append(r.Confidences, event.Confidence{
			Value: s.value, Known: s.known, Scope: bounded(s.scope), Label: bounded(strings.ToLower(s.label)),
			Topic: bounded(l.topic(at.start)), Overall: at.overall, Origin: r.origin,
		})
	}
	return region{from: rationale, enclosed: at.enclosed}, len(all) > 0
}
