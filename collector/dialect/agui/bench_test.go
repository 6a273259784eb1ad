package agui_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/agui"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// BenchmarkDecode gives the cost of a frame's facts once its JSON has been read: a stream's whole cost over its frames.
func BenchmarkDecode(b *testing.B) {
	for _, capture := range []string{"sdk-tools", "sdk-plain", "made-subagents", "made-langgraph"} {
		b.Run(capture, func(b *testing.B) {
			frames, size := captured(b, "testdata/"+capture+".sse")
			stream := &event.Stream{Answer: true}
			batch := event.Batch{}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				decoder := agui.Dialect{}.New(stream)
				for _, f := range frames {
					batch = event.Batch{Stream: stream, Events: batch.Events[:0]}
					if decoder.Decode(f, &batch); batch.Rejected != "" {
						b.Fatal("not decoded:", batch.Rejected)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(frames)), "ns/frame")
		})
	}
}

// captured is the frames of a capture, and the size of their data.
func captured(tb testing.TB, file string) (frames []dialect.Frame, size int) {
	tb.Helper()
	wire, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	reader := sse.NewReader(bytes.NewReader(wire), 0)
	for {
		f, err := reader.Next()
		if err != nil {
			return frames, size
		}
		own := dialect.Frame{Frame: sse.Frame{Event: bytes.Clone(f.Event), Data: bytes.Clone(f.Data)}}
		doc := new(strictjson.Doc)
		if doc.Parse(own.Data, 128) == nil {
			own.JSON = doc.Root()
		}
		frames, size = append(frames, own), size+len(own.Data)
	}
}
