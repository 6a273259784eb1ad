package collector

import (
	"sync"
	"time"
	"unsafe"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Taken is a frame with its events that stays valid, with all that it borrows, until it is released.
type Taken struct {
	batch event.Batch
	doc   strictjson.Doc
	bytes []byte // of the frame
}

var spare = sync.Pool{New: func() any { return new(Taken) }}

// maxSpare is what one that is kept for the next frame may hold.
const maxSpare = 16 << 10

// keep copies a frame's bytes, which are the reader's own.
func (t *Taken) keep(f sse.Frame) sse.Frame {
	id, name := len(f.ID), len(f.ID)+len(f.Event)
	t.bytes = append(append(append(t.bytes[:0], f.ID...), f.Event...), f.Data...)
	f.ID, f.Event, f.Data = t.bytes[:id:id], t.bytes[id:name:name], t.bytes[name:]
	return f
}

// Bytes is how many bytes the frame took on the wire.
func (t *Taken) Bytes() int { return t.batch.Frame.Size }

// Cost is about how much memory it holds: an index and events can be many times the frame.
func (t *Taken) Cost() int {
	return cap(t.bytes) + t.doc.Cost() + cap(t.batch.Events)*int(unsafe.Sizeof(event.Event{})) + int(unsafe.Sizeof(*t))
}

// Release lets go of it.
func (t *Taken) Release() {
	if t.Cost() > maxSpare {
		return
	}
	clear(t.batch.Events)
	t.batch = event.Batch{Events: t.batch.Events[:0]}
	t.doc.Reset()
	spare.Put(t)
}

// Take gives the last batch away, where the input is Lasting. It may be called once for each.
func (d *Decoding) Take() *Taken {
	t := d.at
	d.at = spare.Get().(*Taken)
	return t
}

// Deliver hands a stream that is decoded elsewhere to the sink, from Sink.Open to Sink.Close. Next waits for a frame, and says with
// nil that there are no more; then end says how the stream ended, and when.
func (c *Collector) Deliver(s *event.Stream, next func() *Taken, end func() (event.End, time.Time)) {
	c.sink.Open(s)
	how, at := event.EndUnobserved, s.Opened // unless we get to the end
	defer func() { c.sink.Close(s, how, at) }()
	for t := next(); t != nil; t = next() {
		at = t.batch.Received
		s.Dialect, t.batch.Stream = t.batch.Stream.Dialect, s // whoever decodes has a stream of its own: it goes on meanwhile
		c.sink.Consume(&t.batch)
		t.Release()
	}
	how, at = end()
}
