package jetstream

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// patience is how long a feed that catches up waits for its readers. None of them takes longer to be disconnected.
const patience = 5 * time.Second

// pace holds a feed back that catches up, so that the reader that is furthest does not fall off the ring. What is live waits for nobody.
type pace struct {
	step    func() int // bytes
	since   int        // bytes since the last mark
	mark    uint64     // the number that must be read before there is more
	read    atomic.Uint64
	further chan struct{}
}

func newPace(step func() int) pace { return pace{step: step, further: make(chan struct{}, 1)} }

// reached notes how far a reader has read.
func (p *pace) reached(c replay.Cursor) {
	for {
		before := p.read.Load()
		if c.Number() <= before {
			return
		}
		if p.read.CompareAndSwap(before, c.Number()) {
			break
		}
	}
	select {
	case p.further <- struct{}{}:
	default:
	}
}

// wait waits after each step until the one before it was read; false where the context is done first.
func (p *pace) wait(ctx context.Context, number uint64, size int) bool {
	if p.since += size; p.since < p.step() {
		return true
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for p.read.Load() < p.mark {
		select {
		case <-p.further:
		case <-timer.C:
			p.since, p.mark = 0, number
			return true
		case <-ctx.Done():
			return false
		}
	}
	p.since, p.mark = 0, number
	return true
}
