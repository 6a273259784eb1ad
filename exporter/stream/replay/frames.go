package replay

import (
	"bytes"
	"time"

	"github.com/delegraph/delegraph/collector/event"
)

// Frame is one frame with what is known of it, for who makes something else of it. Its bytes are the ring's own, to be read only.
type Frame struct {
	Sequence uint64
	Number   uint64 // in its id
	Gap      *Gap   // not nil: no frame of an agent's, but word that some are missing
	Source   string
	Stream   *Stream
	Over     bool // the stream has ended: there is no more to read
	End      event.End

	wire []byte
}

// Frames is Read for who takes frames one by one, with the ends of streams among them. It appends to into what that has room for;
// Batch.Bytes is not set.
func (r *Ring) Frames(c Cursor, s *Selection, into []Frame) ([]Frame, Batch) {
	b := r.read(c, s, func(v *view, expired time.Duration, after uint64) Batch {
		var b Batch
		into, b = s.list(v, expired, after, into)
		return b
	})
	return into, b
}

func (s *Selection) list(v *view, expired time.Duration, after uint64, into []Frame) ([]Frame, Batch) {
	before, size := len(into), 0
	for ; after < v.head && len(into) < cap(into) && size < MaxBatch; after++ {
		segment, i := v.find(after + 1)
		f := &segment.frames[i]
		if s != nil && !s.selects(f) && !s.told(f) {
			continue
		}
		if f.at <= expired && !f.over() {
			return into, Batch{Lost: true}
		}
		shown := segment.frame(i)
		size += len(shown.wire)
		into = append(into, shown)
	}
	return into, Batch{Frames: len(into) - before, Next: Cursor{sequence: after}}
}

// Earlier calls each with the selected frames of a stream that the ring still holds before a sequence, in order: with the newest
// of them, at most as many as most. It returns how many that were.
func (r *Ring) Earlier(stream *Stream, before uint64, s *Selection, most int, each func(Frame)) int {
	v := r.view.Load()
	expired := r.expired(v)
	of := func(sequence uint64) (*segment, int, bool) {
		segment, i := v.find(sequence)
		f := &segment.frames[i]
		return segment, i, f.stream == stream && f.mark == nil && (s == nil || s.selects(f)) && f.at > expired
	}
	first, n := min(before, v.head+1), 0
	for n < most && first > v.oldest {
		if _, _, is := of(first - 1); is {
			n++
		}
		first--
	}
	for ; first < min(before, v.head+1); first++ {
		if segment, i, is := of(first); is {
			each(segment.frame(i))
		}
	}
	return n
}

func (s *segment) frame(i int) Frame {
	f := &s.frames[i]
	shown := Frame{
		Sequence: s.first + uint64(i), Number: s.number(i), Source: f.source.Value(), Stream: f.stream,
		wire: s.data[s.start(i):f.end:f.end],
	}
	if f.mark != nil {
		shown.Gap, shown.Over, shown.End = f.mark.gap, f.over(), f.mark.how
	}
	return shown
}

// The beginnings of the lines that a ring's frames are made of.
var (
	nameLine = []byte("event: ")
	dataLine = []byte("data: ")
)

// Name is the frame's SSE event name, "" where it has none.
func (f Frame) Name() (name []byte) {
	f.lines(func(line []byte) {
		if rest, is := bytes.CutPrefix(line, nameLine); is {
			name = rest
		}
	})
	return name
}

// Data is the frame's data: the ring's own bytes, or, where it has more than one line, in scratch, which is returned as it has grown.
func (f Frame) Data(scratch []byte) (data, grown []byte) {
	n := 0
	f.lines(func(line []byte) {
		rest, is := bytes.CutPrefix(line, dataLine)
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

// lines calls each with the lines of a frame as the ring wrote them: they end in LF, and a space follows each colon.
func (f Frame) lines(each func([]byte)) {
	for rest := f.wire; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		each(rest[:end])
		rest = rest[end+1:]
	}
}
