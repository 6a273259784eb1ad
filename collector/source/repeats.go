package source

import (
	"hash/maphash"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/delegraph/delegraph/collector/sse"
)

// remembered is how many frames of a stream are known again: more than any server is known to send once more.
const remembered = 1000

// repeats knows a stream's last frames again. An id alone does not tell: some servers count from one again with each turn. The
// same id with the same data does.
type repeats struct {
	seed maphash.Seed
	last *simplelru.LRU[uint64, struct{}]
}

func newRepeats() *repeats {
	// The only error is a size below one.
	last, _ := simplelru.NewLRU[uint64, struct{}](remembered, nil)
	return &repeats{seed: maphash.MakeSeed(), last: last}
}

// note remembers a connection's frames and, on one that is not the first, knows those that were there before.
func (r *repeats) note(again bool, repeated func()) func(sse.Frame) bool {
	return func(f sse.Frame) bool {
		if len(f.ID) == 0 {
			return false
		}
		var sum maphash.Hash
		sum.SetSeed(r.seed)
		sum.Write(f.ID)
		sum.WriteByte(0)
		sum.Write(f.Event)
		sum.WriteByte(0)
		sum.Write(f.Data)
		key := sum.Sum64()
		known := again && r.last.Contains(key)
		r.last.Add(key, struct{}{})
		if known {
			repeated()
		}
		return known
	}
}
