package stream

import (
	"bytes"
	"time"

	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// serveSocket starts the goroutines of a subscriber with a socket.
func (s *subscriber) serveSocket(c *socket, opening []byte) {
	s.connection, s.socket, s.clientGone = c, c, c.clientGone
	s.hub.sockets.add(c)
	s.hub.settings.Memory.Release(SubscriberSize - waitingSize) // run charges it again
	if s.format == nil && c.tryWrite != nil {
		s.writer = s.hub.writers.join(s)
	}
	go s.watch()
	go s.run(opening)
}

// run serves a subscriber with a socket until it waits with its writer or its stream ends.
func (s *subscriber) run(opening []byte) {
	defer s.hub.settings.Panics.Recover(recovery.Stream, nil)
	s.hub.settings.Memory.Charge(SubscriberSize - waitingSize)
	defer s.hub.settings.Memory.Release(SubscriberSize - waitingSize)
	waits := false
	defer func() {
		if !waits {
			s.release()
		}
	}()
	why := s.writeRest()
	if why == "" {
		why = s.serve(opening)
	}
	if waits = why == ""; !waits {
		s.hub.settings.Observer.CountDisconnect(why)
	}
}

// watch waits until the client of a subscriber with a socket has left. If the subscriber waits with its writer,
// watch then releases it. Otherwise run does.
func (s *subscriber) watch() {
	defer s.hub.settings.Panics.Recover(recovery.Stream, nil)
	s.socket.discardInput()
	if s.writer != nil && s.writer.remove(s) {
		s.hub.settings.Observer.CountDisconnect(ClientLeft)
		s.release()
	}
}

// offer writes a batch if the socket takes it at once, and returns the number of frames that were sent. ok is
// false if the subscriber needs a goroutine, for example to write the rest of the batch (writeRest).
func (s *subscriber) offer(b replay.Batch, now time.Time) (frames int, ok bool) {
	if b.Lost {
		return 0, false
	}
	if len(b.Bytes) == 0 {
		s.advance(b)
		return 0, true
	}
	n := s.socket.tryWrite(b.Bytes)
	if n == 0 {
		return 0, false
	}
	s.advance(b)
	s.lastWrite = now
	if n == len(b.Bytes) {
		return b.Frames, true
	}
	s.rest, s.restFrames = b.Bytes[n:], b.Frames
	if s.selection != nil && len(b.Bytes) <= scratchSize {
		s.rest = bytes.Clone(s.rest) // the batch may be scratch space
	}
	return 0, false
}

// writeRest writes the part of a batch that offer could not write.
func (s *subscriber) writeRest() Disconnect {
	if len(s.rest) == 0 {
		return ""
	}
	memory, size := s.hub.settings.Memory, len(s.rest)
	memory.Charge(size)
	defer memory.Release(size)
	why := s.writeFrames(s.restFrames, s.rest)
	s.rest = nil
	return why
}

// mustDrain reports whether the hub drains and scheduleDrain was not called yet.
func (s *subscriber) mustDrain() bool { return !s.draining && isClosed(s.hub.drainStarted) }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
