package tracker

import (
	"cmp"
	"slices"

	"github.com/delegraph/delegraph/collector/event"
)

// applyHeader sets the time and applies what the frame states regardless of its events.
func (r *openRun) applyHeader(b *event.Batch) {
	r.now = Timestamp{Frame: r.now.Frame + 1}
	switch {
	case !r.Live:
		r.now.At = b.Time
	case b.Replayed:
		r.lastActivity, r.lastReplayed = b.Received, r.now.Frame
		if r.Root.Started == (Timestamp{}) {
			r.Root.extendTo(Timestamp{b.Received, r.now.Frame}) // the run lasts from its first frame here
		}
	default:
		r.now.At, r.lastActivity = b.Received, b.Received
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
	if !r.Live || b.Time.IsZero() || b.Received.IsZero() || b.Replayed {
		return
	}
	if offset := b.Received.Sub(b.Time); !r.ClockOffsetKnown || offset < r.ClockOffset {
		r.ClockOffset, r.ClockOffsetKnown = offset, true
	}
}

// mayLackCause reports whether frames may be missing between a cause and what begins after it.
func (r *openRun) mayLackCause(cause Timestamp) bool {
	return r.lastReplayed > 0 && cause.Frame <= r.lastReplayed
}

// mayLackEnd reports whether the last frame of an agent or step may be missing.
func (r *openRun) mayLackEnd(op *Operation) bool {
	return op.Kind.Invokes() && op != r.Root && !op.endStated && op.finalFrame < op.Ended.Frame && r.mayLackCause(op.Ended)
}
