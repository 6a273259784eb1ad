package collector_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/event"
)

func testdata(d dialect.Dialect) string { return filepath.Join("dialect", d.Name(), "testdata") }

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

// FuzzObserve observes arbitrary bytes in any dialect, whole or byte by byte, and checks the calls to the
// sink.
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
		w := &checkingSink{t: t}
		s := &event.Stream{SingleRun: bytewise}
		if err := collector.New(collector.Dialects(), limits, w).Observe(s, collector.Input{Reader: reader}, names...); err != nil {
			t.Fatal(err)
		}
		// A frame has at least a data line and a blank line. One incomplete frame may follow.
		if limit := len(content)/len("data\n\n") + 1; w.opens != 1 || w.closes != 1 || w.batches > limit {
			t.Fatalf("the sink gets %d opens, %d closes and %d batches, want 1, 1 and at most %d", w.opens, w.closes, w.batches, limit)
		}
	})
}

// checkingSink is a sink that checks its calls and batches.
type checkingSink struct {
	t                      *testing.T
	opens, closes, batches int
}

func (w *checkingSink) Open(*event.Stream) { w.opens++ }

func (w *checkingSink) Consume(b *event.Batch) {
	w.batches++
	if w.opens != 1 || w.closes != 0 {
		w.t.Fatal("the sink gets a batch before Open or after Close")
	}
	if err := dialecttest.Verify(b); err != nil || b.Rejected == event.ReasonPanic {
		w.t.Fatalf("the frame %q is rejected as %q; Verify() = %v", b.Frame.Data, b.Rejected, err)
	}
}

func (w *checkingSink) Close(*event.Stream, event.End, time.Time) { w.closes++ }
