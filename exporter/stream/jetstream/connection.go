package jetstream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// deleting is how long a server may take to remove a stream.
const deleting = time.Second

// answer is how long NATS may take for one.
const answer = 5 * time.Second

// connection is what reaches the stream, now or later.
type connection struct {
	settings  Settings
	nats      *nats.Conn
	jet       jetstream.JetStream
	logger    *slog.Logger
	restarted func() // called when the stream is another

	state   atomic.Pointer[state] // nil: never reached
	asking  chan struct{}         // holds a token while nobody asks
	missed  time.Time             // when the stream was first found gone; for who has the token
	trouble atomic.Pointer[error]

	mu      sync.Mutex
	current context.Context // done when the connection is another
	next    context.CancelFunc

	stop context.CancelFunc // of all that goes on
	work sync.WaitGroup
}

// state is what the stream was when it was last asked.
type state struct {
	began       time.Time // of the asking
	epoch       string
	first, last uint64        // numbers
	duplicates  time.Duration // how long the id of a message is known
}

// connect makes a connection that comes and goes with NATS.
func connect(s Settings) (*connection, error) {
	c := &connection{settings: s, logger: s.Logger, asking: make(chan struct{}, 1)}
	c.asking <- struct{}{}
	c.current, c.next = context.WithCancel(context.Background())
	options := nats.GetDefaultOptions()
	options.Servers = s.URLs
	for _, set := range append(secured(s),
		nats.Name("delegraph"), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(),
		nats.ReconnectWait(time.Second), nats.ReconnectJitter(500*time.Millisecond, time.Second),
		nats.ReconnectBufSize(-1), // what is published meanwhile waits in a queue of ours, which is bounded and counted
		nats.ConnectHandler(func(n *nats.Conn) { c.changed(n, "connected") }),
		nats.ReconnectHandler(func(n *nats.Conn) { c.changed(n, "connected again") }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { c.disconnected(err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { c.logger.Debug("NATS", "err", err) }),
	) {
		if err := set(&options); err != nil {
			return nil, fmt.Errorf("jetstream: %w", err)
		}
	}
	var err error
	if c.nats, err = options.Connect(); err != nil {
		return nil, fmt.Errorf("jetstream: connect to NATS: %w", err)
	}
	if c.jet, err = jetstream.New(c.nats, jetstream.WithDefaultTimeout(answer)); err != nil {
		c.nats.Close()
		return nil, fmt.Errorf("jetstream: %w", err)
	}
	return c, nil
}

func secured(s Settings) (options []nats.Option) {
	if s.CredentialsFile != "" {
		options = append(options, nats.UserCredentials(s.CredentialsFile))
	}
	if s.NKeyFile != "" {
		options = append(options, func(o *nats.Options) error {
			set, err := nats.NkeyOptionFromSeed(s.NKeyFile)
			if err != nil {
				return fmt.Errorf("the nkey file: %w", err)
			}
			return set(o)
		})
	}
	if s.CAFile != "" {
		options = append(options, nats.RootCAs(s.CAFile))
	}
	if s.CertFile != "" {
		options = append(options, nats.ClientCert(s.CertFile, s.KeyFile))
	}
	return options
}

// changed begins a new connection's time: whoever waits for something of the one before it, asks again.
func (c *connection) changed(n *nats.Conn, how string) {
	c.logger.Info("NATS: "+how, "server", n.ConnectedAddr())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next()
	c.current, c.next = context.WithCancel(context.Background())
}

func (c *connection) disconnected(err error) {
	if err != nil {
		c.logger.Warn("NATS: disconnected; coming back", "err", err)
	}
}

// generation is done when the connection is another.
func (c *connection) generation() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current
}

// keep asks for the stream until it answers, and after each change of the connection.
func (c *connection) keep() {
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	c.work.Go(func() {
		for ctx.Err() == nil {
			now := c.generation()
			if _, err := c.ask(ctx); err != nil {
				wait(ctx, now, 2*time.Second)
				continue
			}
			wait(ctx, now, 0)
		}
	})
}

// wait returns when one of the contexts is done, or a time has passed that is not 0.
func wait(ctx, other context.Context, d time.Duration) {
	var passed <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		passed = timer.C
	}
	select {
	case <-ctx.Done():
	case <-other.Done():
	case <-passed:
	}
}

