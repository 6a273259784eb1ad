package format

import (
	"bytes"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// deltas is a decoder of an answer in pieces. The cost of real dialects is measured with them.
type deltas struct{ batch event.Batch }

func (d *deltas) Decode(f sse.Frame) *event.Batch {
	d.batch = event.Batch{Run: "r", Session: "c", Agent: "agent", Partial: true, Events: d.batch.Events[:0]}
	d.batch.Add(event.KindText).SetText(f.Data[:20])
	return &d.batch
}

// BenchmarkFormats formats a frame of 250 bytes with a piece of text for one subscriber. The native format copies it from the
// ring.
func BenchmarkFormats(b *testing.B) {
	ring := newRing(b, 1000)
	stream := &replay.Stream{Dialect: "d"}
	for range 100 {
		ring.Publish(replay.Entry{Stream: stream, Data: bytes.Repeat([]byte("x"), 250)})
	}
	first, _ := ring.Resume("e-0")
	frames, _ := ring.Frames(first, nil, make([]replay.Frame, 0, 100))
	b.Run("native", func(b *testing.B) {
		b.ReportAllocs()
		everything := replay.NewSelection(replay.Query{Sources: []string{""}})
		scratch := make([]byte, 0, 64<<10)
		for n := 0; n < b.N; n += 100 {
			ring.Read(first, everything, scratch)
		}
	})
	for _, as := range Formats() {
		b.Run(string(as), func(b *testing.B) {
			b.ReportAllocs()
			t := New(Settings{Format: as, AppendID: ring.AppendID, Decodings: NewDecodings(func(string, string, bool) Decoder { return &deltas{} }, nil)})
			var out []byte
			for n := range b.N {
				out = t.Append(out[:0], frames[n%len(frames)])
			}
		})
	}
}
