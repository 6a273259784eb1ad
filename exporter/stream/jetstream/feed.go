package jetstream

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// Settings of a feed's consumer.
const (
	maxPulled         = 128 // messages per pull request
	pullHeartbeat     = 5 * time.Second
	inactiveThreshold = time.Minute // after which NATS removes an unused consumer

	defaultEarlierTime = 5 * time.Second // less than the default heartbeat
)

// feed copies the messages of some subjects after a number, in order, into a ring until it has no
// readers. Whenever its consumer in NATS may have missed messages, the feed replaces it with one
// that starts after the last message. With feedSpec.earlier, the feed begins with older messages, from which
// the formats learn which runs are in progress.
type feed struct {
	connection   *connection
	streams      *streamRegistry
	observer     Observer
	feedSpec            // without subjects, the feed receives nothing
	after        uint64 // readers get only messages after this number
	epoch        string
	ring         *replay.Ring
	gaps         gapDetector
	backpressure backpressure

	caughtUp atomic.Bool // the feed has received all messages that were stored at one time
	ctx      context.Context
	end      context.CancelFunc // ends ctx

	readers int         // guarded by feeds.mu
	linger  *time.Timer // guarded by feeds.mu
}

// newFeed returns a feed of the messages after a number, which ends with the context. The caller starts it with run.
func newFeed(ctx context.Context, s *Settings, c *connection, streams *streamRegistry, p feedSpec, epoch string, after uint64) *feed {
	bounds := s.Ring
	bounds.Epoch, bounds.After = epoch, after
	ring, err := replay.New(bounds)
	if err != nil {
		panic("jetstream: " + err.Error()) // Open has checked the settings
	}
	f := &feed{
		connection: c, streams: streams, observer: s.Observer, feedSpec: p, after: after, epoch: epoch, ring: ring,
		gaps: newGapDetector(p.subjects, after), backpressure: newBackpressure(func() int { return ring.Share() / 4 }),
	}
	f.gaps.last = f.begin(s.Ring.Frames)
	f.ctx, f.end = context.WithCancel(ctx)
	return f
}

// begin returns the number before the first message that the feed asks for. NATS bounds the messages of a session, and
// the ring keeps the newest ones. The messages of all sessions have consecutive numbers, so the ring's limit bounds them.
func (f *feed) begin(frames int) uint64 {
	switch {
	case !f.earlier:
		return f.after
	case f.gaps.allSubjects:
		return f.after - min(f.after, uint64(frames))
	}
	return 0
}

// run receives messages until the feed is ended or the stream is recreated.
func (f *feed) run() {
	defer f.end()
	for failed := 0; f.ctx.Err() == nil; {
		before, now := f.gaps.last, f.connection.generation()
		within, cancel := context.WithCancel(f.ctx)
		unbind := context.AfterFunc(now, cancel)
		err := panicToError(f.connection.settings.Panics, func() error { return f.consume(within) })
		unbind()
		cancel()
		switch {
		case errors.Is(err, errRestarted):
			return
		case f.gaps.last > before || now.Err() != nil:
			failed = 0
		default:
			failed = min(failed+1, 8)
			if f.ctx.Err() == nil && f.connection.lastFailure() == nil {
				f.observer.CountFeedRetry()
				f.connection.log.warn("a session cannot be read from the stream; retrying", withAdvice(err))
			}
		}
		pause := 25 * time.Millisecond << failed
		wait(f.ctx, f.connection.generation(), pause/2+rand.N(pause))
	}
}

var (
	errRestarted = errors.New("the stream was recreated")
	errSkipped   = errors.New("the consumer skipped a message")

	errEarlierRead = errors.New("the earlier messages were read")
)

