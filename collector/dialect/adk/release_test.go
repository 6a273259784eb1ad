package adk

import (
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
)

// TestDecoderReleasesFrames checks that a decoder keeps no reference to a frame that it has decoded.
func TestDecoderReleasesFrames(t *testing.T) {
	s := &event.Stream{}
	d := Dialect{}.New(s)
	decoded := func() weak.Pointer[byte] {
		data := append(make([]byte, 0, 1<<10), `{"invocationId":"e-1","author":"a","content":{"parts":[{"functionResponse":{"id":"c","name":"t","response":{"rows":[[]]}}}]}}`...)
		b := new(event.Batch)
		b.BeginOwned(s, sse.Frame{Data: data}, time.Time{})
		b.Table = &table
		b.Parse(64)
		if d.Decode(dialect.Frame{Frame: b.Frame, JSON: b.JSON}, b); b.Rejected != "" || len(b.Events) == 0 {
			t.Fatalf("the frame has %d events and is rejected for %q", len(b.Events), b.Rejected)
		}
		return weak.Make(&data[0])
	}()
	runtime.GC()
	if decoded.Value() != nil {
		t.Error("the decoder keeps a frame in memory")
	}
	runtime.KeepAlive(d)
}
