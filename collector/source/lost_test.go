package source

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/event"
)

// TestLostStreamsTakeNoMemory checks that, after a queue has overflowed, the rest of the stream is neither copied nor kept in batches. With
// many stalled readers, these copies were nine tenths of all allocations.
func TestLostStreamsTakeNoMemory(t *testing.T) {
	const frames, limit = 1000, 1 // bytes: no element fits
	allocated := func(pass func()) float64 { return testing.AllocsPerRun(1, pass) }

	lost := 0
	unseen := func(_ string, bytes int) { lost += bytes }
	copied := newTap(limit, nil, time.Now, unseen)
	copied.write([]byte("data: first\n\n"))
	piece := []byte("data: next\n\n")
	if n := allocated(func() {
		for range frames {
			copied.write(piece)
		}
	}); n > 0 || lost != len("data: first\n\n")+2*frames*len(piece) {
		t.Errorf("verbatim: %v allocations for %d pieces, with %d bytes lost", n, frames, lost)
	}

	wire := strings.Repeat(yes, frames)
	lost = 0
	n := allocated(func() {
		r := relay(strings.NewReader(wire), false)
		r.queue = newQueue[*event.Batch](limit, nil, time.Now, unseen)
		if _, err := io.Copy(io.Discard, r); err != nil {
			t.Error(err)
		}
	})
	if n > frames || lost != 2*len(wire) {
		t.Errorf("filtered: %v allocations for %d frames, with %d of %d bytes lost", n, frames, lost, 2*len(wire))
	}
}
