package source

import (
	"hash/maphash"

	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/sse"
)

const (
	maxRecent = 16 << 10 // frames of a stream that are always remembered, more than known servers keep
	tallySize = 48       // approximate size of a remembered frame in bytes
)

// repeatDetector recognizes frames that a server sends again after a reconnection: some servers send all frames of a stream. An id alone
// is not enough: some servers restart at one in each turn. The nth frame with an id, event and data on this connection is a repeat if
// some earlier connection had at least n of them.
type repeatDetector struct {
	seed          maphash.Seed
	memory        *budget.Account
	recent, older map[uint64]tally // by hash of the frame; at most maxRecent each
	connection    uint32
}

// tally counts the occurrences of a frame on connections.
type tally struct {
	before     uint32 // the maximum on an earlier connection
	current    uint32 // on the last connection that had the frame
	connection uint32 // number of that connection
}

// newRepeatDetector returns a detector that charges its memory to an account until it is closed.
func newRepeatDetector(memory *budget.Account) *repeatDetector {
	return &repeatDetector{seed: maphash.MakeSeed(), memory: memory, recent: map[uint64]tally{}}
}

func (r *repeatDetector) close() {
	r.memory.Release(tallySize * (len(r.recent) + len(r.older)))
	r.recent, r.older = nil, nil
}

func (r *repeatDetector) get(key uint64) tally {
	if t, ok := r.recent[key]; ok {
		return t
	}
	return r.older[key]
}

// set remembers a frame. Only frames that are not known yet push others out. Otherwise, the first frames of a history that a server
// sends again would push out its later frames before these come.
func (r *repeatDetector) set(key uint64, t tally) {
	if _, isOlder := r.older[key]; isOlder {
		r.older[key] = t
		return
	}
	if _, isRecent := r.recent[key]; !isRecent {
		if len(r.recent) == maxRecent {
			r.memory.Release(tallySize * len(r.older))
			r.older, r.recent = r.recent, map[uint64]tally{}
		}
		r.memory.Charge(tallySize)
	}
	r.recent[key] = t
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
		t := r.get(key)
		if t.connection != r.connection {
			t = tally{before: max(t.before, t.current), connection: r.connection}
		}
		t.current++
		r.set(key, t)
		if t.current > t.before {
			return false
		}
		repeated()
		return true
	}
}
