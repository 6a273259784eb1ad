package source

import (
	"bytes"
	"strconv"
)

const (
	minConsecutive = 10      // number of consecutive ids after which ids are assumed to number the frames
	maxMissed      = 1 << 20 // a larger jump means that the numbering has changed
	maxIDDigits    = 18      // digits that always fit into an int64
)

// idSequence counts the frames that a tail missed between two connections, using ids that end in consecutive
// numbers. Ids that skip a number or go back within one connection cannot be used: the server also numbers
// frames that it does not send, or more than one stream.
type idSequence struct {
	prefix   string
	last     int64
	length   int  // number of consecutive ids so far
	resumed  bool // no new id has come on this connection yet
	unusable bool // the ids do not count this stream's frames
}

// resume records that the next frame comes on a new connection.
func (q *idSequence) resume() { q.resumed = true }

// countMissed returns the number of frames that were missed before a frame. id is the last event id at that frame.
func (q *idSequence) countMissed(id []byte) (frames int64) {
	if q.unusable || len(id) == 0 {
		return 0
	}
	text := bytes.TrimRight(id, "0123456789")
	digits := id[len(text):]
	number, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil || len(digits) > maxIDDigits {
		q.unusable = true
		return 0
	}
	same := q.length > 0 && string(text) == q.prefix
	switch skipped := number - q.last - 1; {
	case same && number == q.last:
		return 0 // the frame has no id of its own
	case same && skipped == 0:
		q.length++
	case same && q.resumed && skipped > 0 && skipped <= maxMissed && q.length >= minConsecutive:
		frames = skipped
		q.length++
	case q.length > 0 && !q.resumed:
		q.unusable = true
	default:
		q.prefix, q.length = string(text), 1
	}
	q.last, q.resumed = number, false
	return frames
}
