package stream

import (
	"context"
	"fmt"

	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// Store holds published entries and says where a reader starts. Every reader reads from a replay.Ring with
// a cursor. A Store's methods may be called concurrently.
type Store interface {
	// Publish stores an entry for current and resuming readers. It does not block, and copies what
	// it keeps.
	Publish(replay.Entry)

	// Attach returns the position of a reader. It may block until the context is done.
	Attach(context.Context, Request) (Attachment, Refusal)

	// Stats returns statistics of the entries that this process holds.
	Stats() replay.Stats
}

// Request selects what a reader gets and where it starts.
type Request struct {
	Query       replay.Query
	Shard       string // name of the shard to read; "": the shard of the query's session
	LastEventID string // the reader starts after this id; "": at the end of the store
	Earlier     bool   // the reader needs the frames before its position (replay.Ring.EarlierFrames)
}

// Attachment is the position at which a reader starts.
type Attachment struct {
	Ring    *replay.Ring
	Cursor  replay.Cursor
	Gap     *replay.Gap         // sent to the reader first; nil if it misses nothing
	Done    <-chan struct{}     // closed once the ring gets no more entries; nil: never
	OnRead  func(replay.Cursor) // called with the reader's progress; may be nil
	Moved   <-chan struct{}     // closed once the session is in another shard; nil: never
	Release func()              // the reader must call it when it is done

	// If the request was refused:

	Location string   // with OtherShard, the address of a gateway that serves the shard, without a final slash; "" if none is known
	Shards   []string // with ShardRequired and UnknownShard, the names of all shards
}

// memoryStore is the Store of one process: a single ring.
type memoryStore struct {
	ring    *replay.Ring
	dropped func(replay.Drop)
}

// NewMemory returns a Store with a single ring in memory. It calls dropped for each entry that
// cannot be published.
func NewMemory(s replay.Settings, dropped func(replay.Drop)) (Store, error) {
	ring, err := replay.New(s)
	if err != nil {
		return nil, fmt.Errorf("stream: %w", err)
	}
	return &memoryStore{ring: ring, dropped: dropped}, nil
}

func (m *memoryStore) Publish(e replay.Entry) {
	if drop := m.ring.Publish(e); drop != replay.NotDropped {
		m.dropped(drop)
	}
}

func (m *memoryStore) Attach(_ context.Context, r Request) (Attachment, Refusal) {
	if r.Shard != "" {
		return Attachment{}, UnknownShard
	}
	at := Attachment{Ring: m.ring, Release: func() {}}
	if r.LastEventID == "" {
		at.Cursor = m.ring.Head()
	} else {
		at.Cursor, at.Gap = m.ring.Resume(r.LastEventID)
	}
	return at, NotRefused
}

func (m *memoryStore) Stats() replay.Stats { return m.ring.Stats() }
