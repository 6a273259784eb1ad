package format

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

const (
	// maxDecodings bounds the number of shared decodings.
	maxDecodings = maxStreams

	// maxWindow and maxWindowBytes bound the decoded batches that a decoding keeps for readers that
	// are behind the first one. Without room it keeps minWindowBytes.
	maxWindow      = 1024
	maxWindowBytes = 2 << 20
	minWindowBytes = 256 << 10

	// A decoder is charged newDecoderBytes plus the bytes that it has read. At most maxDecoderBytes of them count. A decoder
	// keeps no more than that: 64 open texts, with 130 KiB each (twice dialect.TextTailSize). Of consecutive pieces of one text, only the
	// first maxTextBytes count, because the decoder keeps only the end of a longer text.
	maxDecoderBytes = 64 * 130 << 10
	newDecoderBytes = 16 << 10
	maxTextBytes    = 160 << 10

	// positionBytes is charged for a stream in which a reader's position is known, with what the reader's writer keeps of the stream.
	positionBytes = 1 << 10
)

// Decodings holds the decodings that readers share. A decoding belongs to one stream and one
// selection, so its readers see the same frames. The first reader that wants a frame decodes it; the
// others take the batch from the decoding's window. A reader that has fallen behind the window
// starts another decoding from the frames that the ring still holds, which others may share as well.
// All memory is charged to one account. Beyond its limit, Decodings drops first what no reader needs; see makeRoom. It
// evicts the least recently used decodings until the limit is met or one is left. Their readers start new ones. If the
// ring no longer holds the earlier frames, a new decoder may not find all events of later ones; see Transformer.Append.
type Decodings struct {
	newDecoder func(source, dialect string, response bool) Decoder
	memory     *budget.Account

	decoded atomic.Uint64 // frames that were decoded, for tests
	evicted atomic.Uint64 // see Evicted

	mu      sync.Mutex // may be taken while a decoding is locked, not the other way round
	readers int
	started uint64
	all     *simplelru.LRU[*decoding, struct{}]
	byKey   map[decodingKey][]*decoding // in order of their start
}

type decodingKey struct {
	stream    *replay.Stream
	selection string
}

// decoding is a decoder at a position in its stream.
type decoding struct {
	id  uint64
	key decodingKey

	mu           sync.Mutex
	decoder      Decoder
	missedFrames bool    // the decoder has missed earlier frames of the stream that its readers may see
	last         uint64  // sequence of the last frame
	read         int     // bytes that the decoder may hold
	text         textKey // of which the last frame has a piece
	textLen      int     // bytes of consecutive frames with pieces of it; 0 if the last frame has none

	// Guarded by Decodings.mu:
	followers   map[*position]uint64 // the last frame that each reader got from the decoding
	decoderSize int                  // bytes
	window      []keptBatch
	windowBytes int
	charged     int // bytes; 0 after the removal
}

// keptBatch is the batch of a frame. Readers share it and must not change it.
type keptBatch struct {
	sequence uint64
	batch    *event.Batch
	size     int
}

// NewDecodings returns Decodings without readers. newDecoder returns a decoder for a stream of a source
// and dialect, or nil for an unknown dialect. Its argument response reports whether the stream is the
// response to one run request.
func NewDecodings(newDecoder func(source, dialect string, response bool) Decoder, memory *budget.Account) *Decodings {
	d := &Decodings{newDecoder: newDecoder, memory: memory, byKey: map[decodingKey][]*decoding{}}
	d.all, _ = simplelru.NewLRU[*decoding, struct{}](maxDecodings, d.onRemove) // the only error is a size below one
	return d
}

// Evicted returns how often a reader had to start a new decoding in the middle of a stream, or
// forgot its position in one.
func (d *Decodings) Evicted() uint64 { return d.evicted.Load() }

// addReaders adds n readers. Without readers nothing is kept.
func (d *Decodings) addReaders(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.readers += n; d.readers == 0 {
		d.all.Purge()
	}
}

