package stream

import (
	"cmp"
	"errors"
	"os"
	"time"

	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/format"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// subscriber is one connection: a position in the ring and a selection. It is used by its own goroutine, or by
// its writer while it waits there.
type subscriber struct {
	hub       *Hub
	grant     Grant
	selection *replay.Selection
	format    *format.Transformer // nil: native frames

	connection connection
	isHTTP2    bool            // a write deadline that passes resets the stream, even if nothing is written
	clientGone <-chan struct{} // closed once the client has left
	socket     *socket         // nil if the connection stays with net/http
	writer     *writer         // nil if the subscriber always needs a goroutine
	index      int             // in writer.waiting

	attachment Attachment
	cursor     replay.Cursor
	unsentID   bool            // the client may not know the cursor's id, because the last frames before it were not sent
	wait       <-chan struct{} // closed when there may be more after the cursor
	rest       []byte          // the end of a batch that the socket did not take at once; the cursor is after it
	restFrames int             // frames of that batch, which are counted once rest is written

	timer       *time.Timer // fires when the next heartbeat, recheck or end is due
	lastWrite   time.Time
	nextRecheck time.Time
	endsAt      time.Time
	endReason   Disconnect // the reason of the end at endsAt
	draining    bool       // scheduleDrain was called
}

var closedChannel = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// serve writes opening, and then buffered and new frames. It returns why the stream has ended, or "" as soon as
// the subscriber waits with its writer.
func (s *subscriber) serve(opening []byte) Disconnect {
	s.timer = time.NewTimer(s.untilNextTimer())
	defer s.timer.Stop()
	why := s.writeNext(opening)
	draining := s.hub.drainStarted
	if s.draining {
		draining = nil
	}
	for why == "" {
		if s.writer != nil && s.writer.add(s) {
			return ""
		}
		select {
		case <-s.wait:
			why = s.writeNext(nil)
		case <-s.timer.C:
			why = s.onTimer(time.Now())
		case <-s.attachment.Done:
			why = s.end(StoreRestarted)
		case <-s.attachment.Moved:
			why = s.end(Moved)
		case <-draining:
			draining = nil
			s.scheduleDrain(s.hub.grace)
		case <-s.clientGone:
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
		return appendPosition(nil, untoldID(gap), gapEvent)
	}
	return appendGap(sse.AppendComment(nil, "open"), id, gap)
}

// advance moves the cursor past a batch that was read.
func (s *subscriber) advance(batch replay.Batch) {
	passed := batch.Next.Sequence() - s.cursor.Sequence()
	hasOthers := s.selection != nil || passed != uint64(batch.Frames) // the ends of streams have no bytes
	s.unsentID = s.unsentID || passed > 0 && hasOthers
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
	if s.selection != nil {
		var release func()
		scratch, release = s.hub.takeScratch()
		defer release()
	}
	var batch replay.Batch
	read := func() { batch = s.attachment.Ring.Read(s.cursor, s.selection, scratch) }
	if s.selection == nil {
		read() // copies and compares nothing
	} else {
		s.hub.withProcessor(read)
	}
	if batch.Lost {
		return TooSlow
	}
	s.advance(batch)
	if len(opening)+len(batch.Bytes) == 0 {
		return ""
	}
	return s.writeFrames(batch.Frames, opening, batch.Bytes)
}

// writeFrames writes the parts, which contain n frames.
func (s *subscriber) writeFrames(n int, parts ...[]byte) Disconnect {
	why := s.write(parts...)
	if why == "" && n > 0 {
		s.hub.settings.Observer.CountSent(n)
	}
	return why
}

// writeChunk is the number of bytes that a subscriber must accept within one write deadline. A slow
// subscriber can still receive a frame that is larger.
const writeChunk = 16 << 10

// write writes and flushes the parts.
func (s *subscriber) write(parts ...[]byte) Disconnect {
	s.lastWrite = time.Now()
	deadline := s.lastWrite.Add(s.hub.settings.WriteDeadline)
	err := s.connection.SetWriteDeadline(deadline)
	for _, part := range parts {
		for len(part) > 0 && err == nil {
			_, err = s.connection.Write(part[:min(writeChunk, len(part))])
			if part = part[min(writeChunk, len(part)):]; len(part) > 0 && err == nil {
				now := time.Now()
				if !s.grantValid(now) {
					return GrantRevoked // no closing comment can be written within a frame
				}
				deadline = now.Add(s.hub.settings.WriteDeadline)
				err = s.connection.SetWriteDeadline(deadline)
			}
		}
	}
	if err == nil {
		err = s.connection.Flush()
	}
	if err == nil && s.isHTTP2 {
		err = s.connection.SetWriteDeadline(time.Time{})
	}
	switch {
	case err == nil:
		return ""
	case errors.Is(err, os.ErrDeadlineExceeded), !time.Now().Before(deadline): // HTTP/2 only returns that the stream is closed
		return WriteTimeout
	default:
		return ClientLeft
	}
}

// grantValid reports whether the grant is still valid. While it is, grantValid calls Grant.Valid at most
// once per RecheckInterval. Once Grant.Valid has returned false, each call asks again.
func (s *subscriber) grantValid(now time.Time) bool {
	if now.Before(s.nextRecheck) {
		return true
	}
	if s.grant.Valid != nil && !s.grant.Valid() {
		return false
	}
	s.nextRecheck = now.Add(s.hub.settings.RecheckInterval)
	return true
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

// appendComment appends a comment, together with the position if the client does not know it and may resume there.
func (s *subscriber) appendComment(dst []byte, comment string) []byte {
	if !s.mustSendID() {
		return sse.AppendComment(dst, comment)
	}
	s.unsentID = false
	return appendPosition(dst, s.attachment.Ring.ID(s.cursor), comment)
}

// mustSendID reports whether the client must get the id of the cursor.
func (s *subscriber) mustSendID() bool {
	return s.unsentID && (s.format == nil || !s.format.HasUntoldGap())
}

// end sends a closing comment and returns why. If the subscriber may reconnect, end first sends the next frames, and all
// of them if it cannot get the others here. If the client does not know its position, the comment comes with it.
func (s *subscriber) end(why Disconnect) Disconnect {
	var failed Disconnect
	switch why {
	case LifetimeExceeded, Shutdown:
		failed = s.writeNext(nil)
	case StoreRestarted, Moved:
		failed = s.writeRemaining()
	}
	if failed != "" {
		return failed
	}
	var last []byte
	if why == Shutdown {
		last = sse.AppendRetry(last, randomBetween(500*time.Millisecond, 5*time.Second))
	}
	return cmp.Or(s.write(s.appendComment(last, string(why))), why)
}

// writeRemaining writes the frames that the ring has now, except those for which there is no memory.
func (s *subscriber) writeRemaining() Disconnect {
	head := s.attachment.Ring.Head().Sequence()
	for progress := true; progress && s.cursor.Sequence() < head; {
		before := s.cursor.Sequence()
		if why := s.writeNext(nil); why != "" {
			return why
		}
		progress = s.cursor.Sequence() > before
	}
	return ""
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
	s.draining = true
	if at := time.Now().Add(randomBetween(0, grace)); at.Before(s.endsAt) {
		s.endsAt, s.endReason = at, Shutdown
	}
	s.timer.Reset(s.untilNextTimer())
}

// nextTimer returns when the next heartbeat, recheck or end is due.
func (s *subscriber) nextTimer() time.Time {
	next := s.lastWrite.Add(s.hub.settings.Heartbeat)
	for _, at := range []time.Time{s.nextRecheck, s.endsAt} {
		if at.Before(next) {
			next = at
		}
	}
	return next
}

func (s *subscriber) untilNextTimer() time.Duration { return time.Until(s.nextTimer()) }

// release releases everything that the subscriber holds. The format and the store may panic, so everything but the slot is
// released before them. The slot is released in any case, after all the rest.
func (s *subscriber) release() {
	defer s.hub.slots.release(s.grant.Token) // last: Drain then returns
	if s.writer != nil {
		s.hub.writers.leave(s.writer)
	}
	if s.socket != nil {
		s.hub.sockets.remove(s.socket)
		s.hub.settings.Memory.Release(waitingSize)
	} else {
		s.hub.settings.Memory.Release(SubscriberSize)
	}
	if s.format != nil {
		s.format.Close()
	}
	if s.attachment.Release != nil {
		s.attachment.Release()
	}
}