// ask learns what the stream is now. Those who ask while another does are all answered by the next.
func (c *connection) ask(ctx context.Context) (*state, error) {
	asked := time.Now()
	select {
	case <-c.asking:
		defer func() { c.asking <- struct{}{} }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	before := c.state.Load()
	if before != nil && before.began.After(asked) {
		return before, nil
	}
	if !c.nats.IsConnected() {
		return nil, c.failed(nats.ErrDisconnected)
	}
	ctx, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	began := time.Now()
	info, err := c.info(ctx)
	if err != nil {
		return nil, c.failed(err)
	}
	now := &state{
		began: began, epoch: "j" + strconv.FormatInt(info.Created.UnixNano(), 36),
		first: max(info.State.FirstSeq, 1), last: info.State.LastSeq, duplicates: info.Config.Duplicates,
	}
	if info.State.Msgs == 0 {
		now.first = now.last + 1
	}
	c.state.Store(now)
	c.trouble.Store(nil)
	if before == nil {
		c.logger.Info("NATS: the stream is there", "stream", c.settings.Stream, "messages", info.State.Msgs)
	} else if before.epoch != now.epoch {
		c.logger.Warn("NATS: the stream was made anew: everybody begins again", "stream", c.settings.Stream)
		c.restarted()
	}
	return now, nil
}

// info makes the stream where it is missing and may be made.
func (c *connection) info(ctx context.Context) (*jetstream.StreamInfo, error) {
	stream, err := c.jet.Stream(ctx, c.settings.Stream)
	switch {
	case err == nil:
		c.missed = time.Time{}
		info := stream.CachedInfo()
		if c.settings.Publish && c.settings.Manage && c.state.Load() == nil {
			return c.manage(ctx)
		}
		if !slices.Equal(info.Config.Subjects, []string{prefix + ">"}) { // a hole in the numbers is a gap
			return nil, fmt.Errorf("the stream %s does not have exactly the subjects %s>", c.settings.Stream, prefix)
		}
		return info, nil
	case !errors.Is(err, jetstream.ErrStreamNotFound) || !c.settings.Publish || !c.settings.Manage:
		return nil, err
	case c.missed.IsZero():
		c.missed = time.Now()
	}
	// A stream that is made while the server still removes the one before it loses its files (nats-server 2.15.2).
	if c.state.Load() != nil && time.Since(c.missed) < deleting {
		return nil, err
	}
	return c.manage(ctx)
}

// manage makes the stream, or keeps its limits at what is configured.
func (c *connection) manage(ctx context.Context) (*jetstream.StreamInfo, error) {
	l := c.settings.Limits
	stream, err := c.jet.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: c.settings.Stream, Subjects: []string{prefix + ">"}, Description: "the external stream of Delegraph",
		Storage: jetstream.FileStorage, Discard: jetstream.DiscardOld, AllowDirect: true,
		Replicas: l.Replicas, MaxAge: l.Age, MaxBytes: l.Bytes, MaxMsgsPerSubject: l.PerSubject, MaxMsgSize: l.Message, Duplicates: l.Duplicates,
	})
	if err != nil {
		return nil, fmt.Errorf("making or changing the stream by stream.jetstream (max_bytes %d, replicas %d): %w", l.Bytes, l.Replicas, err)
	}
	return stream.CachedInfo(), nil
}

// failed notes why the stream cannot be reached, and says so once.
func (c *connection) failed(err error) error {
	if before := c.trouble.Swap(&err); before == nil || (*before).Error() != err.Error() {
		c.logger.Warn("NATS: the stream cannot be reached; trying again", "stream", c.settings.Stream, "err", err)
	}
	return err
}

func (c *connection) why() error {
	if err := c.trouble.Load(); err != nil {
		return *err
	}
	return nil
}

func (c *connection) close() {
	c.stop()
	c.work.Wait()
	c.nats.Close()
}
