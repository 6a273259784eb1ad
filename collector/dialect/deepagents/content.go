package deepagents

import (
	"slices"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
)

// maxTexts limits the open texts. If there are more, the oldest one is forgotten.
const maxTexts = 64

// text is an open text. No frame contains the whole text.
type text struct {
	by       agent
	kind     event.Kind // KindText, or KindThought if its start says so
	hasStart bool       // it began with content_start
	withheld bool       // its start was withheld
	sent     dialect.TextTail
}

// content holds the open texts, in the order in which they began. An agent has at most one.
type content struct {
	open          []*text
	forgotThought bool // an open thought was forgotten, so a text without a start may be one

	forgotWithheld bool // the same of a text with a withheld start
}

// begin begins an agent's text. It forgets the one that the agent has not ended.
func (c *content) begin(by agent, isThought, hasStart bool) *text {
	if unended := c.find(by); unended != nil {
		c.end(unended)
	}
	if len(c.open) >= maxTexts {
		c.forgotThought = c.forgotThought || c.open[0].kind == event.KindThought
		c.forgotWithheld = c.forgotWithheld || c.open[0].withheld
		c.open = slices.Delete(c.open, 0, 1)
	}
	begun := &text{by: by, kind: event.KindText, hasStart: hasStart}
	if isThought {
		begun.kind = event.KindThought
	}
	c.open = append(c.open, begun)
	return begun
}

// find returns an agent's open text, or nil.
func (c *content) find(by agent) *text {
	for _, t := range c.open {
		if t.by.mayBe(by) {
			return t
		}
	}
	return nil
}

// last returns the open text that started last, or nil.
func (c *content) last() *text {
	for _, t := range slices.Backward(c.open) {
		if t.hasStart {
			return t
		}
	}
	return nil
}

func (c *content) end(ended *text) {
	c.open = slices.DeleteFunc(c.open, func(t *text) bool { return t == ended })
}

// report adds the whole text to the batch, once. isWhole says that the text cannot lack its beginning.
func (t *text) report(b *event.Batch, isWhole bool) {
	if t.sent.Report(b) {
		e := &b.Events[len(b.Events)-1]
		e.Kind, e.Truncated = t.kind, e.Truncated || !isWhole
	}
	t.sent.Reset()
}

func speakerOf(b *event.Batch) agent { return agent{b.Agent, b.Branch, b.EnclosingCall} }
