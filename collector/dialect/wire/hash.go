package wire

import (
	"hash/maphash"

	"github.com/delegraph/delegraph/collector/dialect"
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
