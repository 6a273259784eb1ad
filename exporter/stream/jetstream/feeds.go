package jetstream

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// linger is how long a feed stays that nobody reads: whoever left may be back at once.
const linger = 2 * time.Second

// feeds are those that are open. Readers of the same share one, if it has what they miss.
type feeds struct {
	settings   Settings
	connection *connection
	known      *known

	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup

	mu   sync.Mutex
	open map[string][]*feed // by subjects, the newest last
	n    int
}

func newFeeds(s Settings, c *connection, k *known) *feeds {
	f := &feeds{settings: s, connection: c, known: k, open: map[string][]*feed{}}
	f.ctx, f.stop = context.WithCancel(context.Background())
	return f
}

// maxFilters bounds the subjects by which NATS selects for a feed whose readers name sources: a token has no more sessions.
const maxFilters = 100

// subjectsOf are the subjects that hold what a query selects, and maybe more. NATS finds the next message of a subject that has no
// wildcard with less work. Of all sessions it is everything, also of one source: numbers without holes tell of gaps where there are
// more sessions than a feed can tell apart.
func subjectsOf(q replay.Query) []string {
	if q.Sessions == nil {
		return []string{prefix + ">"}
	}
	var subjects []string
	named := q.Sources != nil && len(q.Sources)*len(q.Sessions) <= maxFilters
	for _, session := range q.Sessions {
		if !named {
			subjects = append(subjects, ofSession(session))
			continue
		}
		for _, source := range q.Sources {
			subjects = append(subjects, subjectOf(source, session))
		}
	}
	slices.Sort(subjects)
	return slices.Compact(subjects)
}

// Attach finds a feed that has what the reader misses, or opens one that begins there.
func (s *Store) Attach(ctx context.Context, q replay.Query, lastEventID string) (stream.Place, stream.Refusal) {
	return s.feeds.attach(ctx, subjectsOf(q), lastEventID)
}

func (f *feeds) attach(ctx context.Context, subjects []string, lastEventID string) (stream.Place, stream.Refusal) {
	key := strings.Join(subjects, " ")
	now := f.connection.state.Load()
	if now == nil {
		return stream.Place{}, stream.Unavailable
	}
	number, why := replay.Parse(lastEventID, now.epoch)
	if place, found := f.join(key, number, lastEventID, why); found {
		return place, stream.NotRefused
	}
	if lastEventID == "" || why != "" || number > now.last {
		if asked, err := f.connection.ask(ctx); err == nil { // else what we knew last must do
			now = asked
			if number, why = replay.Parse(lastEventID, now.epoch); why == "" && number > now.last {
				why = replay.Future
			}
		}
	}
	switch {
	case lastEventID == "":
		return f.begin(key, subjects, now.epoch, now.last, nil)
	case why == "":
		return f.begin(key, subjects, now.epoch, number, nil)
	}
	oldest := ""
	if now.first <= now.last {
		oldest = string(replay.AppendID(nil, now.epoch, now.first))
	}
	gap := replay.NewGap(why, lastEventID, oldest, string(replay.AppendID(nil, now.epoch, now.last)))
	return f.begin(key, subjects, now.epoch, now.first-1, gap)
}

// join gives a reader a place in a feed that is open.
func (f *feeds) join(key string, number uint64, lastEventID string, why replay.Reason) (stream.Place, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, open := range slices.Backward(f.open[key]) {
		switch {
		case open.ended():
		case lastEventID == "" && open.live.Load():
			return f.place(open, open.ring.Head(), nil), true
		case why == "" && open.ring.Covers(number):
			if cursor, gap := open.ring.Resume(lastEventID); gap == nil {
				return f.place(open, cursor, nil), true
			}
		}
	}
	return stream.Place{}, false
}

// begin opens a feed, or finds that another has just done so.
func (f *feeds) begin(key string, subjects []string, epoch string, after uint64, gap *replay.Gap) (stream.Place, stream.Refusal) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, open := range f.open[key] {
		if !open.ended() && open.epoch == epoch && open.ring.Covers(after) {
			if cursor, missed := open.ring.Resume(string(replay.AppendID(nil, epoch, after))); missed == nil {
				return f.place(open, cursor, gap), stream.NotRefused
			}
		}
	}
	if f.n >= f.settings.Feeds && !f.dismiss() {
		return stream.Place{}, stream.FeedsFull
	}
	begun := newFeed(&f.settings, f.connection, f.known, subjects, epoch, after)
	f.open[key] = append(f.open[key], begun)
	f.n++
	begun.key = key
	beginning := begun.ring.Head() // before anything can come
	if len(subjects) > 0 {
		f.work.Go(func() { begun.run(f.ctx) })
	}
	return f.place(begun, beginning, gap), stream.NotRefused
}

// place is a reader's. The caller holds the lock.
func (f *feeds) place(at *feed, cursor replay.Cursor, gap *replay.Gap) stream.Place {
	at.readers++
	if at.linger != nil {
		at.linger.Stop()
		at.linger = nil
	}
	return stream.Place{
		Ring: at.ring, Cursor: cursor, Gap: gap, Over: at.over, Read: at.pace.reached,
		Release: sync.OnceFunc(func() { f.release(at) }),
	}
}

func (f *feeds) release(left *feed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if left.readers--; left.readers > 0 {
		return
	}
	left.linger = time.AfterFunc(linger, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if left.readers == 0 {
			f.remove(left)
		}
	})
}

// remove ends a feed. The caller holds the lock.
func (f *feeds) remove(gone *feed) {
	if gone.linger != nil {
		gone.linger.Stop()
	}
	gone.end()
	gone.ring.Leave()
	rest := slices.DeleteFunc(f.open[gone.key], func(other *feed) bool { return other == gone })
	f.n -= len(f.open[gone.key]) - len(rest)
	if f.open[gone.key] = rest; len(rest) == 0 {
		delete(f.open, gone.key)
	}
}

// dismiss ends a feed that only lingers, if there is one. The caller holds the lock.
func (f *feeds) dismiss() bool {
	for _, same := range f.open {
		for _, open := range same {
			if open.readers == 0 {
				f.remove(open)
				return true
			}
		}
	}
	return false
}

// endAll ends every feed: the stream is another, and so are the ids.
func (f *feeds) endAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, same := range f.open {
		for _, open := range slices.Clone(same) {
			f.remove(open)
		}
	}
}

func (f *feeds) close() {
	f.stop()
	f.endAll()
	f.work.Wait()
}

func (f *feeds) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n
}

func (f *feeds) stats() (held replay.Stats) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, same := range f.open {
		for _, open := range same {
			one := open.ring.Stats()
			held.Frames, held.Bytes, held.Ends = held.Frames+one.Frames, held.Bytes+one.Bytes, held.Ends+one.Ends
		}
	}
	return held
}
