package replay

import (
	"time"
	"unique"
)

// MaxBatch is the maximum size of a Batch in bytes, except for a single larger frame.
const MaxBatch = 64 << 10

// Cursor is a position between two frames of a Ring.
type Cursor struct {
	sequence   uint64 // of the frame before the cursor
	number     uint64 // of the same frame
	resumeView *view  // the view that Resume used; Read reads it first, because its frames may be evicted in between
}

// Sequence returns the sequence of the frame before the cursor. It orders the cursors of a Ring.
func (c Cursor) Sequence() uint64 { return c.sequence }

// Number returns the number of the frame before the cursor.
func (c Cursor) Number() uint64 { return c.number }

// Query selects frames. A frame must match each list. A nil list matches every frame, an empty
// list none.
type Query struct {
	Sources, Runs, Sessions []string
	Kinds                   Kinds // 0: all; otherwise the frame has at least one of them
}

// Selection is a prepared Query. A nil Selection selects everything.
type Selection struct {
	sources, runs, sessions nameSet
	kinds                   Kinds
	empty                   bool   // no frame can match
	bucket                  uint64 // of the session, if there is exactly one; else the constant buckets, which is no bucket
}

// NewSelection prepares a Query.
func NewSelection(q Query) *Selection {
	if q.Sources == nil && q.Runs == nil && q.Sessions == nil && q.Kinds == 0 {
		return nil
	}
	s := &Selection{sources: newNameSet(q.Sources), runs: newNameSet(q.Runs), sessions: newNameSet(q.Sessions), kinds: q.Kinds, bucket: buckets}
	for _, list := range []nameSet{s.sources, s.runs, s.sessions} {
		s.empty = s.empty || list != nil && len(list) == 0
	}
	if len(s.sessions) == 1 {
		s.bucket = bucketOf(q.Sessions[0])
	}
	return s
}

// The groups of selections that do not select a single session.
const (
	allGroup   = buckets
	emptyGroup = buckets + 1
)

// Group returns a number that is equal for selections that wait for the same frames (Ring.Wait).
func (s *Selection) Group() int {
	switch {
	case s == nil:
		return allGroup
	case s.empty:
		return emptyGroup
	}
	return int(s.bucket)
}

func (s *Selection) selects(f *frame) bool {
	return s.sources.contains(f.source) && s.runs.contains(f.run) && s.sessions.contains(f.session) && (s.kinds == 0 || s.kinds&f.kinds != 0)
}

// selectsGap reports whether a frame is a gap in a session that the selection includes.
func (s *Selection) selectsGap(f *frame) bool { return f.isGap() && s.sessions.contains(f.session) }

type nameSet map[unique.Handle[string]]struct{}

func newNameSet(list []string) nameSet {
	if list == nil {
		return nil
	}
	n := make(nameSet, len(list))
	for _, name := range list {
		n[unique.Make(name)] = struct{}{}
	}
	return n
}

func (n nameSet) contains(name unique.Handle[string]) bool {
	if n == nil {
		return true
	}
	_, ok := n[name]
	return ok
}

// Batch is the result of Read. Exactly one of Frames, Wait and Lost is set.
type Batch struct {
	Bytes  []byte // complete frames, not to be changed: the ring's own memory, or the scratch space
	Frames int
	Next   Cursor          // where to continue
	Wait   <-chan struct{} // closed when there may be more frames; they may be frames that are not selected
	Lost   bool            // a frame after the cursor that may have been selected was evicted; the reader cannot continue
}

// Read returns the selected frames after a cursor. Without a selection it copies nothing. Otherwise it gathers the
// frames in scratch, up to its capacity. A frame that is larger than scratch is returned alone and not copied.
// Read never blocks. Call it again with Next to continue.
func (r *Ring) Read(c Cursor, s *Selection, scratch []byte) Batch {
	return r.read(c, s, func(v *view, expired time.Duration, after uint64) Batch {
		if s != nil {
			return s.gather(v, expired, after, scratch[:0])
		}
		return readAll(v, expired, after)
	})
}

