package wire

import (
	"hash/maphash"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/strictjson"
)

var seed = maphash.MakeSeed()

// ContentHash returns a hash of a frame's event name and data, for protocols that send the same frame on
// every stream of a run. It never returns 0.
func ContentHash(f dialect.Frame) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	_, _ = h.Write(f.Event)
	_ = h.WriteByte(0)
	_, _ = h.Write(f.Data)
	return h.Sum64() | 1
}

// Hash returns a hash of a name, or 0 if it is empty.
func Hash(name string) uint64 {
	if name == "" {
		return 0
	}
	return maphash.String(seed, name) | 1
}

// ExactHash returns a hash of a value, for comparison within the process. Members count in any order, texts in any spelling of
// their characters, and numbers as they are written.
func ExactHash(v strictjson.Value) (hash uint64) {
	switch v.Kind() {
	case strictjson.Object:
		for name, member := range v.Members() {
			hash += maphash.Comparable(seed, [2]uint64{maphash.Bytes(seed, name.Text()), ExactHash(member)})
		}
	case strictjson.Array:
		for element := range v.Elements() {
			hash = maphash.Comparable(seed, [2]uint64{hash, ExactHash(element)})
		}
	case strictjson.String:
		hash = maphash.Bytes(seed, v.Text())
	default:
		hash = maphash.Bytes(seed, v.Raw())
	}
	return hash
}
