// Package replay keeps the newest frames of the external stream, bounded by count, bytes and age, for any number of readers that each cost a cursor.
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
	maxID       = 64 // bytes: browsers send a longer Last-Event-ID across origins only after a preflight
	maxSequence = 20 // digits of the largest sequence
	maxEpoch    = maxID - 1 - maxSequence

	minSegment = 4 << 10
	maxSegment = 256 << 10
	maxScratch = 1 << 20 // what one large frame needed is let go after it
)

// Settings bound a Ring. All three bounds must be positive.
type Settings struct {
	Frames int
	Bytes  int // of frames as written, and of the names of their source, run and session
	Age    time.Duration
	Now    func() time.Time // nil: time.Now
	Epoch  string           // at most 43 of [A-Za-z0-9._-]; "": random, so that ids of an earlier Ring are known as such
	After  uint64           // the number before the first frame's
	Budget *Budget          // shared with other Rings; nil: there is none
	Memory *budget.Account  // of the process, from which the frames are taken; nil: there is no bound
}

// Entry is one frame to publish. Nothing of it is kept but copies.
type Entry struct {
	Source, Run, Session string // what a Selection is asked about; "" where unknown
	Kinds                Kinds
	Name                 string // the SSE event name; "" for none
	Data                 []byte
	Stream               *Stream // the agent's, for who reads its frames again; nil where nobody does

	// Number is what the id says, for a Ring of frames that somebody else has numbered: each is larger than the one before it. 0 is
	// the Ring's next, but where Gap is set.
	Number uint64

	// Gap is set where the entry is no agent's frame but tells the readers of its session that some are missing, whatever else they
	// select. Its number is that of the place before what follows, so it may be that of the frame before it too.
	Gap *Gap

	// Origin is the agent's own id in force at the frame, and Ordinal counts what was published of its stream: by these, those who
	// hear the same stream know the same frame. A Ring looks at neither.
	Origin  []byte
	Ordinal uint64

	// Over is set where the entry is no frame but says that Stream has ended, and how. Read passes it by; it has an id like a
	// frame and counts as one against the bound on frames.
	Over bool
	End  event.End
}

// Stream is the agent's stream that frames are of: frames of one share one, and no other stream has the same.
type Stream struct {
	Dialect string
	Answer  bool   // it answers one run request
	Nonce   string // tells it apart from streams that others publish; "" where nobody else does
}

// Kinds is a set of event kinds.
type Kinds uint64

// KindsOf is the set of these kinds.
func KindsOf(kinds ...event.Kind) Kinds {
	var set Kinds
	for _, k := range kinds {
		set |= 1 << k
	}
	return set
}

// Drop says why a frame was not published.
type Drop string

// The closed set of drops.
const (
	NotDropped Drop = ""
	TooLarge   Drop = "too_large" // larger than the whole ring
	BadName    Drop = "bad_name"  // an event name that would end its line
)

// Drops lists every drop.
func Drops() []Drop { return []Drop{TooLarge, BadName} }

// Ring holds what was published last. Its methods may be called at once; readers take no lock, so that nobody waits for one.
type Ring struct {
	settings Settings
	started  time.Time
	segment  int // bytes

	mu      sync.Mutex // of those who publish
	scratch []byte
	left    bool // its budget

	view     atomic.Pointer[view]
	bell     bell // rings for every frame
	silence  <-chan struct{}
	sessions [shards]shard
}

// New makes an empty Ring.
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
	if len(s.Epoch) > maxEpoch || !plain(s.Epoch) {
		return nil, errors.New("replay: the epoch must be at most 43 of A-Z, a-z, 0-9, '.', '_' and '-'")
	}
	r := &Ring{settings: s, started: s.Now(), silence: make(chan struct{}), segment: min(max(s.Bytes/16, minSegment), maxSegment)}
	r.view.Store(&view{oldest: 1, last: s.After, gone: s.After})
	if s.Budget != nil {
		s.Budget.rings.Add(1)
	}
	return r, nil
}

