package format

import (
	"hash/maphash"
	"slices"

	"github.com/delegraph/delegraph/collector/event"
)

// textKey distinguishes texts that are open at the same time. It names their message and branch or, if the message is unknown, their
// author and response. A thought is never the same text as an answer.
type textKey struct {
	message, agent, branch, within, response string
	thought                                  bool
}

func keyOf(b *event.Batch, e *event.Event) textKey {
	if e.Message != "" {
		return textKey{message: e.Message, branch: b.Branch, thought: e.Kind == event.KindThought}
	}
	return textKey{agent: b.Agent, branch: b.Branch, within: b.EnclosingCall, response: b.Response, thought: e.Kind == event.KindThought}
}

// text is a text that arrives in pieces. The agent may repeat it as a whole, but a reader receives
// it once.
type text struct {
	id, agent string
	key       textKey
	received  textDigest
	repeats   int // how many more whole texts of the current frame repeat a part of this text; see countRepeats

	announced     bool  // started for the reader, and not yet ended
	responseEnded bool  // the model response that it belongs to has ended, but no whole text has repeated it yet
	superseded    *text // an open text that must end because this one starts; the writer writes its end
}

// takeSuperseded returns t.superseded the first time, and then nil.
func (t *text) takeSuperseded() *text {
	ended := t.superseded
	t.superseded = nil
	return ended
}

// textDigest identifies a text without storing it.
type textDigest struct {
	n, pieces int // numbers of bytes and of pieces
	hash      maphash.Hash
}

var seed = maphash.MakeSeed()

func (d *textDigest) add(piece []byte) {
	if d.n == 0 {
		d.hash.SetSeed(seed)
	}
	d.n += len(piece)
	d.pieces++
	_, _ = d.hash.Write(piece) // never fails
}

// maxDecodedText is the size in bytes up to which every decoder keeps a text that arrives in pieces. If the text is longer, the
// whole text that a decoder reports may lack a part of it.
const maxDecodedText = 64 << 10

// remainder returns what a whole text adds to the pieces. It returns false if the pieces belong to another text. If the pieces
// are longer than the whole and than maxDecodedText, the whole may lack a part of them. It then counts as the same text.
func (d *textDigest) remainder(whole []byte) ([]byte, bool) {
	switch {
	case d.n == 0:
		return nil, false
	case d.n <= len(whole) && d.hash.Sum64() == maphash.Bytes(seed, whole[:d.n]):
		return whole[d.n:], true
	}
	return nil, d.n > len(whole) && d.n > maxDecodedText
}

// maxTexts bounds the open texts of a run. If there are more, the oldest one ends.
const maxTexts = 64

// texts holds the open texts of a run.
type texts struct {
	open         []*text
	answer       textDigest // pieces of an answer, by any speaker, that no whole text has repeated yet
	lacksMessage bool       // one of these pieces names no message
	lastWhole    textDigest // the last answer that arrived whole
	lastMessage  string     // the message of lastWhole; "" if unknown
}

// add adds a text of a frame: a whole text or, if the frame is partial, a piece of one. It returns the text that the
// event belongs to, the part that the reader does not have yet, and whether the text has ended. The text may be nil if there is
// nothing to write, as for a frame that repeats the text of an earlier one.
func (t *texts) add(b *event.Batch, e *event.Event, newID func() string) (current *text, added []byte, isLast bool) {
	switch {
	case b.Repeats:
		return nil, nil, false
	case b.Partial:
		return t.addPiece(b, e, newID)
	}
	key, words := keyOf(b, e), e.Text()
	current = t.openText(key)
	if current != nil && current.repeats > 0 {
		if current.repeats--; current.repeats == 0 {
			t.close(current)
		}
		return current, nil, current.repeats == 0
	}
	pieces, keyMayDiffer := t.answer, key.message == "" || t.lacksMessage
	if !key.thought {
		t.answer, t.lacksMessage, t.lastWhole, t.lastMessage = textDigest{}, false, textDigest{}, key.message
		t.lastWhole.add(words)
	}
	if current != nil {
		rest, same := current.received.remainder(words)
		if !same && current.countRepeats(b) {
			if !key.thought {
				t.lastWhole = current.received
			}
			return current, nil, false
		}
		if t.close(current); same {
			return current, rest, true
		}
	}
	if rest, same := pieces.remainder(words); same && len(rest) == 0 && !key.thought && keyMayDiffer {
		return current, nil, true // it arrived in pieces of several texts, or without its message ID
	}
	if unnamed := t.openUnnamed(key, words); current == nil && unnamed != nil {
		t.close(unnamed)
		return unnamed, nil, true
	}
	return &text{id: newID(), agent: b.Agent, key: key, superseded: current}, words, true
}

