package stream

import (
	"context"
	"fmt"

	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// Store keeps what is published, and says where a reader begins to read it. Reading itself is always the same: by a cursor in a ring.
// Its methods may be called at once.
type Store interface {
	// Publish takes an entry for those who read now and for those who come back. It waits for nobody, and keeps nothing of the entry
	// but copies.
	Publish(replay.Entry)

	// Attach finds the place of a reader: behind the id that it had last, or at the end where it had none. It may wait until the
	// context is done.
	Attach(ctx context.Context, q replay.Query, lastEventID string) (Place, Refusal)

	// Stats says what is held here.
	Stats() replay.Stats
}

// Place is where a reader begins.
type Place struct {
	Ring    *replay.Ring
	Cursor  replay.Cursor
	Gap     *replay.Gap         // what the reader is told first; nil where it misses nothing
	Over    <-chan struct{}     // closed when nothing comes into this ring any more; nil: never
	Read    func(replay.Cursor) // told how far the reader has read; nil where nobody asks
	Release func()              // called when the reader has left
}

// memory is the Store of one process: one ring for all.
type memory struct {
	ring    *replay.Ring
	dropped func(replay.Drop)
}

// NewMemory makes a Store of one ring. What it cannot publish, it tells of.
func NewMemory(s replay.Settings, dropped func(replay.Drop)) (Store, error) {
	ring, err := replay.New(s)
	if err != nil {
		return nil, fmt.Errorf("stream: %w", err)
	}
	return &memory{ring: ring, dropped: dropped}, nil
}

func (m *memory) Publish(e replay.Entry) {
	if drop := m.ring.Publish(e); drop != replay.NotDropped {
		m.dropped(drop)
	}
}

func (m *memory) Attach(_ context.Context, _ replay.Query, lastEventID string) (Place, Refusal) {
	place := Place{Ring: m.ring, Release: func() {}}
	if lastEventID == "" {
		place.Cursor = m.ring.Head()
	} else {
		place.Cursor, place.Gap = m.ring.Resume(lastEventID)
	}
	return place, NotRefused
}

func (m *memory) Stats() replay.Stats { return m.ring.Stats() }
