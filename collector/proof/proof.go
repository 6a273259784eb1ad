// Package proof reads the confidence and the sources that an answer states about itself. Annotate adds
// them to a batch as events. Nothing is inferred.
package proof

import (
	"bytes"

	"github.com/delegraph/delegraph/collector/event"
)

// Findings are the statements of one answer, in order of appearance.
type Findings struct {
	Confidences []event.Confidence
	Citations   []event.Citation
	Steps       int                // length of a structured reasoning chain; valid only if HasSteps
	HasSteps    bool               // the answer has a chain, which may be empty
	Dropped     int                // confidences and citations beyond Limits.MaxFindings
	Unreadable  []event.Unreadable // members of a proof layer that could not be read
}

// Limits bounds the work on one answer and the number of findings. With a limit of 0, nothing is found.
type Limits struct {
	MaxText     int // maximum bytes that are read; of a longer text, only the last complete lines are read
	MaxFindings int // confidences and citations together
}

// maxString bounds each string of a finding, in bytes. Longer strings are cut between runes. Longer
// URIs are dropped, because a cut one leads elsewhere.
const maxString = 512

// Text reads the confidences and sources in prose, lists, tables, elements and JSON. Code, quotations
// and questions state nothing.
func Text(text []byte, lim Limits) Findings {
	text, cut := tail(text, lim.MaxText)
	keyword := findKeyword(text, 0)
	if keyword == len(text) {
		return Findings{}
	}
	r := reader{remaining: lim.MaxFindings, origin: event.OriginText}
	if cut {
		r.fence = openAtStart(text)
	}
	if cut || !r.document(text) {
		r.lines(text, keyword)
	}
	return r.Findings
}

// lines reads a text line by line, and a block of JSON at its beginning or end. keyword is the offset
// of the first keyword.
func (r *reader) lines(text []byte, keyword int) {
	begun, block := false, -1 // whether a line with text has been read; where the open block begins
	var line []byte
	nextLine := cutLine
	if !breaksElsewhere(text) {
		nextLine = cutLF
	}
	for rest := text; len(rest) > 0; {
		from := len(text) - len(rest)
		line, rest = nextLine(rest)
		inside := r.fence.size > 0
		if !r.fence.isCode(line) {
			if keyword < from {
				keyword = findKeyword(text, from)
			}
			r.read(line, rest, keyword < len(text)-len(rest))
			if len(bytes.TrimSpace(line)) > 0 {
				begun, r.previous = true, line
			}
			continue
		}
		switch outside := r.fence.size == 0; {
		case !inside && !outside && r.fence.json:
			block = len(text) - len(rest)
		case inside && outside && block >= 0:
			if (!begun || len(bytes.TrimSpace(rest)) == 0) && !isIllustration(r.previous) {
				r.document(text[block:from])
			}
			begun, block = true, -1
		}
	}
}
