package source

import (
	"bytes"
	"strconv"
)

const (
	countingIDs  = 10      // how many ids in a row must be consecutive before they are taken to count frames
	maxMissed    = 1 << 20 // a longer jump is another numbering
	maxIDCounter = 18      // digits of a number that fits an int64
)

// sequence counts the frames that a tail missed between two connections, by ids that end in consecutive numbers. Ids that skip a
// number or go back within one connection tell nothing: they also number what the server does not send, or more than one stream.
type sequence struct {
	prefix  string
	last    int64
	length  int  // consecutive ids so far
	resumed bool // no new id came on this connection yet
	useless bool // the ids do not count this stream's frames
}

// resume notes that the next frame comes over another connection.
func (q *sequence) resume() { q.resumed = true }

// missed takes the id in force at a frame, and returns how many frames did not come before it.
func (q *sequence) missed(id []byte) (frames int64) {
	if q.useless || len(id) == 0 {
		return 0
	}
	text := bytes.TrimRight(id, "0123456789")
	digits := id[len(text):]
	number, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil || len(digits) > maxIDCounter {
		q.useless = true
		return 0
	}
	same := q.length > 0 && string(text) == q.prefix
	switch skipped := number - q.last - 1; {
	case same && number == q.last:
		return 0 // a frame without an id of its own
	case same && skipped == 0:
		q.length++
	case same && q.resumed && skipped > 0 && skipped <= maxMissed && q.length >= countingIDs:
		frames = skipped
		q.length++
	case q.length > 0 && !q.resumed:
		q.useless = true
	default:
		q.prefix, q.length = string(text), 1
	}
	q.last, q.resumed = number, false
	return frames
}
