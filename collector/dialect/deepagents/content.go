package deepagents

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// maxContent limits the kept text of an answer, in bytes. A longer text is not reported whole, so it is
// not searched for confidence and sources.
const maxContent = 64 << 10

// content collects the text between content_start and content_end, because no frame contains the whole
// text. Only the text that started last is collected.
type content struct {
	speaker    agent
	open       bool
	overflowed bool // the text exceeded maxContent
	text       []byte
	thoughts   map[agent]bool // agents whose open text is a thought: its start says so
}

func (c *content) begin(thought bool, b *event.Batch) {
	c.speaker, c.open, c.overflowed, c.text = speakerOf(b), true, false, c.text[:0]
	delete(c.thoughts, c.speaker)
	if thought && len(c.thoughts) < maxOpen {
		if c.thoughts == nil {
			c.thoughts = make(map[agent]bool)
		}
		c.thoughts[c.speaker] = true
	}
}

// kind returns the kind of a piece of text. Once thoughts is full, every text counts as a thought.
func (c *content) kind(b *event.Batch) event.Kind {
	if c.thoughts[speakerOf(b)] || len(c.thoughts) >= maxOpen {
		return event.KindThought
	}
	return event.KindText
}

// applySpeaker sets the agent of a batch whose frame names none: the agent whose text is open.
func (c *content) applySpeaker(b *event.Batch) {
	if c.open {
		c.speaker.apply(b)
	}
}

// add collects a piece of text. It returns false if the text will not be reported whole.
func (c *content) add(piece strictjson.Value, b *event.Batch) bool {
	if !c.open || c.overflowed || c.speaker != speakerOf(b) || c.kind(b) == event.KindThought {
		return false
	}
	if c.text = piece.AppendText(c.text); len(c.text) > maxContent {
		c.overflowed, c.text = true, nil
	}
	return !c.overflowed
}

// end returns the whole text, or nil if the speaker has no open text.
func (c *content) end(b *event.Batch) []byte {
	delete(c.thoughts, speakerOf(b))
	if !c.open || c.speaker != speakerOf(b) {
		return nil
	}
	c.open = false
	return c.text
}

func speakerOf(b *event.Batch) agent { return agent{b.Agent, b.Branch, b.EnclosingCall} }
