package spans

import (
	"testing"
	"time"
	"unsafe"

	"github.com/delegraph/delegraph/exporter/tracker"
)

// afterClockStep returns a time as it would be read after the wall clock was moved by a number of seconds. The
// monotonic reading, by which durations are measured, stays the same. Only time.Now makes times with both.
func afterClockStep(t time.Time, seconds int64) time.Time {
	wall := (*uint64)(unsafe.Pointer(&t)) // bits 30 to 62 are the seconds
	*wall = uint64(int64(*wall) + seconds<<30)
	return t
}

// TestClockSteps moves the clock by an hour, in both directions, during a tool call of a live run. Spans must last as
// long as their operations, and a child must stay within its parent.
func TestClockSteps(t *testing.T) {
	for _, seconds := range []int64{3600, -3600} {
		begun := time.Now()
		known := func(after time.Duration, step int64) tracker.Timestamp {
			return tracker.Timestamp{At: afterClockStep(begun.Add(after), step), Frame: 1}
		}
		if lasted := known(time.Second, seconds).At.Sub(begun); lasted != time.Second {
			t.Fatalf("a time after a step is %s after one before it", lasted)
		}
		root := &tracker.Operation{ID: id(1), Kind: tracker.InvokeAgent, Started: known(0, 0), Ended: known(4*time.Second, seconds)}
		before := &tracker.Operation{ID: id(2), Parent: id(1), Kind: tracker.ExecuteTool, Started: known(time.Second, 0), Ended: known(2*time.Second, seconds)}
		after := &tracker.Operation{ID: id(3), Parent: id(1), Kind: tracker.ExecuteTool, Started: known(2*time.Second, seconds), Ended: known(3*time.Second, seconds)}
		for i, span := range observe(t, &tracker.Run{Trace: [16]byte{1}, Sampled: true, Live: true, Root: root, Operations: []*tracker.Operation{before, after, root}}) {
			op := []*tracker.Operation{before, after, root}[i]
			from, to := span.StartTime().UnixNano()-begun.UnixNano(), span.EndTime().UnixNano()-begun.UnixNano()-1
			if time.Duration(from) != op.Started.At.Sub(begun) || time.Duration(to) != op.Ended.At.Sub(begun) {
				t.Errorf("clock moved by %d s: span %d is from %s to %s after the start of the run, and the operation from %s to %s",
					seconds, i, time.Duration(from), time.Duration(to), op.Started.At.Sub(begun), op.Ended.At.Sub(begun))
			}
		}
	}
}
