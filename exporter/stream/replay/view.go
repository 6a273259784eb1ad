package replay

import (
	"slices"
	"sort"
	"time"
	"unique"

	"github.com/delegraph/delegraph/collector/event"
)

// view is the content of a Ring at one time. It is immutable: each Publish makes the next one. Views share
// their bytes and frames, which are never overwritten.
type view struct {
	sealed         []*segment
	active         segment // being filled; newly added data is beyond what earlier views see
	earlier        uint64  // the sequence of the last entry that no reader gets (Entry.Earlier); 0 if there was none
	oldest         uint64  // the sequence of the oldest frame; head+1 if there is none
	head           uint64  // the last assigned sequence
	lastNumber     uint64  // the last assigned number
	evictedThrough uint64  // a reader that resumes with this number, or a higher one, has read every evicted frame
	bytes          int
	streamEnds     int // entries of the view that are ends of streams
}

// segment is a part of a ring's frames. An evicted segment stays in memory as long as a reader uses it.
type segment struct {
	first      uint64 // the sequence of frames[0]
	data       []byte
	frames     []frame
	streamEnds int // ends of streams among the frames

	numbers []uint64 // of the frames; nil if they equal the sequences
}

// frame locates a frame and holds what a Selection matches. Handles store equal names once.
type frame struct {
	end                  int     // in data; the frame starts at the end of the previous one
	marker               *marker // nil for an agent's frame
	time                 time.Duration
	kinds                Kinds
	source, run, session unique.Handle[string]
	stream               *Stream
	first                bool // see Frame.First
}

// marker is set for an entry that is not an agent's frame.
type marker struct {
	gap *Gap      // nil: the end of a stream
	end event.End // how the stream ended
}

func (e *Entry) marker() *marker {
	if e.Gap == nil && !e.StreamEnded {
		return nil
	}
	return &marker{gap: e.Gap, end: e.End}
}

func (f *frame) isStreamEnd() bool { return f.marker != nil && f.marker.gap == nil }
func (f *frame) isGap() bool       { return f.marker != nil && f.marker.gap != nil }

func (v *view) frames() int { return int(v.head + 1 - v.oldest) }

// newest returns the time of the newest frame.
func (v *view) newest() time.Duration {
	if n := len(v.active.frames); n > 0 {
		return v.active.frames[n-1].time
	}
	return 0
}

// resumeNumber returns the lowest number that proves that its reader has read the frame at index i. For a
// gap, that is the next number: a reader of only the frame before the gap may have the gap's own
// number.
func (s *segment) resumeNumber(i int) uint64 {
	if s.frames[i].isGap() {
		return s.number(i) + 1
	}
	return s.number(i)
}

func (s *segment) number(i int) uint64 {
	if s.numbers == nil {
		return s.first + uint64(i)
	}
	return s.numbers[i]
}

// minResumeNumber returns the lowest number that proves that every frame before sequence was read.
func (v *view) minResumeNumber(sequence uint64) uint64 {
	if sequence <= max(v.oldest, v.earlier+1) {
		return v.evictedThrough
	}
	s, i := v.find(sequence - 1)
	return s.resumeNumber(i)
}

// lastReadSequence returns the sequence of the last frame that a reader has read if it resumes with a number. The
// caller makes sure that no frame after it was evicted.
func (v *view) lastReadSequence(number uint64) uint64 {
	n := sort.Search(v.frames(), func(n int) bool {
		s, i := v.find(v.oldest + uint64(n))
		return s.resumeNumber(i) > number
	})
	return v.oldest + uint64(n) - 1
}

// number returns the number of a sequence that is in the view or was assigned last.
func (v *view) number(sequence uint64) uint64 {
	if sequence == v.head {
		return v.lastNumber
	}
	s, i := v.find(sequence)
	return s.number(i)
}

// find locates a frame that is in the view.
func (v *view) find(sequence uint64) (*segment, int) {
	s := &v.active
	if sequence < s.first {
		s = v.sealed[sort.Search(len(v.sealed), func(i int) bool { return v.sealed[i].first > sequence })-1]
	}
	return s, int(sequence - s.first)
}

