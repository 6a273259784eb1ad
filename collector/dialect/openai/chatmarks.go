package openai

import (
	"slices"
	"strconv"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// messagePlace returns the place of the message that a chunk adds to. It is usually that of the choice in the chunk's completion. Some
// servers give each chunk another ID. So a chunk without an ID, or with an ID under which no message began, continues the choice's last
// message.
func (d *decoder) messagePlace(c *choice, at place, begins bool) place {
	own := at.within(d.chat.chunkID)
	switch {
	case c == nil:
	case begins && d.chat.chunkID != "" || d.withheld.saw(own) || len(c.message.keys) == 0:
		c.message = own
	case !d.withheld.missed: // else the start of its message may have been unreadable
		return c.message
	}
	return own
}

// indexOf returns the number of a choice, which may be a text.
func indexOf(choice strictjson.Value) int64 {
	index := choice.Get("index")
	n, isNumber := index.Int()
	if !isNumber {
		n, _ = strconv.ParseInt(index.String(), 10, 64)
	}
	return n
}

// beginChoice begins a message of a choice. Marks of a message that the choice has finished do not apply to the new one.
func (d *decoder) beginChoice(c *choice, at, own place) {
	if c != nil && (c.finishedIn == own.name() || c.reusesID) {
		c.finishedIn, c.reusesID = "", false
		for _, key := range slices.Concat(at.keys, own.keys) {
			delete(d.withheld.natures, key)
		}
	}
	d.withheld.begin(own)
}

// markChoice records what a chunk says about a message, and returns the kind of the chunk's text. A mark deeper within the choice
// (Gemini) applies to the text of the chunk. If the chunk has no text, the mark applies to the whole message.
func (d *decoder) markChoice(c *choice, v strictjson.Value, m marks, at, own place) event.Kind {
	deep := lenient.ContainsThoughtMarker(v)
	m.thinks = m.thinks || deep && !hasText(v) && !hasText(v.Get("delta")) && !hasText(v.Get("message"))
	d.withheld.mark(at.keys, m)
	d.withheld.mark(own.keys, m)
	if c != nil && d.chat.chunkID == "" {
		m.hasRole = false
		d.withheld.mark(c.message.keys, m)
	}
	kind := d.withheld.textKind(own)
	if kind == event.KindText && !d.withheld.saw(own) {
		kind = d.withheld.textKind(at)
	}
	if deep {
		kind = event.KindThought
	}
	return kind
}

// hasText reports whether an object of a chunk has text, in any form.
func hasText(v strictjson.Value) bool {
	return !isBlank(v.Get("content")) || !isBlank(v.Get("refusal")) || !isBlank(v.Get("audio")) || !isBlank(v.Get("text"))
}

// hasDeeperThought reports whether a part of the content, a field of the model's provider, or one of several messages is a thought. The
// message as a whole need not be one.
func hasDeeperThought(levels ...strictjson.Value) bool {
	var m marks
	for _, v := range levels {
		m.read(v.Get("provider_specific_fields"), false)
		m.read(v.Get("content"), false)
		for message := range v.Elements() {
			m.read(message, false)
		}
	}
	return m.shows || m.thinks
}

// markTexts reports whether the objects have text. If the text is no answer, markTexts sets its kind.
func markTexts(kind event.Kind, b *event.Batch, objects ...strictjson.Value) (any bool) {
	for _, v := range objects {
		if !hasText(v) {
			continue
		}
		any = true
		if kind != event.KindText {
			b.SetTextKind(v, kind)
		}
	}
	return any
}
