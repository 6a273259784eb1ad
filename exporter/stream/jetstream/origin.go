package jetstream

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strconv"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// How much is remembered of what was heard.
const (
	maxHeard    = 1 << 12 // streams
	maxRepeated = 1 << 16 // frames without an id of their own
)

// origins give every frame an id by which NATS knows it, whoever publishes it. What one alone can hear is known by its stream and its
// place there; what others may hear too, by what all of them can see: source, session, run, the agent's id, and what leaves of the
// frame. Frames that are alike in all that, and have no id of their own, are counted.
type origins struct {
	mu    sync.Mutex
	heard *simplelru.LRU[*replay.Stream, *heard]
	alike *simplelru.LRU[alike, uint64]
}

// heard is where a stream is that others may hear too.
type heard struct {
	id   string // of the agent's, in force at the last frame
	last string // message
}

type alike struct {
	stream *replay.Stream
	sum    [sha256.Size]byte
}

func newOrigins() *origins {
	o := &origins{}
	o.heard, _ = simplelru.NewLRU[*replay.Stream, *heard](maxHeard, nil) // the only error is a size below one
	o.alike, _ = simplelru.NewLRU[alike, uint64](maxRepeated, nil)
	return o
}

// id returns "" for what is not to be published: that we no longer hear a stream does not end it for others.
func (o *origins) id(e *replay.Entry) string {
	switch {
	case e.Stream == nil:
		return rand.Text() // nobody can know it again
	case e.Stream.Nonce != "":
		return e.Stream.Nonce + "-" + strconv.FormatUint(e.Ordinal, 10)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	h, ok := o.heard.Get(e.Stream)
	if !ok {
		h = &heard{}
		o.heard.Add(e.Stream, h)
	}
	if e.Over {
		o.heard.Remove(e.Stream)
		if e.End != event.EndOfStream || h.last == "" {
			return ""
		}
		return h.last + "-over"
	}
	sum := sumOf(e)
	own := len(e.Origin) > 0 && string(e.Origin) != h.id
	h.id, h.last = string(e.Origin), base64.RawURLEncoding.EncodeToString(sum[:16])
	if own {
		return h.last
	}
	key := alike{e.Stream, sum}
	n, _ := o.alike.Get(key)
	o.alike.Add(key, n+1)
	h.last += "-" + strconv.FormatUint(n, 10)
	return h.last
}

// sumOf is taken of nothing but what is published, and the agent's id: a sum of what stays in would let it be guessed.
func sumOf(e *replay.Entry) (sum [sha256.Size]byte) {
	hash := sha256.New()
	var length [8]byte
	for _, part := range [][]byte{[]byte(e.Source), []byte(e.Session), []byte(e.Run), e.Origin, []byte(e.Name), e.Data} {
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		hash.Write(length[:])
		hash.Write(part)
	}
	hash.Sum(sum[:0])
	return sum
}
