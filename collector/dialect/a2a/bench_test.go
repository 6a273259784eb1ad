package a2a_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/a2a"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// benchmarked are the frames of real captures that agents send most.
var benchmarked = []struct {
	name, capture string
	frame         int // of the capture, from 0
}{
	{"chunk", "go-sdk-artifact-stream.sse", 3},
	{"chunk10", "python-chunks.sse", 3},
	{"working", "go-sdk-artifact-stream.sse", 1},
	{"adkDelta", "adk-go-streamed-tool.sse", 6},
	{"adkCall", "adk-python-tool.sse", 2},
	{"adkText", "adk-python-tool.sse", 4},
}

// BenchmarkDecode gives the cost of a frame's facts once its JSON has been read.
func BenchmarkDecode(b *testing.B) {
	for _, c := range benchmarked {
		b.Run(c.name, func(b *testing.B) {
			f := captured(b, c.capture, c.frame)
			var doc strictjson.Doc
			if err := doc.Parse(f.Data, 128); err != nil {
				b.Fatal(err)
			}
			frame := dialect.Frame{Frame: f, JSON: doc.Root()}
			stream := &event.Stream{}
			decoder := a2a.Dialect{}.New(stream)
			batch := event.Batch{Stream: stream}
			b.SetBytes(int64(len(f.Data)))
			b.ReportAllocs()
			for b.Loop() {
				batch = event.Batch{Stream: stream, Events: batch.Events[:0]}
				decoder.Decode(frame, &batch)
				if batch.Rejected != "" || len(batch.Events) == 0 {
					b.Fatal("not decoded:", batch.Rejected)
				}
			}
		})
	}
}

// captured is one frame of a capture.
func captured(b *testing.B, name string, index int) sse.Frame {
	b.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	frames := sse.NewReader(f, 0)
	for {
		frame, err := frames.Next()
		if err != nil {
			b.Fatalf("%s has no frame %d: %v", name, index, err)
		}
		if index--; index < 0 {
			return sse.Frame{Event: bytes.Clone(frame.Event), Data: bytes.Clone(frame.Data)}
		}
	}
}
