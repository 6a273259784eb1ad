package source

import (
	"bytes"
	"io"
	"time"

	"github.com/delegraph/delegraph/collector/budget"
)

// tap is the queue of a copy of a stream's bytes. The relay calls write, the observer reads.
type tap struct {
	*queue[chunk]

	unread    chunk // the rest of the last chunk; only the reader uses it and the fields below
	delivered int   // bytes that Read has returned
	arrived   time.Time
}

type chunk struct {
	bytes []byte
	at    time.Time
}

func newTap(limit int, memory *budget.Account, now func() time.Time, countLost func(reason string, bytes int)) *tap {
	return &tap{queue: newQueue[chunk](limit, memory, now, countLost)}
}

// chunkOverhead is the memory that a chunk takes besides its bytes, in bytes.
const chunkOverhead = 96

// write puts a copy of p into the queue.
func (t *tap) write(p []byte) {
	if len(p) > 0 && !t.discard(len(p)) {
		t.put(chunk{bytes.Clone(p), t.now()}, chunkOverhead+len(p), len(p))
	}
}

// Read waits for the next bytes.
func (t *tap) Read(p []byte) (int, error) {
	if len(t.unread.bytes) == 0 {
		next, ok := t.next()
		if !ok {
			t.arrived, _ = t.ending()
			return 0, io.EOF
		}
		t.unread, t.arrived = next, next.at
	}
	n := copy(p, t.unread.bytes)
	t.unread.bytes = t.unread.bytes[n:]
	t.delivered += n
	return n, nil
}

// giveUp drops the rest of the stream for lack of memory. Only the reader calls it.
func (t *tap) giveUp() {
	rest := len(t.unread.bytes)
	t.unread = chunk{}
	t.abandon(UnobservedMemory, rest)
}

// arrival returns the time at which the last bytes that Read returned were received, or the time of the end.
func (t *tap) arrival() time.Time { return t.arrived }
