package source_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/delegraph/delegraph/collector/source"
)

// TestClockSteps checks that a request's span has the right start and duration if the wall clock changes by an hour during the answer.
func TestClockSteps(t *testing.T) {
	for _, seconds := range []int64{3600, -3600} {
		var set atomic.Bool
		agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			stream(w, frame)
			set.Store(true)
		}))
		defer agent.Close()
		p := startTraced(t, agent.URL, source.ProxySettings{})
		p.Clock(func() time.Time {
			now := time.Now()
			if set.Load() {
				wall := (*uint64)(unsafe.Pointer(&now)) // bits 30 to 62 are seconds; the monotonic reading stays
				*wall = uint64(int64(*wall) + seconds<<30)
			}
			return now
		})
		before := time.Now()
		post(t, p.address, request)
		span := p.span(t)
		if lasted := span.EndTime().UnixNano() - span.StartTime().UnixNano(); lasted < 0 || lasted > time.Since(before).Nanoseconds() || span.StartTime().Before(before) {
			t.Errorf("with a clock that is set by %d s, the span lasts %s", seconds, time.Duration(lasted))
		}
	}
}
