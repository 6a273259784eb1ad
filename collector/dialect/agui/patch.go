package agui

import (
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// mayMakeInternal reports whether a JSON Patch may set a member that names a type to an internal one.
func mayMakeInternal(patch strictjson.Value) bool {
	return sets(patch, func(member []byte, value strictjson.Value) bool {
		return lenient.MatchesAny(member, table.Discriminators) && (!value.Exists() || lenient.IsInternal(value.Text()))
	})
}

// mayMarkThought reports whether a JSON Patch may set a mark of thoughts.
func mayMarkThought(patch strictjson.Value) bool {
	return sets(patch, func(member []byte, value strictjson.Value) bool {
		on, isBool := value.Bool()
		return lenient.NamesThoughtMarker(member) && (on || !isBool)
	})
}

// sets reports whether an operation of a JSON Patch (RFC 6902) sets a member for which matches returns true. Copy and move
// operations do not show the value, so for them the value does not exist.
func sets(patch strictjson.Value, matches func(member []byte, value strictjson.Value) bool) bool {
	for c := range changesOf(patch, nil) {
		if matches([]byte(c.member()), c.value) {
			return true
		}
	}
	return false
}

// isMarkedWork reports whether a frame states or changes a state or an activity in which something, at any depth, is
// marked as a thought. A change may be a piece of that thought.
func (d *decoder) isMarkedWork(k *kind, v strictjson.Value) bool {
	if !k.state && k.entity != entityActivity {
		return false
	}
	marks := lenient.ContainsThoughtMarker(v) || mayMarkThought(v.First("delta", "patch"))
	if k.state {
		d.markedState = marks || d.markedState && k.name != typeStateSnapshot
		return d.markedState
	}
	id := d.name(v.Get(k.idMember))
	if marks {
		d.thoughts.Add(id)
	}
	return d.thoughts.MayContain(id)
}
