package wire

import (
	"maps"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// WithThoughts returns the given members for event.Words, and those that hold a model's thoughts in several protocols.
func WithThoughts(members map[string]event.Kind) map[string]event.Kind {
	all := map[string]event.Kind{}
	for _, name := range []string{"thought", "thoughts", "thinking", "reasoning", "reasoning_content", "reasoningContent"} {
		all[name] = event.KindThought
	}
	maps.Copy(all, members)
	return all
}

// Marks of thoughts in A2A. The protocol defines none, so each framework has its own. Other protocols carry them along:
// an ADK event has the metadata of the remote agent that it passes on.
var (
	ThoughtMarkers    = append(ADKNames("thought"), "adk:thought", "adkThought", "thought") // members that mark a thought
	ThoughtCategories = []string{"agno_content_category"}                                   // Agno's mark: "content" for an answer, "reasoning" for a thought

	thoughtTypes = []string{"kind", "type", "category"} // suffixes of the names of members that hold a type
)

// IsMarkedThought reports whether a part, or an object with parts, is marked as a model's thought,
// in its metadata or directly. Any value except null and false counts as a mark.
func IsMarkedThought(v strictjson.Value) bool {
	_, is := ThoughtMark(v)
	return is || HasThoughtMetadata(v, metadata)
}

// HasThoughtMetadata reports whether a member of v with one of the names is metadata that marks v as a thought.
func HasThoughtMetadata(v strictjson.Value, names []string) bool {
	for name, value := range v.Members() {
		if !lenient.MatchesAny(name.Text(), names) {
			continue
		}
		if _, is := markInMetadata(value); is {
			return true
		}
	}
	return false
}

// markInMetadata returns the name of a mark in metadata or in an object directly in it.
func markInMetadata(meta strictjson.Value) (name strictjson.Value, is bool) {
	if name, is = ThoughtMark(meta); is {
		return name, true
	}
	for _, value := range meta.Members() {
		if name, is = ThoughtMark(value); is {
			return name, true
		}
	}
	return strictjson.Value{}, false
}

// ThoughtMark returns the name of the member of v that marks a thought.
func ThoughtMark(v strictjson.Value) (name strictjson.Value, is bool) {
	for name, value := range v.Members() {
		if lenient.MatchesAny(name.Text(), ThoughtCategories) && value.Kind() > strictjson.Null && !value.Is("content") {
			return name, true
		}
		if lenient.HasSuffix(name.Text(), thoughtTypes...) && lenient.IsThoughtType(value.Text()) {
			return name, true
		}
		if MayBeTrue(value) && lenient.MatchesAny(name.Text(), ThoughtMarkers) || lenient.IsThoughtFlag(name, value) {
			return name, true
		}
	}
	return strictjson.Value{}, false
}

// FindThoughtMark returns the name of a mark at any depth of an A2A object.
func FindThoughtMark(v strictjson.Value) (mark strictjson.Value, is bool) { return findMark(v, true) }

// findMark looks for a mark in metadata at any depth. own also finds marks outside of metadata.
func findMark(v strictjson.Value, own bool) (mark strictjson.Value, is bool) {
	if own {
		if mark, is = ThoughtMark(v); is {
			return mark, true
		}
	}
	for name, value := range v.Members() {
		if string(name.Text()) == "data" { // arguments and results of tools are not judged
			continue
		}
		inside := lenient.MatchesAny(name.Text(), metadata)
		if inside {
			if mark, is = markInMetadata(value); is {
				return mark, true
			}
		}
		if mark, is = findMark(value, own && !inside); is {
			return mark, true
		}
	}
	for element := range v.Elements() {
		if mark, is = findMark(element, own); is {
			return mark, true
		}
	}
	return mark, false
}

// MayBeTrue reports whether some reader might take a value for true.
func MayBeTrue(v strictjson.Value) bool {
	on, isBool := v.Bool()
	return on || !isBool && v.Kind() > strictjson.Null
}
