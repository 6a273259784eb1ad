package jetstream

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// Limits of looking up whether a stream holds a session's messages.
const (
	askAgainAfter = time.Second     // answers are reused for this time
	maxAnswers    = 1 << 12         // answers that are kept
	watchInterval = 5 * time.Second // between two calls of moveReaders
	maxWatched    = 200             // sessions that one call looks up
)

// Attach returns the position of a reader in the shard of its session, or in the shard that the
// request names.
func (s *Shards) Attach(ctx context.Context, r stream.Request) (stream.Attachment, stream.Refusal) {
	l := s.layout.Load()
	sessions := r.Query.Sessions
	switch {
	case len(l.names) == 1 && l.names[0] == "" && r.Shard == "": // there are no shards, and a reload cannot add one
		return l.stores[""].Attach(ctx, r)
	case l.names[0] == "":
		return stream.Attachment{}, stream.UnknownShard
	case r.Shard != "" && !slices.Contains(l.names, r.Shard):
		return stream.Attachment{Shards: l.names}, stream.UnknownShard
	case r.Shard != "":
		return s.attachReader(ctx, l, readerKey{scope: scopeShard, shard: r.Shard}, r)
	case sessions != nil && len(sessions) == 0: // the reader gets no frame from any shard
		return s.attachAt(ctx, l, slices.MinFunc(slices.Collect(maps.Keys(l.stores)), l.servedFirst), r)
	case len(sessions) != 1 && len(l.names) == 1:
		return s.attachReader(ctx, l, readerKey{scope: scopeAll, shard: l.names[0]}, r)
	case len(sessions) != 1:
		return stream.Attachment{Shards: l.names}, stream.ShardRequired
	}
	session := sessions[0]
	name, err := s.locate(ctx, l, session)
	if err != nil {
		return stream.Attachment{}, stream.Unavailable
	}
	return s.attachReader(ctx, l, readerKey{scope: scopeSession, session: session, shard: name}, r)
}

// attachReader returns a position that ends when the session moves to another shard.
func (s *Shards) attachReader(ctx context.Context, l *layout, reader readerKey, r stream.Request) (stream.Attachment, stream.Refusal) {
	at, why := s.attachAt(ctx, l, reader.shard, r)
	if why != stream.NotRefused {
		return at, why
	}
	if at.Gap != nil && at.Gap.Reason == replay.GapRestarted && l.belongsToOtherShard(r.LastEventID, reader.shard) {
		at.Gap.Reason = replay.GapMoved
	}
	moved, left := s.readers.add(reader)
	release := at.Release
	at.Moved, at.Release = moved, func() { left(); release() }
	return at, why
}

// servedFirst orders names: those of served shards first.
func (l *layout) servedFirst(a, b string) int {
	switch servesA, servesB := l.serves(a), l.serves(b); {
	case servesA == servesB:
		return 0
	case servesA:
		return -1
	default:
		return 1
	}
}

// attachAt returns a position in a shard, or the address of a gateway that serves it.
func (s *Shards) attachAt(ctx context.Context, l *layout, name string, r stream.Request) (stream.Attachment, stream.Refusal) {
	if l.serves(name) {
		return l.stores[name].Attach(ctx, r)
	}
	i := slices.Index(l.names, name)
	return stream.Attachment{Location: l.Shards[i].Gateway}, stream.OtherShard
}

// belongsToOtherShard reports whether an id belongs to a shard other than the named one.
func (l *layout) belongsToOtherShard(id, name string) bool {
	for other, store := range l.stores {
		if state := store.connection.state.Load(); other != name && state != nil {
			if _, why := replay.ParseID(id, state.epoch); why == "" {
				return true
			}
		}
	}
	return false
}

// locate returns the name of the shard in which a session is.
func (s *Shards) locate(ctx context.Context, l *layout, session string) (string, error) {
	owner, before := l.owners(session)
	if owner == before {
		return owner, nil
	}
	untilMove := l.MoveAt.Sub(l.now())
	if untilMove > moveWait {
		return before, nil
	}
	var failure error // ignored if the other stream holds the session
	for _, name := range []string{owner, before} {
		store := l.stores[name]
		if store == nil { // not connected to this shard; the gateways that serve it check it
			continue
		}
		switch holds, err := s.lookup.ask(ctx, store.connection, session); {
		case err != nil:
			failure = err
		case holds:
			return name, nil
		}
	}
	if failure != nil {
		return "", failure
	}
	if untilMove > -readersWait {
		return before, nil
	}
	return owner, nil
}