// consume receives messages with one consumer until that fails.
func (f *feed) consume(ctx context.Context) error {
	now, err := f.connection.refresh(ctx)
	if err != nil {
		return err
	}
	if now.epoch != f.epoch || now.last < max(f.after, f.gaps.last) {
		return errRestarted
	}
	consumer, err := f.connection.jet.CreateConsumer(ctx, f.connection.settings.Stream, jetstream.ConsumerConfig{
		FilterSubjects: f.subjects, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: f.gaps.last + 1,
		AckPolicy: jetstream.AckNonePolicy, InactiveThreshold: inactiveThreshold, MemoryStorage: true, Replicas: 1,
	})
	if err != nil {
		return err
	}
	defer f.deleteConsumer(consumer.CachedInfo().Name)
	adjacent := false // see gapDetector.observe
	if consumer.CachedInfo().NumPending == 0 {
		f.caughtUp.Store(true)
		adjacent = f.nothingMissed(ctx, now)
	}
	pullBytes := 2 * int(f.connection.nats.MaxPayload()) // a larger message would be an error
	messages, err := consumer.Messages(jetstream.PullMaxMessagesWithBytesLimit(maxPulled, pullBytes), jetstream.PullHeartbeat(pullHeartbeat))
	if err != nil {
		return err
	}
	defer messages.Stop()
	begun := time.Now()
	for delivered := uint64(1); ; delivered++ {
		m, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return err
		}
		metadata, err := m.Metadata()
		if err != nil {
			return err
		}
		if metadata.Sequence.Consumer != delivered {
			return errSkipped
		}
		f.receive(m, metadata.Sequence.Stream, adjacent)
		adjacent = metadata.NumPending == 0
		switch tooLong := time.Since(begun) > f.connection.settings.maxEarlierTime; {
		case f.gaps.last <= f.after && (adjacent || tooLong):
			f.endEarlier(adjacent)
			return errEarlierRead
		case adjacent:
			f.caughtUp.Store(true)
		}
		if !f.backpressure.wait(ctx, f.gaps.last, len(m.Data())) {
			return ctx.Err()
		}
	}
}

// nothingMissed reports whether the feed has certainly missed no message after its last one, although NATS may
// remove messages before the feed reads them. Call it when a new consumer has nothing pending. stateBefore is the
// stream's state before the consumer was created.
func (f *feed) nothingMissed(ctx context.Context, stateBefore *streamState) bool {
	if has := max(f.gaps.start, f.gaps.checked, f.gaps.last); stateBefore.last > has {
		after, err := f.connection.refresh(ctx)
		if err != nil || after.epoch != f.epoch || after.first > has+1 {
			return false
		}
	}
	f.gaps.checked = max(f.gaps.checked, stateBefore.last)
	return true
}

// endEarlier stops reading earlier messages. The next consumer starts after them, because only a new consumer reliably
// reports that nothing is pending. Incomplete earlier messages are dropped, because they could mislead the formats.
func (f *feed) endEarlier(complete bool) {
	f.gaps.last = f.after
	if !complete {
		f.ring.EvictEarlier()
	}
}

// deleteConsumer removes a consumer early; NATS would do so itself after a while.
func (f *feed) deleteConsumer(name string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if f.connection.nats.IsConnected() {
		_ = f.connection.jet.DeleteConsumer(ctx, f.connection.settings.Stream, name)
	}
}

// receive adds a message to the ring, after a gap if messages before it are missing. adjacent is passed to
// gapDetector.observe.
func (f *feed) receive(m jetstream.Msg, number uint64, adjacent bool) {
	var d decoded
	// If decode panics, the session is unknown and this gap does not reach the readers of a session. The next message
	// of the subject reports it.
	defer f.connection.settings.Panics.Recover(recovery.Stream, func() { f.publishGap(replay.GapLost, number, d.entry.Session) })
	d, err := f.streams.decode(m.Subject(), m.Headers(), m.Data())
	if err != nil {
		f.gaps.advance(m.Subject(), number)
		return // another program's message; the next message of the subject names it as its previous one
	}
	if d.entry.Number = number; number <= f.after {
		f.gaps.advance(m.Subject(), number)
		d.entry.Earlier = true
		f.ring.Publish(d.entry) // readers have received it, so a dropped one is no gap
		return
	}
	if why := f.gaps.observe(m.Subject(), number, &d, adjacent); why != "" {
		f.publishGap(why, number-1, d.entry.Session)
	}
	if drop := f.ring.Publish(d.entry); drop != replay.NotDropped {
		f.observer.CountDroppedFeedFrame(drop)
		f.publishGap(replay.GapLost, number, d.entry.Session)
	}
}

// publishGap adds a gap after a number to the ring.
func (f *feed) publishGap(why replay.GapReason, number uint64, session string) {
	f.observer.CountFeedGap(why)
	following := string(f.ring.AppendID(nil, number+1))
	f.ring.Publish(stream.GapEntry(&replay.Gap{Reason: why, Oldest: following, Head: following}, number, session))
}
