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
)

// Reasons lists every reason.
func Reasons() []Reason { return []Reason{Evicted, Restarted, Future, Unknown} }

// Gap tells a reader that what follows does not follow on what it had.
type Gap struct {
	Reason    Reason
	Requested string // the id asked for; "" unless it is at most 64 of [A-Za-z0-9._-]
	Oldest    string // the id of the oldest frame held; "" where none is
	Head      string // the id given last; its sequence is 0 where none was
}

// Head is the place behind the newest frame.
func (r *Ring) Head() Cursor { return Cursor{sequence: r.view.Load().head} }

// ID is the id of the frame before a cursor, and so the Last-Event-ID that resumes there.
func (r *Ring) ID(c Cursor) string { return string(r.AppendID(nil, c.sequence)) }

// AppendID appends the id of a sequence.
func (r *Ring) AppendID(dst []byte, sequence uint64) []byte {
	dst = append(dst, r.settings.Epoch...)
	dst = append(dst, '-')
	return strconv.AppendUint(dst, sequence, 10)
}

// Resume finds the place behind a Last-Event-ID, by bisection and never by a scan. Where it cannot, the
// gap is not nil, and the place is that before the oldest frame. The cursor is to be read at once: until its first Read it
// keeps all that the ring holds now.
func (r *Ring) Resume(lastEventID string) (Cursor, *Gap) {
	v := r.view.Load()
	oldest := v.since(r.now(v), r.settings.Age)
	sequence, reason := r.parse(lastEventID)
	switch {
	case reason != "":
	case sequence > v.head:
		reason = Future
	case sequence+1 < oldest:
		reason = Evicted
	default:
		return Cursor{sequence: sequence, seen: v}, nil
	}
	gap := &Gap{Reason: reason, Head: string(r.AppendID(nil, v.head))}
	if len(lastEventID) <= maxID && plain(lastEventID) {
		gap.Requested = lastEventID
	}
	if oldest <= v.head {
		gap.Oldest = string(r.AppendID(nil, oldest))
	}
	return Cursor{sequence: oldest - 1, seen: v}, gap
}

// parse reads an id of ours; the reason is empty where it is one of this epoch.
func (r *Ring) parse(id string) (uint64, Reason) {
	dash := strings.LastIndexByte(id, '-')
	if dash < 1 || dash > maxEpoch || len(id) > maxID || !plain(id) {
		return 0, Unknown
	}
	digits := id[dash+1:]
	sequence, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || len(digits) > 1 && digits[0] == '0' {
		return 0, Unknown
	}
	if id[:dash] != r.settings.Epoch {
		return 0, Restarted
	}
	return sequence, ""
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
