package jetstream

import (
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

// publishers is how many messages are under way at once, each of another subject.
const publishers = 64

// headers is room for what a message's headers take that its frame does not.
const headers = 4 << 10

// Errors of NATS's that are no failures of ours.
const (
	wrongLast         = 10071 // "wrong last sequence: 7": somebody else has published to the subject
	wrongLastUnknown  = 10164 // the same, while that is under way
	duplicateUnderWay = 10158
	messageTooLarge   = 10054
	headerTooLarge    = 10097 // a message's headers, of 64 KiB at most
)

// publisher brings entries into the stream.
type publisher struct {
	connection *connection
	observer   Observer
	origins    *origins
	queue      *queue
	largest    int
	window     time.Duration // as configured; the stream may have another

	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup
}

func newPublisher(s Settings, c *connection) *publisher {
	p := &publisher{
		connection: c, observer: s.Observer, origins: newOrigins(), queue: newQueue(s.Queue, s.Observer.Dropped),
		largest: int(s.Limits.Message) - headers, window: s.Limits.Duplicates,
	}
	p.ctx, p.stop = context.WithCancel(context.Background())
	for range publishers {
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
				p.queue.expire(time.Now().Add(-p.patience()))
			}
		}
	})
	return p
}

func (p *publisher) publish(e replay.Entry) {
	id := p.origins.id(&e)
	if id == "" {
		return
	}
	if size := len(e.Data) + len(e.Run) + len(e.Session) + len(e.Name); size > p.largest {
		p.tooLarge()
		p.queue.add(&message{Msg: &nats.Msg{Subject: subjectOf(e.Source, e.Session)}}, TooLarge)
		return
	}
	m := encode(&e, id)
	p.queue.add(&message{Msg: m, size: m.Size() + headers/8, came: time.Now()}, "")
}

// patience is how old a message may get: as long as NATS still knows the ids of those that came with it, from us or from another.
func (p *publisher) patience() time.Duration {
	window := p.window
	if now := p.connection.state.Load(); now != nil {
		window = now.duplicates
	}
	return max(window-answer, window/2)
}

func (p *publisher) queued() int { return p.queue.held() }

// run publishes what is next, as often as there is something.
func (p *publisher) run() {
	for {
		l, m := p.queue.take()
		if l == nil {
			return
		}
		switch why := p.try(l, m); {
		case why == nil:
			p.queue.done(l, "")
		case time.Since(m.came) > p.patience():
			p.queue.done(l, TooOld)
		case errors.Is(why, errTooLarge):
			p.tooLarge()
			p.queue.done(l, TooLarge)
		default:
			if !errors.Is(why, nats.ErrDisconnected) && !errors.Is(why, context.Canceled) {
				p.connection.troubles.say("frames cannot be published; they wait, and are tried again", advised(why))
			}
			p.later(l)
		}
	}
}

// tooLarge says what holds a frame off that is dropped for its size.
func (p *publisher) tooLarge() {
	p.connection.troubles.say("a frame is dropped, and readers are told", fmt.Errorf(
		"it is larger than a message may be: look at max_message (%d here; the stream may have another), and at the servers' max_payload (%d)",
		p.largest+headers, p.connection.nats.MaxPayload()))
}

var errTooLarge = errors.New("the message is too large")

// later tries a lane again after a while, or as soon as the connection is another.
func (p *publisher) later(l *lane) {
	p.observer.Retried()
	l.failed = min(l.failed+1, 8)
	pause := time.Millisecond << l.failed * 8
	pause = pause/2 + rand.N(pause)
	now := p.connection.generation()
	p.work.Go(func() {
		wait(p.ctx, now, pause)
		p.queue.again(l)
	})
}

// try publishes a lane's first message. What follows from the messages before it is written into it: NATS takes it only if the last
// message of its subject is the one that it names, so that a reader can tell by the names whether it has all.
func (p *publisher) try(l *lane, m *message) error {
	if !p.connection.nats.IsConnected() {
		return nats.ErrDisconnected
	}
	ctx, cancel := context.WithTimeout(p.ctx, answer)
	defer cancel()
	defer context.AfterFunc(p.connection.generation(), cancel)() // another connection brings no answer of this one's
	if m.lost > 0 {
		m.Header[lostHeader] = []string{strconv.Itoa(m.lost)}
	}
	for range 8 { // others who publish to the subject at the same time
		previous := l.last
		delete(m.Header, aloneHeader)
		if previous == 0 {
			// Nothing of the subject is held. What ever was, came before all that is held of any.
			now, err := p.connection.ask(ctx)
			if err != nil {
				return err
			}
			previous = now.first - 1
			m.Header[aloneHeader] = []string{"1"}
		}
		m.Header[jetstream.ExpectedLastSubjSeqHeader] = []string{strconv.FormatUint(l.last, 10)}
		m.Header[previousHeader] = []string{strconv.FormatUint(previous, 10)}
		ack, err := p.connection.jet.PublishMsg(ctx, m.Msg, jetstream.WithRetryAttempts(0))
		if err == nil {
			l.last = max(l.last, ack.Sequence)
			if ack.Duplicate {
				p.observer.Repeated()
			} else {
				p.observer.Published()
			}
			return nil
		}
		if err := understand(l, err); err != nil {
			return err
		}
	}
	return errors.New("others publish to the subject all the time")
}

// understand returns nil where a message may be tried again at once, since we know better now what its subject's last one is.
func understand(l *lane, err error) error {
	var refused *jetstream.APIError
	switch {
	case errors.Is(err, nats.ErrMaxPayload):
		return errTooLarge
	case errors.Is(err, jetstream.ErrNoStreamResponse):
		l.last = 0 // the stream may be gone: it is asked for before the next attempt
		return err
	case !errors.As(err, &refused):
		return err
	}
	switch refused.ErrorCode {
	case wrongLast:
		_, number, _ := strings.Cut(refused.Description, ": ")
		last, err := strconv.ParseUint(number, 10, 64)
		if err != nil {
			return fmt.Errorf("what NATS says is not understood: %w", refused)
		}
		l.last = last
		return nil
	case messageTooLarge, headerTooLarge:
		return errTooLarge
	default:
		return refused
	}
}

// close publishes what waits until the context is done, and drops the rest.
func (p *publisher) close(ctx context.Context) error {
	defer context.AfterFunc(ctx, p.queue.wake)()
	p.queue.drain(func() bool { return ctx.Err() != nil })
	p.stop()
	p.work.Wait()
	return ctx.Err()
}
