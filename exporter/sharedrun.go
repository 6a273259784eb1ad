package exporter

import (
	"slices"
	"sync"
	"time"

	"github.com/delegraph/delegraph/collector/event"
)

// sharedRun is a run that several streams may bring.
type sharedRun struct {
	key    runKey
	stream *event.Stream // the stream that the next sink sees it on

	mu           sync.Mutex  // held while the next sink is called
	listeners    []*listener // in the order in which they joined
	frames       []seenFrame
	forgotten    int       // number of frames dropped from the front of frames
	closedAt     time.Time // when its last stream closed; zero while one is open
	state        uint64    // the last StateHash of a frame; before the first one, that of an earlier run with the same id
	agentEndedAt time.Time // when the agent last ended one of the streams, if no new frame came since
	statedEnd    bool      // a frame has stated the end of the run
	waits        bool      // in its state, the run waits for input: Batch.AwaitsInput
}

// seenFrame is a frame that was passed on.
type seenFrame struct {
	hash uint64
	by   *listener
	at   time.Time
}

// listener is a stream that brings a run.
type listener struct {
	run    *sharedRun
	stream *event.Stream
	next   int  // number of the frame of the run that this stream brings next
	opened bool // the next sink has seen the stream open

	missedStart bool // it has continued something that began before the stream
	isNew       bool // its last frame that is not partial was new
}

// join adds a stream, or returns nil if the run has too many. Only a stream that replays brings frames from
// before it was opened.
func (r *sharedRun) join(stream *event.Stream, opened bool) *listener {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.listeners) >= maxListeners {
		return nil
	}
	first := slices.IndexFunc(r.frames, func(f seenFrame) bool { return !f.at.Before(stream.OpenedAt) })
	switch {
	case stream.Replays:
		first = -r.forgotten
	case stream.ReplayedRun != "":
		first = 0
	case first < 0:
		first = len(r.frames)
	}
	l := &listener{run: r, stream: stream, next: r.forgotten + first, opened: opened}
	r.listeners = append(r.listeners, l)
	return l
}

// consume passes on a frame that no other stream has brought. It returns false if the frame is new and begins another
// run, because this one has ended.
func (r *sharedRun) consume(l *listener, b *event.Batch, next event.Sink) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ignores(l, b) {
		return true
	}
	if !r.closedAt.IsZero() {
		return r.state == event.StateEnded || b.Stream.ReplayedRun != "" || b.Stream.JoinedSession != "" // the run does not begin again
	}
	behind := l.next < r.forgotten+len(r.frames)
	r.frames = append(r.frames, seenFrame{b.ContentHash, l, b.Received})
	if len(r.frames) > maxFrames {
		r.frames = slices.Delete(r.frames, 0, maxFrames/2)
		r.forgotten += maxFrames / 2
	}
	if !behind {
		l.next = r.forgotten + len(r.frames)
	}
	r.agentEndedAt = time.Time{}
	if b.StateHash != 0 {
		r.state, r.waits = b.StateHash, b.AwaitsInput
	}
	r.statedEnd = r.statedEnd || b.Has(event.KindRunEnded)
	b.Stream = r.stream
	next.Consume(b)
	return true
}

// ignores reports whether a frame brings nothing new.
func (r *sharedRun) ignores(l *listener, b *event.Batch) bool {
	l.missedStart = l.missedStart || b.MissedStart
	alone := len(r.listeners) == 1 && r.closedAt.IsZero() && r.agentEndedAt.IsZero()
	switch {
	case b.Snapshot && (!alone || len(r.frames) == 0 && b.StateHash != 0 && b.StateHash == r.state):
		return true // it repeats known frames, or the state in which an earlier run with the same id ended
	case b.StreamError && l != r.listeners[0]:
		return true // only an error of the first stream concerns the run
	case r.isRepeated(l, b):
		return true
	}
	return l.missedStart && r.hasStarter(l) // the stream that started the run brings all frames, in order
}

// hasStarter reports whether another open stream than l started the run.
func (r *sharedRun) hasStarter(l *listener) bool {
	return slices.ContainsFunc(r.listeners, func(other *listener) bool { return other != l && other.stream.NewRun })
}

// isRepeated reports whether the run has the content of a frame. A stream that replays a session may join several partial
// frames into one, which is unknown as such. It is repeated if the last frame that is not partial was known.
func (r *sharedRun) isRepeated(l *listener, b *event.Batch) bool {
	known := r.isKnown(l, b)
	if !b.Partial {
		l.isNew = !known
	}
	return known || b.Partial && l.stream.Replays && !l.isNew && l.next < r.forgotten+len(r.frames)
}

// isKnown reports whether another stream has already brought the frame. A frame from before that
// stream was opened cannot have come from it.
func (r *sharedRun) isKnown(l *listener, b *event.Batch) bool {
	if l.next < r.forgotten && l.stream.Replays {
		l.next++
		return true
	}
	for i := max(l.next-r.forgotten, 0); i < len(r.frames); i++ {
		if f := r.frames[i]; f.hash == b.ContentHash && f.by != l && !b.Received.Before(f.by.stream.OpenedAt) {
			l.next = r.forgotten + i + 1
			return true
		}
	}
	return false
}
