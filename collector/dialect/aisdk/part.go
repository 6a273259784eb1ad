package aisdk

import (
	"strconv"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// maxParts limits the open texts and thoughts of a step. Pieces of further ones are withheld.
const maxParts = 64

// parts holds the open texts and thoughts of a step, by their ID. A part leaves with its start or not at
// all, because clients fail on a piece of a part whose start they have not seen.
type parts struct {
	texts    map[string]*text
	thoughts map[string]string // the values are as text.name
}

// text is an open text.
type text struct {
	name    string           // see event.Event.Message
	tail    dialect.TextTail // of the pieces so far
	thought bool             // a frame of it has a thought marker
}

// clearParts forgets the open parts at the end of a step, unless that frame is withheld.
func (d *decoder) clearParts() {
	if !d.withheld {
		d.parts = parts{}
	}
}

func (p *parts) anyOpen() bool { return len(p.texts)+len(p.thoughts) > 0 }

// mayStart reports whether the current frame may start a part.
func (d *decoder) mayStart() bool {
	return !d.withheld && len(d.parts.texts)+len(d.parts.thoughts) < maxParts
}

func (d *decoder) textStart(v strictjson.Value, b *event.Batch) {
	d.continueResponse(b)
	id := d.name(v.Get("id"))
	if delete(d.parts.texts, id); !d.mayStart() {
		b.Type = typeOrphan
		return
	}
	if d.parts.texts == nil {
		d.parts.texts = make(map[string]*text)
	}
	d.texts++
	d.parts.texts[id] = &text{name: strconv.Itoa(d.texts), thought: lenient.ContainsThoughtMarker(v)}
}

func (d *decoder) textDelta(v strictjson.Value, b *event.Batch) {
	d.continueResponse(b)
	open := d.parts.texts[d.name(v.Get("id"))]
	if open == nil {
		b.Type = typeOrphan
		return
	}
	if open.thought = open.thought || lenient.ContainsThoughtMarker(v); open.thought {
		b.AddText(event.KindThought, v.Get("delta"))
	} else if e := b.AddText(event.KindText, v.Get("delta")); e != nil {
		b.Partial = true
		open.tail.Add(e.Text())
	}
	b.NameTexts(open.name)
}

// textEnd reports the whole text.
func (d *decoder) textEnd(v strictjson.Value, b *event.Batch) {
	d.continueResponse(b)
	id := d.name(v.Get("id"))
	open := d.parts.texts[id]
	if open == nil {
		b.Type = typeOrphan
		return
	}
	delete(d.parts.texts, id)
	open.tail.Report(b)
	b.NameTexts(open.name)
}

func (d *decoder) reasoningStart(v strictjson.Value, b *event.Batch) {
	d.continueResponse(b)
	id := d.name(v.Get("id"))
	if delete(d.parts.thoughts, id); !d.mayStart() {
		b.Type = typeOrphan
		return
	}
	if d.parts.thoughts == nil {
		d.parts.thoughts = make(map[string]string)
	}
	d.texts++
	d.parts.thoughts[id] = strconv.Itoa(d.texts)
}

// reasoningDelta reports a piece of a thought. No frame repeats the whole thought.
func (d *decoder) reasoningDelta(v strictjson.Value, b *event.Batch) {
	d.continueResponse(b)
	name, open := d.parts.thoughts[d.name(v.Get("id"))]
	if !open {
		b.Type = typeOrphan
		return
	}
	b.AddText(event.KindThought, v.Get("delta"))
	b.NameTexts(name)
}

func (d *decoder) reasoningEnd(v strictjson.Value, b *event.Batch) {
	d.continueResponse(b)
	id := d.name(v.Get("id"))
	if _, open := d.parts.thoughts[id]; !open {
		b.Type = typeOrphan
		return
	}
	delete(d.parts.thoughts, id)
}