// read looks for frames in the current view, and again after registering for notification.
func (r *Ring) read(c Cursor, s *Selection, take func(v *view, expired time.Duration, after uint64) Batch) Batch {
	if c.resumeView != nil {
		b := r.readView(c.resumeView, noExpiry, c, s, take)
		if b.Frames > 0 || b.Lost {
			return b
		}
		c = b.Next
	}
	v := r.view.Load()
	b := r.readView(v, r.expired(v), c, s, take)
	if b.Frames > 0 || b.Lost {
		return b
	}
	wait := r.Wait(s)
	v = r.view.Load() // frames published before the registration
	b = r.readView(v, r.expired(v), b.Next, s, take)
	if b.Frames == 0 && !b.Lost {
		b.Wait = wait
	}
	return b
}

// expired returns the time at or before which frames are now too old.
func (r *Ring) expired(v *view) time.Duration { return r.now(v) - r.settings.Age }

const noExpiry = -1 // no frame is that old

// Wait returns a channel that is closed at the next frame that a selection may select. The caller must then
// read again, to find frames that were published before the call.
func (r *Ring) Wait(s *Selection) <-chan struct{} {
	switch s.Group() {
	case emptyGroup:
		return r.neverClosed
	case allGroup:
		return r.notifier.wait()
	default:
		return r.sessions[s.bucket].notifier.wait()
	}
}

// readView reads from one view. Frames up to the time expired count as evicted.
func (r *Ring) readView(v *view, expired time.Duration, c Cursor, s *Selection, take func(*view, time.Duration, uint64) Batch) Batch {
	b := r.findFrames(v, expired, c.sequence, s, take)
	switch {
	case b.Next.sequence == c.sequence:
		b.Next.number = c.number
	case b.Next.number == 0 && !b.Lost:
		b.Next.number = v.number(b.Next.sequence)
	}
	return b
}

// findFrames calls take, unless the answer is known without looking at single frames.
func (r *Ring) findFrames(v *view, expired time.Duration, after uint64, s *Selection, take func(*view, time.Duration, uint64) Batch) Batch {
	after = max(after, v.earlier)
	if v.head <= after {
		return Batch{Next: Cursor{sequence: after}}
	}
	if s != nil && s.empty {
		return Batch{Next: Cursor{sequence: v.head}}
	}
	if s != nil && s.bucket < buckets {
		bucket := &r.sessions[s.bucket]
		if bucket.published.Load() <= after {
			return Batch{Next: Cursor{sequence: v.head}}
		}
		if after+1 < v.oldest && bucket.evicted.Load() <= after { // no frame of the session was evicted
			after = v.oldest - 1
		}
	}
	if after+1 < v.oldest {
		return Batch{Lost: true}
	}
	return take(v, expired, after)
}

// readAll reads frames without a selection.
func readAll(v *view, expired time.Duration, after uint64) Batch {
	for ; after < v.head; after++ { // the end of a stream has no bytes
		segment, i := v.find(after + 1)
		if segment.frames[i].isStreamEnd() {
			continue
		}
		if segment.frames[i].time <= expired {
			return Batch{Lost: true}
		}
		bytes, n, frames := segment.readFrom(i, MaxBatch)
		return Batch{Bytes: bytes, Frames: frames, Next: Cursor{sequence: after + uint64(n), number: segment.number(i + n - 1)}}
	}
	return Batch{Next: Cursor{sequence: after}}
}

// gather copies selected frames to scratch, see Read.
func (s *Selection) gather(v *view, expired time.Duration, after uint64, scratch []byte) Batch {
	var n int
	for after < v.head {
		segment, i := v.find(after + 1)
		for ; i < len(segment.frames); i++ {
			f := &segment.frames[i]
			if f.marker == nil && !s.selects(f) || f.marker != nil && !s.selectsGap(f) {
				after++
				continue
			}
			if f.time <= expired {
				return Batch{Lost: true}
			}
			wire := segment.data[segment.start(i):f.end:f.end]
			switch {
			case n == 0 && len(wire) > cap(scratch):
				return Batch{Bytes: wire, Frames: 1, Next: Cursor{sequence: after + 1}}
			case len(scratch)+len(wire) > cap(scratch):
				return Batch{Bytes: scratch, Frames: n, Next: Cursor{sequence: after}}
			}
			scratch = append(scratch, wire...)
			after++
			n++
		}
	}
	return Batch{Bytes: scratch, Frames: n, Next: Cursor{sequence: after}}
}
