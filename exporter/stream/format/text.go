package format

import (
	"hash/maphash"

	"github.com/delegraph/delegraph/collector/event"
)

// speaker distinguishes texts that are interleaved: by their author and response, and thoughts from answers.
type speaker struct {
	agent, branch, within, response string
	thought                         bool
}

func speakerOf(b *event.Batch, e *event.Event) speaker {
	return speaker{b.Agent, b.Branch, b.EnclosingCall, b.Response, e.Kind == event.KindThought}
}

// text is a text that arrives in pieces. The agent may repeat it as a whole, but a reader receives
// it once.
type text struct {
	id       string
	speaker  speaker
	received textDigest
	isOpen   bool // more of it may follow

	announced  bool  // started for the reader, and not yet ended
	unfinished *text // an open text of the speaker that this whole text does not continue; the writer ends it
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

// maxDecodedText is the number of bytes that decoders keep of a text that arrives in pieces. If it is longer, what they
// report as the whole is only a part.
const maxDecodedText = 64 << 10

// remainder returns what a whole text adds to the pieces. It returns false if the pieces belong to
// another text.
func (d *textDigest) remainder(whole []byte) ([]byte, bool) {
	switch {
	case d.n == 0:
		return nil, false
	case d.n <= len(whole) && d.hash.Sum64() == maphash.Bytes(seed, whole[:d.n]):
		return whole[d.n:], true
	}
	return nil, d.n > len(whole) && d.n > maxDecodedText
}

// maxTexts bounds the open texts of a run. Each further piece is a text of its own.
const maxTexts = 64

// texts holds the open texts of a run.
type texts struct {
	open      []*text
	answer    textDigest // pieces of an answer, by any speaker, that no whole text has repeated yet
	lastWhole textDigest // the last answer that arrived whole
}

// add adds what a speaker says: a whole text or, if partial, a piece of one. It returns the text that it belongs to, the
// part that the reader does not have yet, and whether the text has ended. The text may be nil if there is nothing to write.
func (t *texts) add(by speaker, words []byte, partial bool, id func() string) (of *text, added []byte, isLast bool) {
	of = t.openText(by)
	if partial {
		return t.addPiece(of, by, words, id)
	}
	pieces := t.answer
	if !by.thought {
		t.answer, t.lastWhole = textDigest{}, textDigest{}
		t.lastWhole.add(words)
	}
	if of != nil {
		t.close(of)
		if rest, same := of.received.remainder(words); same {
			return of, rest, true
		}
	}
	if rest, same := pieces.remainder(words); same && len(rest) == 0 && !by.thought {
		return of, nil, true // it arrived in pieces of several texts, or under another name
	}
	return &text{id: id(), speaker: by, unfinished: of}, words, true
}

// addPiece adds a piece. A piece that starts a text and equals the last whole text adds nothing:
// protocols repeat the answer at the end of a run.
func (t *texts) addPiece(of *text, by speaker, piece []byte, id func() string) (*text, []byte, bool) {
	if of == nil {
		if rest, same := t.lastWhole.remainder(piece); same && len(rest) == 0 && !by.thought {
			return nil, nil, false
		}
		of = t.begin(by, id)
	}
	if rest, same := of.received.remainder(piece); same && len(rest) == 0 && of.received.pieces > 1 && len(piece) == of.received.n {
		return of, nil, false // the stream repeats the text without marking it as whole
	}
	of.received.add(piece)
	if !by.thought {
		t.answer.add(piece)
	}
	return of, piece, !of.isOpen
}

func (t *texts) openText(by speaker) *text {
	for _, open := range t.open {
		if open.speaker == by {
			return open
		}
	}
	return nil
}

func (t *texts) begin(by speaker, id func() string) *text {
	begun := &text{id: id(), speaker: by, isOpen: len(t.open) < maxTexts}
	if begun.isOpen {
		t.open = append(t.open, begun)
	}
	return begun
}

func (t *texts) close(ended *text) {
	for i, open := range t.open {
		if open == ended {
			t.open = append(t.open[:i], t.open[i+1:]...)
			return
		}
	}
}
