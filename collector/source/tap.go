package source

import (
	"bytes"
	"io"
	"time"

	"github.com/delegraph/delegraph/collector/budget"
)

// tap carries a copy of a stream's bytes aside.
type tap struct {
	*queue[chunk]

	reading chunk // the reader's own, as what follows
	given   int   // bytes read
	arrived time.Time
}

type chunk struct {
	bytes []byte
	at    time.Time
}

func newTap(limit int, memory *budget.Account, now func() time.Time, unseen func(reason string, bytes int)) *tap {
	return &tap{queue: newQueue[chunk](limit, memory, now, unseen)}
}

// chunkOverhead is what a chunk takes in memory beside its bytes.
const chunkOverhead = 96

// copy hands a copy of p to the observer.
func (t *tap) copy(p []byte) {
	if len(p) > 0 && !t.skip(len(p)) {
		t.put(chunk{bytes.Clone(p), t.now()}, chunkOverhead+len(p), len(p))
	}
}

// Read waits for the next bytes.
func (t *tap) Read(p []byte) (int, error) {
	if len(t.reading.bytes) == 0 {
		next, ok := t.take()
		if !ok {
			t.arrived, _ = t.end()
			return 0, io.EOF
		}
		t.reading, t.arrived = next, next.at
	}
	n := copy(p, t.reading.bytes)
	t.reading.bytes = t.reading.bytes[n:]
	t.given += n
	return n, nil
}

// arrival is when the bytes last read were received; at the end, when that came.
func (t *tap) arrival() time.Time { return t.arrived }
