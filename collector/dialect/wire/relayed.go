package wire

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// RelayedThoughts finds the thoughts of a remote agent in what an ADK agent passes on. The remote agent's A2A answer is in
// the metadata, with all its marks. The parts in the ADK event lose the marks of the objects around them. With Vertex AI,
// they also lose their own marks.
//
// Source: google/adk/a2a/converters/part_converter.py of google-adk 2.13, convert_a2a_part_to_genai_part.
type RelayedThoughts struct {
	MayHaveOtherTexts bool // the frame may also have texts that are not in the answers

	isMarked bool            // an answer has a mark of a thought
	thoughts map[string]bool // by text of the answers: it is a thought
}

// AddMetadata adds the answer in the metadata of an A2A task, message, artifact or update that an ADK agent sent.
func (r *RelayedThoughts) AddMetadata(b *event.Batch, v strictjson.Value) {
	for m := range WithMetadata(v) {
		if m.InMetadata && lenient.MatchesAny(m.Name.Text(), ADKCustom) {
			r.AddCustom(b, v, m.Value)
		}
	}
}

// AddCustom adds the answers in the custom metadata of an ADK event. object has the event's content: the authors of the
// answers are authors of its texts too.
func (r *RelayedThoughts) AddCustom(b *event.Batch, object, custom strictjson.Value) {
	b.AddAuthors(object, authorsIn(b, nil, custom)...)
	for name, value := range CustomMembers(b, custom) {
		if !name.Is(A2AResponse) {
			continue
		}
		answer := b.Embedded(value)
		_, isMarked := FindThoughtMark(answer)
		r.isMarked = r.isMarked || isMarked
		r.addTexts(b, answer, false)
	}
}

// Any reports whether an answer has a mark of a thought.
func (r *RelayedThoughts) Any() bool { return r.isMarked }

// Contain reports whether a text is, or may be, a thought.
func (r *RelayedThoughts) Contain(text strictjson.Value) bool {
	if !r.Any() || len(text.Text()) == 0 {
		return false
	}
	isThought, known := r.thoughts[text.String()]
	return isThought || !known && !r.MayHaveOtherTexts
}

// addTexts adds the texts at any depth of v. isThought says that an object around v is marked as a thought.
func (r *RelayedThoughts) addTexts(b *event.Batch, v strictjson.Value, isThought bool) {
	isThought = isThought || IsMarkedThought(v)
	r.AddMetadata(b, v) // the remote agent may pass on an answer too
	for name, value := range v.Members() {
		switch text := name.Text(); {
		case string(text) == "text":
			r.addText(value.String(), isThought)
		case string(text) != "data" && !lenient.MatchesAny(name.Text(), metadata):
			r.addTexts(b, value, isThought)
		}
	}
	var answer []byte
	for part := range v.Elements() {
		r.addTexts(b, part, isThought)
		if !isThought && !IsMarkedThought(part) {
			answer = part.Get("text").AppendText(answer)
		}
	}
	r.addText(string(answer), isThought) // some agents join the parts
}

// addText adds a text. A text that is both a thought and an answer is a thought.
func (r *RelayedThoughts) addText(text string, isThought bool) {
	if r.thoughts == nil {
		r.thoughts = make(map[string]bool)
	}
	if text != "" {
		r.thoughts[text] = r.thoughts[text] || isThought
	}
}