// openUnnamed returns the open text that a whole text of an agent repeats, if its pieces named neither the agent nor the message.
func (t *texts) openUnnamed(key textKey, whole []byte) *text {
	i := slices.IndexFunc(t.open, func(open *text) bool {
		same := open.key.agent == "" && open.key.message == "" && open.key.thought == key.thought && open.received.n == len(whole)
		return same && key.agent != "" && open.received.hash.Sum64() == maphash.Bytes(seed, whole)
	})
	if i < 0 {
		return nil
	}
	return t.open[i]
}

// countRepeats reports whether several whole texts of a frame together repeat the text, and sets t.repeats. A model that executes
// code writes a text before the code and one after it. In pieces, the two look like one text, because they have the same key. The
// whole frame has both.
func (t *text) countRepeats(b *event.Batch) bool {
	var whole textDigest
	for i := range b.Events {
		if e := &b.Events[i]; (e.Kind == event.KindText || e.Kind == event.KindThought) && keyOf(b, e) == t.key {
			whole.add(e.Text())
		}
	}
	if whole.n != t.received.n || whole.hash.Sum64() != t.received.hash.Sum64() {
		return false
	}
	t.repeats = whole.pieces - 1
	return t.repeats > 0
}

// addPiece adds a piece. A piece that starts a text and equals the last whole text adds nothing:
// protocols repeat the answer at the end of a run.
func (t *texts) addPiece(b *event.Batch, e *event.Event, newID func() string) (*text, []byte, bool) {
	key, piece := keyOf(b, e), e.Text()
	current := t.openText(key)
	if current == nil {
		isOther := key.message != "" && t.lastMessage != "" && key.message != t.lastMessage
		if rest, same := t.lastWhole.remainder(piece); same && len(rest) == 0 && !key.thought && !isOther {
			return nil, nil, false
		}
		current = t.begin(b, key, newID)
	}
	if rest, same := current.received.remainder(piece); same && len(rest) == 0 && current.received.pieces > 1 && len(piece) == current.received.n {
		return current, nil, false // the stream repeats the text without marking it as whole
	}
	current.received.add(piece)
	if !key.thought {
		t.answer.add(piece)
		t.lacksMessage = t.lacksMessage || key.message == ""
	}
	return current, piece, false
}

// observeResponse handles the start or the end of a model response. At the start, it closes and returns the texts of the agent's
// earlier responses, which the new one must not continue. It leaves texts whose message is known:
// only pieces of the same message continue them.
func (t *texts) observeResponse(b *event.Batch, e *event.Event) (ended []*text) {
	answer := keyOf(b, &event.Event{})
	thought := answer
	thought.thought = true
	for _, key := range []textKey{answer, thought} {
		current := t.openText(key)
		switch {
		case current == nil:
		case e.Kind == event.KindModelEnded:
			current.responseEnded = true
		case current.responseEnded:
			t.close(current)
			ended = append(ended, current)
		}
	}
	return ended
}

func (t *texts) openText(key textKey) *text {
	if i := slices.IndexFunc(t.open, func(open *text) bool { return open.key == key }); i >= 0 {
		return t.open[i]
	}
	return nil
}

func (t *texts) begin(b *event.Batch, key textKey, newID func() string) *text {
	begun := &text{id: newID(), agent: b.Agent, key: key}
	if len(t.open) == maxTexts {
		begun.superseded = t.open[0]
		t.close(t.open[0])
	}
	t.open = append(t.open, begun)
	return begun
}

func (t *texts) close(ended *text) {
	t.open = slices.DeleteFunc(t.open, func(open *text) bool { return open == ended })
}