// oldestYoungerThan returns the oldest sequence that readers may get and whose frame is younger than age, or head+1.
func (v *view) oldestYoungerThan(now, age time.Duration) uint64 {
	n := sort.Search(v.frames(), func(n int) bool {
		s, i := v.find(v.oldest + uint64(n))
		return now-s.frames[i].time < age
	})
	return max(v.oldest+uint64(n), v.earlier+1)
}

// place moves the head to a new entry and returns its number. It returns false if the number was passed
// already, or if an Earlier entry comes after others.
func (v *view) place(e *Entry) (number uint64, wanted bool) {
	number = e.Number
	switch {
	case e.Earlier:
		if number > v.lastNumber || v.earlier < v.head {
			return 0, false
		}
		v.head++
		v.earlier = v.head
		return number, true
	case number == 0 && e.Gap == nil:
		number = v.lastNumber + 1
	case number < v.lastNumber || number == v.lastNumber && e.Gap == nil:
		return 0, false
	}
	v.head, v.lastNumber = v.head+1, number
	return number, true
}

// add appends the frame with the newest sequence. segmentSize is the size in bytes of a new segment.
func (v *view) add(number uint64, wire []byte, f frame, segmentSize int) {
	if v.active.data == nil || len(v.active.data)+len(wire) > cap(v.active.data) {
		before := len(v.active.frames) // the next segment will have about as many
		v.seal()
		v.active = segment{first: v.head, data: make([]byte, 0, max(segmentSize, len(wire))), frames: make([]frame, 0, before+before/8)}
	}
	v.active.data = append(v.active.data, wire...)
	f.end = len(v.active.data)
	if s := &v.active; number != v.head && s.numbers == nil {
		s.numbers = make([]uint64, len(s.frames), len(s.frames)+1)
		for i := range s.numbers {
			s.numbers[i] = s.first + uint64(i)
		}
	}
	if v.active.numbers != nil {
		v.active.numbers = append(v.active.numbers, number)
	}
	v.active.frames = append(v.active.frames, f)
	if f.isStreamEnd() {
		v.active.streamEnds++
	}
	v.bytes += v.active.size(len(v.active.frames) - 1)
}

// seal closes the active segment. If much of its capacity is unused, seal copies the data to release the spare memory.
func (v *view) seal() {
	if len(v.active.frames) == 0 {
		return
	}
	s := v.active
	if spare := cap(s.data) - len(s.data); spare > cap(s.data)/8 {
		s.data = slices.Clone(s.data)
	}
	v.sealed = append(v.sealed, &s)
}

// dropSegments removes segments without remaining frames.
func (v *view) dropSegments() {
	if v.oldest > v.head {
		v.sealed, v.active = nil, segment{first: v.head + 1}
		return
	}
	empty := 0
	for empty < len(v.sealed) && v.sealed[empty].first+uint64(len(v.sealed[empty].frames)) <= v.oldest {
		empty++
	}
	if empty > 0 { // a new array, because the old one would keep them in memory
		v.sealed = append([]*segment(nil), v.sealed[empty:]...)
	}
}

func (s *segment) start(i int) int {
	if i == 0 {
		return 0
	}
	return s.frames[i-1].end
}

// size returns the number of bytes that a frame counts against the limit.
func (s *segment) size(i int) int {
	f := &s.frames[i]
	return f.end - s.start(i) + len(f.source.Value()) + len(f.run.Value()) + len(f.session.Value())
}

// readFrom returns the bytes of the frames from i on, at most limit bytes but at least one frame. n counts
// these entries, and frames those of them that are not the end of a stream.
func (s *segment) readFrom(i, limit int) (bytes []byte, n, frames int) {
	start, rest := s.start(i), s.frames[i:]
	n = len(rest)
	if rest[n-1].end-start > limit {
		n = max(1, sort.Search(n, func(n int) bool { return rest[n].end-start > limit }))
	}
	end := rest[n-1].end
	if frames = n; s.streamEnds > 0 {
		for j := range rest[:n] {
			if rest[j].isStreamEnd() {
				frames--
			}
		}
	}
	return s.data[start:end:end], n, frames
}
