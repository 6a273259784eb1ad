package aisdk

import (
	"bytes"
	"maps"
	"strconv"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

const (
	maxParts   = 64 // open parts of an answer; further ones are withheld
	maxUnended = 16 // if as many parts are open, those of ended steps are forgotten, because some servers do not end them
)

// parts holds the open parts of an answer: texts and thoughts, except for those with a withheld start.
type parts map[partKey]*part

// partKey identifies a part. A thought may have the ID of a text.
type partKey struct {
	isReasoning bool
	id          string
}

// part is an open text or thought.
type part struct {
	name      string           // see event.Event.Message
	tail      dialect.TextTail // of the pieces of a text so far
	thought   bool             // it is reasoning, or a frame of it has a thought marker
	continued bool             // another stream had its start
	step      *step            // to which it belongs, or nil if that is unknown
	stepEnded bool             // a step has ended since its start
	forgotten bool             // its earlier pieces were forgotten
	cut       bool             // a piece was withheld when the set of withheld items was full
}

func (d *decoder) partKey(v strictjson.Value) partKey {
	return partKey{bytes.HasPrefix(typeOf(v), []byte("reasoning-")), d.key(v.Get("id"))}
}

// endStep records the end of a step. It marks all open parts, because no chunk names the step of a part. In merged streams, some may go on.
func (p parts) endStep() {
	for _, open := range p {
		open.stepEnded = true
	}
}

// discard drops the texts of a step so far.
func (p parts) discard(of *step) {
	for _, open := range p {
		if open.step == of {
			open.tail = dialect.TextTail{}
		}
	}
}

// stepOf returns the step of an open part, or nil if that is unknown.
func (p parts) stepOf(key partKey) *step {
	if open := p[key]; open != nil {
		return open.step
	}
	return nil
}

// anyOpen reports whether a part is open that may be of a step, which may be nil.
func (p parts) anyOpen(of *step) bool {
	for _, open := range p {
		if !open.stepEnded && open.step.mayBe(of) {
			return true
		}
	}
	return false
}

// open adds a part, or returns nil if there is no room.
func (d *decoder) open(key partKey) *part {
	if len(d.parts) >= maxUnended {
		maps.DeleteFunc(d.parts, func(key partKey, open *part) bool {
			isForgotten := open.stepEnded && open.thought == key.isReasoning // other thoughts are known by a mark
			if isForgotten && !open.continued && !open.cut {
				d.forgottenParts.Add(key)
			}
			return isForgotten
		})
	}
	if len(d.parts) >= maxParts {
		return nil
	}
	if d.parts == nil {
		d.parts = make(parts)
	}
	d.partCount++
	open := &part{name: strconv.Itoa(d.partCount), thought: key.isReasoning, step: d.steps.current()}
	d.parts[key] = open
	return open
}

func (d *decoder) closePart(key partKey) {
	delete(d.parts, key)
	d.forgottenParts.Remove(key)
}

func (d *decoder) partStart(v strictjson.Value, b *event.Batch) {
	d.continueResponse(nil, b)
	key := d.partKey(v)
	if d.closePart(key); d.hides() {
		return
	}
	if open := d.open(key); open != nil {
		open.thought = open.thought || lenient.ContainsThoughtMarker(v)
	} else {
		d.continues = true
	}
}

// continuePart returns the part that a frame continues, or nil if the frame is withheld. A part without a start, unless it is a forgotten
// one, began on another stream: a client may read the rest of an answer after a broken connection.
//
// Source: workflow-chat-transport.ts of @ai-sdk/workflow.
func (d *decoder) continuePart(key partKey, v strictjson.Value, b *event.Batch) *part {
	if d.hides() {
		return nil
	}
	open := d.parts[key]
	if open == nil {
		if open = d.open(key); open == nil {
			d.continues = true
			return nil
		}
		open.forgotten = d.forgottenParts.Contains(key)
		open.continued = !open.forgotten
	}
	open.thought = open.thought || lenient.ContainsThoughtMarker(v)
	switch {
	case open.continued && open.thought:
		b.Type = typeContinuedThought
	case open.continued:
		b.Type = typeContinuedText
	}
	return open
}

// partDelta reports a piece of a text or a thought. No frame repeats a whole thought.
func (d *decoder) partDelta(v strictjson.Value, b *event.Batch) {
	key := d.partKey(v)
	d.continueResponse(d.parts.stepOf(key), b)
	open := d.continuePart(key, v, b)
	switch {
	case open == nil:
		return
	case open.thought:
		b.AddText(event.KindThought, v.Get("delta"))
	default:
		if e := b.AddText(event.KindText, v.Get("delta")); e != nil {
			b.Partial = true
			open.tail.Add(e.Text())
		}
	}
	b.NameTexts(open.name)
}

// cutOffEnd returns the type of an end that leaves without content.
func cutOffEnd(key partKey) string {
	if key.isReasoning {
		return typeCutOffReasoningEnd
	}
	return typeCutOffTextEnd
}

// partEnd reports the whole text, if the part is one and its start was seen. If a piece was withheld, the end leaves without content:
// a client shows a part without an end as one that is still written.
func (d *decoder) partEnd(v strictjson.Value, b *event.Batch) {
	key := d.partKey(v)
	d.continueResponse(d.parts.stepOf(key), b)
	if open := d.parts[key]; open != nil && !open.continued && d.continues && !d.isMarked {
		b.Type, d.continues = cutOffEnd(key), false
		d.closePart(key)
		return
	}
	open := d.continuePart(key, v, b)
	if d.closePart(key); open == nil {
		return
	}
	if !open.forgotten && !open.continued && !open.thought {
		open.tail.Report(b)
	}
	b.NameTexts(open.name)
	for citation := range v.Get("citations").Elements() { // since 7.0
		if source := citation.Get("source"); source.Get("id").Kind() == strictjson.String {
			d.cite(source, source.Get("id"), b)
		}
	}
}
