package event

import "github.com/delegraph/delegraph/collector/strictjson"

// MaxPrompt bounds a prompt, in bytes.
const MaxPrompt = 16 << 10

// Question is the question of a KindInputRequested, as far as its frame shows it.
type Question struct {
	Prompt  string           // "" where the frame has none
	Options strictjson.Value // the answers to choose from: an array
	Schema  strictjson.Value // what an answer is to look like: an object
}

// Question returns what a KindInputRequested asks.
func (e *Event) Question() Question {
	if e.question == nil {
		return Question{}
	}
	return *e.question
}

// SetQuestion sets what a KindInputRequested asks, whose Input is set. A prompt is cut to MaxPrompt. Options that are no array and a
// schema that is no object are left out; so is all but the prompt of a request for a credential, since secrets may stand there. Values
// that are not part of the event's batch are copied.
func (e *Event) SetQuestion(q Question) {
	q.Prompt = Bounded(q.Prompt, MaxPrompt)
	if q.Options.Kind() != strictjson.Array || q.Options.Len() == 0 || e.Input == InputCredential {
		q.Options = strictjson.Value{}
	}
	if q.Schema.Kind() != strictjson.Object || q.Schema.Len() == 0 || e.Input == InputCredential {
		q.Schema = strictjson.Value{}
	}
	if q.Prompt == "" && !q.Options.Exists() && !q.Schema.Exists() {
		e.question = nil
		return
	}
	q.Options, q.Schema = e.owner().value(q.Options), e.owner().value(q.Schema)
	e.question = &q
}
