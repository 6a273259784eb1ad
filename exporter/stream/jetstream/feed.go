package jetstream

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// What a feed asks of NATS.
const (
	pull      = 128 // messages under way to us
	heartbeat = 5 * time.Second
	idle      = time.Minute // after which NATS forgets a consumer that nobody asks
)

// feed brings what the stream holds behind a number on some subjects into a ring, in order, until nobody reads it. The consumer that it
// has in NATS is made again, behind the last message, whenever it is not sure to have brought all.
type feed struct {
	connection *connection
	known      *known
	observer   Observer
	subjects   []string // none: nothing comes
	epoch      string
	ring       *replay.Ring
	chain      chain
	pace       pace

	live atomic.Bool   // it has brought all that there was
	over chan struct{} // closed when its ring gets nothing any more
	end  func()        // closes it

	key     string      // of the registry, under its lock
	readers int         // the registry's, under its lock
	linger  *time.Timer // the same
}

// newFeed prepares a feed of what comes behind a number.
func newFeed(s *Settings, c *connection, k *known, subjects []string, epoch string, after uint64) *feed {
	bounds := s.Ring
	bounds.Epoch, bounds.After = epoch, after
	ring, err := replay.New(bounds)
	if err != nil {
		panic("jetstream: " + err.Error()) // the settings were good when the store was opened
	}
	f := &feed{
		connection: c, known: k, observer: s.Observer, subjects: subjects, epoch: epoch, ring: ring,
		chain: newChain(subjects, after), pace: newPace(func() int { return ring.Part() / 4 }), over: make(chan struct{}),
	}
	f.end = sync.OnceFunc(func() { close(f.over) })
	return f
}

// ended says whether nothing comes any more.
func (f *feed) ended() bool {
	select {
	case <-f.over:
		return true
	default:
		return false
	}
}

// run ends with the context, or when the stream is another.
func (f *feed) run(ctx context.Context) {
	defer f.end()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() { // which the end of either ends
		select {
		case <-f.over:
			stop()
		case <-ctx.Done():
		}
	}()
	for failed := 0; ctx.Err() == nil; {
		before, now := f.chain.last, f.connection.generation()
		within, cancel := context.WithCancel(ctx)
		unbind := context.AfterFunc(now, cancel)
		err := f.consume(within)
		unbind()
		cancel()
		switch {
		case errors.Is(err, errRestarted):
			return
		case f.chain.last > before || now.Err() != nil:
			failed = 0
		default:
			failed = min(failed+1, 8)
			if ctx.Err() == nil && f.connection.why() == nil {
				f.observer.FeedRetried()
				f.connection.troubles.say("a session cannot be brought to its readers; trying again", advised(err))
			}
		}
		pause := 25 * time.Millisecond << failed
		wait(ctx, f.connection.generation(), pause/2+rand.N(pause))
	}
}

var (
	errRestarted = errors.New("the stream is another")
	errSkipped   = errors.New("the consumer has skipped a message")
)

// consume brings messages as long as all is well.
func (f *feed) consume(ctx context.Context) error {
	now, err := f.connection.ask(ctx)
	if err != nil {
		return err
	}
	if now.epoch != f.epoch || now.last < f.chain.last {
		return errRestarted
	}
	consumer, err := f.connection.jet.CreateConsumer(ctx, f.connection.settings.Stream, jetstream.ConsumerConfig{
		FilterSubjects: f.subjects, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: f.chain.last + 1,
		AckPolicy: jetstream.AckNonePolicy, InactiveThreshold: idle, MemoryStorage: true, Replicas: 1,
	})
	if err != nil {
		return err
	}
	defer f.forget(consumer.CachedInfo().Name)
	sure := false // that nothing came behind the last message and went again
	if consumer.CachedInfo().NumPending == 0 {
		f.live.Store(true)
		sure = f.complete(ctx, now)
	}
	room := 2 * int(f.connection.nats.MaxPayload()) // a message that had none would be an error
	messages, err := consumer.Messages(jetstream.PullMaxMessagesWithBytesLimit(pull, room), jetstream.PullHeartbeat(heartbeat))
	if err != nil {
		return err
	}
	defer messages.Stop()
	for brought := uint64(1); ; brought++ {
		m, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return err
		}
		about, err := m.Metadata()
		if err != nil {
			return err
		}
		if about.Sequence.Consumer != brought {
			return errSkipped
		}
		f.take(m, about.Sequence.Stream, sure)
		sure = about.NumPending == 0
		if about.NumPending == 0 {
			f.live.Store(true)
		} else if !f.live.Load() && !f.pace.wait(ctx, f.chain.last, len(m.Data())) {
			return ctx.Err()
		}
	}
}

// complete says whether nothing has gone that came behind the last message, where a consumer has just found that nothing is there. It is
// given what the stream was before that.
func (f *feed) complete(ctx context.Context, before *state) bool {
	if has := max(f.chain.start, f.chain.last); before.last > has {
		after, err := f.connection.ask(ctx)
		if err != nil || after.epoch != f.epoch || after.first > has+1 {
			return false
		}
	}
	f.chain.start = max(f.chain.start, before.last)
	return true
}

// forget has NATS forget a consumer, which it would do by itself after a while.
func (f *feed) forget(name string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if f.connection.nats.IsConnected() {
		_ = f.connection.jet.DeleteConsumer(ctx, f.connection.settings.Stream, name)
	}
}

// take puts a message into the ring, behind word of what is missing before it, unless it is sure that nothing is.
func (f *feed) take(m jetstream.Msg, number uint64, sure bool) {
	defer f.connection.settings.Panics.Recover(recovery.Stream, func() { f.tell(replay.Lost, number, "") })
	d, err := f.known.decode(m.Subject(), m.Headers(), m.Data())
	if err != nil {
		f.chain.skip(m.Subject(), number)
		return // somebody else's, which our publishers count as one of the subject's all the same
	}
	if why := f.chain.add(m.Subject(), number, &d, sure); why != "" {
		f.tell(why, number-1, d.entry.Session)
	}
	d.entry.Number = number
	if drop := f.ring.Publish(d.entry); drop != replay.NotDropped {
		f.observer.FrameDropped(drop)
		f.tell(replay.Lost, number, d.entry.Session)
	}
}

// tell tells of a gap behind a number.
func (f *feed) tell(why replay.Reason, number uint64, session string) {
	f.observer.FeedGap(why)
	following := string(f.ring.AppendID(nil, number+1))
	f.ring.Publish(stream.GapEntry(&replay.Gap{Reason: why, Oldest: following, Head: following}, number, session))
}
