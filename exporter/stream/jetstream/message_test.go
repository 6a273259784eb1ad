package jetstream

import (
	"testing"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// TestFirstFrame checks that only the message of a stream's first frame is marked as the first.
func TestFirstFrame(t *testing.T) {
	streams, err := lru.New[streamKey, *replay.Stream](1)
	if err != nil {
		t.Fatal(err)
	}
	registry := &streamRegistry{streams}
	for ordinal, want := range map[uint64]bool{0: false, 1: true, 2: false} {
		m := encode(&replay.Entry{Source: "a", Session: "c1", Data: []byte("{}"), Ordinal: ordinal}, "1")
		m.Header.Set(previousHeader, "0")
		d, err := registry.decode(m.Subject, m.Header, m.Data)
		if err != nil || (d.entry.Ordinal == 1) != want {
			t.Errorf("frame %d: is the first: %t, %v", ordinal, d.entry.Ordinal == 1, err)
		}
	}
}
