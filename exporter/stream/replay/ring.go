// Package replay buffers the newest frames of the external stream, bounded in number, bytes and
// age. Any number of readers share the buffer, each with a cursor.
//
// A frame has two counts. Its sequence counts the entries of one Ring from 1, without a gap. Its number
// is the one in its id, EPOCH-NUMBER. Both are equal unless a store numbers the frames. A reader resumes
// with the number of the last id that it has received.
package replay

import (
	"crypto/rand"
	"errors"
	"fmt"
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unique"

	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
)

const (
	maxID     = 64                    // bytes; browsers send a longer Last-Event-ID across origins only after a preflight request
	maxDigits = 20                    // of the largest number
	maxEpoch  = maxID - 1 - maxDigits // bytes

	minSegment = 4 << 10 // bytes
	maxSegment = 256 << 10
	maxScratch = 1 << 20 // a larger scratch buffer is released after the frame
)

// Settings configure a Ring. Frames, Bytes and Age must be positive.
type Settings struct {
	Frames int
	Bytes  int // of encoded frames and of the names of their source, run and session
	Age    time.Duration
	Now    func() time.Time // nil: time.Now
	Epoch  string           // at most 43 of [A-Za-z0-9._-]; "": random, so that no id of an earlier Ring matches
	After  uint64           // the first frame gets the next number
	Budget *Budget          // shared with other Rings; nil: unlimited
	Memory *budget.Account  // the process's memory budget; nil: unlimited
}

// Entry is one frame to publish. The Ring copies what it keeps.
type Entry struct {
	Source, Run, Session string // matched by a Selection; "" if unknown
	Kinds                Kinds  // of the events that the frame still shows after filtering
	Name                 string // the SSE event name; "" for none
	Data                 []byte
	Stream               *Stream // the agent's stream, for readers that decode its frames; nil if there are none

	// Number is set if a store numbers the frames, in increasing order. If it is 0, the Ring gives a frame
	// its next number. An entry with a Gap has 0 if it comes before the first frame.
	Number uint64

	// Gap is set if the entry is not an agent's frame but tells all readers of its session that frames
	// are missing. A gap uses up no number: it has the number before that of the next frame. The
	// previous frame may have this number too.
	Gap *Gap

	// EventID is the agent's last event id at the frame, and Ordinal counts the published frames of
	// its stream from 1. Stores use both to recognize a frame that several processes publish. A Ring
	// only checks whether Ordinal is 1.
	EventID []byte
	Ordinal uint64

	// Earlier is set if only EarlierFrames returns the entry, so that a decoder can look back. The
	// ring gets such entries before all others. Their numbers are at most Settings.After.
	Earlier bool

	// StreamEnded is set if the entry is not a frame but the end of Stream; End says how it ended.
	// Read skips it. It has an id like a frame and counts as one.
	StreamEnded bool
	End         event.End
}

// Stream identifies the agent's stream of a frame. All frames of a stream share one Stream.
type Stream struct {
	Dialect   string
	SingleRun bool   // the stream is the response to one run request
	Nonce     string // tells it from streams that other processes publish; "" if several processes may publish it
}

// Kinds is a set of event kinds.
type Kinds uint64

// KindsOf returns a set of kinds.
func KindsOf(kinds ...event.Kind) Kinds {
	var set Kinds
	for _, k := range kinds {
		set |= 1 << k
	}
	return set
}

// Drop says why a frame was not published. The values are label values of a metric.
type Drop string

// The possible drops.
const (
	NotDropped Drop = ""
	TooLarge   Drop = "too_large" // larger than the whole ring
	BadName    Drop = "bad_name"  // an event name with a line break or NUL
)

// Drops lists every drop.
func Drops() []Drop { return []Drop{TooLarge, BadName} }

// Ring holds the newest frames. Its methods may be called concurrently. Readers take no lock, so
// they never delay each other or the publisher.
type Ring struct {
	settings    Settings
	started     time.Time
	segmentSize int // bytes

	mu             sync.Mutex // held while publishing
	scratch        []byte
	budgetReleased bool // by ReleaseBudget

	view        atomic.Pointer[view]
	notifier    notifier // notifies of every frame
	neverClosed <-chan struct{}
	sessions    [buckets]bucket
}

