package custom

import "github.com/delegraph/delegraph/collector/event"

// ending says how something has ended: with a failure, or well.
type ending struct {
	failure event.Failure
	code    string
}

// failedRuns are the runs that have ended with a failure, by ID.
type failedRuns map[string]struct{}

// maxFailed limits failedRuns.
const maxFailed = 64

// addRunEnd adds the end of a run. It returns nil if the run has failed before: its failure stands, and the frame only ends the
// stream as it always does.
func (d *decoder) addRunEnd(b *event.Batch, how ending) *event.Event {
	if _, failed := d.failed[b.Run]; failed {
		b.Add(event.KindOther)
		return nil
	}
	if how.failure != event.NoFailure {
		if d.failed == nil || len(d.failed) >= maxFailed {
			d.failed = make(failedRuns)
		}
		d.failed[b.Run] = struct{}{}
		e := b.Add(event.KindError)
		e.Error, e.Code = how.failure, how.code
	}
	e := b.Add(event.KindRunEnded)
	e.Error, e.Code = how.failure, how.code
	return e
}
