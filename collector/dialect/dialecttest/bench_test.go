package dialecttest

import (
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// BenchmarkDialects measures the parsing and decoding of the captures of each dialect, per frame.
func BenchmarkDialects(b *testing.B) {
	for _, d := range collector.Dialects() {
		b.Run(d.Name(), func(b *testing.B) {
			captures, _ := readCaptures(b, folder(d))
			var streams [][]dialect.Frame
			total := 0
			for _, c := range captures {
				streams = append(streams, parseFrames(c))
				total += len(c.frames)
			}
			batch := new(event.Batch)
			b.ReportAllocs()
			for b.Loop() {
				for _, frames := range streams {
					decodeAll(d, frames, batch)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*total), "ns/frame")
		})
	}
}

// parseFrames returns the frames of a capture as a decoder gets them.
func parseFrames(c *capture) (all []dialect.Frame) {
	for _, f := range c.frames {
		frame, doc := dialect.Frame{Frame: f}, new(strictjson.Doc)
		if doc.Parse(f.Data, maxDepth) == nil {
			frame.JSON = doc.Root()
		}
		all = append(all, frame)
	}
	return all
}

func decodeAll(d dialect.Dialect, frames []dialect.Frame, batch *event.Batch) {
	stream := &event.Stream{}
	decoder := d.New(stream)
	for _, f := range frames {
		batch.Begin(stream, f.Frame, time.Time{})
		batch.Table = d.Table()
		batch.Parse(maxDepth)
		decoder.Decode(dialect.Frame{Frame: batch.Frame, JSON: batch.JSON, Malformed: f.Malformed}, batch)
	}
}
