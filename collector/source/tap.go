package source

import (
	"io"
	"sync"
	"time"
)

// tap carries a copy of a stream's bytes from the path to the client to whoever observes it. Writing never blocks: when the
// observer has fallen behind by the limit, it loses the rest of the stream.
type tap struct {
	limit int
	now   func() time.Time

	mu       sync.Mutex
	ready    sync.Cond
	chunks   []chunk
	size     int
	lost     int
	closed   bool
	overflow bool
	ended    time.Time // when no more came, or could be kept

	reading chunk // the reader's own, as what follows
	given   int   // bytes read
	arrived time.Time
}

type chunk struct {
	bytes []byte
	at    time.Time
}

func newTap(limit int, now func() time.Time) *tap {
	t := &tap{limit: limit, now: now}
	t.ready.L = &t.mu
	return t
}

// put hands a copy of p to the observer.
func (t *tap) put(p []byte) {
	if len(p) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.overflow || t.size+len(p) > t.limit {
		if !t.overflow {
			t.overflow, t.ended = true, t.now()
		}
		t.lost += len(p)
		t.ready.Signal()
		return
	}
	t.chunks = append(t.chunks, chunk{append([]byte(nil), p...), t.now()})
	t.size += len(p)
	t.ready.Signal()
}

// close says that no byte follows.
func (t *tap) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	if !t.overflow {
		t.ended = t.now()
	}
	t.ready.Signal()
}

// Read waits for the next bytes. After an overflow it ends: what follows the gap could not be understood.
func (t *tap) Read(p []byte) (int, error) {
	if len(t.reading.bytes) == 0 {
		t.mu.Lock()
		for len(t.chunks) == 0 && !t.closed && !t.overflow {
			t.ready.Wait()
		}
		if len(t.chunks) == 0 {
			t.arrived = t.ended
			t.mu.Unlock()
			return 0, io.EOF
		}
		t.reading, t.chunks = t.chunks[0], t.chunks[1:]
		t.size -= len(t.reading.bytes)
		t.mu.Unlock()
		t.arrived = t.reading.at
	}
	n := copy(p, t.reading.bytes)
	t.reading.bytes = t.reading.bytes[n:]
	t.given += n
	return n, nil
}

// arrival is when the bytes last read were received; at the end, when that came.
func (t *tap) arrival() time.Time { return t.arrived }

// unobserved is how many bytes the observer lost.
func (t *tap) unobserved() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lost
}

func (t *tap) isClosed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.closed
}