// New returns an empty Ring.
func New(s Settings) (*Ring, error) {
	if s.Frames <= 0 || s.Bytes <= 0 || s.Age <= 0 {
		return nil, fmt.Errorf("replay: %d frames, %d bytes and an age of %v: each must be more than 0", s.Frames, s.Bytes, s.Age)
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Epoch == "" {
		s.Epoch = strings.ToLower(rand.Text())
	}
	if len(s.Epoch) > maxEpoch || !isPlainID(s.Epoch) {
		return nil, errors.New("replay: the epoch must be at most 43 of A-Z, a-z, 0-9, '.', '_' and '-'")
	}
	r := &Ring{settings: s, started: s.Now(), neverClosed: make(chan struct{}), segmentSize: min(max(s.Bytes/16, minSegment), maxSegment)}
	r.view.Store(&view{oldest: 1, lastNumber: s.After, evictedThrough: s.After})
	if s.Budget != nil {
		s.Budget.rings.Add(1)
	}
	return r, nil
}

// Publish adds an entry and wakes the readers that may select it. It never waits for a reader. An entry with a number
// that is too low was published before, and is ignored.
func (r *Ring) Publish(e Entry) Drop {
	names := len(e.Source) + len(e.Run) + len(e.Session)
	if len(e.Data) > r.settings.Bytes || names > r.settings.Bytes {
		return TooLarge // check before copying the bytes
	}
	session := bucketOf(e.Session)

	r.mu.Lock()
	defer r.mu.Unlock()
	next := *r.view.Load()
	number, wanted := next.place(&e)
	if !wanted {
		return NotDropped
	}
	wire, err := r.encode(number, &e)
	if err != nil {
		return BadName
	}
	if len(wire)+names > r.settings.Bytes {
		return TooLarge
	}
	if e.StreamEnded {
		e.Kinds |= KindsOf(event.KindRunEnded) // the run of the stream may end with it
	}
	now := r.now(&next)
	next.add(number, wire, frame{
		time: now, marker: e.marker(), kinds: e.Kinds,
		source: unique.Make(e.Source), run: unique.Make(e.Run), session: unique.Make(e.Session),
		stream: e.Stream, first: e.Ordinal == 1,
	}, r.segmentSize)
	if e.StreamEnded {
		next.streamEnds++
	}
	r.evict(&next, now)
	r.sessions[session].published.Store(next.head) // before a reader can see the frame
	r.setView(&next)
	if e.Earlier {
		return NotDropped
	}
	r.notifier.notify()
	r.sessions[session].notifier.notify()
	return NotDropped
}

// encode encodes an entry in the scratch buffer. The end of a stream has no bytes. The caller holds the lock.
func (r *Ring) encode(number uint64, e *Entry) ([]byte, error) {
	if e.StreamEnded {
		return nil, nil
	}
	var id [maxID]byte
	wire, err := sse.AppendFrame(r.scratch[:0], sse.Frame{ID: r.AppendID(id[:0], number), Event: []byte(e.Name), Data: e.Data})
	if r.scratch = wire; cap(wire) > maxScratch {
		r.scratch = nil
	}
	return wire, err
}

// evict removes frames beyond a limit. Other rings and accounts may lower currentLimit at any time, so the
// last two frames are kept even beyond it. The caller holds the lock.
func (r *Ring) evict(v *view, now time.Duration) {
	limit, shared := r.currentLimit(), r.sharedLimit()
	for v.oldest <= v.head {
		segment, i := v.find(v.oldest)
		f := &segment.frames[i]
		isOver := v.frames() > r.settings.Frames || v.bytes > r.settings.Bytes || now-f.time >= r.settings.Age
		if !isOver && (v.bytes <= limit || v.frames() <= 2) {
			break
		}
		if !isOver && v.bytes <= shared {
			r.settings.Memory.CountShed()
		}
		r.evictFrame(v, segment, i)
	}
	v.dropSegments()
}

// evictFrame removes the oldest frame, which is at index i of a segment. The caller holds the lock.
func (r *Ring) evictFrame(v *view, segment *segment, i int) {
	f := &segment.frames[i]
	r.sessions[bucketOf(f.session.Value())].evicted.Store(v.oldest) // before a reader can miss the frame
	v.bytes -= segment.size(i)
	if v.oldest > v.earlier {
		v.evictedThrough = segment.resumeNumber(i)
	}
	if f.isStreamEnd() {
		v.streamEnds--
	}
	v.oldest++
}

// EvictEarlier removes the entries that no reader gets (Entry.Earlier).
func (r *Ring) EvictEarlier() {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := *r.view.Load()
	for next.oldest <= next.earlier {
		segment, i := next.find(next.oldest)
		r.evictFrame(&next, segment, i)
	}
	next.dropSegments()
	r.setView(&next)
}

// now returns the time since the ring started, or that of the newest frame, so frames are ordered
// by time.
func (r *Ring) now(v *view) time.Duration {
	return max(r.settings.Now().Sub(r.started), v.newest())
}

// Stats describes the content of a Ring.
type Stats struct {
	Frames, Bytes int
	StreamEnds    int // ends of streams, which are not frames
}

// Stats evicts old frames and returns what is left.
func (r *Ring) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := *r.view.Load()
	r.evict(&next, r.now(&next))
	r.setView(&next)
	return Stats{Frames: next.frames() - next.streamEnds, Bytes: next.bytes, StreamEnds: next.streamEnds}
}

const buckets = 256

// bucket is the state of the sessions with one hash value. Of the readers that select a single session, a frame wakes
// only those of its bucket.
type bucket struct {
	notifier  notifier
	published atomic.Uint64 // the newest sequence
	evicted   atomic.Uint64 // the newest evicted sequence
}

// Agents choose session names; the seed keeps them from choosing a bucket.
var bucketSeed = maphash.MakeSeed()

func bucketOf(session string) uint64 { return maphash.String(bucketSeed, session) % buckets }

// notifier wakes all its waiters. Notifying costs nothing without waiters.
type notifier struct{ channel atomic.Pointer[chan struct{}] }

// wait returns a channel that the next notify closes. The caller must then check again for changes
// made before the call.
func (n *notifier) wait() <-chan struct{} {
	for {
		if c := n.channel.Load(); c != nil {
			return *c
		}
		c := make(chan struct{})
		if n.channel.CompareAndSwap(nil, &c) {
			return c
		}
	}
}

func (n *notifier) notify() {
	if n.channel.Load() == nil {
		return
	}
	if c := n.channel.Swap(nil); c != nil {
		close(*c)
	}
}
