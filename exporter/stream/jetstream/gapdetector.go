package jetstream

import "github.com/delegraph/delegraph/exporter/stream/replay"

// gapDetector detects messages that are missing from a feed. After NATS has removed messages, it silently continues
// with the next one. Therefore each message names the previous message of its subject. In a feed of all subjects
// this is not needed: the numbers of the stream are consecutive.
type gapDetector struct {
	allSubjects   bool
	start         uint64            // messages up to this number are not missing: the feed has received them or does not need them
	checked       uint64            // no message of the feed's subjects up to this number was removed before the feed received it
	last          uint64            // the number of the last message
	lastBySubject map[string]uint64 // the last number of each subject
}

// maxSubjects bounds the subjects that one feed tracks. A session has one subject per source.
const maxSubjects = 10_000

func newGapDetector(subjects []string, start uint64) gapDetector {
	return gapDetector{allSubjects: len(subjects) == 1 && subjects[0] == prefix+">", start: start, last: start, lastBySubject: map[string]uint64{}}
}

// observe records a message. It returns why messages before it are missing, or "". A message whose subject was empty
// (d.alone) cannot name the previous one. It is no gap if adjacent is true: then no message was removed between the
// feed's last message and this one.
func (g *gapDetector) observe(subject string, number uint64, d *decoded, adjacent bool) (why replay.GapReason) {
	// For a subject that was evicted from the map, received is too low. That may report a false gap, but hides none.
	received := max(g.start, g.lastBySubject[subject])
	previous := d.previous
	switch {
	case g.allSubjects:
		received, previous = max(g.start, g.last), number-1
	case d.alone && adjacent:
		previous = received
	case d.alone:
		received = max(received, g.checked)
	}
	if g.advance(subject, number); previous > received {
		return replay.GapEvicted
	}
	if d.lost {
		return replay.GapLost
	}
	return ""
}

// advance records the number of a message. observe calls it; call it directly for a message that needs no gap check.
func (g *gapDetector) advance(subject string, number uint64) {
	g.last = number
	if g.allSubjects {
		return
	}
	if _, known := g.lastBySubject[subject]; !known && len(g.lastBySubject) >= maxSubjects {
		for other := range g.lastBySubject {
			delete(g.lastBySubject, other)
			break
		}
	}
	g.lastBySubject[subject] = number
}
