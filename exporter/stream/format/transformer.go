package format

import (
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

const (
	// maxStreams bounds the agent streams in which a reader's position is known. If memory is short, fewer are known. If a forgotten
	// stream continues, its frames are reread from the ring.
	maxStreams = 1024

	// maxReread bounds the frames that are reread for a connection, because that takes time and
	// produces no output.
	maxReread = 10_000

	// maxSeen bounds the streams that are remembered as seen. A forgotten one counts as new.
	maxSeen = 2 * maxStreams
)

// Transformer converts the frames of one reader to a format. It must not be used concurrently, and
// must be closed.
type Transformer struct {
	settings     Settings
	positions    *simplelru.LRU[*replay.Stream, *position]
	seen         *simplelru.LRU[*replay.Stream, struct{}] // streams whose frames the writer has got
	writer       writer
	out          output
	rereadBudget int // frames that may still be reread
}

// position is the position of the reader in one stream.
type position struct {
	sequence    uint64    // of the last frame; 0 before the first
	frames      int       // number of frames that the reader has got, including reread ones
	fromFirst   bool      // the first frame of the stream was known when the reader began, or the reader was told of a gap
	gapDecoding uint64    // id of the last decoding that has missed frames and whose gap was noted; 0: none
	follows     *decoding // that the last frame was from; guarded by Decodings.mu
	run         string    // of the last frame
	session     string    // of the last frame
	isForgotten bool      // the reader's position was forgotten, and no frame was reread
}

// New returns a Transformer.
func New(s Settings) *Transformer {
	t := &Transformer{settings: s, rereadBudget: maxReread, out: output{appendID: s.AppendID}}
	t.positions, _ = simplelru.NewLRU[*replay.Stream, *position](maxStreams, func(_ *replay.Stream, p *position) { s.Decodings.leave(p) }) // the only error is a size below one
	t.seen, _ = simplelru.NewLRU[*replay.Stream, struct{}](maxSeen, nil)
	t.writer = newWriter(&t.settings, &t.out)
	s.Decodings.addReaders(1)
	return t
}

// Close removes the reader. With the last reader, all decodings are released.
func (t *Transformer) Close() {
	t.positions.Purge()
	t.settings.Decodings.addReaders(-1)
}

// Append appends the frames that a native frame becomes, if any. A gap comes with them if the reader misses what depends on earlier
// frames of the stream; see missesEarlier.
func (t *Transformer) Append(dst []byte, f replay.Frame) []byte {
	switch {
	case f.Gap != nil:
		if t.NoteGap(f.Gap) {
			dst = t.settings.AppendGap(dst, f.Number, f.Gap)
		}
		return dst
	case f.Stream == nil:
		return dst
	}
	p := t.positionIn(f)
	t.out.begin(f.Number)
	var b *event.Batch
	var from *decoding
	if !f.StreamEnded {
		b, from = t.decode(p, f)
	}
	var missed replay.Gap
	gapFollows := false
	if t.missesEarlier(p, f, b, from) {
		at := string(t.settings.AppendID(nil, f.Number))
		missed = replay.Gap{Reason: replay.GapEvicted, Oldest: at, Head: at}
		gapFollows = t.NoteGap(&missed)
	}
	if b != nil {
		writeFrame(t.writer, f, b)
	}
	if f.StreamEnded {
		t.positions.Remove(f.Stream)
		t.seen.Remove(f.Stream)
		t.writer.streamEnded(f, &event.Batch{Run: p.run, Session: p.session})
	}
	if dst = t.out.appendTo(dst, gapFollows); gapFollows {
		dst = t.settings.AppendGap(dst, f.Number, &missed)
	}
	return dst
}

// missesEarlier reports whether the reader must be told that earlier frames of the stream are missing, in one of these cases:
//   - The decoder has missed them, and therefore does not find all kinds of events in this one.
//   - The reader resumes, and the buffer lacks the first frame of the answer: the reader may have got the run under other IDs, or its end
//     may be unknown.
//   - The stream ends, and its run was forgotten.
//
// Each decoding and each stream tells it once.
func (t *Transformer) missesEarlier(p *position, f replay.Frame, b *event.Batch, from *decoding) bool {
	if f.StreamEnded && p.isForgotten {
		return true
	}
	if t.settings.Resumed && f.Stream.SingleRun && !p.fromFirst && !f.First {
		p.fromFirst = true
		if from != nil {
			p.gapDecoding = from.id
		}
		return true
	}
	if from == nil || !from.missedFrames || p.gapDecoding == from.id || !losesKinds(f, b) {
		return false
	}
	p.gapDecoding = from.id
	return true
}

// writeFrame writes a frame. If it has several speakers, the turn of each is written like a frame; see event.Batch.Turns.
func writeFrame(w writer, f replay.Frame, b *event.Batch) {
	for one := range b.Turns() {
		w.frame(f, one)
	}
}

// losesKinds reports whether the batch of a frame, or nil, lacks a kind of event that the frame had when it was published.
func losesKinds(f replay.Frame, b *event.Batch) bool {
	lost := f.Kinds &^ replay.KindsOf(event.KindOther)
	if b != nil {
		for i := range b.Events {
			lost &^= replay.KindsOf(b.Events[i].Kind)
		}
	}
	return lost != 0
}

// NoteGap records that frames are missing before the next one. It reports whether a native gap
// frame may be written; if not, the next event of a run reports the gap.
func (t *Transformer) NoteGap(g *replay.Gap) bool { return t.writer.noteGap(g) }

// HasUntoldGap reports whether a gap waits for the next event of a run. Until then, the reader must get no id after the gap:
// a reader that resumed there would never hear of it.
func (t *Transformer) HasUntoldGap() bool { return t.out.untoldGap != nil }

// decode returns the batch of the next frame of a stream and the decoding that it is from. The batch is nil if the writer
// must not get the frame. The decoding is nil for an unknown dialect.
func (t *Transformer) decode(p *position, f replay.Frame) (*event.Batch, *decoding) {
	b, from := t.next(p, f)
	p.sequence, p.frames, p.fromFirst = f.Sequence, p.frames+1, p.fromFirst || f.First
	if b == nil || b.Rejected != "" || b.Internal {
		return nil, from
	}
	p.run, p.session = b.Run, b.Session
	return b, from
}

// next returns the batch of the next frame of a stream, from a shared decoding or a new one, and that decoding. It returns
// nil for an unknown dialect.
func (t *Transformer) next(p *position, f replay.Frame) (*event.Batch, *decoding) {
	decodings, key := t.settings.Decodings, decodingKey{f.Stream, t.settings.Selection}
	for _, s := range decodings.sharedBy(key) {
		if b, found := decodings.next(s, p, f); found {
			return b, s
		}
	}
	s := decodings.start(key, f)
	if s == nil {
		return nil, nil
	}
	defer s.mu.Unlock()
	if p.sequence != 0 {
		decodings.evicted.Add(1)
		reread := 0
		if t.settings.EarlierFrames != nil && t.rereadBudget > 0 {
			reread, _ = t.settings.EarlierFrames(f, t.rereadBudget, func(earlier replay.Frame) { decodings.decode(s, p, earlier) })
			t.rereadBudget -= reread
		}
		s.missedFrames = s.missedFrames || reread < p.frames
	}
	return decodings.decode(s, p, f), s
}

// positionIn returns the reader's position in a frame's stream. In a new stream the reader first
// reads the frames that the ring holds, because the meaning of a frame often depends on earlier
// ones. They also update the writer, unless it has seen the stream before.
func (t *Transformer) positionIn(f replay.Frame) *position {
	if p, known := t.positions.Get(f.Stream); known {
		return p
	}
	isNew := !t.seen.Contains(f.Stream)
	p := &position{fromFirst: !isNew}
	if t.positions.Add(f.Stream, p) {
		t.settings.Decodings.evicted.Add(1)
	}
	if !t.settings.Decodings.join() && t.positions.Len() > 1 {
		t.positions.RemoveOldest()
		t.settings.Decodings.evicted.Add(1)
	}
	if t.settings.EarlierFrames != nil && t.rereadBudget > 0 {
		t.writer.setRereading(true)
		reread, fromFirst := t.settings.EarlierFrames(f, t.rereadBudget, func(earlier replay.Frame) {
			if b, _ := t.decode(p, earlier); b != nil && isNew {
				t.out.begin(earlier.Number)
				writeFrame(t.writer, earlier, b)
			}
		})
		t.rereadBudget -= reread
		p.fromFirst = p.fromFirst || fromFirst
		t.writer.setRereading(false)
	}
	p.isForgotten = !isNew && p.frames == 0
	t.seen.Add(f.Stream, struct{}{})
	return p
}
