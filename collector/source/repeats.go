package source

import (
	"hash/maphash"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/delegraph/delegraph/collector/sse"
)

// remembered is how many frames of a stream are known again: more than any server is known to send once more.
const remembered = 1000

// repeats knows a stream's last frames again. An id alone does not tell: some servers count from one again with each turn. The
// same id with the same data does, as many times as an earlier connection brought it: within one connection nothing comes again.
type repeats struct {
	seed       maphash.Seed
	last       *simplelru.LRU[uint64, tally]
	connection int
}

// tally is how often a frame came: most, on a connection that is over, and on that which is numbered.
type tally struct{ before, now, connection int }

func newRepeats() *repeats {
	// The only error is a size below one.
	last, _ := simplelru.NewLRU[uint64, tally](remembered, nil)
	return &repeats{seed: maphash.MakeSeed(), last: last}
}

// note begins a connection: it remembers the frames and knows those that came before it.
func (r *repeats) note(repeated func()) func(sse.Frame) bool {
	r.connection++
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
		t, _ := r.last.Peek(key)
		if t.connection != r.connection {
			t = tally{before: max(t.before, t.now), connection: r.connection}
		}
		t.now++
		r.last.Add(key, t)
		if t.now > t.before {
			return false
		}
		repeated()
		return true
	}
}
