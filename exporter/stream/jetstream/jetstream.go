// Package jetstream stores the external stream in NATS JetStream, so that any process connected to
// NATS can serve the frames that any other process has published. Readers get each frame once, in
// the order of its session, and every gap is reported.
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

// Settings configure a Store.
type Settings struct {
	URLs            []string
	CredentialsFile string // with a JWT and its key, in the format of NATS; "" for none
	NKeyFile        string // with the seed of an nkey; "" for none
	CAFile          string // CA certificates for the server; "" for the system's
	CertFile        string // client certificate, used with KeyFile; "" for none
	KeyFile         string

	Stream       string
	ManageStream bool // create a missing stream, and keep its limits as configured here
	Limits       Limits
	QueueBytes   int             // bytes that may wait to be published
	MaxFeeds     int             // open at once; each is a consumer of the stream
	FeedBytes    int             // approximate bytes of all feeds together
	Ring         replay.Settings // of each feed
	Publish      bool            // false: this process only reads

	maxEarlierTime time.Duration // how long a feed reads messages before its readers' positions; 0: the default

	messageIDs *messageIDs // shared by all shards of a process, so that an id does not depend on the shard; nil: the store's own

	Observer Observer
	Logger   *slog.Logger
	Panics   *recovery.Recorder // nil: panics are not recorded
}

// Limits bound the stream in NATS.
type Limits struct {
	Replicas              int
	MaxAge                time.Duration
	MaxBytes              int64
	MaxMessagesPerSubject int64         // per source and session
	MaxMessageBytes       int32         // including headers
	DuplicateWindow       time.Duration // how long NATS recognizes the id of a message
}

// Observer receives the events of a Store. Its methods are called concurrently and must not block.
type Observer interface {
	CountPublished()                   // this process published a frame
	CountRepeated()                    // another process had already published the frame
	CountDropped(Drop)                 // a frame was dropped instead of published
	CountRetry()                       // an attempt to publish failed, or its result is unknown
	CountFeedRetry()                   // a feed failed although NATS was connected
	CountFeedGap(replay.GapReason)     // frames are missing in a feed
	CountDroppedFeedFrame(replay.Drop) // a feed could not store a frame
}

// Drop says why a frame was not published. The values are label values of a metric.
type Drop string

// The possible drops.
const (
	QueueFull Drop = "queue_full" // the queue had no room
	TooOld    Drop = "too_old"    // it waited longer than NATS remembers message ids
	TooLarge  Drop = "too_large"  // it exceeded the maximum message size
	Stopped   Drop = "stopped"    // it was still queued at shutdown
)

// Drops lists every drop.
func Drops() []Drop { return []Drop{QueueFull, TooOld, TooLarge, Stopped} }

// Store is a stream.Store that uses JetStream.
type Store struct {
	connection *connection
	publisher  *publisher // nil if this process only reads
	feeds      *feeds
}

// maxStreams bounds the agent streams that are distinguished for subscribers to other formats.
const maxStreams = 1 << 14

// Open starts connecting to NATS, which need not be reachable yet.
func Open(s Settings) (*Store, error) {
	if s.MaxFeeds <= 0 || s.Ring.Frames <= 0 || s.Ring.Bytes <= 0 || s.Ring.Age <= 0 || s.FeedBytes <= 0 || s.Publish && s.QueueBytes <= 0 {
		return nil, errors.New("jetstream: the limits of feeds, of their frames, bytes and age, and of the queue must be more than 0")
	}
	if s.Ring.Budget == nil {
		s.Ring.Budget = replay.NewBudget(s.FeedBytes)
	}
	s.maxEarlierTime = cmp.Or(s.maxEarlierTime, defaultEarlierTime)
	streams, err := lru.New[streamKey, *replay.Stream](maxStreams)
	if err != nil {
		return nil, fmt.Errorf("jetstream: %w", err)
	}
	c, err := connect(s)
	if err != nil {
		return nil, err
	}
	store := &Store{connection: c, feeds: newFeeds(s, c, &streamRegistry{streams: streams})}
	c.restarted = store.feeds.endAll
	c.maintain()
	if s.Publish {
		store.publisher = newPublisher(s, c)
	}
	return store, nil
}

// Ready returns nil once the stream has been reached.
func (s *Store) Ready() error {
	if s.connection.state.Load() == nil {
		return fmt.Errorf("the stream in NATS is not reachable yet: %w", cmp.Or(s.connection.lastFailure(), errors.New("no response yet")))
	}
	return nil
}

// Publish queues a frame for the stream. It does not block: if there is no room, the frame is
// dropped and the gap is reported to readers.
func (s *Store) Publish(e replay.Entry) {
	if s.publisher != nil {
		s.publisher.publish(e, nil)
	}
}

// Stats returns what the feeds hold.
func (s *Store) Stats() replay.Stats { return s.feeds.stats() }

// OpenFeeds returns the number of open feeds.
func (s *Store) OpenFeeds() int { return s.feeds.count() }

// QueuedBytes returns how many bytes are queued to be published.
func (s *Store) QueuedBytes() int {
	if s.publisher == nil {
		return 0
	}
	return s.publisher.queue.size()
}

// QueueCapacity returns how many bytes may be queued to be published; 0 for a store that does not publish.
func (s *Store) QueueCapacity() int {
	if s.publisher == nil {
		return 0
	}
	return s.publisher.queue.limit
}

// Connected reports whether NATS is connected.
func (s *Store) Connected() bool { return s.connection.nats.IsConnected() }

// Close publishes queued frames until the context is done, and then releases everything.
func (s *Store) Close(ctx context.Context) error {
	err := s.closePublisher(ctx)
	s.release()
	return err
}

func (s *Store) closePublisher(ctx context.Context) error {
	if s.publisher == nil {
		return nil
	}
	return s.publisher.close(ctx)
}

// release releases everything but the publisher, which is closed.
func (s *Store) release() {
	s.feeds.close()
	s.connection.close()
}
