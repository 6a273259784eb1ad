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
	maxDecodings = 256

	// maxWindow and maxWindowBytes bound the decoded batches that a decoding keeps for readers that
	// are behind the first one.
	maxWindow      = 1024
	maxWindowBytes = 2 << 20

	// A decoder is charged newDecoderBytes plus the bytes that it has read. Only the first maxDecoderBytes of these
	// count, because it keeps at most 64 open texts of 64 KiB.
	maxDecoderBytes = 4 << 20
	newDecoderBytes = 16 << 10
)

// Decodings holds the decodings that readers share. A decoding belongs to one stream and one
// selection, so its readers see the same frames. The first reader that wants a frame decodes it; the
// others take the batch from the decoding's window. A reader that has fallen behind the window
// starts another decoding from the frames that the ring still holds, which others may share as well.
// All memory is charged to one account. Beyond its limit, the least recently used decodings are
// evicted until the limit is met or one decoding is left. Their readers start new ones.
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
	id      uint64
	key     decodingKey
	charged int // bytes; guarded by Decodings.mu; 0 after the removal

	mu          sync.Mutex
	decoder     Decoder
	last        uint64 // sequence of the last frame
	read        int    // bytes of all frames
	window      []keptBatch
	windowBytes int
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

// onRemove is called for every decoding that is removed. The caller holds the lock.
func (d *Decodings) onRemove(s *decoding, _ struct{}) {
	d.memory.Release(s.charged)
	s.charged = 0
	others := slices.DeleteFunc(slices.Clone(d.byKey[s.key]), func(other *decoding) bool { return other == s })
	if d.byKey[s.key] = others; len(others) == 0 {
		delete(d.byKey, s.key)
	}
}

func (d *Decodings) remove(key decodingKey, id uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.byKey[key] {
		if s.id == id {
			d.all.Remove(s)
			return
		}
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
	s := &decoding{key: key, decoder: decoder}
	s.mu.Lock()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.started++
	s.id = d.started
	d.byKey[key] = append(slices.Clip(d.byKey[key]), s)
	d.all.Add(s, struct{}{})
	return s
}

// next returns the batch of the frame after the one with the sequence previous, from the window or
// by decoding it. It returns false if the decoding is at another position.
func (d *Decodings) next(s *decoding, previous uint64, f replay.Frame) (*event.Batch, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.window) - 1; i >= 0 && s.window[i].sequence >= f.Sequence; i-- {
		if s.window[i].sequence == f.Sequence {
			return s.window[i].batch, true
		}
	}
	if previous == 0 || s.last != previous {
		return nil, false
	}
	return d.decode(s, f), true
}

// decode decodes a frame. The caller has locked the decoding.
func (d *Decodings) decode(s *decoding, f replay.Frame) *event.Batch {
	data, _ := f.Data(nil) // without a buffer for reuse, because the batch is kept
	b := s.decoder.Decode(sse.Frame{Event: f.Name(), Data: data})
	dropFinals(b, f.Kinds)
	d.decoded.Add(1)
	s.last, s.read = f.Sequence, s.read+len(data)
	size := b.MemorySize()
	s.window, s.windowBytes = append(s.window, keptBatch{f.Sequence, b, size}), s.windowBytes+size
	d.charge(s)
	return b
}

// dropFinals turns each KindFinal that follows the end of a response into KindOther, if the agent's frame had the end of a response but
// no KindFinal. Such a response has calls. The filter withheld them, and without them the response looks final.
func dropFinals(b *event.Batch, whole replay.Kinds) {
	if whole&replay.KindsOf(event.KindModelEnded) == 0 || whole&replay.KindsOf(event.KindFinal) != 0 {
		return
	}
	ended := slices.IndexFunc(b.Events, func(e event.Event) bool { return e.Kind == event.KindModelEnded })
	for i := max(ended, 0); ended >= 0 && i < len(b.Events); i++ {
		if b.Events[i].Kind == event.KindFinal {
			b.Events[i].Kind = event.KindOther
		}
	}
}

// charge bounds the window of a decoding and charges what the decoding holds. The caller has locked
// the decoding.
func (d *Decodings) charge(s *decoding) {
	d.mu.Lock()
	defer d.mu.Unlock()
	drop := 0
	for drop < len(s.window) && (d.readers <= 1 || len(s.window)-drop > maxWindow || s.windowBytes > maxWindowBytes) {
		s.windowBytes -= s.window[drop].size
		s.window[drop] = keptBatch{}
		drop++
	}
	s.window = s.window[drop:]
	if _, present := d.all.Get(s); !present { // evicted while it was in use
		return
	}
	holds := newDecoderBytes + min(s.read, maxDecoderBytes) + s.windowBytes
	d.memory.Charge(holds - s.charged)
	s.charged = holds
	for d.memory.Remaining() < 0 && d.all.Len() > 1 {
		d.all.RemoveOldest()
		d.memory.CountShed()
	}
}
