package source

import (
	"sync/atomic"
	"time"
)

// logInterval is the minimum time between two log lines of a throttle.
const logInterval = time.Minute

// throttle limits how often an event is logged that agents or clients can trigger at will. Its zero value
// is ready.
type throttle struct{ last atomic.Int64 } // time of the last line, in nanoseconds of the Unix time

// allows reports whether the event may be logged now.
func (t *throttle) allows() bool {
	last, now := t.last.Load(), time.Now().UnixNano()
	return (last == 0 || now-last >= int64(logInterval)) && t.last.CompareAndSwap(last, now)
}
