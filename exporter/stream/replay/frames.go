package replay

import (
	"bytes"
	"time"

	"github.com/delegraph/delegraph/collector/event"
)

// Frame is an entry of a Ring, for callers that convert it. Its bytes belong to the ring and must not be
// changed.
type Frame struct {
	Sequence    uint64
	Number      uint64
	Gap         *Gap // not nil: a gap, not an agent's frame
	Source      string
	Stream      *Stream
	StreamEnded bool // the entry is not a frame but the end of Stream
	End         event.End
	Kinds       Kinds // see Entry.Kinds
	First       bool  // the frame is the first published one of Stream

	wire []byte
}

// Frames is like Read, for callers that convert single frames. It also returns the ends of streams.
// It appends to into, up to its capacity, and at least one must fit. It does not set Batch.Bytes.
func (r *Ring) Frames(c Cursor, s *Selection, into []Frame) ([]Frame, Batch) {
	b := r.read(c, s, func(v *view, expired time.Duration, after uint64) Batch {
		var b Batch
		into, b = s.appendFrames(v, expired, after, into)
		return b
	})
	return into, b
}

func (s *Selection) appendFrames(v *view, expired time.Duration, after uint64, into []Frame) ([]Frame, Batch) {
	before, size := len(into), 0
	for ; after < v.head && len(into) < cap(into) && size < MaxBatch; after++ {
		segment, i := v.find(after + 1)
		f := &segment.frames[i]
		if s != nil && !s.selects(f) && !s.selectsGap(f) {
			continue
		}
		if f.time <= expired && !f.isStreamEnd() {
			return into, Batch{Lost: true}
		}
		shown := segment.frame(i)
		size += len(shown.wire)
		into = append(into, shown)
	}
	return into, Batch{Frames: len(into) - before, Next: Cursor{sequence: after}}
}

// EarlierFrames calls each, in order, with the selected frames of a stream that the ring holds before a sequence.
// If there are more than limit, it leaves out the oldest. It returns the number of calls, and whether it has come to the first frame of the
// stream, selected or not.
func (r *Ring) EarlierFrames(stream *Stream, before uint64, s *Selection, limit int, each func(Frame)) (n int, fromFirst bool) {
	v := r.view.Load()
	expired := r.expired(v)
	match := func(sequence uint64) (*segment, int, bool) {
		segment, i := v.find(sequence)
		f := &segment.frames[i]
		isEarlier := f.stream == stream && f.marker == nil && f.time > expired
		fromFirst = fromFirst || isEarlier && f.first
		return segment, i, isEarlier && (s == nil || s.selects(f))
	}
	first := min(before, v.head+1)
	for !fromFirst && n < limit && first > v.oldest {
		if _, _, is := match(first - 1); is {
			n++
		}
		first--
	}
	for ; first < min(before, v.head+1); first++ {
		if segment, i, is := match(first); is {
			each(segment.frame(i))
		}
	}
	return n, fromFirst
}

func (s *segment) frame(i int) Frame {
	f := &s.frames[i]
	shown := Frame{
		Sequence: s.first + uint64(i), Number: s.number(i), Source: f.source.Value(), Stream: f.stream, Kinds: f.kinds, First: f.first,
		wire: s.data[s.start(i):f.end:f.end],
	}
	if f.marker != nil {
		shown.Gap, shown.StreamEnded, shown.End = f.marker.gap, f.isStreamEnd(), f.marker.end
	}
	return shown
}

// Prefixes of the lines in a ring's frames.
var (
	eventPrefix = []byte("event: ")
	dataPrefix  = []byte("data: ")
)

// IsLarge reports whether the frame should be converted alone.
func (f Frame) IsLarge() bool { return len(f.wire) >= event.LargeFrame }

// Size returns the frame's size in bytes.
func (f Frame) Size() int { return len(f.wire) }

// DecodingSize estimates how many bytes decoding the frame takes at most.
func (f Frame) DecodingSize() int { return event.DecodingSize(f.wire) }

// Cursor returns the position after the frame.
func (f Frame) Cursor() Cursor { return Cursor{sequence: f.Sequence, number: f.Number} }

// Name returns the frame's SSE event name, or "".
func (f Frame) Name() (name []byte) {
	f.eachLine(func(line []byte) {
		if rest, is := bytes.CutPrefix(line, eventPrefix); is {
			name = rest
		}
	})
	return name
}

// Data returns the frame's data. Data of one line is the ring's own memory; several lines are
// joined in scratch, which is returned with its new capacity.
func (f Frame) Data(scratch []byte) (data, grown []byte) {
	n := 0
	f.eachLine(func(line []byte) {
		rest, is := bytes.CutPrefix(line, dataPrefix)
		if !is {
			return
		}
		switch n++; n {
		case 1:
			data = rest
		case 2:
			scratch = append(scratch[:0], data...)
			fallthrough
		default:
			scratch = append(append(scratch, '\n'), rest...)
		}
	})
	if n > 1 {
		data = scratch
	}
	return data, scratch
}

// eachLine calls each with the lines of a frame. The ring ends them with LF and writes a space
// after each colon.
func (f Frame) eachLine(each func([]byte)) {
	for rest := f.wire; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		each(rest[:end])
		rest = rest[end+1:]
	}
}
