package event

import (
	"slices"

	"github.com/delegraph/delegraph/collector/strictjson"
)

// Judgment is what a dialect has decided about what of a frame may leave. It has positions in place of values, so it also applies to
// another batch with the same data.
type Judgment struct {
	internal, publicForm, hasThoughts bool

	cuts         []uint32
	substitutes  map[uint32]string
	textKinds    map[uint32]Kind
	authors      map[uint32][]string
	inputAuthors []string
}

// Judgment returns the judgment of the frame. If it is about more than maxParts parts, the whole frame counts as internal.
func (b *Batch) Judgment(maxParts int) Judgment {
	j := Judgment{internal: b.Internal, publicForm: b.PublicForm, hasThoughts: b.HasThoughts}
	if j.internal {
		return j
	}
	if len(b.Cuts)+len(b.Substitutes)+len(b.TextKinds)+len(b.Authors)+len(b.InputAuthors) > maxParts {
		j.internal = true
		return j
	}
	j.inputAuthors = slices.Clone(b.InputAuthors)
	for part := range b.Cuts {
		at, isIn := part.PositionIn(b.JSON)
		j.cuts, j.internal = append(j.cuts, at), j.internal || !isIn
	}
	j.substitutes, j.internal = byPosition(b, b.Substitutes, j.internal)
	j.textKinds, j.internal = byPosition(b, b.TextKinds, j.internal)
	j.authors, j.internal = byPosition(b, b.Authors, j.internal)
	return j
}

// byPosition returns a map of parts of a frame by their positions. isLost is set if one has none.
func byPosition[V any](b *Batch, parts map[strictjson.Value]V, isLost bool) (map[uint32]V, bool) {
	if len(parts) == 0 {
		return nil, isLost
	}
	positions := make(map[uint32]V, len(parts))
	for part, value := range parts {
		at, isIn := part.PositionIn(b.JSON)
		positions[at], isLost = value, isLost || !isIn
	}
	return positions, isLost
}

// Parts returns the number of parts that the judgment is about.
func (j *Judgment) Parts() int {
	return len(j.cuts) + len(j.substitutes) + len(j.textKinds) + len(j.authors) + len(j.inputAuthors)
}

// Judge replaces the judgment of the frame.
func (b *Batch) Judge(j *Judgment) {
	b.Internal, b.PublicForm, b.HasThoughts = j.internal, j.publicForm, j.hasThoughts
	b.Cuts, b.Substitutes, b.TextKinds, b.Authors, b.InputAuthors = nil, nil, nil, nil, slices.Clone(j.inputAuthors)
	for _, at := range j.cuts {
		b.Cut(b.JSON.At(at))
	}
	for at, substitute := range j.substitutes {
		b.Substitute(b.JSON.At(at), substitute)
	}
	for at, kind := range j.textKinds {
		b.SetTextKind(b.JSON.At(at), kind)
	}
	for at, names := range j.authors {
		b.AddAuthors(b.JSON.At(at), slices.Clone(names)...)
	}
}
