package deepagents

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// maxContent bounds the text of an answer that is kept, in bytes; no more of it is ever searched for what it says of itself.
const maxContent = 64 << 10

// content is the text between the frames that bound an answer: no frame repeats it whole.
type content struct {
	by   agent
	open bool
	over bool // more came than is kept
	said []byte
}

func (c *content) begin(b *event.Batch) {
	*c = content{by: speakerOf(b), open: true, said: c.said[:0]}
}

// claim makes a frame that names no agent one of the agent whose text is open.
func (c *content) claim(b *event.Batch) {
	if c.open {
		c.by.put(b)
	}
}

// keep reports whether a piece of text is kept until its text ends.
func (c *content) keep(piece strictjson.Value, b *event.Batch) bool {
	if !c.open || c.over || c.by != speakerOf(b) {
		return false
	}
	if c.said = piece.AppendText(c.said); len(c.said) > maxContent {
		c.over, c.said = true, nil
	}
	return !c.over
}

// end is the whole of a text that was begun.
func (c *content) end(b *event.Batch) []byte {
	if !c.open || c.by != speakerOf(b) {
		return nil
	}
	c.open = false
	return c.said
}

func speakerOf(b *event.Batch) agent { return agent{b.Agent, b.Branch, b.Within} }
