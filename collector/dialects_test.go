package collector_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/iotest"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// TestDialects holds every dialect of the list to the contract, on the captures in its own folder.
func TestDialects(t *testing.T) {
	var names []string
	for _, d := range collector.Dialects() {
		if slices.Contains(names, d.Name()) {
			t.Errorf("dialect %q stands twice in the list", d.Name())
		}
		names = append(names, d.Name())
		t.Run(d.Name(), func(t *testing.T) { dialecttest.Run(t, d, testdata(d)) })
	}
}

func testdata(d dialect.Dialect) string { return filepath.Join("dialect", d.Name(), "testdata") }

// TestOwnCaptures makes sure that each capture is found to be of its own dialect, and that no other ever says Yes to it.
func TestOwnCaptures(t *testing.T) {
	for _, own := range collector.Dialects() {
		for file, content := range captures(t, own) {
			s := &event.Stream{}
			pipeline := collector.New(collector.Dialects(), limits, sinkFunc(func(*event.Batch) {}))
			if err := pipeline.Observe(s, collector.Input{Reader: bytes.NewReader(content)}); err != nil {
				t.Fatal(err)
			}
			if s.Dialect != own.Name() {
				t.Errorf("%s is taken for %q", file, s.Dialect)
			}
			for _, other := range collector.Dialects() {
				if other.Name() != own.Name() && claims(other, content) {
					t.Errorf("%s says Yes to a frame of %s", other.Name(), file)
				}
			}
		}
	}
}

// claims says whether a dialect says Yes to a frame of a stream.
func claims(d dialect.Dialect, content []byte) bool {
	frames := sse.NewReader(bytes.NewReader(content), 0)
	for {
		frame, err := frames.Next()
		if err != nil {
			return false
		}
		f := dialect.Frame{Frame: frame}
		var doc strictjson.Doc
		if doc.Parse(frame.Data, limits.JSONDepth) == nil {
			f.JSON = doc.Root()
		}
		if d.Detect(f) == dialect.Yes {
			return true
		}
	}
}

func captures(t testing.TB, d dialect.Dialect) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(testdata(d), "*.sse"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no captures of %s: %v", d.Name(), err)
	}
	all := make(map[string][]byte)
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[file] = content
	}
	return all
}

// FuzzObserve reads arbitrary bytes, in any dialect, in reads of any size.
func FuzzObserve(f *testing.F) {
	for i, d := range collector.Dialects() {
		for _, content := range captures(f, d) {
			f.Add(content, uint8(i+1), false)
			f.Add(content[:len(content)/2], uint8(0), true)
		}
	}
	f.Add([]byte("data: {\n\n"), uint8(0), false)
	f.Fuzz(func(t *testing.T, content []byte, forced uint8, bytewise bool) {
		var names []string
		if list := collector.Dialects(); int(forced) > 0 && int(forced) <= len(list) {
			names = append(names, list[forced-1].Name())
		}
		var reader io.Reader = bytes.NewReader(content)
		if bytewise {
			reader = iotest.OneByteReader(reader)
		}
		w := &witness{t: t}
		s := &event.Stream{Answer: bytewise}
		if err := collector.New(collector.Dialects(), limits, w).Observe(s, collector.Input{Reader: reader}, names...); err != nil {
			t.Fatal(err)
		}
		// A frame has a line of data and a blank one; half of one may follow.
		if most := len(content)/len("data\n\n") + 1; w.opens != 1 || w.closes != 1 || w.batches > most {
			t.Fatalf("%d opens, %d closes, %d batches of %d bytes", w.opens, w.closes, w.batches, len(content))
		}
	})
}

// witness is a sink that judges what it is told.
type witness struct {
	t                      *testing.T
	opens, closes, batches int
}

func (w *witness) Open(*event.Stream) { w.opens++ }

func (w *witness) Consume(b *event.Batch) {
	w.batches++
	if w.opens != 1 || w.closes != 0 {
		w.t.Fatal("a batch outside Open and Close")
	}
	if err := dialecttest.Verify(b); err != nil || b.Rejected == event.ReasonPanic {
		w.t.Fatalf("%q: %s %v", b.Frame.Data, b.Rejected, err)
	}
}

func (w *witness) Close(*event.Stream, event.End, time.Time) { w.closes++ }
