package jetstream

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// maxReaderWait is how long a feed that catches up waits for its readers. Slow readers are
// disconnected no later than that.
const maxReaderWait = 5 * time.Second

// backpressure slows down a feed that gets messages faster than its readers read them, so that the furthest
// reader does not fall off the ring: a feed that catches up, or that gets a burst or the backlog of an outage.
type backpressure struct {
	stepBytes      func() int // bytes
	bytesSinceMark int        // bytes since the last mark
	mark           uint64     // the number that must be read before more is added
	read           atomic.Uint64
	progress       chan struct{}
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

// wait blocks after each step until a reader has read the previous step. It returns false if the context is
// done first.
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
			b.bytesSinceMark, b.mark = 0, number
			return true
		case <-ctx.Done():
			return false
		}
	}
	b.bytesSinceMark, b.mark = 0, number
	return true
}
