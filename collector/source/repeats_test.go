package source

import (
	"strconv"
	"testing"

	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/sse"
)

// TestLongHistory checks that no frame counts twice if a server sends its history again on each connection, up to the number of frames
// that are remembered, and that this number is limited.
func TestLongHistory(t *testing.T) {
	memory := budget.New(1 << 30)
	account := memory.Account("tails", 1, 1)
	frame := func(i int) sse.Frame {
		return sse.Frame{ID: []byte(strconv.Itoa(i)), Event: []byte("message"), Data: []byte("data")}
	}
	r := newRepeatDetector(account)
	repeated := 0
	sent := 0
	for connection, until := range []int{maxRecent / 2, maxRecent, maxRecent + 10, 2 * maxRecent} {
		known := r.startConnection(func() { repeated++ })
		for i := range until {
			if is := known(frame(i)); is != (i < sent) {
				t.Fatalf("connection %d, frame %d of %d: known is %t", connection, i, sent, is)
			}
		}
		sent = until
	}
	if want := maxRecent/2 + maxRecent + maxRecent + 10; repeated != want {
		t.Errorf("%d frames are counted as repeated, want %d", repeated, want)
	}
	known := r.startConnection(func() {})
	for i := range 10 * maxRecent {
		known(frame(-1 - i))
	}
	if used, limit := memory.Usage()[0].Bytes, int64(2*maxRecent*tallySize); used > limit || len(r.recent)+len(r.older) > 2*maxRecent {
		t.Errorf("%d frames take %d bytes, want at most %d", len(r.recent)+len(r.older), used, limit)
	}
	if r.close(); memory.Usage()[0].Bytes != 0 {
		t.Errorf("%d bytes are charged after the end", memory.Usage()[0].Bytes)
	}
}
