package exporter

import (
	"time"

	"github.com/delegraph/delegraph/collector/event"
)

// seenFrame is a frame that was passed on.
type seenFrame struct {
	hash    uint64
	by      *listener
	at      time.Time
	isPiece bool
	after   forgotten // between it and the next remembered frame
}

// forgotten counts frames that are no longer remembered.
type forgotten struct{ pieces, others int }

// count returns the number of the forgotten pieces, or of the other frames.
func (f *forgotten) count(pieces bool) *int {
	if pieces {
		return &f.pieces
	}
	return &f.others
}

func (f *forgotten) add(other forgotten) {
	f.pieces += other.pieces
	f.others += other.others
}

// take removes a frame from the count, and reports whether there was one.
func (f *forgotten) take(isPiece bool) bool {
	n := f.count(isPiece)
	if *n == 0 {
		return false
	}
	*n--
	return true
}

// isPiece reports whether a frame is one of several pieces, which may be equal and which a replay may join.
func isPiece(b *event.Batch) bool { return b.Partial || b.Piece }

// forget drops half of the frames if there are too many. Pieces go first, because a replay is compared mostly by the other
// frames. The first frame stays: a stream that brings it repeats the run from its start.
func (r *sharedRun) forget() {
	if len(r.frames) <= maxFrames {
		return
	}
	pieces := 0
	for _, f := range r.frames[1:] {
		if f.isPiece {
			pieces++
		}
	}
	onlyPieces, excess := pieces >= maxFrames/2, maxFrames/2
	positions := make([]int, 0, len(r.frames)+1) // of the frames among those that stay
	drops := make([]forgotten, len(r.frames)+1)  // a dropped frame, and what was forgotten after it; zero for a frame that stays
	kept := r.frames[:0]
	for i, f := range r.frames {
		positions = append(positions, len(kept))
		if i == 0 || excess == 0 || onlyPieces && !f.isPiece {
			kept = append(kept, f)
			continue
		}
		excess--
		drops[i] = f.after
		*drops[i].count(f.isPiece)++
		kept[len(kept)-1].after.add(drops[i])
	}
	positions = append(positions, len(kept))
	clear(r.frames[len(kept):])
	r.frames = kept
	for _, l := range r.listeners {
		for i := l.next; l.replays() && !l.lastWholeNew && drops[i] != (forgotten{}); i++ {
			l.forgotten.add(drops[i])
		}
		l.next = positions[l.next]
	}
}

// isRepeated reports whether the run has the content of a frame. A stream that replays a session may join several pieces
// into one, whose hash is new. Such a piece counts as repeated if the last frame that is no piece was known.
func (r *sharedRun) isRepeated(l *listener, b *event.Batch) bool {
	known := r.isKnown(l, b)
	if isPiece(b) {
		return known || l.stream.Replays && !l.lastWholeNew && l.next < len(r.frames)
	}
	if l.lastWholeNew = !known; l.lastWholeNew {
		l.forgotten = forgotten{}
	}
	return known
}

// isKnown reports whether another stream has already brought the frame, which may be forgotten. A frame that was received
// before another stream was opened was not brought by that stream.
func (r *sharedRun) isKnown(l *listener, b *event.Batch) bool {
	if isPiece(b) && l.forgotten.take(true) { // a later piece may be equal
		return true
	}
	for i := l.next; i < len(r.frames); i++ {
		if f := &r.frames[i]; f.hash == b.ContentHash && f.by != l && !b.Received.Before(f.by.stream.OpenedAt) {
			if l.next = i + 1; l.replays() {
				l.forgotten = f.after
			}
			return true
		}
	}
	return !isPiece(b) && l.forgotten.take(false)
}
