package collector

import (
	"sync"
	"time"

	"github.com/delegraph/delegraph/collector/event"
)

// batchPool holds batches for reuse.
var batchPool = sync.Pool{New: func() any { return new(event.Batch) }}

// maxPooledBatch bounds the size of a batch that is reused. All of it counts against the next queue that
// the batch waits in.
const maxPooledBatch = 16 << 10

// recycle returns a batch to the pool unless it is large. Nothing may refer to the batch any more.
func recycle(b *event.Batch) {
	if b.MemorySize() <= maxPooledBatch {
		b.Reset()
		batchPool.Put(b)
	}
}

// Detach returns the last batch, which then stays valid while the stream continues. Call it at most once
// for each batch.
func (d *StreamDecoder) Detach() *event.Batch {
	b := d.last
	d.last = nil
	return b
}

// recycleLast recycles the last batch, unless it was detached.
func (d *StreamDecoder) recycleLast() {
	if d.last != nil {
		recycle(d.last)
		d.last = nil
	}
}

// Deliver passes the batches of a stream that is decoded elsewhere to the sink, from Sink.Open to
// Sink.Close. next returns the next detached batch, or nil at the end. Deliver recycles each batch after
// the sink has consumed it. After the last batch, Deliver calls end, which returns why and when the
// stream ended.
func (c *Collector) Deliver(s *event.Stream, next func() *event.Batch, end func() (event.End, time.Time)) {
	c.sink.Open(s)
	reason, at := event.EndUnobserved, s.OpenedAt // if a panic ends the loop
	defer func() { c.sink.Close(s, reason, at) }()
	for b := next(); b != nil; b = next() {
		at = b.Received
		if s.Dialect != b.Dialect {
			s.Dialect = b.Dialect // set it only once: other streams of the run may read it from then on
		}
		b.Stream = s // the decoder has its own copy, which may change meanwhile
		c.consume(b)
		recycle(b)
	}
	reason, at = end()
}
