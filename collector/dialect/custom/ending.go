package custom

import "github.com/delegraph/delegraph/collector/event"

// ending describes how something has ended. The zero value means success.
type ending struct {
	failure event.Failure
	code    string
}

// maxFailed bounds decoder.failed. When it is full, all its runs are forgotten.
const maxFailed = 64

// addRunEnd adds the end of a run. If the run has failed before, the failure stands and the frame only ends
// the stream. It then returns nil.
func (d *decoder) addRunEnd(b *event.Batch, how ending) *event.Event {
	if _, failed := d.failed[b.Run]; failed {
		b.Add(event.KindOther)
		return nil
	}
	if how.failure != event.NoFailure {
		if d.failed == nil || len(d.failed) >= maxFailed {
			d.failed = make(map[string]struct{})
		}
		d.failed[b.Run] = struct{}{}
		e := b.Add(event.KindError)
		e.Error, e.Code = how.failure, how.code
	}
	e := b.Add(event.KindRunEnded)
	e.Error, e.Code = how.failure, how.code
	return e
}
