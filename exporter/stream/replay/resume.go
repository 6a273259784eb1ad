package replay

import (
	"strconv"
	"strings"
)

// GapReason says why frames are missing.
type GapReason string

// The possible reasons.
const (
	GapEvicted   GapReason = "evicted"   // frames after the id were evicted for room or age
	GapRestarted GapReason = "restarted" // the id is of another ring
	GapFuture    GapReason = "future"    // no frame has the id yet
	GapUnknown   GapReason = "unknown"   // the id does not have the form of a ring's id
	GapMoved     GapReason = "moved"     // the id is of the shard that the session has left
	GapLost      GapReason = "lost"      // frames were dropped before they reached the ring; only if a store numbers them
)

// GapReasons lists every reason.
func GapReasons() []GapReason {
	return []GapReason{GapEvicted, GapRestarted, GapFuture, GapUnknown, GapMoved, GapLost}
}

// Gap tells a reader that frames are missing before the next one.
type Gap struct {
	Reason    GapReason
	Requested string // the requested id; "" unless it has at most 64 of [A-Za-z0-9._-]
	Oldest    string // the id of the oldest frame held; "" if there is none
	Head      string // the id that was assigned last; its number is 0 if there is none
}

// Head returns the position after the newest frame.
func (r *Ring) Head() Cursor {
	v := r.view.Load()
	return Cursor{sequence: v.head, number: v.lastNumber}
}

// ID returns the id of the frame before a cursor. It is the Last-Event-ID that resumes there.
func (r *Ring) ID(c Cursor) string { return string(r.AppendID(nil, c.number)) }

// AppendID appends the id of a number.
func (r *Ring) AppendID(dst []byte, number uint64) []byte {
	return AppendID(dst, r.settings.Epoch, number)
}

// AppendID appends the id of a number in an epoch.
func AppendID(dst []byte, epoch string, number uint64) []byte {
	dst = append(dst, epoch...)
	dst = append(dst, '-')
	return strconv.AppendUint(dst, number, 10)
}

// Resume returns the position after a Last-Event-ID, using binary search. If that is not possible, it
// returns a gap and the position before the oldest frame. Read from the cursor at once: until then, it
// keeps the ring's current content in memory.
func (r *Ring) Resume(lastEventID string) (Cursor, *Gap) {
	v := r.view.Load()
	oldest := v.oldestYoungerThan(r.now(v), r.settings.Age)
	number, reason := ParseID(lastEventID, r.settings.Epoch)
	switch {
	case reason != "":
	case number > v.lastNumber:
		reason = GapFuture
	case number < v.minResumeNumber(oldest):
		reason = GapEvicted
	default:
		return Cursor{sequence: v.lastReadSequence(number), number: number, resumeView: v}, nil
	}
	if oldest > v.head {
		return Cursor{sequence: v.head, number: v.lastNumber, resumeView: v}, NewGap(reason, lastEventID, "", string(r.AppendID(nil, v.lastNumber)))
	}
	first := v.number(oldest)
	gap := NewGap(reason, lastEventID, string(r.AppendID(nil, first)), string(r.AppendID(nil, v.lastNumber)))
	return Cursor{sequence: oldest - 1, number: v.minResumeNumber(oldest), resumeView: v}, gap
}

// NewGap returns the gap for a reader that asked to resume after the id requested.
func NewGap(why GapReason, requested, oldest, head string) *Gap {
	if len(requested) > maxID || !isPlainID(requested) {
		requested = ""
	}
	return &Gap{Reason: why, Requested: requested, Oldest: oldest, Head: head}
}

// ParseID parses an id. The reason is empty if the id is of the epoch.
func ParseID(id, epoch string) (number uint64, why GapReason) {
	dash := strings.LastIndexByte(id, '-')
	if dash < 1 || dash > maxEpoch || len(id) > maxID || !isPlainID(id) {
		return 0, GapUnknown
	}
	digits := id[dash+1:]
	number, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || len(digits) > 1 && digits[0] == '0' {
		return 0, GapUnknown
	}
	if id[:dash] != epoch {
		return 0, GapRestarted
	}
	return number, ""
}

// isPlainID reports whether a string has only characters that ids have.
func isPlainID(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return s != ""
}
