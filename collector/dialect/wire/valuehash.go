package wire

import (
	"bytes"
	"hash/maphash"
	"math"
	"slices"
	"strconv"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// hashValue returns a hash of what a value says, or 0 if it is empty. Members count in any order, a text with JSON counts as that JSON, and
// a number as its text in any spelling. White space does not count, because agents trim texts.
func hashValue(b *event.Batch, v strictjson.Value) uint64 {
	hash, _ := hashTelling(b, v)
	return hash
}

// hashTelling is hashValue. isTelling is as of walkValue.
func hashTelling(b *event.Batch, v strictjson.Value) (hash uint64, isTelling bool) {
	return walkValue(b, v, false, func(...string) bool { return false }, func(uint64, bool) {})
}

// walkValue calls visit for a value and for each member and element in it, at any depth, with its hash. mayCount says that the value is
// related, or telling: it has a text or number that few values have. Elements are related if their list is, and members if isNamed says so
// of their names.
func walkValue(b *event.Batch, v strictjson.Value, isRelated bool, isNamed func(...string) bool, visit func(hash uint64, mayCount bool)) (hash uint64, isTelling bool) {
	v = embedded(b, v)
	for name, member := range v.Members() {
		inner, tells := walkValue(b, member, isNamed(name.String()), isNamed, visit)
		hash += maphash.Comparable(seed, [2]uint64{maphash.Bytes(seed, name.Text()), inner})
		isTelling = isTelling || tells
	}
	for element := range v.Elements() {
		inner, tells := walkValue(b, element, isRelated, isNamed, visit)
		hash = maphash.Comparable(seed, [2]uint64{hash, inner})
		isTelling = isTelling || tells
	}
	switch v.Kind() {
	case strictjson.String:
		words := appendWords(nil, v.Text(), maxWithheldLine)
		hash, isTelling = hashText(v.Text()), len(words) >= minWithheldLine && !slices.Contains(genericLines, string(words))
	case strictjson.Number, strictjson.Bool:
		hash, isTelling = hashText(v.Raw()), len(v.Raw()) >= minWithheldLine && v.Kind() == strictjson.Number
	}
	visit(hash, isRelated || isTelling)
	return hash, isTelling
}

// embedded returns the JSON in a text, or the value itself.
func embedded(b *event.Batch, v strictjson.Value) strictjson.Value {
	if text := bytes.TrimSpace(v.Text()); len(text) > 0 && bytes.IndexByte([]byte(`{["`), text[0]) >= 0 {
		return b.Embedded(v)
	}
	return v
}

// hashText returns a hash of a text, or 0 if it is blank.
func hashText(text []byte) uint64 {
	if number, err := strconv.ParseFloat(string(text), 64); err == nil {
		return maphash.Comparable(seed, math.Float64bits(number))
	}
	var h maphash.Hash
	h.SetSeed(seed)
	isBlank := true
	for word := range bytes.FieldsSeq(text) {
		_, _ = h.Write(word) // never fails
		isBlank = false
	}
	if isBlank {
		return 0
	}
	return h.Sum64()
}
