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

// lingerTime is how long a feed without readers stays open. Its last reader may reconnect at once.
const lingerTime = 2 * time.Second

// feeds holds the open feeds. Readers of the same subjects share a feed if it has the frames after their
// positions.
type feeds struct {
	settings   Settings
	connection *connection
	streams    *streamRegistry

	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup

	mu   sync.Mutex
	open map[string][]*feed // by subjects, newest last
	n    int
}

func newFeeds(s Settings, c *connection, streams *streamRegistry) *feeds {
	f := &feeds{settings: s, connection: c, streams: streams, open: map[string][]*feed{}}
	f.ctx, f.stop = context.WithCancel(context.Background())
	return f
}

// maxFilters bounds the subjects of a feed whose readers name sources. It equals the maximum number
// of sessions of a token.
const maxFilters = 100

// subjectsOf returns subjects that hold all frames that a query selects, and possibly more. NATS finds the next
// message at a lower cost if the subject has no wildcard. A query of all sessions gets all subjects,
// even for a single source: gaps are then holes in the numbers, and the feed need not track sessions.
func subjectsOf(q replay.Query) []string {
	if q.Sessions == nil {
		return []string{prefix + ">"}
	}
	var subjects []string
	named := q.Sources != nil && len(q.Sources)*len(q.Sessions) <= maxFilters
	for _, session := range q.Sessions {
		if !named {
			subjects = append(subjects, sessionSubjects(session))
			continue
		}
		for _, source := range q.Sources {
			subjects = append(subjects, subjectOf(source, session))
		}
	}
	slices.Sort(subjects)
	return slices.Compact(subjects)
}

// Attach returns a position in a feed that holds all frames that the reader has missed, or opens a feed that
// starts there.
func (s *Store) Attach(ctx context.Context, r stream.Request) (stream.Attachment, stream.Refusal) {
	subjects := subjectsOf(r.Query)
	return s.feeds.attach(ctx, feedSpec{subjects, strings.Join(subjects, " "), r.Earlier}, r.LastEventID)
}

// feedSpec says what a reader needs from a feed.
type feedSpec struct {
	subjects []string
	key      string // the subjects in one string
	earlier  bool   // see stream.Request
}

func (f *feeds) attach(ctx context.Context, p feedSpec, lastEventID string) (stream.Attachment, stream.Refusal) {
	now := f.connection.state.Load()
	if now == nil {
		return stream.Attachment{}, stream.Unavailable
	}
	number, why := replay.ParseID(lastEventID, now.epoch)
	if lastEventID == "" || why == "" {
		f.mu.Lock()
		at, found := f.join(p, lastEventID, nil)
		f.mu.Unlock()
		if found {
			return at, stream.NotRefused
		}
	}
	if lastEventID == "" || why != "" || number > now.last {
		if asked, err := f.connection.refresh(ctx); err == nil { // on error, use the last known state
			now = asked
			if number, why = replay.ParseID(lastEventID, now.epoch); why == "" && number > now.last {
				why = replay.GapFuture
			}
		}
	}
	switch {
	case lastEventID == "":
		return f.start(p, now.epoch, now.last, nil)
	case why == "":
		return f.start(p, now.epoch, number, nil)
	}
	oldest := ""
	if now.first <= now.last {
		oldest = string(replay.AppendID(nil, now.epoch, now.first))
	}
	gap := replay.NewGap(why, lastEventID, oldest, string(replay.AppendID(nil, now.epoch, now.last)))
	return f.start(p, now.epoch, now.first-1, gap)
}

// join returns a position in an open feed, if one can serve the reader. The caller holds the lock.
func (f *feeds) join(p feedSpec, lastEventID string, gap *replay.Gap) (stream.Attachment, bool) {
	for _, open := range slices.Backward(f.open[p.key]) {
		switch {
		case open.ctx.Err() != nil, p.earlier && !open.earlier:
		case lastEventID != "":
			if cursor, missed := open.ring.Resume(lastEventID); missed == nil {
				return f.attachTo(open, cursor, gap), true
			}
		case open.caughtUp.Load():
			return f.attachTo(open, open.ring.Head(), gap), true
		}
	}
	return stream.Attachment{}, false
}

// start opens a feed for a reader, unless another caller has just opened one that can serve it.
func (f *feeds) start(p feedSpec, epoch string, after uint64, gap *replay.Gap) (stream.Attachment, stream.Refusal) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at, found := f.join(p, string(replay.AppendID(nil, epoch, after)), gap); found {
		return at, stream.NotRefused
	}
	if f.n >= f.settings.MaxFeeds && !f.removeIdle() {
		return stream.Attachment{}, stream.FeedLimit
	}
	added := newFeed(f.ctx, &f.settings, f.connection, f.streams, p, epoch, after)
	f.open[p.key] = append(f.open[p.key], added)
	f.n++
	beginning := added.ring.Head() // before run adds messages
	if len(p.subjects) > 0 {
		f.work.Go(added.run)
	}
	return f.attachTo(added, beginning, gap), stream.NotRefused
}

// attachTo adds a reader to a feed. The caller holds the lock.
func (f *feeds) attachTo(at *feed, cursor replay.Cursor, gap *replay.Gap) stream.Attachment {
	at.readers++
	if at.linger != nil {
		at.linger.Stop()
		at.linger = nil
	}
	at.backpressure.onRead(cursor) // what is before the cursor counts as read
	return stream.Attachment{
		Ring: at.ring, Cursor: cursor, Gap: gap, Done: at.ctx.Done(), OnRead: at.backpressure.onRead,
		Release: sync.OnceFunc(func() { f.release(at) }),
	}
}

// release removes a reader from a feed. It ends a feed that then has no readers for lingerTime.
func (f *feeds) release(at *feed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at.readers--; at.readers > 0 {
		return
	}
	at.linger = time.AfterFunc(lingerTime, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if at.readers == 0 {
			f.remove(at)
		}
	})
}

// remove ends a feed. The caller holds the lock.
func (f *feeds) remove(ended *feed) {
	if ended.linger != nil {
		ended.linger.Stop()
	}
	ended.end()
	ended.ring.ReleaseBudget()
	rest := slices.DeleteFunc(f.open[ended.key], func(other *feed) bool { return other == ended })
	f.n -= len(f.open[ended.key]) - len(rest)
	if f.open[ended.key] = rest; len(rest) == 0 {
		delete(f.open, ended.key)
	}
}

// removeIdle ends a feed without readers, if there is one. The caller holds the lock.
func (f *feeds) removeIdle() bool {
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

// endAll ends every feed, because the stream was recreated and all ids have changed.
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

func (f *feeds) stats() (total replay.Stats) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, same := range f.open {
		for _, open := range same {
			one := open.ring.Stats()
			total.Frames, total.Bytes, total.StreamEnds = total.Frames+one.Frames, total.Bytes+one.Bytes, total.StreamEnds+one.StreamEnds
		}
	}
	return total
}
