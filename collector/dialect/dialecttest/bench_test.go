package dialecttest

import (
	"testing"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// BenchmarkDialects gives the cost of a frame's facts in each dialect of the list, once its JSON has been read: that of all its
// captures over all their frames.
func BenchmarkDialects(b *testing.B) {
	for _, d := range collector.Dialects() {
		b.Run(d.Name(), func(b *testing.B) {
			captures, _ := open(b, folder(d))
			var read [][]dialect.Frame
			total := 0
			for _, c := range captures {
				read = append(read, parsed(c))
				total += len(c.frames)
			}
			b.ReportAllocs()
			for b.Loop() {
				for _, frames := range read {
					decodeAll(d, frames)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*total), "ns/frame")
		})
	}
}

// parsed is a capture as a decoder gets it.
func parsed(c *capture) (all []dialect.Frame) {
	for _, f := range c.frames {
		frame, doc := dialect.Frame{Frame: f}, new(strictjson.Doc)
		if doc.Parse(f.Data, maxDepth) == nil {
			frame.JSON = doc.Root()
		}
		all = append(all, frame)
	}
	return all
}

func decodeAll(d dialect.Dialect, frames []dialect.Frame) {
	stream := &event.Stream{}
	decoder, batch := d.New(stream), event.Batch{}
	for _, f := range frames {
		batch = event.Batch{Stream: stream, Frame: f.Frame, Events: batch.Events[:0]}
		decoder.Decode(f, &batch)
	}
}
