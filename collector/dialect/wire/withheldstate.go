package wire

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// HashAnswer returns a hash of an answer, which may be in several parts, or 0 if it is blank.
func HashAnswer(b *event.Batch, parts []strictjson.Value) uint64 {
	if len(parts) == 1 {
		return hashValue(b, parts[0])
	}
	return hashText(joined(parts))
}

func joined(parts []strictjson.Value) (text []byte) {
	for _, part := range parts {
		text = append(text, part.Text()...)
	}
	return text
}

// AddQuotes remembers what was withheld of an agent that is not ADK's, which only errors quote.
func (w *WithheldValues) AddQuotes(b *event.Batch, values ...strictjson.Value) {
	w.quotes.Add(b, values...)
}

// MayBeQuoted reports whether a string in values quotes an answer that was withheld, or may.
func (w *WithheldValues) MayBeQuoted(values ...strictjson.Value) bool {
	return w.quotes.MayBeIn(values...)
}

// AddState remembers the objects and lists that a withheld answer puts into the state. ADK reads them from the answer's text by a schema, which
// may add members. actions are those of the event with the answer.
//
// Source: google/adk/agents/llm_agent.py of google-adk 2.13, __maybe_save_output_to_state.
func (w *WithheldValues) AddState(b *event.Batch, actions strictjson.Value) {
	for _, value := range embedded(b, actions).First("stateDelta", "state_delta").Members() {
		if hash, isTelling := hashTelling(b, value); isTelling && (value.Kind() == strictjson.Object || value.Kind() == strictjson.Array) {
			w.values.Add(valueKey(hash))
		}
	}
}

// unsearchedActions have the names of agents and files, which an answer may have too.
var unsearchedActions = []string{"transferToAgent", "transfer_to_agent", "artifactDelta", "artifact_delta"}

// CutActions withholds the values in the actions of an event that are or quote an answer that was withheld, such as those of an output_key.
// JSON in a string is withheld as a whole. said is the answer in the event itself (see HashAnswer). A value that is equal to it stays,
// and so does one that a remote agent said in an event that left.
//
// Source: google/adk/agents/llm_agent.py of google-adk 2.13; dist/esm/workflow/node_runner.js of @google/adk 2.0, recordInputForResume.
func (w *WithheldValues) CutActions(b *event.Batch, actions strictjson.Value, said uint64) {
	if w.values.IsEmpty() || !actions.Exists() {
		return
	}
	cutEmbedded(b, actions, func(inner strictjson.Value) {
		for name, action := range inner.Members() {
			if !lenient.MatchesAny(name.Text(), unsearchedActions) {
				w.cutCopies(b, action, said)
			}
		}
	})
}

// cutCopies withholds the parts of a value that are or quote an answer.
func (w *WithheldValues) cutCopies(b *event.Batch, v strictjson.Value, said uint64) {
	if !w.MayBeIn(b, v, false) && !w.texts.MayBeInLong(v) {
		return
	}
	hash, isTelling := hashTelling(b, v)
	isScalar := v.Kind() != strictjson.Object && v.Kind() != strictjson.Array
	switch {
	case hash != 0 && (hash == said || w.shown.Contains(valueKey(hash))):
	case isScalar, isTelling && w.values.MayContain(valueKey(hash)):
		b.Cut(v)
	default:
		for _, member := range v.Members() {
			w.cutCopies(b, member, said)
		}
		for element := range v.Elements() {
			w.cutCopies(b, element, said)
		}
	}
}
