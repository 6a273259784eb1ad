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

// Limits of the state kept to compute ids.
const (
	maxSharedStreams = 1 << 12 // streams
	maxRepeats       = 1 << 16 // frames without an agent's id
)

// messageIDs gives every frame an id by which NATS recognizes duplicates, whichever sidecar
// publishes it. A frame of a stream that only one sidecar reads is identified by the stream and its
// position in it. A frame of a shared stream is identified by what all its readers see: source,
// session, run, the agent's id and the filtered frame. Identical frames without an agent's id are
// numbered.
type messageIDs struct {
	mu      sync.Mutex
	shared  *simplelru.LRU[*replay.Stream, *sharedStream]
	repeats *simplelru.LRU[frameKey, uint64]
}

// sharedStream is the state of a stream that several sidecars may read.
type sharedStream struct {
	id   string // the agent's last event id at the last frame
	last string // id of the last message
}

type frameKey struct {
	stream *replay.Stream
	sum    [sha256.Size]byte
}

func newMessageIDs() *messageIDs {
	m := &messageIDs{}
	m.shared, _ = simplelru.NewLRU[*replay.Stream, *sharedStream](maxSharedStreams, nil) // the only possible error is a size below one
	m.repeats, _ = simplelru.NewLRU[frameKey, uint64](maxRepeats, nil)
	return m
}

// id returns the message id of an entry, or "" if the entry must not be published. The end of a shared
// stream is published only if the agent ended the stream: otherwise other processes may still read it.
func (m *messageIDs) id(e *replay.Entry) string {
	switch {
	case e.Stream == nil:
		return rand.Text() // it cannot be recognized as a duplicate
	case e.Stream.Nonce != "":
		return e.Stream.Nonce + "-" + strconv.FormatUint(e.Ordinal, 10)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.shared.Get(e.Stream)
	if !ok {
		s = &sharedStream{}
		m.shared.Add(e.Stream, s)
	}
	if e.StreamEnded {
		m.shared.Remove(e.Stream)
		if e.End != event.EndOfStream && e.End != event.EndUnfinished || s.last == "" {
			return ""
		}
		return s.last + "-over"
	}
	sum := frameHash(e)
	hasOwnID := len(e.EventID) > 0 && string(e.EventID) != s.id
	s.id, s.last = string(e.EventID), base64.RawURLEncoding.EncodeToString(sum[:16])
	if hasOwnID {
		return s.last
	}
	key := frameKey{e.Stream, sum}
	n, _ := m.repeats.Get(key)
	m.repeats.Add(key, n+1)
	s.last += "-" + strconv.FormatUint(n, 10)
	return s.last
}

// frameHash hashes only what is published, and the agent's id: a hash of withheld content would
// allow guessing it.
func frameHash(e *replay.Entry) (sum [sha256.Size]byte) {
	hash := sha256.New()
	var length [8]byte
	for _, part := range [][]byte{[]byte(e.Source), []byte(e.Session), []byte(e.Run), e.EventID, []byte(e.Name), e.Data} {
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		hash.Write(length[:])
		hash.Write(part)
	}
	hash.Sum(sum[:0])
	return sum
}
