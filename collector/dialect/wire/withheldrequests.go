package wire

import (
	"bytes"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// CutRequests withholds what an agent told a remote agent about withheld events, in the custom metadata of the remote agent's events. Such
// a request has what other agents said and did since the remote agent's last event, and the remote agent's task repeats the request in its
// history. JSON in a string is withheld as a whole.
//
// Sources: google/adk/a2a/agent/_remote_a2a_agent.py and flows/llm_flows/context/_fencing.py of google-adk 2.13.
func (w *WithheldValues) CutRequests(b *event.Batch, custom strictjson.Value) {
	if w.IsEmpty() {
		return
	}
	before, inner := len(b.Cuts), embedded(b, custom)
	for _, member := range inner.Members() {
		w.CutRequests(b, member)
	}
	for element := range inner.Elements() {
		w.CutRequests(b, element)
	}
	if role := inner.Get("role"); inner.First("messageId", "message_id").Exists() && !role.Is("agent") && !role.Is("ROLE_AGENT") {
		for part := range inner.First("parts", "content").Elements() {
			if w.mayBeAbout(part) {
				b.Cut(part)
			}
		}
	}
	if len(b.Cuts) > before && inner != custom {
		b.Cut(custom)
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
