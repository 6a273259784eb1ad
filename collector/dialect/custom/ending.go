package custom

import "github.com/delegraph/delegraph/collector/event"

// ending describes how something has ended. The zero value means success.
type ending struct {
	failure event.Failure
	code    string
}

// maxEnded bounds decoder.ended. When it is full, all its runs are forgotten.
const maxEnded = 64

// addRunEnd adds the end of a run. It returns nil if an earlier frame has stated the end, such as one before the stream's end
// marker. But the first failure of a run that had succeeded changes its end.
func (d *decoder) addRunEnd(b *event.Batch, how ending) *event.Event {
	hasFailed, hasEnded := d.ended[b.Run]
	if hasEnded && (hasFailed || how.failure == event.NoFailure) {
		b.Add(event.KindOther)
		return nil
	}
	if d.ended == nil || len(d.ended) >= maxEnded {
		d.ended = make(map[string]bool)
	}
	d.ended[b.Run] = how.failure != event.NoFailure
	if how.failure != event.NoFailure {
		e := b.Add(event.KindError)
		e.Error, e.Code = how.failure, how.code
	}
	e := b.Add(event.KindRunEnded)
	e.Error, e.Code = how.failure, how.code
	return e
}
