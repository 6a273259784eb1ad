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

// subscriber is one connection: a position in the ring and a selection. Only its request's
// goroutine uses it.
type subscriber struct {
	hub       *Hub
	grant     Grant
	selection *replay.Selection
	format    *format.Transformer // nil: native frames
	out       http.ResponseWriter
	control   *http.ResponseController
	isHTTP2   bool // a write deadline that passes resets the stream, even if nothing is written

	attachment Attachment
	cursor     replay.Cursor
	unsentID   bool            // the client may not know the cursor's id, because the last frames before it were not sent
	wait       <-chan struct{} // closed when there may be more after the cursor

	timer       *time.Timer // for the next of heartbeat, recheck and end
	lastWrite   time.Time
	nextRecheck time.Time
	endsAt      time.Time
	endReason   Disconnect // the reason of the end at endsAt
}

// scratchPool holds buffers for selected frames. A subscriber holds one only while it writes, so that
// an idle subscriber needs no buffer.
var scratchPool = sync.Pool{New: func() any { b := make([]byte, 0, scratchSize); return &b }}

const scratchSize = 16 << 10

var closedChannel = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// serve writes buffered and new frames until the client or the server ends the stream.
func (s *subscriber) serve(ctx context.Context, resumes bool) Disconnect {
	s.schedule(time.Now())
	s.timer = time.NewTimer(s.untilNextTimer())
	defer s.timer.Stop()
	why := s.writeNext(s.opening(resumes))
	draining := s.hub.drainStarted
	for why == "" {
		select {
		case <-s.wait:
			why = s.writeNext(nil)
		case <-s.timer.C:
			why = s.onTimer(time.Now())
		case <-s.attachment.Done:
			why = s.end(StoreRestarted)
		case <-s.attachment.Moved:
			why = s.endMoved()
		case <-draining:
			draining = nil
			s.scheduleDrain(s.hub.grace)
		case <-ctx.Done():
			return ClientLeft
		}
	}
	return why
}

// opening returns what is sent before the first frame.
func (s *subscriber) opening(resumes bool) []byte {
	id, gap := s.attachment.Ring.ID(s.attachment.Cursor), s.attachment.Gap
	s.cursor = s.attachment.Cursor
	if gap == nil {
		if resumes {
			s.hub.settings.Observer.CountResume(ResumeContinued)
		}
		return appendPosition(nil, id, "open")
	}
	s.hub.settings.Observer.CountResume(ResumeOutcome(gap.Reason))
	if s.format != nil && !s.format.NoteGap(gap) {
		return appendPosition(nil, id, gapEvent)
	}
	return appendGap(sse.AppendComment(nil, "open"), id, gap)
}

// advance moves the cursor past a batch that was read.
func (s *subscriber) advance(batch replay.Batch) {
	s.unsentID = s.unsentID || s.selection != nil && batch.Next.Sequence() != s.cursor.Sequence()
	s.cursor, s.wait = batch.Next, batch.Wait
	if s.wait == nil {
		s.wait = closedChannel
	}
	if s.attachment.OnRead != nil {
		s.attachment.OnRead(s.cursor)
	}
}

// writeNext writes opening, which may be empty, and the next batch.
func (s *subscriber) writeNext(opening []byte) Disconnect {
	if s.format != nil {
		return s.writeNextFormatted(opening)
	}
	var scratch []byte // without one, the ring returns its own memory, one frame at a time
	if memory := s.hub.settings.Memory; s.selection != nil && memory.Reserve(scratchSize) {
		defer memory.Release(scratchSize)
		pooled := scratchPool.Get().(*[]byte)
		defer scratchPool.Put(pooled)
		scratch = *pooled
	}
	var batch replay.Batch
	read := func() { batch = s.attachment.Ring.Read(s.cursor, s.selection, scratch) }
	if s.selection == nil {
		read() // copies and compares nothing
	} else {
		s.withProcessor(read)
	}
	if batch.Lost {
		return TooSlow
	}
	s.advance(batch)
	if len(opening)+len(batch.Bytes) > 0 {
		if why := s.write(opening, batch.Bytes); why != "" {
			return why
		}
		if batch.Frames > 0 {
			s.hub.settings.Observer.CountSent(batch.Frames)
		}
	}
	return ""
}

// withProcessor calls work, which selects or converts frames, once one of the hub's processors is free.
// work must not write, because a write may block.
func (s *subscriber) withProcessor(work func()) {
	s.hub.processors <- struct{}{}
	defer func() { <-s.hub.processors }()
	work()
}

// writeChunk is the number of bytes that a subscriber must accept within one write deadline. A slow
// subscriber can still receive a frame that is larger.
const writeChunk = 16 << 10

