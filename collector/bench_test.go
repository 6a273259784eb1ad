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

// captureFolders holds the folders with streams of real agents.
var captureFolders = map[string]string{
	"python": "dialect/adk/adkserver/testdata/captures/python",
	"js":     "dialect/adk/adkserver/testdata/captures/js",
	"go":     "../test/agents/adk-go",
}

// BenchmarkObserve measures everything before the sink: framing, parsing, detection, decoding and proof. An
// operation reads each capture of a folder as a stream.
func BenchmarkObserve(b *testing.B) {
	settings := collector.Settings{MaxFrame: 8 << 20, MaxJSONDepth: 128, Proof: proof.Limits{MaxText: 64 << 10, MaxFindings: 32}}
	for family, folder := range captureFolders {
		b.Run(family, func(b *testing.B) {
			streams, size := recordings(b, folder)
			sink := &batchCounter{}
			c := collector.New(collector.Dialects(), settings, sink)
			observe := func() {
				for _, stream := range streams {
					s := &event.Stream{Source: family, SingleRun: true}
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

// BenchmarkDetect measures the detection of a stream's first frame, whose JSON has been parsed, by all
// dialects.
func BenchmarkDetect(b *testing.B) {
	content, err := os.ReadFile(captureFolders["python"] + "/slow.stream.sse")
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
		if dialect.NewDetector(dialects, dialect.Yes).Detect(first) == nil {
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

// batchCounter is a sink that counts batches.
type batchCounter struct{ batches int }

func (c *batchCounter) Open(*event.Stream)                        {}
func (c *batchCounter) Consume(*event.Batch)                      { c.batches++ }
func (c *batchCounter) Close(*event.Stream, event.End, time.Time) {}
