package jetstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// Shard is one of the streams that share the sessions.
type Shard struct {
	Name     string // "" if there is only one
	Settings Settings
	Gateway  string // URL, without a final slash, to which readers are sent if this process does not serve the shard; "" for none
}

// Layout lists the shards. A session belongs to the shard that Owner returns for their names.
type Layout struct {
	Shards   []Shard
	Serve    []string  // names of the shards that this process serves; empty for all
	Previous []string  // names of the shards before the last change; empty if no session moves
	MoveAt   time.Time // no session moves earlier

	now func() time.Time // nil: time.Now
}

// Shards is a stream.Store whose sessions are in several streams. docs/design/shards.md has the rules.
type Shards struct {
	readers    *sessionReaders
	lookup     *sessionLookup
	messageIDs *messageIDs
	budget     *replay.Budget // of all feeds
	panics     *recovery.Recorder

	configuring sync.Mutex
	layout      atomic.Pointer[layout]

	stop context.CancelFunc // stops watch
	work sync.WaitGroup
}

// layout is a Layout with open stores.
type layout struct {
	Layout
	names  []string
	stores map[string]*Store // by name; those that this process uses
	moves  map[string]*move  // by name of the new shard; nil if no session moves
}

// OpenShards starts connecting to the streams of a layout.
func OpenShards(l Layout) (*Shards, error) {
	if len(l.Shards) == 0 {
		return nil, errors.New("jetstream: no shard is configured")
	}
	s := &Shards{
		readers: newSessionReaders(), lookup: newSessionLookup(), messageIDs: newMessageIDs(),
		budget: replay.NewBudget(max(l.Shards[0].Settings.FeedBytes, 1)), panics: l.Shards[0].Settings.Panics,
	}
	s.layout.Store(&layout{})
	if err := s.Configure(l); err != nil {
		_ = s.closeStores(context.Background())
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.work.Go(func() { s.watch(ctx) })
	return s, nil
}

// Check reports why a layout cannot replace the current one. Shards can be added, but neither removed
// nor changed.
func (s *Shards) Check(l Layout) error {
	for _, current := range s.layout.Load().Shards {
		i := slices.IndexFunc(l.Shards, func(other Shard) bool { return other.Name == current.Name })
		if i < 0 || !current.Settings.sameStream(l.Shards[i].Settings) {
			return fmt.Errorf("a reload cannot remove or change the shard %q: restart delegraph", current.Name)
		}
	}
	return nil
}

// sameStream reports whether two settings connect to the same stream in the same way.
func (s Settings) sameStream(other Settings) bool {
	return reflect.DeepEqual(s.URLs, other.URLs) && s.CredentialsFile == other.CredentialsFile && s.NKeyFile == other.NKeyFile &&
		s.CAFile == other.CAFile && s.CertFile == other.CertFile && s.KeyFile == other.KeyFile && s.Stream == other.Stream
}

// Configure replaces the layout, or returns an error and changes nothing.
func (s *Shards) Configure(wanted Layout) error {
	s.configuring.Lock()
	defer s.configuring.Unlock()
	if err := s.Check(wanted); err != nil {
		return err
	}
	if wanted.now == nil {
		wanted.now = time.Now
	}
	current := s.layout.Load()
	next := &layout{Layout: wanted, stores: map[string]*Store{}}
	var opened []*Store
	for _, shard := range wanted.Shards {
		next.names = append(next.names, shard.Name)
		store := current.stores[shard.Name]
		if store == nil && wanted.uses(shard) {
			var err error
			if store, err = s.open(shard); err != nil {
				for _, other := range opened {
					_ = other.Close(context.Background())
				}
				return err
			}
			opened = append(opened, store)
		}
		if store != nil {
			next.stores[shard.Name] = store
		}
	}
	if len(wanted.Previous) > 0 {
		next.moves = map[string]*move{}
		for name, store := range next.stores {
			next.moves[name] = &move{to: store.connection, at: wanted.MoveAt, now: wanted.now}
		}
	}
	s.layout.Store(next)
	return nil
}

// uses reports whether this process needs a connection to a shard: to publish, to serve it, or to know
// which sessions have left it.
func (l Layout) uses(s Shard) bool {
	return s.Settings.Publish || l.serves(s.Name) || slices.Contains(l.Previous, s.Name)
}

func (l Layout) serves(name string) bool { return len(l.Serve) == 0 || slices.Contains(l.Serve, name) }

func (s *Shards) open(shard Shard) (*Store, error) {
	set := shard.Settings
	set.messageIDs, set.Ring.Budget = s.messageIDs, s.budget
	set.Logger = cmp.Or(set.Logger, slog.Default())
	if shard.Name != "" {
		set.Logger = set.Logger.With("shard", shard.Name)
	}
	store, err := Open(set)
	if err != nil && shard.Name != "" {
		return nil, fmt.Errorf("shard %q: %w", shard.Name, err)
	}
	return store, err
}

// owner returns the name of a session's shard.
func (l *layout) owner(session string) string {
	if len(l.names) == 1 {
		return l.names[0]
	}
	return Owner(l.names, session)
}

// owners returns the names of a session's shard now and before the last change.
func (l *layout) owners(session string) (now, before string) {
	now = l.owner(session)
	if len(l.Previous) == 0 {
		return now, now
	}
	return now, Owner(l.Previous, session)
}

// Publish queues a frame for the stream of its session's shard. It does not block.
func (s *Shards) Publish(e replay.Entry) {
	l := s.layout.Load()
	owner, before := l.owners(e.Session)
	if owner == before {
		l.stores[owner].Publish(e)
	} else if p := l.stores[before].publisher; p != nil {
		p.publish(e, l.moves[owner])
	}
}

// Ready returns nil once one of the served streams has been reached. The readers of a stream are refused until it
// is reached.
func (s *Shards) Ready() (err error) {
	l := s.layout.Load()
	for name, store := range l.stores {
		if !l.serves(name) {
			continue
		}
		if err = store.Ready(); err == nil {
			return nil
		}
	}
	return err
}

// Stats returns what the feeds hold.
func (s *Shards) Stats() (total replay.Stats) {
	for _, store := range s.layout.Load().stores {
		one := store.Stats()
		total.Frames, total.Bytes, total.StreamEnds = total.Frames+one.Frames, total.Bytes+one.Bytes, total.StreamEnds+one.StreamEnds
	}
	return total
}

// OpenFeeds returns the number of open feeds.
func (s *Shards) OpenFeeds() int { return s.sum((*Store).OpenFeeds) }

// QueuedBytes returns how many bytes are queued to be published.
func (s *Shards) QueuedBytes() int { return s.sum((*Store).QueuedBytes) }

// QueueCapacity returns how many bytes may be queued to be published; 0 for a process that does not publish.
func (s *Shards) QueueCapacity() int { return s.sum((*Store).QueueCapacity) }

func (s *Shards) sum(of func(*Store) int) (n int) {
	for _, store := range s.layout.Load().stores {
		n += of(store)
	}
	return n
}

// Connected reports whether every shard that this process uses is connected.
func (s *Shards) Connected() bool {
	for _, store := range s.layout.Load().stores {
		if !store.Connected() {
			return false
		}
	}
	return true
}

// Close publishes queued frames until the context is done, and then releases everything.
func (s *Shards) Close(ctx context.Context) error {
	s.stop()
	s.work.Wait()
	return s.closeStores(ctx)
}

// closeStores releases no store before all publishers are closed: the publisher of a moved session's old shard uses
// the connection of the new one.
func (s *Shards) closeStores(ctx context.Context) error {
	stores := slices.Collect(maps.Values(s.layout.Load().stores))
	errs := make([]error, len(stores))
	var closing, releasing sync.WaitGroup
	for i, store := range stores {
		closing.Go(func() { errs[i] = store.closePublisher(ctx) })
	}
	closing.Wait()
	for _, store := range stores {
		releasing.Go(store.release)
	}
	releasing.Wait()
	return errors.Join(errs...)
}

var _ stream.Store = (*Shards)(nil)