// watch looks for readers whose session has moved, until the context is done.
func (s *Shards) watch(ctx context.Context) {
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			s.panics.Do(recovery.Stream, func() { s.moveReaders(ctx) })
		}
	}
}

// moveReaders ends the streams of readers whose session is in another shard, or whose shard is no longer
// served here. It looks up at most maxWatched sessions, in random order.
func (s *Shards) moveReaders(ctx context.Context) {
	l := s.layout.Load()
	asked := 0
	for _, readers := range s.readers.matching(l.mustMove) {
		if readers.scope != scopeSession || !l.serves(readers.shard) {
			s.readers.move(readers)
			continue
		}
		if asked++; asked > maxWatched {
			continue // others may need no look-up
		}
		if name, err := s.locate(ctx, l, readers.session); err == nil && name != readers.shard {
			s.readers.move(readers)
		}
	}
}

// mustMove reports whether readers must leave. For readers of a session, true only means that they may have to: only
// NATS knows whether the session has moved.
func (l *layout) mustMove(readers readerKey) bool {
	switch {
	case !l.serves(readers.shard):
		return true
	case readers.scope == scopeSession:
		return l.owner(readers.session) != readers.shard
	default:
		return readers.scope == scopeAll && len(l.names) > 1 // readers of everything must now choose a shard
	}
}

// readerKey identifies readers that have the same sessions in the same shard.
type readerKey struct {
	scope          scope
	session, shard string
}

// scope says what a reader has asked for.
type scope int

const (
	scopeSession scope = iota
	scopeShard
	scopeAll // without a shard, because there was only one
)

// sessionReaders groups the readers. There are no more groups than readers.
type sessionReaders struct {
	mu   sync.Mutex
	open map[readerKey]*readerGroup
}

type readerGroup struct {
	n     int
	moved chan struct{}
}

func newSessionReaders() *sessionReaders { return &sessionReaders{open: map[readerKey]*readerGroup{}} }

// add adds a reader. moved is closed when the reader must leave. The caller must call left once it has left.
func (r *sessionReaders) add(key readerKey) (moved <-chan struct{}, left func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	group := r.open[key]
	if group == nil {
		group = &readerGroup{moved: make(chan struct{})}
		r.open[key] = group
	}
	group.n++
	return group.moved, sync.OnceFunc(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if group.n--; group.n == 0 && r.open[key] == group {
			delete(r.open, key)
		}
	})
}

// matching returns the keys that match, in random order.
func (r *sessionReaders) matching(match func(readerKey) bool) (found []readerKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key := range r.open {
		if match(key) {
			found = append(found, key)
		}
	}
	return found
}

// move makes a group of readers leave.
func (r *sessionReaders) move(key readerKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if group := r.open[key]; group != nil {
		close(group.moved)
		delete(r.open, key)
	}
}

// sessionLookup finds out whether a stream holds a session. It reuses answers for askAgainAfter, because many
// readers may come at once.
type sessionLookup struct {
	answers *lru.Cache[lookupKey, lookupAnswer]
}

type lookupKey struct {
	stream *connection
	token  string // of the session
}

type lookupAnswer struct {
	holds bool
	at    time.Time
}

func newSessionLookup() *sessionLookup {
	s := &sessionLookup{}
	s.answers, _ = lru.New[lookupKey, lookupAnswer](maxAnswers) // the only possible error is a size below one
	return s
}

func (s *sessionLookup) ask(ctx context.Context, c *connection, session string) (bool, error) {
	key := lookupKey{c, subjectToken(session)}
	if known, ok := s.answers.Get(key); ok && time.Since(known.at) < askAgainAfter {
		return known.holds, nil
	}
	asked := time.Now()
	holds, err := c.holds(ctx, key.token)
	if err == nil {
		s.answers.Add(key, lookupAnswer{holds, asked})
	}
	return holds, err
}