// write writes and flushes the parts.
func (s *subscriber) write(parts ...[]byte) Disconnect {
	s.lastWrite = time.Now()
	deadline := s.lastWrite.Add(s.hub.settings.WriteDeadline)
	err := s.control.SetWriteDeadline(deadline)
	for _, part := range parts {
		for len(part) > 0 && err == nil {
			_, err = s.out.Write(part[:min(writeChunk, len(part))])
			if part = part[min(writeChunk, len(part)):]; len(part) > 0 && err == nil {
				now := time.Now()
				if !s.grantValid(now) {
					return GrantRevoked // no closing comment can be written within a frame
				}
				deadline = now.Add(s.hub.settings.WriteDeadline)
				err = s.control.SetWriteDeadline(deadline)
			}
		}
	}
	if err == nil {
		err = s.control.Flush()
	}
	if err == nil && s.isHTTP2 {
		err = s.control.SetWriteDeadline(time.Time{})
	}
	switch {
	case err == nil:
		return ""
	case errors.Is(err, os.ErrDeadlineExceeded), !time.Now().Before(deadline): // with HTTP/2 the error only says that the stream is closed
		return WriteTimeout
	default:
		return ClientLeft
	}
}

// grantValid reports whether the grant is still valid. It checks at most once per RecheckInterval.
func (s *subscriber) grantValid(now time.Time) bool {
	if now.Before(s.nextRecheck) {
		return true
	}
	s.nextRecheck = now.Add(s.hub.settings.RecheckInterval)
	return s.grant.Valid == nil || s.grant.Valid()
}

// onTimer ends the stream, rechecks the grant or sends a heartbeat, whichever is due.
func (s *subscriber) onTimer(now time.Time) Disconnect {
	settings := &s.hub.settings
	if !now.Before(s.endsAt) {
		return s.end(s.endReason)
	}
	if !s.grantValid(now) {
		return s.end(GrantRevoked)
	}
	if now.Sub(s.lastWrite) >= settings.Heartbeat {
		if why := s.heartbeat(); why != "" {
			return why
		}
	}
	s.timer.Reset(s.untilNextTimer())
	return ""
}

// heartbeat writes new frames, or a comment if there are none.
func (s *subscriber) heartbeat() Disconnect {
	before := s.lastWrite
	if why := s.writeNext(nil); why != "" || s.lastWrite != before {
		return why
	}
	return s.write(s.appendComment(nil, ""))
}

// appendComment appends a comment, together with the position if the client does not know it.
func (s *subscriber) appendComment(dst []byte, comment string) []byte {
	if !s.unsentID {
		return sse.AppendComment(dst, comment)
	}
	s.unsentID = false
	return appendPosition(dst, s.attachment.Ring.ID(s.cursor), comment)
}

// end sends a closing comment and returns why. A subscriber that may reconnect first receives the
// remaining frames. The comment comes with the position if the client does not know it.
func (s *subscriber) end(why Disconnect) Disconnect {
	if why == LifetimeExceeded || why == Shutdown || why == StoreRestarted || why == Moved {
		if failed := s.writeNext(nil); failed != "" {
			return failed
		}
	}
	var last []byte
	if why == Shutdown {
		last = sse.AppendRetry(last, randomBetween(500*time.Millisecond, 5*time.Second))
	}
	if failed := s.write(s.appendComment(last, string(why))); failed != "" {
		return failed
	}
	return why
}

// endMoved sends everything that the ring has and ends the stream. The client resumes in another shard.
func (s *subscriber) endMoved() Disconnect {
	for s.wait == closedChannel {
		if why := s.writeNext(nil); why != "" {
			return why
		}
	}
	return s.end(Moved)
}

// schedule sets when the connection ends, and when its grant is checked next.
func (s *subscriber) schedule(now time.Time) {
	settings := &s.hub.settings
	s.lastWrite, s.nextRecheck = now, now.Add(settings.RecheckInterval)
	s.endsAt, s.endReason = now.Add(randomBetween(settings.MaxLifetime*4/5, settings.MaxLifetime)), LifetimeExceeded
	if expires := s.grant.Expires; !expires.IsZero() && expires.Before(s.endsAt) {
		s.endsAt, s.endReason = expires, GrantExpired
	}
}

// scheduleDrain sets a random end within the grace period, unless the connection ends earlier.
func (s *subscriber) scheduleDrain(grace time.Duration) {
	if at := time.Now().Add(randomBetween(0, grace)); at.Before(s.endsAt) {
		s.endsAt, s.endReason = at, Shutdown
	}
	s.timer.Reset(s.untilNextTimer())
}

// untilNextTimer returns the time until the next heartbeat, recheck or end.
func (s *subscriber) untilNextTimer() time.Duration {
	next := s.lastWrite.Add(s.hub.settings.Heartbeat)
	for _, at := range []time.Time{s.nextRecheck, s.endsAt} {
		if at.Before(next) {
			next = at
		}
	}
	return time.Until(next)
}
