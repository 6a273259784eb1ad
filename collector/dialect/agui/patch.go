package agui

import (
	"iter"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// change is what an operation of a JSON Patch (RFC 6902) other than a removal sets.
type change struct {
	path  []string         // without the indices of elements
	value strictjson.Value // does not exist in a copy or move
}

// changesOf yields the changes of a JSON Patch.
func changesOf(patch strictjson.Value) iter.Seq[change] {
	return func(yield func(change) bool) {
		for op := range patch.Elements() {
			c := change{value: op.Get("value")}
			for token := range strings.SplitSeq(op.Get("path").String(), "/") {
				if token != "-" && strings.Trim(token, "0123456789") != "" {
					c.path = append(c.path, unescape.Replace(token))
				}
			}
			if !op.Get("op").Is("remove") && !yield(c) {
				return
			}
		}
	}
}

// member returns the innermost member that is changed, or nil.
func (c *change) member() []byte {
	if len(c.path) == 0 {
		return nil
	}
	return []byte(c.path[len(c.path)-1])
}

// position returns the position of what is changed.
func (c *change) position() (at position) {
	for _, token := range c.path {
		at = at.inside([]byte(token))
	}
	return at
}

// addsWithheld reports whether a JSON Patch of an activity adds something that is withheld, or may do so.
func addsWithheld(patch strictjson.Value) bool {
	for c := range changesOf(patch) {
		member := c.member()
		switch {
		case lenient.MatchesAny(member, table.Discriminators), lenient.MatchesAny(member, table.Labels):
			if !c.value.Exists() || lenient.ContainsInternal(c.value) || lenient.MatchesAny(c.value.Text(), wire.InstructionRoles) {
				return true
			}
		case lenient.MatchesAny(member, roleMembers):
			if !c.value.Exists() || wire.IsInstruction(c.value) {
				return true
			}
		case lenient.MatchesAny(member, metadataMembers) && (namesInternalEvent(c.value) || isInstruction(c.value)):
			return true
		}
		if containsWithheld(c.value, c.position()) {
			return true
		}
	}
	return patch.Kind() != strictjson.Array && containsWithheld(patch, anywhere)
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

// mayMarkThought reports whether a JSON Patch may set a mark of thoughts.
func mayMarkThought(patch strictjson.Value) bool {
	for c := range changesOf(patch) {
		on, isBool := c.value.Bool()
		if lenient.NamesThoughtMarker(c.member()) && (on || !isBool) {
			return true
		}
	}
	return false
}
