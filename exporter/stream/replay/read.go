package replay

import (
	"time"
	"unique"
)

// MaxBatch is how many bytes a Batch has at most, but for a single frame that is larger.
const MaxBatch = 64 << 10

// Cursor is a place between two frames of one Ring.
type Cursor struct {
	sequence uint64 // of the frame before it
	number   uint64 // of the same
	seen     *view  // what Resume answered from: read first, so that nothing is evicted between the answer and the reading
}

// Sequence is that of the frame before the cursor: cursors of one Ring are in its order.
func (c Cursor) Sequence() uint64 { return c.sequence }

// Number is that of the frame before the cursor.
func (c Cursor) Number() uint64 { return c.number }

// Query says which frames to select. A frame is selected that fits each of the lists; nil fits all, an empty list fits none.
type Query struct {
	Sources, Runs, Sessions []string
	Kinds                   Kinds // 0: all; else the frame has at least one of them
}

// Selection is a Query made ready. A nil Selection selects everything.
type Selection struct {
	sources, runs, sessions names
	kinds                   Kinds
	nothing                 bool   // fits
	shard                   uint64 // of the only session; shards where there are several
}

// Select makes a Query ready.
func Select(q Query) *Selection {
	if q.Sources == nil && q.Runs == nil && q.Sessions == nil && q.Kinds == 0 {
		return nil
	}
	s := &Selection{sources: namesOf(q.Sources), runs: namesOf(q.Runs), sessions: namesOf(q.Sessions), kinds: q.Kinds, shard: shards}
	for _, list := range []names{s.sources, s.runs, s.sessions} {
		s.nothing = s.nothing || list != nil && len(list) == 0
	}
	if len(s.sessions) == 1 {
		s.shard = shardOf(q.Sessions[0])
	}
	return s
}

func (s *Selection) selects(f *frame) bool {
	return s.sources.have(f.source) && s.runs.have(f.run) && s.sessions.have(f.session) && (s.kinds == 0 || s.kinds&f.kinds != 0)
}

// told says whether a frame tells of a gap to whoever selects of its session anything.
func (s *Selection) told(f *frame) bool { return f.gap() && s.sessions.have(f.session) }

type names map[unique.Handle[string]]struct{}

func namesOf(list []string) names {
	if list == nil {
		return nil
	}
	n := make(names, len(list))
	for _, name := range list {
		n[unique.Make(name)] = struct{}{}
	}
	return n
}

func (n names) have(name unique.Handle[string]) bool {
	if n == nil {
		return true
	}
	_, ok := n[name]
	return ok
}

// Batch is what Read found. One of Frames, Wait and Lost is set.
type Batch struct {
	Bytes  []byte // whole frames, to be read only: in the ring's own memory, or gathered in the scratch space
	Frames int
	Next   Cursor          // where to read on
	Wait   <-chan struct{} // closed when there may be more; not every frame that closes it is selected
	Lost   bool            // a selected frame behind the cursor is gone: there is nothing to read on
}

// Read returns the selected frames that are ready behind a cursor: without a copy where all are selected, else gathered in
// what scratch has room for. It never blocks, and looks at no frame twice when it is called again with Next.
func (r *Ring) Read(c Cursor, s *Selection, scratch []byte) Batch {
	return r.read(c, s, func(v *view, expired time.Duration, after uint64) Batch {
		if s != nil {
			return s.gather(v, expired, after, scratch[:0])
		}
		return stretch(v, expired, after)
	})
}

// read looks for frames in what the ring holds now, and once more when somebody would be told of others.
func (r *Ring) read(c Cursor, s *Selection, take func(v *view, expired time.Duration, after uint64) Batch) Batch {
	if c.seen != nil {
		b := r.collect(c.seen, never, c, s, take)
		if b.Frames > 0 || b.Lost {
			return b
		}
		c = b.Next
	}
	v := r.view.Load()
	b := r.collect(v, r.expired(v), c, s, take)
	if b.Frames > 0 || b.Lost {
		return b
	}
	wait := r.silence
	if s == nil || !s.nothing {
		wait = r.bellOf(s).wait()
	}
	v = r.view.Load() // what came before there was anybody to wake
	b = r.collect(v, r.expired(v), b.Next, s, take)
	if b.Frames == 0 && !b.Lost {
		b.Wait = wait
	}
	return b
}

// expired is the time whose frames, with all before them, are too old now.
func (r *Ring) expired(v *view) time.Duration { return r.now(v) - r.settings.Age }

const never = -1 // no frame is that old

func (r *Ring) bellOf(s *Selection) *bell {
	if s == nil || s.shard == shards {
		return &r.bell
	}
	return &r.sessions[s.shard].bell
}

// collect reads from one view. A frame that is not younger than expired counts as gone.
func (r *Ring) collect(v *view, expired time.Duration, c Cursor, s *Selection, take func(*view, time.Duration, uint64) Batch) Batch {
	b := r.find(v, expired, c.sequence, s, take)
	switch {
	case b.Next.sequence == c.sequence:
		b.Next.number = c.number
	case b.Next.number == 0 && !b.Lost:
		b.Next.number = v.number(b.Next.sequence)
	}
	return b
}

func (r *Ring) find(v *view, expired time.Duration, after uint64, s *Selection, take func(*view, time.Duration, uint64) Batch) Batch {
	if v.head <= after {
		return Batch{Next: Cursor{sequence: after}}
	}
	if s != nil && s.nothing {
		return Batch{Next: Cursor{sequence: v.head}}
	}
	if s != nil && s.shard < shards {
		shard := &r.sessions[s.shard]
		if shard.published.Load() <= after {
			return Batch{Next: Cursor{sequence: v.head}}
		}
		if after+1 < v.oldest && shard.evicted.Load() <= after { // none of the session's
			after = v.oldest - 1
		}
	}
	if after+1 < v.oldest {
		return Batch{Lost: true}
	}
	return take(v, expired, after)
}

// stretch reads every frame.
func stretch(v *view, expired time.Duration, after uint64) Batch {
	for ; after < v.head; after++ { // a place where a stream ended has no bytes to be read from
		segment, i := v.find(after + 1)
		if segment.frames[i].over() {
			continue
		}
		if segment.frames[i].at <= expired {
			return Batch{Lost: true}
		}
		bytes, n, frames := segment.stretch(i, MaxBatch)
		return Batch{Bytes: bytes, Frames: frames, Next: Cursor{sequence: after + uint64(n), number: segment.number(i + n - 1)}}
	}
	return Batch{Next: Cursor{sequence: after}}
}

func (s *Selection) gather(v *view, expired time.Duration, after uint64, scratch []byte) Batch {
	var n int
	for after < v.head {
		segment, i := v.find(after + 1)
		for ; i < len(segment.frames); i++ {
			f := &segment.frames[i]
			switch {
			case f.mark == nil && s.selects(f):
			case f.mark != nil && s.told(f):
			default:
				after++
				continue
			}
			if f.at <= expired {
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
