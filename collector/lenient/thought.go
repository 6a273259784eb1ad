package lenient

import (
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/strictjson"
)

// IsThoughtMarker reports whether a member marks the object that contains it as a thought in every
// protocol.
func IsThoughtMarker(name, value strictjson.Value) bool {
	return NamesThoughtMarker(name.Text()) && isTrue(value)
}

// NamesThoughtMarker reports whether a member with this name is a thought marker when its value is true. Frameworks
// put their own name in front, as in adk_thought.
func NamesThoughtMarker(name []byte) bool { return HasSuffix(name, "thought") }

// IsThoughtFlag reports whether a member of metadata marks what it describes as a thought. It is a thought marker, or
// its name ends with another word for thoughts and its value is true. A number does not count: it may be of tokens.
func IsThoughtFlag(name, value strictjson.Value) bool {
	if IsThoughtMarker(name, value) {
		return true
	}
	text := name.Text()
	return value.Kind() != strictjson.Number && HasSuffix(text, "thoughts", "thinking", "reasoning") && isTrue(value) &&
		!slices.ContainsFunc(optionVerbs, func(verb string) bool { return HasPrefix(text, verb) })
}

// IsThoughtType reports whether a value names a type of thoughts, such as reasoning_content.
func IsThoughtType(value []byte) bool {
	text := string(Text(value))
	return slices.ContainsFunc(thoughtWords, func(word string) bool { return strings.Contains(text, word) })
}

var (
	thoughtWords = []string{"thought", "thinking", "reasoning"}

	// optionVerbs begin the names of a model's options, such as enable_thinking.
	optionVerbs = []string{"allow", "disable", "enable", "exclude", "has", "hide", "include", "return", "send", "show", "support"}
)

// ContainsThoughtMarker reports whether v contains a thought marker at any depth.
func ContainsThoughtMarker(v strictjson.Value) bool {
	for name, value := range v.Members() {
		if IsThoughtMarker(name, value) || ContainsThoughtMarker(value) {
			return true
		}
	}
	for element := range v.Elements() {
		if ContainsThoughtMarker(element) {
			return true
		}
	}
	return false
}

// isTrue reports whether a lenient reader might take v for true.
func isTrue(v strictjson.Value) bool {
	if v.Kind() == strictjson.Number {
		n, whole := v.Int()
		return !whole || n != 0
	}
	on, _ := v.Bool()
	return on || MatchesAny(v.Text(), []string{"true", "yes", "1"})
}
