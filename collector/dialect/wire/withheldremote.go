package wire

import (
	"bytes"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// CheckRemote checks the custom metadata of an event of a remote agent: the request to that agent, and its answer. Both are in the agent's
// task, which also has the history of its work, and the metadata of all its updates. Later events have the task again. CheckRemote remembers
// what a withheld event has, and one of which only the public form leaves, and withholds it in other events. It does the same with copies of
// answers in the actions. JSON in a string is withheld as a whole. calls are those of the stream.
//
// Sources: google/adk/a2a/agent/_remote_a2a_agent.py and flows/llm_flows/context/_fencing.py of google-adk 2.13;
// a2a/server/tasks/task_manager.py of a2a-sdk 1.1.
func (w *WithheldValues) CheckRemote(b *event.Batch, custom strictjson.Value, isWithheld bool, calls *WithheldCalls) {
	if custom.Kind() < strictjson.String {
		return
	}
	isHidden := isWithheld || b.PublicForm
	cutEmbedded(b, custom, func(v strictjson.Value) {
		if bytes.HasPrefix(bytes.TrimSpace(v.Text()), []byte("{")) { // not strict JSON, but other readers accept more
			if w.unread = w.unread || isHidden; !w.IsEmpty() {
				b.Cut(v)
			}
			return
		}
		if w.checkKept(b, v, isHidden) {
			return
		}
		for _, member := range v.Members() {
			w.CheckRemote(b, member, isWithheld, calls)
		}
		for element := range v.Elements() {
			w.CheckRemote(b, element, isWithheld, calls)
		}
		if author := v.First(ADKAuthors...); isWithheld && author.Exists() {
			w.AddPlaces(author.String(), v.First(adkBranches...))
		}
		w.checkParts(b, v, isHidden, calls)
		w.checkMetadata(b, v.Get("metadata"), isHidden)
	})
}

// checkParts checks the parts of a message, an artifact or an event. If all are withheld, it withholds the whole, which may have a telling
// name or ID. A request stays.
func (w *WithheldValues) checkParts(b *event.Batch, v strictjson.Value, isHidden bool, calls *WithheldCalls) {
	role, parts := v.Get("role"), v.First("parts", "content")
	_, isWhole := b.Cuts[parts] // the content of an event, in the result of a tool
	isWhole = isWhole || parts.Kind() == strictjson.Array
	isRequest := v.First("messageId", "message_id").Exists() && !role.Is("agent") && !role.Is("ROLE_AGENT")
	for part := range parts.Elements() {
		switch {
		case isHidden && isRequest:
		case !isHidden && (calls.mayBeIn(part) || isRequest && !w.IsEmpty() && w.mayBeAbout(part)):
			b.Cut(part)
		case !isRequest:
			if !isHidden {
				w.CutCall(b, part.Get("data"), func(string) bool { return false })
			}
			w.checkAnswer(b, part, hashValue(b, firstExisting(part.Get("text"), part.Get("data"), part)), isHidden)
		}
		_, isCut := b.Cuts[part]
		isWhole = isWhole && isCut
	}
	if isWhole && parts.Len() > 0 && !isRequest {
		b.Cut(v)
	}
}

// checkMetadata checks the metadata of a message, an artifact or a task.
func (w *WithheldValues) checkMetadata(b *event.Batch, metadata strictjson.Value, isHidden bool) {
	for name, value := range metadata.Members() {
		switch text := name.Text(); {
		case !isHidden && lenient.MatchesAny(text, ADKActions):
			w.CutActions(b, value, 0)
		case lenient.MatchesAny(text, mergedMetadata):
			if hash, isTelling := hashTelling(b, value); isTelling {
				w.checkAnswer(b, value, hash, isHidden)
			}
		}
	}
}

// mergedMetadata are the members of an ADK agent's metadata that say something about the answer in an event. If a later event has none, its
// task still has them.
var mergedMetadata = ADKNames("grounding_metadata", "citation_metadata", "error_message")

// checkAnswer remembers or withholds what a remote agent said. What has left in another event leaves again.
func (w *WithheldValues) checkAnswer(b *event.Batch, v strictjson.Value, hash uint64, isHidden bool) {
	key := valueKey(hash)
	switch {
	case hash == 0, w.shown.Contains(key):
	case isHidden:
		w.remote.Add(key)
	case w.unread, w.remote.MayContain(key), w.mayBeInResult(b, v.Get("data")):
		b.Cut(v)
	default:
		w.shown.Add(key)
	}
}

// mayBeAbout reports whether a part of a request is about something withheld. An event of another agent becomes texts that begin with the
// agent's name in brackets. Files and code become parts without the name.
func (w *WithheldValues) mayBeAbout(part strictjson.Value) bool {
	text := part.Get("text")
	if text.Kind() != strictjson.String || w.unread {
		return true
	}
	name, _, _ := bytes.Cut(text.Text(), []byte("]"))
	name, isQuote := bytes.CutPrefix(name, []byte("["))
	return isQuote && w.authors.MayContain(dialect.Name(string(name))) || w.quotes.MayBeInLong(text)
}

// cutEmbedded calls cut with the JSON in a value. If the value is a text, it is withheld as a whole if cut withholds a part.
func cutEmbedded(b *event.Batch, v strictjson.Value, cut func(strictjson.Value)) {
	inner := embedded(b, v)
	if inner == v {
		cut(v)
		return
	}
	outer := b.Cuts
	b.Cuts = nil
	cut(inner)
	hasCuts := len(b.Cuts) > 0
	if b.Cuts = outer; hasCuts {
		b.Cut(v)
	}
}
