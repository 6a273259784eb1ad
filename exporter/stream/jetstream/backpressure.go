package jetstream

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// maxReaderWait bounds the time for which a feed that catches up waits for its readers.
const maxReaderWait = 5 * time.Second

// backpressure slows down a feed that gets messages faster than its readers read them: one that catches up, or
// gets a burst or the backlog of an outage. This keeps the ring from evicting frames that no reader has read.
type backpressure struct {
	stepBytes      func() int // bytes between two marks
	bytesSinceMark int
	mark           uint64        // the number that a reader must have read before more bytes than a step are added
	read           atomic.Uint64 // the highest number that a reader has read
	progress       chan struct{} // has an element after read has grown
}

func newBackpressure(step func() int) backpressure {
	return backpressure{stepBytes: step, progress: make(chan struct{}, 1)}
}

// onRead records the progress of a reader.
func (b *backpressure) onRead(c replay.Cursor) {
	for {
		before := b.read.Load()
		if c.Number() <= before {
			return
		}
		if b.read.CompareAndSwap(before, c.Number()) {
			break
		}
	}
	select {
	case b.progress <- struct{}{}:
	default:
	}
}

// wait records a message. After each step it blocks until a reader has read the previous step, for at most
// maxReaderWait. It returns false if the context is done first.
func (b *backpressure) wait(ctx context.Context, number uint64, size int) bool {
	if b.bytesSinceMark += size; b.bytesSinceMark < b.stepBytes() {
		return true
	}
	timer := time.NewTimer(maxReaderWait)
	defer timer.Stop()
	for b.read.Load() < b.mark {
		select {
		case <-b.progress:
		case <-timer.C:
			b.mark = 0 // do not wait any longer
		case <-ctx.Done():
			return false
		}
	}
	b.bytesSinceMark, b.mark = 0, number
	return true
}
