// Package jetstream keeps the external stream in NATS JetStream, so that whoever reaches it serves what anybody published: each frame
// once and in the order of its session, or word of the gap.
package jetstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// Settings say where the stream is, what bounds it, and what may be held here.
type Settings struct {
	URLs            []string
	CredentialsFile string // a JWT and its key, as NATS has them; "" for none
	NKeyFile        string // the seed of an nkey; "" for none
	CAFile          string // of those who may vouch for the server; "" for the system's
	CertFile        string // of ours, with KeyFile; "" for none
	KeyFile         string

	Stream  string
	Manage  bool // the stream is made where it is missing, and its limits are kept at those given here
	Limits  Limits
	Queue   int             // bytes that may wait to be published
	Feeds   int             // that may be open at once, each a consumer of the stream's
	Held    int             // bytes of all feeds together, about
	Ring    replay.Settings // of one feed
	Publish bool            // else nothing is ever published from here

	Observer Observer
	Logger   *slog.Logger
	Panics   *recovery.Recorder // nil recovers panics without a record
}

// Limits bound the stream in NATS.
type Limits struct {
	Replicas   int
	Age        time.Duration
	Bytes      int64
	PerSubject int64         // messages of one source and session
	Message    int32         // bytes of one, its headers included
	Duplicates time.Duration // how long the id of a message is known
}

// Observer is told what happens. Its methods are called by many goroutines at once and do not block.
type Observer interface {
	Published()               // a frame, by us
	Repeated()                // a frame that another had published before
	Dropped(Drop)             // a frame that is not published
	Retried()                 // an attempt to publish that failed or may have
	FeedRetried()             // an attempt to bring a feed that failed, though NATS is reached
	FeedGap(replay.Reason)    // frames that are missing in a feed
	FrameDropped(replay.Drop) // a frame that a feed cannot hold
}

// Drop says why a frame is not published.
type Drop string

// The closed set of drops.
const (
	QueueFull Drop = "queue_full" // as many bytes wait as may
	TooOld    Drop = "too_old"    // it waited so long that nobody could tell any more whether it was published
	TooLarge  Drop = "too_large"  // larger than a message may be
	Stopped   Drop = "stopped"    // it still waited when we stopped
)

// Drops lists every drop.
func Drops() []Drop { return []Drop{QueueFull, TooOld, TooLarge, Stopped} }

// Store is a stream.Store in JetStream.
type Store struct {
	connection *connection
	publisher  *publisher // nil where nothing is published
	feeds      *feeds
}

// maxStreams bounds the agents' streams that are known apart, for readers of other formats than the native one.
const maxStreams = 1 << 14

// Open begins to reach for NATS, which need not be there yet.
func Open(s Settings) (*Store, error) {
	if s.Feeds <= 0 || s.Ring.Frames <= 0 || s.Ring.Bytes <= 0 || s.Ring.Age <= 0 || s.Held <= 0 || s.Publish && s.Queue <= 0 {
		return nil, errors.New("jetstream: the numbers of feeds, of their frames and bytes and of the queue's must be more than 0")
	}
	s.Ring.Budget = replay.NewBudget(s.Held)
	streams, err := lru.New[streamKey, *replay.Stream](maxStreams)
	if err != nil {
		return nil, fmt.Errorf("jetstream: %w", err)
	}
	c, err := connect(s)
	if err != nil {
		return nil, err
	}
	store := &Store{connection: c, feeds: newFeeds(s, c, &known{streams: streams})}
	c.restarted = store.feeds.endAll
	c.keep()
	if s.Publish {
		store.publisher = newPublisher(s, c)
	}
	return store, nil
}

// Ready says whether the stream was ever reached.
func (s *Store) Ready() error {
	if s.connection.state.Load() == nil {
		return fmt.Errorf("the stream in NATS has not been reached yet: %w", cmp.Or(s.connection.why(), errors.New("there was no answer so far")))
	}
	return nil
}

// Publish takes a frame for the stream. It never waits: what there is no room for is dropped, and readers are told of the gap.
func (s *Store) Publish(e replay.Entry) {
	if s.publisher != nil {
		s.publisher.publish(e)
	}
}

// Stats says what the feeds hold.
func (s *Store) Stats() replay.Stats { return s.feeds.stats() }

// Feeds is how many are open.
func (s *Store) Feeds() int { return s.feeds.count() }

// Queued is how many bytes wait to be published.
func (s *Store) Queued() int {
	if s.publisher == nil {
		return 0
	}
	return s.publisher.queued()
}

// Connected says whether NATS is reached now.
func (s *Store) Connected() bool { return s.connection.nats.IsConnected() }

// Close publishes what waits until the context is done, and then lets go of everything.
func (s *Store) Close(ctx context.Context) error {
	var err error
	if s.publisher != nil {
		err = s.publisher.close(ctx)
	}
	s.feeds.close()
	s.connection.close()
	return err
}
