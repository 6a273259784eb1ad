package aisdk

import (
	"bytes"
	"strconv"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// maxParts limits the open parts of a step. Further parts are withheld.
const maxParts = 64

// parts holds the open parts of a step: texts and thoughts. If the start of a part was withheld, so are its
// pieces: clients fail on a piece without a start.
type parts map[partKey]*part

// partKey identifies a part. A thought may have the ID of a text.
type partKey struct {
	isReasoning bool
	id          string
}

// part is an open text or thought.
type part struct {
	name    string           // see event.Event.Message
	tail    dialect.TextTail // of the pieces of a text so far
	thought bool             // it is reasoning, or a frame of it has a thought marker
}

func (d *decoder) partKey(v strictjson.Value) partKey {
	return partKey{bytes.HasPrefix(v.Get("type").Text(), []byte("reasoning-")), d.name(v.Get("id"))}
}

// clearParts forgets the open parts at the end of a step, unless that frame is withheld.
func (d *decoder) clearParts() {
	if !d.withheld {
		d.parts = nil
	}
}

func (d *decoder) partStart(v strictjson.Value, b *event.Batch) {
	d.continueResponse(b)
	key := d.partKey(v)
	if delete(d.parts, key); d.withheld || len(d.parts) >= maxParts {
		b.Type = typeOrphan
		return
	}
	if d.parts == nil {
		d.parts = make(parts)
	}
	d.partCount++
	d.parts[key] = &part{name: strconv.Itoa(d.partCount), thought: key.isReasoning || lenient.ContainsThoughtMarker(v)}
}

// partDelta reports a piece of a text or a thought. No frame repeats a whole thought.
func (d *decoder) partDelta(v strictjson.Value, b *event.Batch) {
	d.continueResponse(b)
	open := d.parts[d.partKey(v)]
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

// partEnd reports the whole text, if the part is one.
func (d *decoder) partEnd(v strictjson.Value, b *event.Batch) {
	d.continueResponse(b)
	key := d.partKey(v)
	open := d.parts[key]
	if open == nil {
		b.Type = typeOrphan
		return
	}
	delete(d.parts, key)
	open.tail.Report(b)
	b.NameTexts(open.name)
	for citation := range v.Get("citations").Elements() { // since 7.0
		if source := citation.Get("source"); source.Get("id").Kind() == strictjson.String {
			d.cite(source, source.Get("id"), b)
		}
	}
}
