package filter

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// thoughtInfo holds what a rule implies for thoughts. It is computed once per rule.
type thoughtInfo struct {
	statesText bool              // the rule allows text at any depth
	markers    lenient.Prefilter // of the rule's thought markers, and of the members that may contain them
}

// thoughtInfo returns the thoughtInfo of a rule, and computes it if needed.
func (e *encoder) thoughtInfo(rule *event.Rule) *thoughtInfo {
	info := e.thoughtInfos[rule]
	if info == nil {
		info = &thoughtInfo{statesText: statesText(rule, maxRuleDepth)}
		info.markers.Add(rule.ThoughtMarkers)
		info.markers.Add(rule.ThoughtMarkersIn)
		if e.thoughtInfos == nil {
			e.thoughtInfos = map[*event.Rule]*thoughtInfo{}
		}
		e.thoughtInfos[rule] = info
	}
	return info
}

// isThought reports whether any client might take an object for a thought.
func (e *encoder) isThought(v strictjson.Value, rule *event.Rule) bool {
	if len(rule.ThoughtMarkers) == 0 {
		return false
	}
	markers := &e.thoughtInfo(rule).markers
	for name, value := range v.Members() {
		if !markers.MayMatch(name.Text()) {
			continue
		}
		if marksThought(name, value, rule.ThoughtMarkers) {
			return true
		}
		if !lenient.MatchesAny(name.Text(), rule.ThoughtMarkersIn) {
			continue
		}
		for name, value := range value.Members() {
			if marksThought(name, value, rule.ThoughtMarkers) {
				return true
			}
		}
	}
	return false
}

// hidesThoughts reports whether thoughts may not pass.
func (e *encoder) hidesThoughts() bool { return e.hiddenKinds&kindBit(event.KindThought) != 0 }

// hasThoughtMarker reports whether an object has a thought marker that many protocols use.
func hasThoughtMarker(v strictjson.Value) bool {
	for name, value := range v.Members() {
		if lenient.IsThoughtMarker(name, value) {
			return true
		}
	}
	return false
}

// hasForeignMarker reports whether an object that may have text has a thought marker that its own protocol does not
// define. Then the text may be a thought instead of an answer. The marker may also be inside a member that has no text, such
// as the metadata of a model's provider.
func (e *encoder) hasForeignMarker(v strictjson.Value, rule *event.Rule) bool {
	if !e.thoughtInfo(rule).statesText {
		return false
	}
	if len(rule.ThoughtMarkers) > 0 {
		return hasUnlistedMarker(v, rule)
	}
	for name, value := range v.Members() {
		if lenient.IsThoughtMarker(name, value) {
			return true
		}
		if !lenient.ContainsThoughtMarker(value) {
			continue
		}
		if member := memberRule(rule, name, value); member == nil || !member.OwnMarkers && !e.thoughtInfo(member).statesText {
			return true
		}
	}
	return false
}

// hasUnlistedMarker reports whether an object, or a member that may contain its marker, has a marker that its protocol
// does not define. The filter writes only the protocol's own markers, so the thought would pass without a marker.
func hasUnlistedMarker(v strictjson.Value, rule *event.Rule) bool {
	for name, value := range v.Members() {
		if lenient.IsThoughtMarker(name, value) && !lenient.MatchesAny(name.Text(), rule.ThoughtMarkers) {
			return true
		}
		if lenient.MatchesAny(name.Text(), rule.ThoughtMarkersIn) && hasUnlistedMarker(value, rule) {
			return true
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

// marksThought reports whether any client might take a member for a thought marker. A client may if the name is one of the
// markers and the value is neither false nor null.
func marksThought(name, value strictjson.Value, markers []string) bool {
	yes, isBool := value.Bool()
	return (yes || !isBool && value.Kind() != strictjson.Null) && lenient.MatchesAny(name.Text(), markers)
}
