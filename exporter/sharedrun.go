package exporter

import (
	"slices"
	"time"

	"github.com/delegraph/delegraph/collector/event"
)

// sharedRun is a run that several streams may bring.
type sharedRun struct {
	key      runKey
	*carrier // its lock also guards what follows

	listeners    []*listener // in the order in which they joined
	frames       []seenFrame
	ended        bool
	closedAt     time.Time // of an ended run: when its last stream closed
	state        uint64    // the last StateHash of a frame; before the first one, that of an earlier run with the same id
	agentEndedAt time.Time // when the agent last ended one of the streams, if no new frame came since
	statedEnd    bool      // a frame has stated the end of the run
	awaitsInput  bool      // as of the last StateHash
}

// listener is a stream that brings a run.
type listener struct {
	run       *sharedRun
	stream    *event.Stream
	next      int       // position, among the run's frames, of the one that this stream brings next
	forgotten forgotten // frames that a stream which replays the run may bring before that one
	opened    bool      // the next sink has seen the stream open

	missedStart  bool // it has continued something that began before the stream
	lastWholeNew bool // its last frame that is no piece was new
	replaying    bool // all its frames may have been sent when no stream of the run was open
}

// replays reports whether the stream may bring frames from before it was opened.
func (l *listener) replays() bool { return l.stream.Replays || l.stream.ReplayedRun != "" }

// join adds a stream, or returns nil if the run has too many. Only a stream that replays brings frames from
// before it was opened.
func (r *sharedRun) join(stream *event.Stream, opened bool) *listener {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.listeners) >= maxListeners {
		return nil
	}
	joins := stream.JoinedRun != "" || stream.Replays || stream.JoinedSession != "" && len(r.frames) > 0
	l := &listener{run: r, stream: stream, opened: opened}
	l.replaying = joins && !slices.ContainsFunc(r.listeners, func(other *listener) bool { return !other.replaying })
	if !l.replays() {
		l.next = slices.IndexFunc(r.frames, func(f seenFrame) bool { return !f.at.Before(stream.OpenedAt) })
		if l.next < 0 {
			l.next = len(r.frames)
		}
	}
	r.listeners = append(r.listeners, l)
	return l
}

// consume passes on a frame that no other stream has brought. It returns false if the frame is new and begins another
// run, because this one has ended.
func (r *sharedRun) consume(l *listener, b *event.Batch, next event.Sink) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	l.replaying = l.replaying && b.Replayed
	b.Replayed = l.replaying
	if r.ignores(l, b) {
		return true
	}
	if r.ended {
		return r.state == event.StateEnded || b.Stream.ReplayedRun != "" || b.Stream.JoinedSession != "" // the run does not begin again
	}
	behind := l.next < len(r.frames)
	r.frames = append(r.frames, seenFrame{hash: b.ContentHash, by: l, at: b.Received, isPiece: isPiece(b)})
	if !behind {
		l.next = len(r.frames)
	}
	r.forget()
	r.agentEndedAt = time.Time{}
	if b.StateHash != 0 {
		r.state, r.awaitsInput = b.StateHash, b.AwaitsInput
	}
	r.statedEnd = r.statedEnd || b.Has(event.KindRunEnded)
	b.Stream = r.stream
	next.Consume(b)
	return true
}

// ignores reports whether a frame brings nothing new.
func (r *sharedRun) ignores(l *listener, b *event.Batch) bool {
	l.missedStart = l.missedStart || b.MissedStart
	alone := len(r.listeners) == 1 && !r.ended && r.agentEndedAt.IsZero()
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

// endsWith reports whether the stream of a session has brought its last frame of the run. On the stream that the next sink
// sees, the outcome of the run may follow its end.
func (l *listener) endsWith(b *event.Batch) bool {
	if l.stream.JoinedSession == "" {
		return false
	}
	for i := range b.Events {
		if e := &b.Events[i]; e.Kind == event.KindRunEnded {
			return !e.AwaitsOutcome || l.run.stream != l.stream
		}
	}
	return false
}