// onRemove is called for each removed decoding. No reader keeps a reference to it, so its memory becomes free. The caller holds the lock.
func (d *Decodings) onRemove(s *decoding, _ struct{}) {
	d.memory.Release(s.charged)
	s.charged = 0
	for p := range s.followers {
		p.follows = nil
	}
	clear(s.followers)
	others := slices.DeleteFunc(slices.Clone(d.byKey[s.key]), func(other *decoding) bool { return other == s })
	if d.byKey[s.key] = others; len(others) == 0 {
		delete(d.byKey, s.key)
	}
}

// sharedBy returns the decodings of a key, which the caller must not change.
func (d *Decodings) sharedBy(key decodingKey) []*decoding {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.byKey[key]
}

// start adds a decoding and returns it locked, or nil for an unknown dialect.
func (d *Decodings) start(key decodingKey, f replay.Frame) *decoding {
	decoder := d.newDecoder(f.Source, f.Stream.Dialect, f.Stream.SingleRun)
	if decoder == nil {
		return nil
	}
	s := &decoding{key: key, decoder: decoder, followers: map[*position]uint64{}}
	s.mu.Lock()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.started++
	s.id = d.started
	d.byKey[key] = append(slices.Clip(d.byKey[key]), s)
	d.all.Add(s, struct{}{})
	return s
}

// next returns the batch of the frame after a position, from the window or by decoding it. It returns false if the
// decoding is at another position.
func (d *Decodings) next(s *decoding, p *position, f replay.Frame) (*event.Batch, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := d.kept(s, p, f.Sequence); b != nil {
		return b, true
	}
	if p.sequence == 0 || s.last != p.sequence {
		return nil, false
	}
	return d.decode(s, p, f), true
}

// kept returns the batch of a frame from the window of a decoding, or nil.
func (d *Decodings) kept(s *decoding, p *position, sequence uint64) *event.Batch {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := len(s.window) - 1; i >= 0 && s.window[i].sequence >= sequence; i-- {
		if s.window[i].sequence == sequence {
			d.follow(s, p, sequence)
			return s.window[i].batch
		}
	}
	return nil
}

// follow notes that a reader got a frame from a decoding. If the reader was the last one of another decoding, as after it has caught
// up with an older one, that decoding is removed. The caller holds the lock.
func (d *Decodings) follow(s *decoding, p *position, sequence uint64) {
	if left := p.follows; left != nil && left != s {
		if delete(left.followers, p); len(left.followers) == 0 {
			d.all.Remove(left)
		}
	}
	if p.follows = nil; d.all.Contains(s) { // else it was removed while it was in use
		p.follows = s
		s.followers[p] = sequence
	}
}

// join charges a new position. It reports whether there is room for it.
func (d *Decodings) join() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.memory.Charge(positionBytes)
	return d.fit()
}

// leave removes a reader's position in a stream.
func (d *Decodings) leave(p *position) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.memory.Release(positionBytes)
	if p.follows != nil {
		delete(p.follows.followers, p)
	}
}

// decode decodes a frame for a reader. The caller has locked the decoding.
func (d *Decodings) decode(s *decoding, p *position, f replay.Frame) *event.Batch {
	data, _ := f.Data(nil) // without a buffer for reuse, because the batch is kept
	b := s.decoder.Decode(sse.Frame{Event: f.Name(), Data: data})
	d.decoded.Add(1)
	// The first frame is missing. In a stream of several runs that proves nothing, because the reader may not be allowed to
	// see it.
	if s.last == 0 && f.Stream.SingleRun && !f.First {
		s.missedFrames = true
	}
	if s.missedFrames {
		dropInvented(b, f.Kinds)
	}
	dropFinals(b, f.Kinds)
	s.last = f.Sequence
	s.countRead(b, len(data))
	d.keep(s, p, keptBatch{f.Sequence, b, b.MemorySize()})
	return b
}

// countRead adds a frame of n bytes to the bytes that the decoder may hold.
func (s *decoding) countRead(b *event.Batch, n int) {
	before := s.textLen
	s.textLen = 0
	if b.Partial && len(b.Events) == 1 && b.Events[0].IsText() {
		text := keyOf(b, &b.Events[0])
		if text != s.text {
			s.text, before = text, 0
		}
		n = min(n, maxTextBytes-before)
		s.textLen = before + n
	}
	s.read = min(s.read+n, maxDecoderBytes)
}

