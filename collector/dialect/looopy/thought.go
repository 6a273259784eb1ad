package looopy

import (
	"bytes"
	"hash/maphash"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// thoughts finds the texts that repeat a thought of the stream. It remembers the last maxThoughts.
type thoughts struct {
	hashes *simplelru.LRU[uint64, struct{}]
	added  int
}

const maxThoughts = 1024

// add adds a thought of tasks.
func (s *thoughts) add(text []byte, tasks ...*task) {
	s.added++
	s.hashes.Add(hashThought(text), struct{}{})
	for _, t := range tasks {
		if t != nil && t.firstThought == 0 {
			t.firstThought = s.added
		}
	}
}

// mayContain reports whether a text repeats a thought, or may repeat one of the tasks that is no longer remembered.
func (s *thoughts) mayContain(text []byte, tasks ...*task) bool {
	for _, t := range tasks {
		if t != nil && t.firstThought > 0 && s.added-t.firstThought >= maxThoughts {
			return true
		}
	}
	return s.hashes.Contains(hashThought(text))
}

func hashThought(text []byte) uint64 { return maphash.Bytes(seed, bytes.TrimSpace(text)) }

// message reads a message of the model's history, which may repeat a thought.
func (d *decoder) message(t *task, fr frame, b *event.Batch) {
	message := fr.data.Get("message")
	content := message.Get("content")
	texts := [][]byte{content.Text()}
	for part := range content.Elements() {
		texts = append(texts, part.Get("text").Text())
	}
	for _, text := range texts {
		if len(text) > 0 && d.thoughts.mayContain(text, t, d.runOf(t)) {
			b.SetTextKind(message, event.KindThought)
		}
	}
	b.Add(event.KindOther)
}

// thoughtStream reports a thought and its confidence. A thought that was found in a model's text is
// a sign of a response; others come from the loop.
func (d *decoder) thoughtStream(t *task, fr frame, b *event.Batch) {
	if source := fr.metadata.Get("source"); source.Is("content") || source.Is("content-delta") {
		t.openResponse(b)
	}
	if e := b.AddText(event.KindThought, fr.data.Get("content")); e != nil {
		d.thoughts.add(e.Text(), t, d.runOf(t))
		e.ID = d.member(fr, "thoughtId")
		e.Verbosity, e.ThoughtType = verbosity(fr.data.Get("verbosity")), d.member(fr, "thoughtType")
	}
	if value, ok := fr.metadata.Get("confidence").Float(); ok && value >= 0 && value <= 1 {
		e := b.Add(event.KindConfidence)
		e.Name, e.Confidence = t.agent, event.Confidence{Value: value, Known: true, Origin: event.OriginThought}
	}
}

// verbosity returns how detailed a thought is, or ThoughtsNone if it does not say.
func verbosity(v strictjson.Value) event.Verbosity {
	switch {
	case v.Is("brief"):
		return event.ThoughtsBrief
	case v.Is("normal"):
		return event.ThoughtsNormal
	case v.Is("detailed"):
		return event.ThoughtsDetailed
	}
	return event.ThoughtsNone
}
