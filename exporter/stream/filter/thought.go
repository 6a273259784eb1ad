package filter

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// isThought reports whether any reader might take an object for a thought.
func isThought(v strictjson.Value, rule *event.Rule) bool {
	for name, sign := range v.Members() {
		if marksThought(name, sign, rule.ThoughtMarkers) {
			return true
		}
		if len(rule.ThoughtMarkersIn) == 0 || sign.Kind() != strictjson.Object || !lenient.MatchesAny(name.Text(), rule.ThoughtMarkersIn) {
			continue
		}
		for name, sign := range sign.Members() {
			if marksThought(name, sign, rule.ThoughtMarkers) {
				return true
			}
		}
	}
	return false
}

// hasGenericMarker reports whether an object with text has a thought marker that many protocols use, although
// its own protocol has none. Its text may be a thought instead of an answer. The marker may also be in a
// member without text, such as the metadata of a model's provider.
func hasGenericMarker(v strictjson.Value, rule *event.Rule) bool {
	if len(rule.ThoughtMarkers) > 0 {
		return false // the protocol has its own marker
	}
	for name, sign := range v.Members() {
		own := rule.Members[string(name.Text())]
		if lenient.IsThoughtMarker(name, sign) || !statesText(own, maxRuleDepth) && lenient.ContainsThoughtMarker(sign) {
			return statesText(rule, maxRuleDepth)
		}
	}
	return false
}

// maxRuleDepth limits the search for text in rules, which may contain themselves.
const maxRuleDepth = 6

// statesText reports whether a rule allows text at any depth.
func statesText(rule *event.Rule, depth int) bool {
	if rule == nil || rule.FindOnly || depth == 0 {
		return false
	}
	if rule.Fact == event.KindText || statesText(rule.Elements, depth-1) || statesText(rule.String, depth-1) || statesText(rule.AnyMember, depth-1) {
		return true
	}
	for _, within := range []map[string]*event.Rule{rule.Members, rule.ByType} {
		for _, member := range within {
			if statesText(member, depth-1) {
				return true
			}
		}
	}
	return false
}

// marksThought reports whether any reader might take a member for a thought marker: its name is
// one, and its value is neither false nor null.
func marksThought(name, sign strictjson.Value, thought []string) bool {
	yes, isBool := sign.Bool()
	return (yes || !isBool && sign.Kind() != strictjson.Null) && lenient.MatchesAny(name.Text(), thought)
}
