package jetstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// maxInFlight is the number of messages that are published concurrently, each on a different
// subject.
const maxInFlight = 64

// headerAllowance is the size, in bytes, reserved for a message's headers.
const headerAllowance = 4 << 10

// NATS error codes that are not just retried later.
const (
	wrongLast       = 10071 // "wrong last sequence: 7": another process has published to the subject
	messageTooLarge = 10054
	headerTooLarge  = 10097 // headers over 64 KiB
)

// publisher publishes entries to the stream.
type publisher struct {
	connection      *connection
	observer        Observer
	messageIDs      *messageIDs
	queue           *queue
	maxSize         int
	duplicateWindow time.Duration // as configured; the stream's own setting may differ

	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup
}

func newPublisher(s Settings, c *connection) *publisher {
	p := &publisher{
		connection: c, observer: s.Observer, messageIDs: cmp.Or(s.messageIDs, newMessageIDs()), queue: newQueue(s.QueueBytes, s.Observer.CountDropped),
		maxSize: int(s.Limits.MaxMessageBytes) - headerAllowance, duplicateWindow: s.Limits.DuplicateWindow,
	}
	p.ctx, p.stop = context.WithCancel(context.Background())
	for range maxInFlight {
		p.work.Go(p.run)
	}
	p.work.Go(func() {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-p.ctx.Done():
				return
			case <-ticker.C:
				p.queue.expire(p.oldest())
			}
		}
	})
	return p
}

// publish queues an entry. moving is nil unless the session may be in another stream.
func (p *publisher) publish(e replay.Entry, moving *move) {
	id := p.messageIDs.id(&e)
	if id == "" {
		return
	}
	if size := len(e.Data) + len(e.Run) + len(e.Session) + len(e.Name); size > p.maxSize {
		p.logTooLarge()
		p.queue.add(&message{Msg: &nats.Msg{Subject: subjectOf(e.Source, e.Session)}}, TooLarge)
		return
	}
	m := encode(&e, id)
	p.queue.add(&message{Msg: m, size: m.Size() + headerAllowance/8, queuedAt: time.Now(), move: moving}, "")
}

// maxAge returns how long a message may wait. Another process may have published the same frame when this one was
// queued; after the duplicate window, NATS would store it twice. requestTimeout is left for the last attempt.
func (p *publisher) maxAge() time.Duration {
	window := p.duplicateWindow
	if now := p.connection.state.Load(); now != nil {
		window = now.duplicates
	}
	return max(window-requestTimeout, window/2)
}

// oldest returns the time before which a message was queued that has waited too long.
func (p *publisher) oldest() time.Time { return time.Now().Add(-p.maxAge()) }

// run publishes queued messages until the queue is stopped. maxInFlight goroutines call it.
func (p *publisher) run() {
	for {
		sq, m := p.queue.next(p.oldest)
		if sq == nil {
			return
		}
		p.settle(sq, m, panicToError(p.connection.settings.Panics, func() error { return p.try(sq, m) }))
	}
}

// settle removes or retries a message after an attempt to publish it.
func (p *publisher) settle(sq *subjectQueue, m *message, why error) {
	switch {
	case why == nil:
		p.queue.done(sq, "")
		return
	case errors.Is(why, errTooLarge):
		p.logTooLarge()
		p.queue.done(sq, TooLarge)
		return
	case !errors.Is(why, nats.ErrDisconnected) && !errors.Is(why, context.Canceled) && !errors.Is(why, errMoveTime):
		p.connection.log.warn("frames cannot be published; they are retried until they are too old", withAdvice(why))
	}
	if m.queuedAt.Before(p.oldest()) {
		p.queue.done(sq, TooOld)
		return
	}
	p.retryLater(sq)
}

// logTooLarge logs that a frame was too large, and the limits to check.
func (p *publisher) logTooLarge() {
	p.connection.log.warn("a frame was dropped; the gap is reported to its readers", fmt.Errorf(
		"it exceeds the maximum message size; check max_message (%d here; the stream may have another limit) and the servers' max_payload (%d)",
		p.maxSize+headerAllowance, p.connection.nats.MaxPayload()))
}

var errTooLarge = errors.New("the message is too large")

