package tracker

import (
	"cmp"
	"slices"

	"github.com/delegraph/delegraph/collector/event"
)

// applyHeader sets the time and applies what the frame states regardless of its events.
func (r *openRun) applyHeader(b *event.Batch) {
	r.now = Timestamp{Frame: r.now.Frame + 1}
	if r.Live {
		r.now.At, r.lastActivity = b.Received, b.Received
	} else {
		r.now.At = b.Time
	}
	r.Dialect, r.Session = cmp.Or(r.Dialect, b.Stream.Dialect), cmp.Or(r.Session, b.Session)
	if r.ID == "" && !slices.Contains(r.aliases, b.Run) {
		r.ID = b.Run
	}
	if b.Rejected != "" {
		r.ParseErrors++
	} else {
		r.Events++
	}
	if b.Internal {
		r.Internal++
	}
	if !b.Orphan {
		r.announce()
	}
	r.measureOffset(b)
}

// measureOffset updates ClockOffset.
func (r *openRun) measureOffset(b *event.Batch) {
	if !r.Live || b.Time.IsZero() || b.Received.IsZero() {
		return
	}
	if offset := b.Received.Sub(b.Time); !r.ClockOffsetKnown || offset < r.ClockOffset {
		r.ClockOffset, r.ClockOffsetKnown = offset, true
	}
}
