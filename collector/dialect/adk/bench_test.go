package adk_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/adk"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// shapes are the frames of real captures that agents send most.
var shapes = []struct {
	name, capture string
	frame         int // of the capture, from 0
}{
	{"delta", "slow.stream.sse", 1}, // the first also begins a response
	{"call", "transfer.stream.sse", 1},
	{"response", "transfer.stream.sse", 2},
	{"final", "slow.stream.sse", 40},
}

// BenchmarkDecode gives the cost of a frame's facts once its JSON has been read.
func BenchmarkDecode(b *testing.B) {
	for _, shape := range shapes {
		b.Run(shape.name, func(b *testing.B) {
			first := captured(b, shape.capture, shape.frame)
			// A usage that is repeated is not taken for another response: that would be a shorter way through the decoder.
			second := bytes.ReplaceAll(first, []byte(`"promptTokenCount":1`), []byte(`"promptTokenCount":2`))
			var frames [2]dialect.Frame
			var docs [2]strictjson.Doc
			for i, data := range [][]byte{first, second} {
				if err := docs[i].Parse(data, 128); err != nil {
					b.Fatal(err)
				}
				frames[i] = dialect.Frame{Frame: sse.Frame{Data: data}, JSON: docs[i].Root()}
			}
			stream := &event.Stream{Answer: true}
			decoder := adk.Dialect{}.New(stream)
			batch := event.Batch{Stream: stream}
			b.SetBytes(int64(len(first)))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				batch = event.Batch{Stream: stream, Events: batch.Events[:0]}
				decoder.Decode(frames[i%2], &batch)
				if batch.Rejected != "" || len(batch.Events) == 0 {
					b.Fatal("not decoded:", batch.Rejected)
				}
			}
		})
	}
}

// captured is the data of one frame of a capture.
func captured(b *testing.B, name string, index int) []byte {
	b.Helper()
	f, err := os.Open("adkserver/testdata/captures/python/" + name)
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
			return bytes.Clone(frame.Data)
		}
	}
}
