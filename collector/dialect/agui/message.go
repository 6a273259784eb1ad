package agui

import (
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/generous"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// message is a text that comes in pieces. Who says it stands only at its beginning.
type message struct {
	id, owner string
	by        agent
	chunked   bool // it ends without a word of that
	answer    bool // an assistant says it
	internal  bool // it is meant for models
	thinks    bool // it is a model's thought
	said      dialect.Pieces
}

// maxMessages bounds the messages that are open at once. Whose the pieces of any further one are, nobody knows, and they stay in.
const maxMessages = 64

// maxUntold bounds the messages that ended without a word of that and were not stated whole yet.
const maxUntold = 8

type messages struct {
	open   []*message
	untold []*message
	closed map[string]*message // those that were no answers: a chunk may go on with one, and not say again whose it is
}

func (m *messages) named(id string) *message {
	for _, open := range m.open {
		if open.id == id {
			return open
		}
	}
	return nil
}

func (m *messages) begin(begun *message) bool {
	if len(m.open) < maxMessages {
		m.open = append(m.open, begun)
		return true
	}
	return false
}

func (m *messages) end(ended *message) {
	m.remember(ended)
	m.open = slices.DeleteFunc(m.open, func(open *message) bool { return open == ended })
}

func (m *messages) remember(ended *message) {
	if ended.answer && !ended.internal {
		return
	}
	if m.closed == nil {
		m.closed = make(map[string]*message)
	}
	if len(m.closed) < maxHeld {
		m.closed[ended.id] = &message{internal: ended.internal, thinks: ended.thinks, answer: ended.answer} // without its text
	}
}

// close ends the message of an owner that comes in chunks, or those of all.
func (m *messages) close(owner string, all bool) {
	m.open = slices.DeleteFunc(m.open, func(open *message) bool {
		if !open.chunked || open.owner != owner && !all {
			return false
		}
		m.remember(open)
		if len(open.said) > 0 && len(m.untold) < maxUntold {
			m.untold = append(m.untold, open)
		}
		return true
	})
}

// continued is the message that a chunk without an id goes on with: its owner's. A chunk without an owner may be of the only one.
func (m *messages) continued(owner string) *message {
	var open []*message
	for _, one := range m.open {
		switch {
		case one.chunked && one.owner == owner:
			return one
		case one.chunked && owner == "":
			open = append(open, one)
		}
	}
	if len(open) == 1 {
		return open[0]
	}
	return nil
}

// is takes a role. Where frames contradict each other, the more guarded counts.
func (m *message) is(role strictjson.Value) {
	name := role.Text()
	m.internal = m.internal || generous.Among(name, instructing) || generous.Internal(name)
	m.thinks = m.thinks || isThought(name)
	m.answer = m.answer && (role.Kind() <= strictjson.Null || strings.TrimSpace(role.String()) == "assistant")
}

// instructing are the roles of those who tell an agent what it is.
var instructing = []string{"system", "developer"}

// isThought says whether a role is that of a thought.
func isThought(role []byte) bool {
	return generous.Begins(role, "reasoning") || generous.Begins(role, "thinking") || generous.Begins(role, "thought")
}

// put says of a frame what it says of its message: what is no answer is not for everybody.
func (m *message) put(b *event.Batch) {
	m.by.put(b)
	b.Internal = m.internal
	switch {
	case m.thinks:
		b.Type = typeReasoned
	case !m.answer:
		b.Type = typeForeign
	}
}

// newMessage is a message that begins. A name that no step and no subagent has is that of who speaks.
func (d *decoder) newMessage(v strictjson.Value, chunked bool) *message {
	m := &message{id: d.name(v.Get("messageId")), owner: d.owner(v), by: d.speaker(v), chunked: chunked, answer: true, internal: d.held}
	if before := d.messages.closed[m.id]; before != nil {
		m.internal, m.thinks, m.answer = m.internal || before.internal, before.thinks, before.answer
	} else if len(d.messages.closed) >= maxHeld {
		m.answer = false // it may go on with any
	}
	m.is(v.Get("role"))
	if name := d.name(v.Get("name")); m.by == d.own() && m.answer && name != "" && name != user {
		m.by.name = name
	}
	return m
}

func (d *decoder) textStart(v strictjson.Value, b *event.Batch) {
	m := d.messages.named(d.name(v.Get("messageId")))
	if m != nil {
		m.is(v.Get("role"))
		m.internal = m.internal || d.held
	} else if m = d.newMessage(v, false); !d.messages.begin(m) {
		b.Type = typeStray
		return
	}
	m.put(b)
}

func (d *decoder) textContent(v strictjson.Value, b *event.Batch) {
	m := d.messages.named(d.name(v.Get("messageId")))
	if m == nil {
		b.Type = typeStray
		return
	}
	m.put(b)
	m.say(v, b)
}

// say takes the next piece.
func (m *message) say(v strictjson.Value, b *event.Batch) {
	piece := v.Get("delta")
	switch {
	case m.thinks:
		b.AddText(event.KindThought, piece)
	case m.answer:
		if e := b.AddText(event.KindText, piece); e != nil {
			b.Partial = true
			m.said.Add(e.Text())
		}
	}
}

// textEnd states a message whole.
func (d *decoder) textEnd(v strictjson.Value, b *event.Batch) {
	m := d.messages.named(d.name(v.Get("messageId")))
	if m == nil {
		b.Type = typeStray
		return
	}
	m.put(b)
	d.messages.end(m)
	if len(m.said) > 0 {
		b.Add(event.KindText).SetText(m.said)
	}
}

// textChunk begins a message, goes on with it, or both.
func (d *decoder) textChunk(v strictjson.Value, b *event.Batch) {
	owner, id := d.owner(v), d.name(v.Get("messageId"))
	m := d.messages.continued(owner)
	if id != "" {
		m = d.messages.named(id)
	}
	switch {
	case m != nil:
		m.is(v.Get("role"))
		m.internal = m.internal || d.held
	case id == "":
		b.Type = typeStray
		return
	default:
		d.messages.close(owner, false)
		if m = d.newMessage(v, true); !d.messages.begin(m) {
			b.Type = typeStray
			return
		}
	}
	m.put(b)
	m.say(v, b)
}

// tell states whole what the frame's agent had said in chunks.
func (d *decoder) tell(b *event.Batch) {
	by := agentOf(b)
	d.messages.untold = slices.DeleteFunc(d.messages.untold, func(m *message) bool {
		if m.by == by {
			b.Add(event.KindText).SetText(m.said)
		}
		return m.by == by
	})
}

// tellLast states, where a run ends, what the last that spoke had said.
func (d *decoder) tellLast(b *event.Batch) {
	if n := len(d.messages.untold); n > 0 {
		d.messages.untold[n-1].by.put(b)
		d.tell(b)
	}
}
