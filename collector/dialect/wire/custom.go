package wire

import (
	"bytes"
	"iter"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// A2AResponse is the member of an event's custom metadata with the answer of a remote agent: an A2A task, message or update.
const A2AResponse = "a2a:response"

// EntryKeys are the members with the name of an entry in the custom metadata of Java's servers (see CustomMembers).
var EntryKeys = []string{"key"}

// CustomMembers yields the members of an ADK event's custom metadata. Java's servers send a list of entries, such as
// {"key":"a2a:response","stringValue":"{…}"}, instead of an object.
//
// Source: core/src/main/java/com/google/adk/events/Event.java of adk-java; CustomMetadata of google-genai.
func CustomMembers(b *event.Batch, custom strictjson.Value) iter.Seq2[strictjson.Value, strictjson.Value] {
	return func(yield func(name, value strictjson.Value) bool) {
		custom = b.Embedded(custom)
		for name, value := range custom.Members() {
			if !yield(name, value) {
				return
			}
		}
		for entry := range custom.Elements() {
			entry = b.Embedded(entry)
			for name, value := range entry.Members() {
				if lenient.IsEntryValue(name.Text()) && !yield(entry.Get("key"), value) {
					return
				}
			}
		}
	}
}

// CustomMember returns the member of an ADK event's custom metadata with the first of the names that it has.
func CustomMember(b *event.Batch, custom strictjson.Value, names ...string) strictjson.Value {
	for _, wanted := range names {
		for name, value := range CustomMembers(b, custom) {
			if name.Is(wanted) {
				return b.Embedded(value)
			}
		}
	}
	return strictjson.Value{}
}

var (
	relayedAuthors = append([]string{"author"}, ADKAuthors...)
	authorWord     = []byte("author")
)

// authorsIn appends the authors that an object in custom metadata names at any depth. A string that should be JSON and is not may
// name any.
func authorsIn(b *event.Batch, authors []string, v strictjson.Value) []string {
	if v = b.Embedded(v); v.Kind() == strictjson.String && bytes.Contains(lenient.Text(v.Text()), authorWord) {
		authors = AddAuthor(authors, UnknownAuthor)
	}
	for name, value := range v.Members() {
		switch text := name.Text(); {
		case lenient.MatchesAny(text, relayedAuthors):
			if value.Kind() > strictjson.Null && !value.Is("") {
				authors = AddAuthor(authors, dialect.Name(value.String()))
			}
		case value.Kind() == strictjson.String && !lenient.MatchesAny(text, ADKEncodedMembers) && !lenient.IsEntryValue(text), name.Is("data"):
		default:
			authors = authorsIn(b, authors, value)
		}
	}
	for element := range v.Elements() {
		if element.Kind() != strictjson.String {
			authors = authorsIn(b, authors, element)
		}
	}
	return authors
}
