package collector

import (
	"sync"
	"time"

	"github.com/delegraph/delegraph/collector/event"
)

// spare holds batches for reuse.
var spare = sync.Pool{New: func() any { return new(event.Batch) }}

// maxSpare is the size up to which a batch is kept for reuse. All of it counts against the queue in which the batch waits next.
const maxSpare = 16 << 10

// recycle keeps a batch to which nothing refers any more for reuse, unless it is large.
func recycle(b *event.Batch) {
	if b.Cost() <= maxSpare {
		b.Reset()
		spare.Put(b)
	}
}

// Detach returns the last batch and gives it up: it stays valid while the stream goes on. Call it at most once for each batch.
func (d *Decoding) Detach() *event.Batch {
	b := d.at
	d.at = nil
	return b
}

// release recycles the last batch, unless it was detached.
func (d *Decoding) release() {
	if d.at != nil {
		recycle(d.at)
		d.at = nil
	}
}

// Deliver hands the batches of a stream that is decoded elsewhere to the sink, from Sink.Open to Sink.Close. next returns the next
// detached batch, which is reused after the sink has consumed it, or nil at the end. Then end returns how and when the stream ended.
func (c *Collector) Deliver(s *event.Stream, next func() *event.Batch, end func() (event.End, time.Time)) {
	c.sink.Open(s)
	how, at := event.EndUnobserved, s.Opened // unless we get to the end
	defer func() { c.sink.Close(s, how, at) }()
	for b := next(); b != nil; b = next() {
		at = b.Received
		if s.Dialect != b.Dialect {
			s.Dialect = b.Dialect // once: other streams of the same run may read it from then on
		}
		b.Stream = s // the decoding side has a stream of its own, which goes on meanwhile
		c.consume(b)
		recycle(b)
	}
	how, at = end()
}
