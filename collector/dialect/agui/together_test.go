package agui_test

import (
	"slices"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/agui"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
)

// TestCallsThatComeTogether checks that nothing says when a call began that arrives together with its result.
func TestCallsThatComeTogether(t *testing.T) {
	call := []string{startCases["a call"][0], `{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{}"}`, `{"type":"TOOL_CALL_END","toolCallId":"c"}`, startCases["a call"][3]}
	for _, c := range []struct {
		arrivals []int64 // of the frames, in microseconds; 0 if the source has no clock
		want     bool
	}{{[]int64{1, 1, 1, 1}, true}, {[]int64{1, 1, 1, 200}, true}, {[]int64{1, 1, 1, 9000}, false}, {[]int64{1, 9000, 9000, 9000}, false}, {[]int64{0, 0, 0, 0}, false}} {
		s := &event.Stream{}
		d := agui.Dialect{}.New(s)
		var b event.Batch
		for i, at := range c.arrivals {
			var received time.Time
			if at > 0 {
				received = time.UnixMicro(at)
			}
			b.Begin(s, sse.Frame{Data: []byte(call[i])}, received)
			b.Table = agui.Dialect{}.Table()
			b.Parse(8)
			d.Decode(dialect.Frame{Frame: b.Frame, JSON: b.JSON}, &b)
		}
		if got := slices.ContainsFunc(b.Events, func(e event.Event) bool { return e.Kind == event.KindToolEnded && e.StartUnknown }); got != c.want {
			t.Errorf("arrivals %v: start unknown %v, want %v", c.arrivals, got, c.want)
		}
	}
}
