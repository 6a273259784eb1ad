package lenient

import "github.com/delegraph/delegraph/collector/strictjson"

// thoughtMarkers mark an object with text as a thought, whatever the protocol: an agent may set them
// even if its protocol has no marker.
var thoughtMarkers = []string{"thought", "adk_thought"}

// IsThoughtMarker reports whether a member marks the object that contains it as a thought in every
// protocol.
func IsThoughtMarker(name, sign strictjson.Value) bool {
	return NamesThoughtMarker(name.Text()) && isTrue(sign)
}

// NamesThoughtMarker reports whether a member of this name marks the object that contains it as a thought, if its
// value is true.
func NamesThoughtMarker(name []byte) bool { return MatchesAny(name, thoughtMarkers) }

// ContainsThoughtMarker reports whether v contains such a member at any depth.
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

func isTrue(v strictjson.Value) bool {
	if v.Kind() == strictjson.Number {
		n, whole := v.Int()
		return !whole || n != 0
	}
	on, _ := v.Bool()
	return on || MatchesAny(v.Text(), []string{"true", "yes", "1"})
}
