package collector_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/proof"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// recorded are the folders of real agents' streams.
var recorded = map[string]string{
	"python": "dialect/adk/adkserver/testdata/captures/python",
	"js":     "dialect/adk/adkserver/testdata/captures/js",
	"go":     "../cmd/delegraph/testdata/adk-go",
}

// BenchmarkObserve gives the cost of everything before the sink: framing, strict reading, detection, decoding, proof. An
// operation is every capture of a family, each a stream of its own.
func BenchmarkObserve(b *testing.B) {
	settings := collector.Settings{Frame: 8 << 20, JSONDepth: 128, Proof: proof.Limits{Text: 64 << 10, Findings: 32}}
	for family, folder := range recorded {
		b.Run(family, func(b *testing.B) {
			streams, size := recordings(b, folder)
			sink := &counting{}
			c := collector.New(collector.Dialects(), settings, sink)
			observe := func() {
				for _, stream := range streams {
					s := &event.Stream{Source: family, Answer: true}
					if err := c.Observe(s, collector.Input{Reader: bytes.NewReader(stream)}, ""); err != nil {
						b.Fatal(err)
					}
				}
			}
			observe()
			frames := sink.batches
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				observe()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*frames), "ns/event")
		})
	}
}

// BenchmarkDetect gives the cost of asking all dialects about a stream's first frame, whose JSON has been read.
func BenchmarkDetect(b *testing.B) {
	content, err := os.ReadFile(recorded["python"] + "/slow.stream.sse")
	if err != nil {
		b.Fatal(err)
	}
	frame, err := sse.NewReader(bytes.NewReader(content), 0).Next()
	if err != nil {
		b.Fatal(err)
	}
	var doc strictjson.Doc
	if err := doc.Parse(frame.Data, 128); err != nil {
		b.Fatal(err)
	}
	first := dialect.Frame{Frame: frame, JSON: doc.Root()}
	dialects := collector.Dialects()
	b.SetBytes(int64(len(frame.Data)))
	b.ReportAllocs()
	for b.Loop() {
		if dialect.NewDetector(dialects, dialect.Yes).Ask(first) == nil {
			b.Fatal("not detected")
		}
	}
}

func recordings(b *testing.B, folder string) (streams [][]byte, size int64) {
	b.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.sse"))
	if err != nil || len(files) == 0 {
		b.Fatalf("no captures in %s: %v", folder, err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		streams = append(streams, content)
		size += int64(len(content))
	}
	return streams, size
}

// counting is a sink that only counts.
type counting struct{ batches int }

func (c *counting) Open(*event.Stream)                        {}
func (c *counting) Consume(*event.Batch)                      { c.batches++ }
func (c *counting) Close(*event.Stream, event.End, time.Time) {}