// retryLater retries a subject after a delay, or as soon as the connection is replaced.
func (p *publisher) retryLater(sq *subjectQueue) {
	p.observer.CountRetry()
	sq.failures = min(sq.failures+1, 8)
	pause := 8 * time.Millisecond << sq.failures
	pause = pause/2 + rand.N(pause)
	now := p.connection.generation()
	p.work.Go(func() {
		wait(p.ctx, now, pause)
		p.queue.retry(sq)
	})
}

// try publishes the first message of a subject. Its headers name the previous message of the
// subject, and NATS accepts it only if that is the last one, so that readers can detect gaps.
func (p *publisher) try(sq *subjectQueue, m *message) error {
	ctx, cancel := context.WithTimeout(p.ctx, requestTimeout)
	defer cancel()
	if m.lostBefore > 0 {
		m.Header[lostHeader] = []string{strconv.Itoa(m.lostBefore)}
	}
	for range 8 { // other processes may publish to the subject at the same time
		to, err := p.target(ctx, sq, m)
		if err != nil {
			return err
		}
		if err = p.tryAt(ctx, to, sq, m); err == nil {
			return nil
		}
		if err := handleError(sq, err); err != nil {
			return err
		}
	}
	return errors.New("other processes keep publishing to the subject")
}

// tryAt publishes a message to the stream of a connection.
func (p *publisher) tryAt(ctx context.Context, to *connection, sq *subjectQueue, m *message) error {
	if !to.nats.IsConnected() {
		return nats.ErrDisconnected
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(to.generation(), cancel)() // a new connection does not deliver responses to the old one
	previous, err := p.previous(ctx, to, sq, m)
	if err != nil {
		return err
	}
	m.Header[jetstream.ExpectedLastSubjSeqHeader] = []string{strconv.FormatUint(sq.last, 10)}
	m.Header[previousHeader] = []string{strconv.FormatUint(previous, 10)}
	ack, err := to.jet.PublishMsg(ctx, m.Msg, jetstream.WithRetryAttempts(0))
	if err != nil {
		return err
	}
	sq.last = max(sq.last, ack.Sequence)
	sq.newest, sq.epoch = sq.last, to.state.Load().epoch
	if ack.Duplicate {
		p.observer.CountRepeated()
	} else {
		p.observer.CountPublished()
	}
	return nil
}

// previous returns the number for previousHeader, and sets aloneHeader if only a bound is known.
func (p *publisher) previous(ctx context.Context, to *connection, sq *subjectQueue, m *message) (uint64, error) {
	delete(m.Header, aloneHeader)
	if sq.last != 0 {
		return sq.last, nil
	}
	now, err := to.refresh(ctx)
	switch {
	case err != nil:
		return 0, err
	case sq.newest != 0 && sq.epoch == now.epoch: // the subject is empty: its messages expired, or an operator purged them
		return sq.newest, nil
	}
	// If the subject held messages, they were older than the oldest one in the stream, unless an operator purged them.
	m.Header[aloneHeader] = []string{"1"}
	return now.first - 1, nil
}

// handleError returns nil if the message can be retried at once, because the error contains the last number of its
// subject.
func handleError(sq *subjectQueue, err error) error {
	var refused *jetstream.APIError
	switch {
	case errors.Is(err, nats.ErrMaxPayload):
		return errTooLarge
	case errors.Is(err, jetstream.ErrNoStreamResponse):
		sq.last = 0 // the stream may have been deleted; it is queried before the next attempt
		return err
	case !errors.As(err, &refused):
		return err
	}
	switch refused.ErrorCode {
	case wrongLast:
		_, number, _ := strings.Cut(refused.Description, ": ")
		last, err := strconv.ParseUint(number, 10, 64)
		if err != nil {
			return fmt.Errorf("unexpected error description from NATS: %w", refused)
		}
		sq.last = last
		return nil
	case messageTooLarge, headerTooLarge:
		return errTooLarge
	default:
		return refused
	}
}

// close publishes queued messages until the context is done, and drops the rest.
func (p *publisher) close(ctx context.Context) error {
	defer context.AfterFunc(ctx, p.queue.wake)()
	p.queue.drain(func() bool { return ctx.Err() != nil })
	p.stop()
	p.work.Wait()
	return ctx.Err()
}
