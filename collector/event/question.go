package event

import "github.com/delegraph/delegraph/collector/strictjson"

// MaxPrompt is the maximum length of a prompt, in bytes.
const MaxPrompt = 16 << 10

// Question is the question of a KindInputRequested, as far as its frame contains it.
type Question struct {
	Prompt  string           // "" if the frame has none
	Options strictjson.Value // the answers to choose from: an array
	Schema  strictjson.Value // the JSON schema of an answer: an object
}

// Question returns the question of a KindInputRequested.
func (e *Event) Question() Question {
	if e.question == nil {
		return Question{}
	}
	return *e.question
}

// SetQuestion sets the question of a KindInputRequested, after Input has been set. It cuts the prompt
// to MaxPrompt bytes and drops options that are not an array and a schema that is not an object. A
// request for a credential keeps only its prompt, because the rest may contain secrets. SetQuestion
// copies values that are not part of the event's batch.
func (e *Event) SetQuestion(q Question) {
	q.Prompt = LimitText(string(strictjson.MakeReadable([]byte(q.Prompt))), MaxPrompt)
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
