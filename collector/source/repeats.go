package source

import (
	"hash/maphash"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/delegraph/delegraph/collector/sse"
)

// maxRemembered is the number of frames of a stream that are remembered: more than any known server sends
// again.
const maxRemembered = 1000

// repeatDetector recognizes frames that a server sends again after a reconnection. An id alone is not
// enough: some servers restart at one in each turn. A frame is repeated if an earlier connection had the same id, event
// and data at least as often as the current one so far.
type repeatDetector struct {
	seed       maphash.Seed
	tallies    *simplelru.LRU[uint64, tally] // by hash of the frame
	connection int
}

// tally counts the occurrences of a frame on connections.
type tally struct {
	before     int // the maximum on an earlier connection
	current    int // on the last connection that had the frame
	connection int // number of that connection
}

func newRepeatDetector() *repeatDetector {
	// The only error is a size below one.
	tallies, _ := simplelru.NewLRU[uint64, tally](maxRemembered, nil)
	return &repeatDetector{seed: maphash.MakeSeed(), tallies: tallies}
}

// startConnection starts a connection. The returned function remembers a frame and reports whether it is
// repeated. It calls repeated for such a frame.
func (r *repeatDetector) startConnection(repeated func()) func(sse.Frame) bool {
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
		t, _ := r.tallies.Peek(key)
		if t.connection != r.connection {
			t = tally{before: max(t.before, t.current), connection: r.connection}
		}
		t.current++
		r.tallies.Add(key, t)
		if t.current > t.before {
			return false
		}
		repeated()
		return true
	}
}