// Publish gives a frame the next id, or that of its number, and wakes the readers that may want it. It never waits for a reader. A
// frame whose number is there already is passed over.
func (r *Ring) Publish(e Entry) Drop {
	names := len(e.Source) + len(e.Run) + len(e.Session)
	if len(e.Data) > r.settings.Bytes || names > r.settings.Bytes {
		return TooLarge // before its bytes are copied
	}
	session := shardOf(e.Session)

	r.mu.Lock()
	defer r.mu.Unlock()
	next := *r.view.Load()
	number := e.Number
	if number == 0 && e.Gap == nil {
		number = next.last + 1
	} else if number < next.last || number == next.last && e.Gap == nil {
		return NotDropped
	}
	next.head, next.last = next.head+1, number
	wire, err := r.write(number, &e)
	if err != nil {
		return BadName
	}
	if len(wire)+names > r.settings.Bytes {
		return TooLarge
	}
	now := r.now(&next)
	next.add(wire, frame{
		at: now, mark: e.mark(), kinds: e.Kinds,
		source: unique.Make(e.Source), run: unique.Make(e.Run), session: unique.Make(e.Session),
		stream: e.Stream,
	}, r.segment)
	if e.Over {
		next.ends++
	}
	r.evict(&next, now)
	r.sessions[session].published.Store(next.head) // before a reader can see the frame
	r.show(&next)
	r.bell.ring()
	r.sessions[session].bell.ring()
	return NotDropped
}

// write frames an entry in the scratch space. The caller holds the lock.
func (r *Ring) write(number uint64, e *Entry) ([]byte, error) {
	if e.Over {
		return nil, nil
	}
	var id [maxID]byte
	wire, err := sse.AppendFrame(r.scratch[:0], sse.Frame{ID: r.AppendID(id[:0], number), Event: []byte(e.Name), Data: e.Data})
	if r.scratch = wire; cap(wire) > maxScratch {
		r.scratch = nil
	}
	return wire, err
}

// evict lets go of what is over a bound. The caller holds the lock.
func (r *Ring) evict(v *view, now time.Duration) {
	room := r.room()
	for v.oldest <= v.head {
		segment, i := v.find(v.oldest)
		f := &segment.frames[i]
		if v.frames() <= r.settings.Frames && v.bytes <= r.settings.Bytes && (v.bytes <= room || v.frames() <= 2) && now-f.at < r.settings.Age {
			break
		}
		if v.bytes > room && v.bytes <= r.settings.Bytes {
			r.settings.Memory.Shed()
		}
		r.sessions[shardOf(f.session.Value())].evicted.Store(v.oldest) // before a reader can miss the frame
		v.bytes -= segment.cost(i)
		v.gone = segment.passed(i)
		if f.over() {
			v.ends--
		}
		v.oldest++
	}
	v.trim()
}

// now is the time since the ring began. It never goes back, so that frames are in the order of their time.
func (r *Ring) now(v *view) time.Duration {
	return max(r.settings.Now().Sub(r.started), v.newest())
}

// Stats says what a Ring holds.
type Stats struct {
	Frames, Bytes int
	Ends          int // of streams, which are no frames
}

// Stats lets go of what is too old, and says what is left.
func (r *Ring) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := *r.view.Load()
	r.evict(&next, r.now(&next))
	r.show(&next)
	return Stats{Frames: next.frames() - next.ends, Bytes: next.bytes, Ends: next.ends}
}

const shards = 256

// shard is what the readers of single sessions share, so that a frame wakes those of its own session and hardly any other.
type shard struct {
	bell      bell
	published atomic.Uint64 // the newest sequence
	evicted   atomic.Uint64 // the newest sequence that is gone
}

// Agents choose the names of sessions: a seed keeps them from choosing a shard.
var shardSeed = maphash.MakeSeed()

func shardOf(session string) uint64 { return maphash.String(shardSeed, session) % shards }

// bell wakes everybody who waits for it. Ringing costs nothing where nobody does.
type bell struct{ channel atomic.Pointer[chan struct{}] }

// wait returns what the next ring closes. What was stored before that ring must be looked at after this call.
func (b *bell) wait() <-chan struct{} {
	for {
		if c := b.channel.Load(); c != nil {
			return *c
		}
		c := make(chan struct{})
		if b.channel.CompareAndSwap(nil, &c) {
			return c
		}
	}
}

func (b *bell) ring() {
	if b.channel.Load() == nil {
		return
	}
	if c := b.channel.Swap(nil); c != nil {
		close(*c)
	}
}
