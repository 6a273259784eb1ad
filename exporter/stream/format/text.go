package format

import (
	"hash/maphash"

	"github.com/delegraph/delegraph/collector/event"
)

// speaker tells apart those whose texts may interleave, and their thoughts from their words.
type speaker struct {
	agent, branch, within string
	thinks                bool
}

func speakerOf(b *event.Batch, e *event.Event) speaker {
	return speaker{b.Agent, b.Branch, b.Within, e.Kind == event.KindThought}
}

// text is one that comes in pieces. An agent's stream brings it again whole; a reader is to get it once.
type text struct {
	id   string
	by   speaker
	said said
	open bool // more of it may come

	shown bool  // to the reader, who does not know yet that it is over
	after *text // which was never finished: what came whole was another
}

// said is what the pieces of a text are, without the text.
type said struct {
	n, pieces int
	hash      maphash.Hash
}

// seed is that of the hashes by which texts are compared.
var seed = maphash.MakeSeed()

func (s *said) add(piece []byte) {
	if s.n == 0 {
		s.hash.SetSeed(seed)
	}
	s.n += len(piece)
	s.pieces++
	_, _ = s.hash.Write(piece) // it never fails
}

// cut is the size from which decoders keep only a part of a text that comes in pieces, and state that as the whole.
const cut = 64 << 10

// rest is what a whole text has behind what the pieces brought. It says no where the pieces were of another text.
func (s *said) rest(whole []byte) ([]byte, bool) {
	switch {
	case s.n == 0:
		return nil, false
	case s.n <= len(whole) && s.hash.Sum64() == maphash.Bytes(seed, whole[:s.n]):
		return whole[s.n:], true
	}
	return nil, s.n > len(whole) && s.n > cut
}

// maxTexts bounds the texts of a run that are open at once. The pieces of any further one are texts of their own.
const maxTexts = 64

// texts are those of a run that are open.
type texts struct {
	open []*text
	all  said // the pieces of an answer that no whole text has repeated, whoever said them
	last said // the last text of an answer that came whole
}

// say takes what a speaker says: the text that it is of, what of it is news, and whether the text is over. There is no text where
// all that is said was said before.
func (t *texts) say(by speaker, piece []byte, partial bool, id func() string) (of *text, news []byte, over bool) {
	of = t.of(by)
	if partial {
		return t.add(of, by, piece, id)
	}
	all := t.all
	if !by.thinks {
		t.all, t.last = said{}, said{}
		t.last.add(piece)
	}
	if of != nil {
		t.end(of)
		if rest, same := of.said.rest(piece); same {
			return of, rest, true
		}
	}
	if rest, same := all.rest(piece); same && len(rest) == 0 && !by.thinks {
		return of, nil, true // it came in pieces, of more than one text or in another's name
	}
	return &text{id: id(), by: by, after: of}, piece, true
}

// add takes a piece. One that begins a text with all of the last whole one is no news: the ends of runs say it once more.
func (t *texts) add(of *text, by speaker, piece []byte, id func() string) (*text, []byte, bool) {
	if of == nil {
		if rest, same := t.last.rest(piece); same && len(rest) == 0 && !by.thinks {
			return nil, nil, false
		}
		of = t.begin(by, id)
	}
	if rest, same := of.said.rest(piece); same && len(rest) == 0 && of.said.pieces > 1 && len(piece) == of.said.n {
		return of, nil, false // where the stream does not say, or may not, that this is all of it
	}
	of.said.add(piece)
	if !by.thinks {
		t.all.add(piece)
	}
	return of, piece, !of.open
}

func (t *texts) of(by speaker) *text {
	for _, open := range t.open {
		if open.by == by {
			return open
		}
	}
	return nil
}

func (t *texts) begin(by speaker, id func() string) *text {
	begun := &text{id: id(), by: by, open: len(t.open) < maxTexts}
	if begun.open {
		t.open = append(t.open, begun)
	}
	return begun
}

func (t *texts) end(ended *text) {
	for i, open := range t.open {
		if open == ended {
			t.open = append(t.open[:i], t.open[i+1:]...)
			return
		}
	}
}
