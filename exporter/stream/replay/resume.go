package replay

import (
	"strconv"
	"strings"
)

// Reason says why a stream cannot go on exactly behind an id.
type Reason string

// The closed set of reasons.
const (
	Evicted   Reason = "evicted"   // frames behind it are gone: for room or for their age
	Restarted Reason = "restarted" // another ring gave it
	Future    Reason = "future"    // no frame has it yet
	Unknown   Reason = "unknown"   // no ring gives such ids
	Lost      Reason = "lost"      // frames were dropped on their way here; only where somebody else has numbered them
)

// Reasons lists every reason.
func Reasons() []Reason { return []Reason{Evicted, Restarted, Future, Unknown, Lost} }

// Gap tells a reader that what follows does not follow on what it had.
type Gap struct {
	Reason    Reason
	Requested string // the id asked for; "" unless it is at most 64 of [A-Za-z0-9._-]
	Oldest    string // the id of the oldest frame held; "" where none is
	Head      string // the id given last; its number is 0 where none was
}

// Head is the place behind the newest frame.
func (r *Ring) Head() Cursor {
	v := r.view.Load()
	return Cursor{sequence: v.head, number: v.last}
}

// Covers says whether a reader whose last id has a number misses nothing that this ring does not hold, and has had nothing that is
// yet to come here.
func (r *Ring) Covers(number uint64) bool {
	v := r.view.Load()
	return number <= v.last && number >= v.least(v.since(r.now(v), r.settings.Age))
}

// ID is the id of the frame before a cursor, and so the Last-Event-ID that resumes there.
func (r *Ring) ID(c Cursor) string { return string(r.AppendID(nil, c.number)) }

// AppendID appends the id of a number.
func (r *Ring) AppendID(dst []byte, number uint64) []byte {
	return AppendID(dst, r.settings.Epoch, number)
}

// AppendID appends the id that a number has in an epoch.
func AppendID(dst []byte, epoch string, number uint64) []byte {
	dst = append(dst, epoch...)
	dst = append(dst, '-')
	return strconv.AppendUint(dst, number, 10)
}

// Resume finds the place behind a Last-Event-ID, by bisection and never by a scan. Where it cannot, the
// gap is not nil, and the place is that before the oldest frame. The cursor is to be read at once: until its first Read it
// keeps all that the ring holds now.
func (r *Ring) Resume(lastEventID string) (Cursor, *Gap) {
	v := r.view.Load()
	oldest := v.since(r.now(v), r.settings.Age)
	number, reason := Parse(lastEventID, r.settings.Epoch)
	switch {
	case reason != "":
	case number > v.last:
		reason = Future
	case number < v.least(oldest):
		reason = Evicted
	default:
		return Cursor{sequence: v.after(number), number: number, seen: v}, nil
	}
	if oldest > v.head {
		return Cursor{sequence: v.head, number: v.last, seen: v}, NewGap(reason, lastEventID, "", string(r.AppendID(nil, v.last)))
	}
	first := v.number(oldest)
	gap := NewGap(reason, lastEventID, string(r.AppendID(nil, first)), string(r.AppendID(nil, v.last)))
	return Cursor{sequence: oldest - 1, number: first - 1, seen: v}, gap
}

// NewGap is what somebody is told who asked to go on behind an id.
func NewGap(why Reason, requested, oldest, head string) *Gap {
	if len(requested) > maxID || !plain(requested) {
		requested = ""
	}
	return &Gap{Reason: why, Requested: requested, Oldest: oldest, Head: head}
}

// Parse reads an id of ours; the reason is empty where it is one of the epoch.
func Parse(id, epoch string) (number uint64, why Reason) {
	dash := strings.LastIndexByte(id, '-')
	if dash < 1 || dash > maxEpoch || len(id) > maxID || !plain(id) {
		return 0, Unknown
	}
	digits := id[dash+1:]
	number, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || len(digits) > 1 && digits[0] == '0' {
		return 0, Unknown
	}
	if id[:dash] != epoch {
		return 0, Restarted
	}
	return number, ""
}

// plain says whether a string is made of what ids are made of.
func plain(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return s != ""
}
