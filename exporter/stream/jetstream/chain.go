package jetstream

import "github.com/delegraph/delegraph/exporter/stream/replay"

// chain tells whether a feed has all. NATS says nothing of a message that it has let go of: it just goes on with the next. So each
// message names the one before it on its subject. In a feed of all subjects, the numbers themselves have no holes.
type chain struct {
	everything bool
	start      uint64            // everything up to here is somebody else's matter, or had
	last       uint64            // the number that came last
	had        map[string]uint64 // by subject, its last number
}

// maxSubjects bounds the subjects of one feed that are told apart: a session has as many as sources that name it.
const maxSubjects = 10_000

func newChain(subjects []string, start uint64) chain {
	return chain{everything: len(subjects) == 1 && subjects[0] == prefix+">", start: start, last: start, had: map[string]uint64{}}
}

// add notes a message, and says why it is not the next; "" where it is. If it is sure that nothing came since the last, it does not
// matter that of a message that stood alone nobody knows which was the one before it.
func (c *chain) add(subject string, number uint64, d *decoded, sure bool) (why replay.Reason) {
	had := max(c.start, c.had[subject]) // of one that is forgotten, too little: rather a gap too many than one too few
	previous := d.previous
	switch {
	case c.everything:
		had, previous = c.last, number-1
	case d.alone && sure:
		previous = had
	}
	if c.skip(subject, number); previous > had {
		return replay.Evicted
	}
	if d.lost {
		return replay.Lost
	}
	return ""
}

// skip notes a message that is nobody's.
func (c *chain) skip(subject string, number uint64) {
	c.last = number
	if c.everything {
		return
	}
	if _, known := c.had[subject]; !known && len(c.had) >= maxSubjects {
		for other := range c.had {
			delete(c.had, other)
			break
		}
	}
	c.had[subject] = number
}
