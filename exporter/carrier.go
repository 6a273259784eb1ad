package exporter

import (
	"sync"

	"github.com/delegraph/delegraph/collector/event"
)

// carrier is a stream on which the next sink sees open runs. The stream of a session may carry several. The next sink sees
// the stream close once its source has closed it and all of these runs have ended.
type carrier struct {
	stream *event.Stream
	mu     sync.Mutex // held while the next sink is called with the stream

	// The lock of the Deduplicator guards these.
	runs   int
	closed bool // by its source
}

// carry adds a run to those that the next sink sees on a stream. The caller holds the lock.
func (s *Deduplicator) carry(run *sharedRun, stream *event.Stream) {
	if s.carriers[stream] == nil {
		s.carriers[stream] = run.carrier
	}
	run.carrier.runs++
}

// carrierOf returns the carrier of a stream, or a new one. The caller holds the lock.
func (s *Deduplicator) carrierOf(stream *event.Stream) *carrier {
	if known := s.carriers[stream]; known != nil {
		return known
	}
	return &carrier{stream: stream}
}

// uncarry removes an ended run from its carrier, and reports whether the next sink must see the carrier close. The caller
// holds the lock.
func (s *Deduplicator) uncarry(run *sharedRun) (closes bool) {
	c := run.carrier
	if c.runs--; c.runs > 0 {
		return false
	}
	delete(s.carriers, c.stream)
	return c.closed
}

// pass passes on a frame that only its own stream can bring. Other streams may bring frames of a run that it carries at the
// same time.
func (s *Deduplicator) pass(b *event.Batch) {
	s.mu.Lock()
	c := s.carriers[b.Stream]
	s.mu.Unlock()
	if c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
	}
	s.next.Consume(b)
}
