package stream

import (
	"context"
	"errors"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/format"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// subscriber is one connection: a place in the ring, and what it may see from there. It is its request's goroutine.
type subscriber struct {
	hub       *Hub
	grant     Grant
	selection *replay.Selection
	format    *format.Transformer // nil: native frames
	out       http.ResponseWriter
	control   *http.ResponseController

	place  Place
	cursor replay.Cursor
	moved  bool            // the cursor may have gone on behind the id that the client has
	wait   <-chan struct{} // until there may be more behind the cursor

	timer   *time.Timer // for whatever is due next
	wrote   time.Time
	recheck time.Time
	ends    time.Time
	why     Disconnect // when it ends
}

// Gathering is done in space that a subscriber has only while it writes, so that a thousand that wait need none.
var scratches = sync.Pool{New: func() any { b := make([]byte, 0, 16<<10); return &b }}

var ready = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// serve writes what there is and what comes, until one of the two sides ends it.
func (s *subscriber) serve(ctx context.Context, resumes bool) Disconnect {
	s.schedule(time.Now())
	s.timer = time.NewTimer(s.due())
	defer s.timer.Stop()
	why := s.advance(s.open(resumes))
	draining := s.hub.draining
	for why == "" {
		select {
		case <-s.wait:
			why = s.advance(nil)
		case <-s.timer.C:
			why = s.tick(time.Now())
		case <-s.place.Over:
			why = s.end(Restarted)
		case <-draining:
			draining = nil
			s.leaveWithin(s.hub.grace)
		case <-ctx.Done():
			return ClientLeft
		}
	}
	return why
}

// open is what is said before the first frame.
func (s *subscriber) open(resumes bool) []byte {
	id, gap := s.place.Ring.ID(s.place.Cursor), s.place.Gap
	s.cursor = s.place.Cursor
	if gap == nil {
		if resumes {
			s.hub.settings.Observer.Resumed(Continued)
		}
		return appendPosition(nil, id, "open")
	}
	s.hub.settings.Observer.Resumed(Outcome(gap.Reason))
	if s.format != nil && !s.format.Gap(gap) {
		return appendPosition(nil, id, gapEvent)
	}
	return appendGap(sse.AppendComment(nil, "open"), id, gap)
}

// move goes on behind what was read.
func (s *subscriber) move(batch replay.Batch) {
	s.moved = s.moved || s.selection != nil && batch.Next.Sequence() != s.cursor.Sequence()
	s.cursor, s.wait = batch.Next, batch.Wait
	if s.wait == nil {
		s.wait = ready
	}
	if s.place.Read != nil {
		s.place.Read(s.cursor)
	}
}

// advance writes the next batch behind an opening, which may be empty.
func (s *subscriber) advance(opening []byte) Disconnect {
	if s.format != nil {
		return s.advanceFormatted(opening)
	}
	var scratch []byte
	if s.selection != nil {
		pooled := scratches.Get().(*[]byte)
		defer scratches.Put(pooled)
		scratch = *pooled
	}
	batch := s.place.Ring.Read(s.cursor, s.selection, scratch)
	if batch.Lost {
		return FellOff
	}
	s.move(batch)
	if len(opening)+len(batch.Bytes) > 0 {
		if why := s.write(opening, batch.Bytes); why != "" {
			return why
		}
		if batch.Frames > 0 {
			s.hub.settings.Observer.Sent(batch.Frames)
		}
	}
	return ""
}

// piece is how much a subscriber must take until the deadline: one that is slow gets a large frame all the same.
const piece = 16 << 10

// write is one flush.
func (s *subscriber) write(parts ...[]byte) Disconnect {
	s.wrote = time.Now()
	deadline := s.wrote.Add(s.hub.settings.WriteDeadline)
	err := s.control.SetWriteDeadline(deadline)
	for _, part := range parts {
		for len(part) > 0 && err == nil {
			_, err = s.out.Write(part[:min(piece, len(part))])
			if part = part[min(piece, len(part)):]; len(part) > 0 && err == nil {
				now := time.Now()
				if !s.stands(now) {
					return Revoked // within a frame there is no place for a word of goodbye
				}
				deadline = now.Add(s.hub.settings.WriteDeadline)
				err = s.control.SetWriteDeadline(deadline)
			}
		}
	}
	if err == nil {
		err = s.control.Flush()
	}
	switch {
	case err == nil:
		return ""
	case errors.Is(err, os.ErrDeadlineExceeded), !time.Now().Before(deadline): // HTTP/2 says only that the stream is closed
		return WriteTimeout
	default:
		return ClientLeft
	}
}

// stands reports whether the grant still stands. It asks when that is due.
func (s *subscriber) stands(now time.Time) bool {
	if now.Before(s.recheck) {
		return true
	}
	s.recheck = now.Add(s.hub.settings.Recheck)
	return s.grant.Recheck == nil || s.grant.Recheck()
}

// tick does what is due: end, recheck or heartbeat.
func (s *subscriber) tick(now time.Time) Disconnect {
	settings := &s.hub.settings
	if !now.Before(s.ends) {
		return s.end(s.why)
	}
	if !s.stands(now) {
		return s.end(Revoked)
	}
	if now.Sub(s.wrote) >= settings.Heartbeat {
		if why := s.beat(); why != "" {
			return why
		}
	}
	s.timer.Reset(s.due())
	return ""
}

// beat breaks the silence.
func (s *subscriber) beat() Disconnect {
	before := s.wrote
	if why := s.advance(nil); why != "" || s.wrote != before {
		return why
	}
	return s.write(s.say(nil, ""))
}

// say appends a comment, and where the subscriber stands if it does not know.
func (s *subscriber) say(dst []byte, comment string) []byte {
	if !s.moved {
		return sse.AppendComment(dst, comment)
	}
	s.moved = false
	return appendPosition(dst, s.place.Ring.ID(s.cursor), comment)
}

// end says good-bye to a subscriber that still listens. One that may come back is first sent what there is; and if it was not
// woken for long, it learns where it stands.
func (s *subscriber) end(why Disconnect) Disconnect {
	if why == LifeOver || why == Shutdown || why == Restarted {
		if failed := s.advance(nil); failed != "" {
			return failed
		}
	}
	var last []byte
	if why == Shutdown {
		last = sse.AppendRetry(last, between(500*time.Millisecond, 5*time.Second))
	}
	if failed := s.write(s.say(last, string(why))); failed != "" {
		return failed
	}
	return why
}

func (s *subscriber) schedule(now time.Time) {
	settings := &s.hub.settings
	s.wrote, s.recheck = now, now.Add(settings.Recheck)
	s.ends, s.why = now.Add(between(settings.Life*4/5, settings.Life)), LifeOver
	if expires := s.grant.Expires; !expires.IsZero() && expires.Before(s.ends) {
		s.ends, s.why = expires, Expired
	}
}

func (s *subscriber) leaveWithin(grace time.Duration) {
	if at := time.Now().Add(between(0, grace)); at.Before(s.ends) {
		s.ends, s.why = at, Shutdown
	}
	s.timer.Reset(s.due())
}

// due is the time until the earliest of what a tick does.
func (s *subscriber) due() time.Duration {
	next := s.wrote.Add(s.hub.settings.Heartbeat)
	for _, at := range []time.Time{s.recheck, s.ends} {
		if at.Before(next) {
			next = at
		}
	}
	return time.Until(next)
}