// dropInvented turns each event of a kind that the unfiltered frame did not have into KindOther. A decoder that has missed earlier frames
// takes a later piece of a response for the first one, for example.
func dropInvented(b *event.Batch, unfiltered replay.Kinds) {
	for i := range b.Events {
		if e := &b.Events[i]; unfiltered != 0 && unfiltered&replay.KindsOf(e.Kind) == 0 {
			e.Kind = event.KindOther
		}
	}
}

// dropFinals turns each KindFinal that follows the end of a model response into KindOther, if the unfiltered frame had the end of a
// response but no KindFinal. Such a response has calls. The filter has withheld them, and without them the response looks final.
func dropFinals(b *event.Batch, unfiltered replay.Kinds) {
	if unfiltered&replay.KindsOf(event.KindModelEnded) == 0 || unfiltered&replay.KindsOf(event.KindFinal) != 0 {
		return
	}
	ended := slices.IndexFunc(b.Events, func(e event.Event) bool { return e.Kind == event.KindModelEnded })
	for i := max(ended, 0); ended >= 0 && i < len(b.Events); i++ {
		if b.Events[i].Kind == event.KindFinal {
			b.Events[i].Kind = event.KindOther
		}
	}
}

// keep adds a batch to the window of a decoding, charges what the decoding holds, and makes room for it. The caller
// has locked the decoding.
func (d *Decodings) keep(s *decoding, p *position, added keptBatch) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.follow(s, p, added.sequence)
	s.decoderSize = newDecoderBytes + s.read
	s.window, s.windowBytes = append(s.window, added), s.windowBytes+added.size
	s.shrink(func() bool { return d.readers <= 1 || len(s.window) > maxWindow || s.windowBytes > maxWindowBytes })
	if _, present := d.all.Get(s); !present { // evicted while it was in use
		return
	}
	d.charge(s)
	d.fit()
}

// fit makes room until the memory is within its limit, and reports whether it is. The caller holds the lock.
func (d *Decodings) fit() bool {
	for d.memory.Remaining() < 0 {
		if !d.makeRoom() {
			return false
		}
		d.memory.CountShed()
	}
	return true
}

// shrink drops the oldest batches of the window as long as the condition holds. The caller holds Decodings.mu.
func (s *decoding) shrink(condition func() bool) {
	for len(s.window) > 0 && condition() {
		s.windowBytes -= s.window[0].size
		s.window[0] = keptBatch{}
		s.window = s.window[1:]
	}
}

// charge charges what a decoding holds. The caller holds the lock.
func (d *Decodings) charge(s *decoding) {
	holds := s.decoderSize + s.windowBytes
	d.memory.Charge(holds - s.charged)
	s.charged = holds
}

// makeRoom drops what readers miss least, and reports whether it dropped anything: decodings that no reader follows,
// batches that all followers have read, the oldest batches of long windows, and only then a decoding. The caller holds
// the lock.
func (d *Decodings) makeRoom() bool {
	all := d.all.Keys() // the least recently used first
	for _, s := range all[:max(len(all)-1, 0)] {
		if len(s.followers) == 0 {
			return d.all.Remove(s)
		}
	}
	for _, s := range all {
		if len(s.window) > 0 && d.drop(s, s.readByAll()) {
			return true
		}
	}
	for _, s := range all {
		if s.windowBytes > minWindowBytes && d.drop(s, func() bool { return s.windowBytes > minWindowBytes }) {
			return true
		}
	}
	return len(all) > 1 && d.all.Remove(all[0])
}

// drop drops the oldest batches of a window as long as the condition holds, and reports whether it dropped any. The
// caller holds the lock.
func (d *Decodings) drop(s *decoding, condition func() bool) bool {
	before := s.charged
	s.shrink(condition)
	d.charge(s)
	return s.charged < before
}

// readByAll returns a function that reports whether all followers have read the oldest batch of the window. The caller holds Decodings.mu.
func (s *decoding) readByAll() func() bool {
	least := s.window[len(s.window)-1].sequence
	for _, read := range s.followers {
		least = min(least, read)
	}
	return func() bool { return s.window[0].sequence <= least }
}
