package collector_test

import (
	"io"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
)

// readFunc calls a function at each Read.
type readFunc func()

func (r readFunc) Read([]byte) (int, error) {
	r()
	return 0, io.EOF
}

// TestLargeFrameIsReleased checks that a stream that waits for its next frame does not keep a large one.
func TestLargeFrameIsReleased(t *testing.T) {
	var last weak.Pointer[byte]
	sink := sinkFunc(func(b *event.Batch) { last = weak.Make(&b.Frame.Data[0]) })
	settings := limits
	settings.MaxFrame = 1 << 20
	idle := readFunc(func() {
		if runtime.GC(); last.Value() != nil {
			t.Error("the frame is still in memory when the next one is read")
		}
	})
	in := collector.Input{Reader: io.MultiReader(strings.NewReader(stream(`{"n":"`+strings.Repeat("x", 1<<18)+`"}`)), idle)}
	if err := collector.New([]dialect.Dialect{fake("x")}, settings, sink).Observe(&event.Stream{}, in, "x"); err != nil {
		t.Fatal(err)
	}
}

// TestPendingFramesAreBounded checks that the frames of a stream without a dialect are buffered only up to the size of one frame.
func TestPendingFramesAreBounded(t *testing.T) {
	large := `{"n":"` + strings.Repeat("x", limits.MaxFrame/2) + `"}`
	r := &recorder{}
	if err := collector.New([]dialect.Dialect{fake("x")}, limits, r).Observe(&event.Stream{}, collector.Input{Reader: strings.NewReader(stream(large, large, yesX))}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"unrecognised: 0 events", "x " + strings.Repeat("x", limits.MaxFrame/2), "x yes", "closed 0"}, r.calls); diff != "" {
		t.Errorf("the calls to the sink differ (-want +got):\n%s", diff)
	}
}

// TestTurnEndsAfterPanic checks that a panic while a large frame is used does not keep other streams from decoding theirs.
func TestTurnEndsAfterPanic(t *testing.T) {
	b := budget.New(1 << 20)
	settings := limits
	settings.MaxFrame, settings.Turns = 2<<20, budget.NewTurns(b.Account("large", 1, 1), 1)
	observed, panics := 0, true
	c := collector.New([]dialect.Dialect{fake("x")}, settings, sinkFunc(func(*event.Batch) {
		if observed++; panics {
			panic("planted")
		}
	}))
	for _, panics = range []bool{true, false} {
		func() {
			defer func() { _ = recover() }()
			in := collector.Input{Reader: strings.NewReader(stream(`{"n":"` + strings.Repeat("x", 1<<20) + `"}`))}
			if err := c.Observe(&event.Stream{}, in, "x"); err != nil {
				t.Error(err)
			}
		}()
	}
	if used := b.Usage()[0].Bytes; observed != 2 || used != 0 {
		t.Errorf("%d frames were observed, and %d bytes are still charged; want 2 and 0", observed, used)
	}
}
