package waterfall

import (
	"time"

	"github.com/delegraph/delegraph/exporter/tracker"
)

// Wait is a run's wait for input, from the request to the answer, or to the end of the axis without one.
type Wait struct {
	Input    *tracker.InputRequest
	From, To float64 // position on the axis, from 0 to 1
	Duration time.Duration
	Answered bool // otherwise Duration is not known
}

// maxWaits bounds the waits of a run.
const maxWaits = 200

// Waits returns the waits whose beginning is known.
func (c Chart) Waits(run *tracker.Run) (waits []Wait) {
	for _, in := range run.Inputs[:min(len(run.Inputs), maxWaits)] {
		from, known := c.Position(in.Requested.At)
		if !known {
			continue
		}
		w := Wait{Input: in, From: from, To: 1}
		if to, answered := c.Position(in.Answered.At); answered {
			w.To = max(from, to)
			w.Duration, w.Answered = in.Wait()
		}
		waits = append(waits, w)
	}
	return waits
}
