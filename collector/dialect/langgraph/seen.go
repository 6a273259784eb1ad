package langgraph

import "hash/maphash"

// seenSet holds hashes of the ids that were reported. Every mode repeats the messages of the others, and
// each state repeats those of the states before. When the set is full, everything counts as seen, so that
// nothing is reported twice.
type seenSet map[uint64]struct{}

var seed = maphash.MakeSeed()

// maxSeen limits a seenSet.
const maxSeen = 1 << 14

// add adds an id of a kind, and reports whether it was new.
func (s *seenSet) add(kind, id string) bool {
	if id == "" || len(*s) >= maxSeen {
		return false
	}
	if *s == nil {
		*s = make(seenSet)
	}
	key := maphash.String(seed, kind+id)
	_, known := (*s)[key]
	(*s)[key] = struct{}{}
	return !known
}

// mustSkip reports whether an id must not be reported: it was added, is empty, or the set is full.
func (s seenSet) mustSkip(kind, id string) bool {
	return s.contains(kind, id) || id == "" || len(s) >= maxSeen
}

// contains reports whether an id was added.
func (s seenSet) contains(kind, id string) bool {
	_, known := s[maphash.String(seed, kind+id)]
	return known
}

// forget removes an id unless the set is full.
func (s seenSet) forget(kind, id string) {
	if len(s) < maxSeen {
		delete(s, maphash.String(seed, kind+id))
	}
}

// Kinds of ids in a seenSet.
const (
	seenMessage   = "message "
	seenResult    = "result "
	seenInterrupt = "interrupt "
	seenInput     = "input " // messages of users
)
