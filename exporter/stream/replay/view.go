package replay

import (
	"slices"
	"sort"
	"time"
	"unique"

	"github.com/delegraph/delegraph/collector/event"
)

// view is what a Ring holds at one moment. It is never changed: whoever publishes makes the next from it, and a reader sees
// one or the other. Bytes and frames that a view shows are never written again, so views share them.
type view struct {
	sealed []*segment
	active segment // being filled; what is added lies behind what earlier views see of it
	oldest uint64  // the sequence of the oldest frame; head+1 where there is none
	head   uint64  // the sequence given last
	last   uint64  // the number given last
	gone   uint64  // the number that whoever has passed what was evicted has
	bytes  int
	ends   int // entries that are no frames
}

// segment is a stretch of the log. One that is evicted lives as long as somebody writes from it.
type segment struct {
	first  uint64 // the sequence of frames[0]
	data   []byte
	frames []frame
	ends   int // entries among them that are no frames

	numbers []uint64 // of the frames; nil where they are the sequences
}

// frame says where a frame lies and what a Selection asks about it. Handles make equal names one pointer.
type frame struct {
	end                  int   // in data; it begins where the one before it ends
	mark                 *mark // nil: a frame of an agent's
	at                   time.Duration
	kinds                Kinds
	source, run, session unique.Handle[string]
	stream               *Stream
}

// mark is what an entry says that is no agent's frame.
type mark struct {
	gap *Gap      // nil: the stream has ended
	how event.End // then
}

func (e *Entry) mark() *mark {
	if e.Gap == nil && !e.Over {
		return nil
	}
	return &mark{gap: e.Gap, how: e.End}
}

func (f *frame) over() bool { return f.mark != nil && f.mark.gap == nil }
func (f *frame) gap() bool  { return f.mark != nil && f.mark.gap != nil }

func (v *view) frames() int { return int(v.head + 1 - v.oldest) }

// newest is the time of the newest frame.
func (v *view) newest() time.Duration {
	if n := len(v.active.frames); n > 0 {
		return v.active.frames[n-1].at
	}
	return 0
}

// behind says whether a frame comes after all that a reader has had whose last id has a number. A gap has the number of the frame
// before it, and is told again to who may not have heard of it.
func (s *segment) behind(i int, number uint64) bool {
	n := s.number(i)
	return n > number || n == number && s.frames[i].gap()
}

// passed is the number that whoever has passed a frame has at least.
func (s *segment) passed(i int) uint64 {
	if s.frames[i].gap() {
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

// least is the number that whoever has passed all before a sequence has at least.
func (v *view) least(sequence uint64) uint64 {
	if sequence <= v.oldest {
		return v.gone
	}
	s, i := v.find(sequence - 1)
	return s.passed(i)
}

// after is the sequence of the last frame that a reader has had whose last id has a number, if the view holds that and all behind it.
func (v *view) after(number uint64) uint64 {
	n := sort.Search(v.frames(), func(n int) bool {
		s, i := v.find(v.oldest + uint64(n))
		return s.behind(i, number)
	})
	return v.oldest + uint64(n) - 1
}

// number is that of a sequence that the view holds, or given last.
func (v *view) number(sequence uint64) uint64 {
	if sequence == v.head {
		return v.last
	}
	s, i := v.find(sequence)
	return s.number(i)
}

// find returns where a frame lies that the view holds.
func (v *view) find(sequence uint64) (*segment, int) {
	s := &v.active
	if sequence < s.first {
		s = v.sealed[sort.Search(len(v.sealed), func(i int) bool { return v.sealed[i].first > sequence })-1]
	}
	return s, int(sequence - s.first)
}

// since is the oldest sequence whose frame is younger than an age, head+1 if there is none.
func (v *view) since(now, age time.Duration) uint64 {
	n := sort.Search(v.frames(), func(n int) bool {
		s, i := v.find(v.oldest + uint64(n))
		return now-s.frames[i].at < age
	})
	return v.oldest + uint64(n)
}

// add appends the frame of the newest sequence and number.
func (v *view) add(wire []byte, f frame, room int) {
	if v.active.data == nil || len(v.active.data)+len(wire) > cap(v.active.data) {
		before := len(v.active.frames) // of which there will be about as many again
		v.seal()
		v.active = segment{first: v.head, data: make([]byte, 0, max(room, len(wire))), frames: make([]frame, 0, before+before/8)}
	}
	v.active.data = append(v.active.data, wire...)
	f.end = len(v.active.data)
	if s := &v.active; v.last != v.head && s.numbers == nil {
		s.numbers = make([]uint64, len(s.frames), len(s.frames)+1)
		for i := range s.numbers {
			s.numbers[i] = s.first + uint64(i)
		}
	}
	if v.active.numbers != nil {
		v.active.numbers = append(v.active.numbers, v.last)
	}
	v.active.frames = append(v.active.frames, f)
	if f.over() {
		v.active.ends++
	}
	v.bytes += v.active.cost(len(v.active.frames) - 1)
}

// seal closes the active segment. Room that it will not use is given back, so that memory follows the bytes that are held.
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

// trim lets go of the segments of which nothing is left.
func (v *view) trim() {
	if v.oldest > v.head {
		v.sealed, v.active = nil, segment{first: v.head + 1}
		return
	}
	gone := 0
	for gone < len(v.sealed) && v.sealed[gone].first+uint64(len(v.sealed[gone].frames)) <= v.oldest {
		gone++
	}
	if gone > 0 { // a new array: the old one would keep them
		v.sealed = append([]*segment(nil), v.sealed[gone:]...)
	}
}

func (s *segment) start(i int) int {
	if i == 0 {
		return 0
	}
	return s.frames[i-1].end
}

// cost is what a frame counts against the bound on bytes.
func (s *segment) cost(i int) int {
	f := &s.frames[i]
	return f.end - s.start(i) + len(f.source.Value()) + len(f.run.Value()) + len(f.session.Value())
}

// stretch returns the bytes of the frames from i on, at most limit bytes but at least one frame, how many sequences that are,
// and how many frames.
func (s *segment) stretch(i, limit int) (bytes []byte, n, frames int) {
	start, rest := s.start(i), s.frames[i:]
	n = len(rest)
	if rest[n-1].end-start > limit {
		n = max(1, sort.Search(n, func(n int) bool { return rest[n].end-start > limit }))
	}
	end := rest[n-1].end
	if frames = n; s.ends > 0 {
		for j := range rest[:n] {
			if rest[j].over() {
				frames--
			}
		}
	}
	return s.data[start:end:end], n, frames
}
