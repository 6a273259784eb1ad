package tracker_test

import (
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// askedAt adds the time at which the server says that it has asked for the frame's first fact.
func askedAt(at time.Time) fact { return func(b *event.Batch) { b.Events[0].Asked = at } }

// TestStatedStarts checks that a response starts when the server has asked the model, if the server's clock can be trusted.
func TestStatedStarts(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		name          string
		answered, run time.Duration // after the request: the run's first frame, and the stated time of the run
		model         time.Duration // the stated time of the response, whose first piece comes after 3 s
		want          time.Duration // start of the response
		uncertain     bool          // nothing shows its cause
	}{
		{"between its cause and its first piece", 10 * ms, 5 * ms, 2500 * ms, 2500 * ms, false},
		{"after the request, where the cause is unknown", 10 * ms, 5 * ms, 8 * ms, 8 * ms, true},
		{"where the time of the run is cut to milliseconds", 10 * ms, -ms + 1, 2500 * ms, 2500 * ms, false},
		{"with the cause, where the stated time is before it", 10 * ms, 5 * ms, 8 * ms, 10 * ms, false},
		{"with the cause, where the stated time is after the first piece", 10 * ms, 5 * ms, 3001 * ms, 10 * ms, false},
		{"with the cause, where the clock is behind", 10 * ms, -2 * ms, 2500 * ms, 10 * ms, false},
		{"with the cause, where the clock is ahead", 10 * ms, 11 * ms, 2500 * ms, 10 * ms, false},
		{"with the cause, where the answer came too late to compare clocks", 1001 * ms, 5 * ms, 2500 * ms, 1001 * ms, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, stream := watch(), proxied()
			s.Open(stream)
			send := func(after time.Duration, b *event.Batch) {
				b.Stream, b.Received = stream, second(0).Add(after)
				s.Consume(b)
			}
			send(test.answered, says("", fresh(event.KindRunStarted), askedAt(second(0).Add(test.run))))
			first := says("app", begins("m"), askedAt(second(0).Add(test.model)))
			first.Events[0].Uncertain = test.uncertain
			send(3*time.Second, first)
			send(4*time.Second, says("app", responds("m"), final))
			s.Close(stream, event.EndOfStream, second(5))
			for _, op := range s.ops {
				if got := op.Started.At.Sub(second(0)); op.Kind == tracker.Chat && (got != test.want || op.Timing != tracker.TimingObserved) {
					t.Errorf("starts after %v (%v), want %v", got, op.Timing, test.want)
				}
			}
		})
	}
}
