package agui

import (
	"slices"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// message is a text message that arrives in pieces. Only its first event names the speaker.
type message struct {
	id, owner string
	speaker   agent
	chunked   bool // it is sent in chunks, without an end event
	isAnswer  bool // its role is assistant
	isThought bool // it is a model's thought
	begun     bool // its start left as an answer's, so its end must leave too
	text      dialect.TextTail
}

// maxMessages limits the open messages. Pieces of further messages are withheld, because their role
// would be unknown.
const maxMessages = 64

// maxUnreported limits messages.unreported. The whole texts of older messages are not reported.
const maxUnreported = 8

type messages struct {
	open       []*message
	unreported []*message                    // chunked messages that have ended and whose whole text was not reported yet
	closed     map[string]*message           // ended messages that were not answers: a later chunk may continue one without repeating its role
	speakers   *simplelru.LRU[string, agent] // of open and ended messages, by id
}

// speakerOf returns the speaker of a message, even if the message has ended.
func (m *messages) speakerOf(id string) (speaker agent, known bool) {
	if m.speakers == nil || id == "" {
		return agent{}, false
	}
	return m.speakers.Get(id)
}

// find returns an owner's open message with an id. If there is none, it returns the first message with the id, because later frames
// of a message need not name its owner.
func (m *messages) find(id, owner string) (found *message) {
	for _, open := range m.open {
		switch {
		case open.id != id:
		case open.owner == owner:
			return open
		case found == nil:
			found = open
		}
	}
	return found
}

func (m *messages) begin(begun *message) bool {
	if len(m.open) >= maxMessages {
		return false
	}
	m.open = append(m.open, begun)
	if m.speakers == nil {
		m.speakers, _ = simplelru.NewLRU[string, agent](maxOpen, nil) // the only error is a size below one
	}
	m.speakers.Add(begun.id, begun.speaker)
	return true
}

func (m *messages) end(ended *message) {
	m.remember(ended)
	m.open = slices.DeleteFunc(m.open, func(open *message) bool { return open == ended })
}

// remember keeps the role and the marks of an ended message, unless it was an answer.
func (m *messages) remember(ended *message) {
	if ended.isAnswer && !ended.isThought {
		return
	}
	if m.closed == nil {
		m.closed = make(map[string]*message)
	}
	if len(m.closed) < wire.MaxSet {
		m.closed[ended.id] = &message{isThought: ended.isThought, isAnswer: ended.isAnswer}
	}
}

// closeChunked ends the chunked messages of an owner or, if all is set, of all owners.
func (m *messages) closeChunked(owner string, all bool) {
	m.open = slices.DeleteFunc(m.open, func(open *message) bool {
		if !open.chunked || open.owner != owner && !all {
			return false
		}
		m.remember(open)
		if open.text.Len() > 0 {
			m.unreported = append(m.unreported[max(0, len(m.unreported)-maxUnreported+1):], open)
		}
		return true
	})
}

// chunkTarget returns the message that a chunk without an id continues: that of its owner or, for a
// chunk without an owner, the only open one.
func (m *messages) chunkTarget(owner string) *message {
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

// addSigns applies the role and marks that a frame of the message states. If frames contradict each
// other, the more restrictive one wins.
func (m *message) addSigns(frame strictjson.Value) {
	for role, own := range roles(frame) {
		m.isAnswer = m.isAnswer && isAnswerRole(role, own)
	}
	m.isThought = m.isThought || statesThought(frame)
}

// applyMessage applies to a message what a frame of it states, and then the message to the frame: its speaker, and its type if it is not an
// answer. It remembers the message if it is a thought.
func (d *decoder) applyMessage(m *message, v strictjson.Value, b *event.Batch) {
	m.addSigns(v)
	m.speaker.apply(b)
	switch {
	case m.isThought:
		b.Type = typeThoughtMessage
	case !m.isAnswer:
		b.Type = typeNonAnswer
	}
	if m.isThought && m.id != "" {
		d.thoughts.Add(m.id)
	}
}

// mayRepeatThought reports whether a message of a list is, or may be, one of the thoughts.
func (d *decoder) mayRepeatThought(message strictjson.Value) bool {
	if d.thoughts.Len() == 0 {
		return false
	}
	for name, value := range message.Members() {
		if lenient.MatchesAny(name.Text(), ownIDs) && d.thoughts.Contains(d.name(value)) {
			return true
		}
	}
	return d.thoughts.IsFull()
}

// newMessage returns a message that starts. If neither a step nor a subagent speaks, the message's
// name is the speaker's name.
func (d *decoder) newMessage(v strictjson.Value, chunked bool) *message {
	m := &message{id: d.name(v.Get("messageId")), owner: d.owner(v), speaker: d.speaker(v), chunked: chunked, isAnswer: true}
	before := d.messages.closed[m.id]
	if before == nil {
		before = d.messages.find(m.id, m.owner) // of another owner
	}
	if before != nil {
		m.isThought, m.isAnswer = before.isThought, before.isAnswer
	} else if len(d.messages.closed) >= wire.MaxSet {
		m.isAnswer = v.Get("role").Is("assistant") // otherwise it may continue any forgotten message
	}
	m.isThought = m.isThought || d.thoughts.MayContain(m.id)
	m.addSigns(v)
	if name := d.name(v.Get("name")); m.speaker == d.ownAgent() && m.isAnswer && name != "" && name != user {
		m.speaker = d.agentNamed(name)
	}
	return m
}

func (d *decoder) textStart(v strictjson.Value, b *event.Batch) {
	owner := d.owner(v)
	m := d.messages.find(d.name(v.Get("messageId")), owner)
	if m == nil || m.owner != owner {
		if m = d.newMessage(v, false); !d.messages.begin(m) {
			b.Type = typeOrphan
			return
		}
	}
	d.applyMessage(m, v, b)
	m.begun = m.begun || b.Type == typeTextStart && !b.Internal && !d.filtered
}

func (d *decoder) textContent(v strictjson.Value, b *event.Batch) {
	m := d.messages.find(d.name(v.Get("messageId")), d.owner(v))
	if m == nil {
		b.Type = typeOrphan
		return
	}
	d.applyMessage(m, v, b)
	m.addDelta(v, b)
}

// addDelta reports the next piece of the text.
func (m *message) addDelta(v strictjson.Value, b *event.Batch) {
	piece := v.Get("delta")
	switch {
	case m.isThought:
		b.AddText(event.KindThought, piece)
	case m.isAnswer:
		if e := b.AddText(event.KindText, piece); e != nil {
			b.Partial = true
			m.text.Add(e.Text())
		}
	}
	b.NameTexts(m.id)
}

// report reports the whole text.
func (m *message) report(b *event.Batch) {
	m.text.Report(b)
	b.NameTexts(m.id)
}

// textEnd reports the whole text of a message. If the client saw the message start and not all of it, the end leaves without the text.
func (d *decoder) textEnd(v strictjson.Value, b *event.Batch) {
	m := d.messages.find(d.name(v.Get("messageId")), d.owner(v))
	if m == nil {
		b.Type = typeOrphan
		return
	}
	d.applyMessage(m, v, b)
	if m.begun {
		b.Type = typeTextEnd
	}
	if d.messages.end(m); b.Internal || d.hasLeft(m) {
		m.report(b)
	}
}

// textChunk starts a message, continues it, or both.
func (d *decoder) textChunk(v strictjson.Value, b *event.Batch) {
	owner, id := d.owner(v), d.name(v.Get("messageId"))
	m := d.messages.chunkTarget(owner)
	if id != "" {
		m = d.messages.find(id, owner)
	}
	switch {
	case m != nil && (m.owner == owner || owner == ""):
	case id == "":
		b.Type = typeOrphan
		return
	default:
		d.messages.closeChunked(owner, false)
		if m = d.newMessage(v, true); !d.messages.begin(m) {
			b.Type = typeOrphan
			return
		}
	}
	d.applyMessage(m, v, b)
	m.addDelta(v, b)
}

// hasLeft reports whether no frame of a message was withheld.
func (d *decoder) hasLeft(m *message) bool {
	this := messageKey(m.id)
	return !d.withheld.Contains(this) && (!d.withheld.IsFull() || d.seen.Contains(this))
}

// reportClosed reports the whole texts of the ended chunked messages of the batch's agent.
func (d *decoder) reportClosed(b *event.Batch) {
	by := agentOf(b)
	d.messages.unreported = slices.DeleteFunc(d.messages.unreported, func(m *message) bool {
		if m.speaker == by && d.hasLeft(m) {
			b.AddAuthors(b.JSON, d.authors.Of(messageKey(m.id))...)
			m.report(b)
		}
		return m.speaker == by
	})
}

// reportLastClosed makes the run's own agent the speaker, perhaps under the name of a message, if it has ended chunked messages, and
// reports their whole texts. If it has none, and the run did not fail or stop, the agent that ended the last one speaks. It is called at
// the end of a run.
func (d *decoder) reportLastClosed(isDone bool, b *event.Batch) {
	for _, ownOnly := range [...]bool{true, !isDone} {
		for _, m := range slices.Backward(d.messages.unreported) {
			if m.speaker.branch == "" || !ownOnly {
				m.speaker.apply(b)
				d.reportClosed(b)
				return
			}
		}
	}
}
