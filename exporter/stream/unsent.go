package stream

import (
	"sync"
	"time"

	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// roomPoll is how often a subscriber checks whether there is room for its next frame.
const roomPoll = 50 * time.Millisecond

// unsentMemory counts the memory of frames that are converted alone, because they are large or memory is short, and not written yet.
type unsentMemory struct {
	account *budget.Account

	mu     sync.Mutex
	frames int
}

// add charges a frame of size bytes if there is room for it, and reports whether there was. There is
// always room for one frame.
func (u *unsentMemory) add(size int) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.frames > 0 && u.account.Remaining() < size {
		return false
	}
	u.frames++
	u.account.Charge(size)
	return true
}

func (u *unsentMemory) remove(size int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.frames--
	u.account.Release(size)
}

// writeLarge writes opening, which may be empty, and a frame alone. If there is no room for the frame, the
// cursor stays before it, and s.wait makes serve try again after roomPoll.
func (s *subscriber) writeLarge(opening []byte, f replay.Frame) Disconnect {
	size := f.Size()
	if !s.hub.unsent.add(size) {
		retry := make(chan struct{})
		time.AfterFunc(roomPoll, func() { close(retry) })
		s.wait = retry
		if len(opening) > 0 {
			return s.write(opening)
		}
		return ""
	}
	defer func() { s.hub.unsent.remove(size) }()
	out, sent := s.convertLarge(opening, f), 0
	s.hub.unsent.account.Charge(cap(out) - size)
	size = cap(out)
	s.advance(replay.Batch{Next: f.Cursor()})
	if s.unsentID = len(out) == len(opening); !s.unsentID {
		sent = 1
	} else if s.mustSendID() {
		out = s.appendComment(out, "")
	}
	return s.writeFrames(sent, out)
}

// convertLarge returns opening and a large frame in the subscriber's format. Only one subscriber at a time asks
// for a turn: relays take turns of the same budget.Turns, and must not wait behind many subscribers.
func (s *subscriber) convertLarge(opening []byte, f replay.Frame) (out []byte) {
	s.hub.convertingLarge.Lock()
	defer s.hub.convertingLarge.Unlock()
	turn := s.hub.settings.Turns.Take(f.DecodingSize())
	defer turn.End()
	s.hub.withProcessor(func() { out = s.format.Append(opening, f) })
	return out
}
