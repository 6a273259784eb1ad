package jetstream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
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

	troubles *troubles
	unheard  atomic.Pointer[error] // why the last attempt to connect failed
	state    atomic.Pointer[state] // nil: never reached
	asking   chan struct{}         // holds a token while nobody asks
	missed   time.Time             // when the stream was first found gone; for who has the token
	trouble  atomic.Pointer[error]

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
	c := &connection{settings: s, logger: s.Logger, troubles: newTroubles(s.Logger), asking: make(chan struct{}, 1)}
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
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { c.unheard.Store(&err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { c.complained(err) }),
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
	c.logger.Info("NATS: "+how, "address", n.ConnectedAddr())
	c.unheard.Store(nil)
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

// complained notes an error that no call of ours gets.
func (c *connection) complained(err error) {
	if errors.Is(err, nats.ErrPermissionViolation) {
		c.troubles.say("not allowed", notAllowed(err))
		return
	}
	c.logger.Debug("NATS", "err", err)
}

// away is the error where there is no connection.
func (c *connection) away() error {
	if err := c.unheard.Load(); err != nil {
		return fmt.Errorf("no connection to %s: %w", strings.Join(c.settings.URLs, ", "), advised(*err))
	}
	return fmt.Errorf("no connection to %s so far", strings.Join(c.settings.URLs, ", "))
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
		return nil, c.failed(c.away())
	}
	within, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	began := time.Now()
	info, err := c.info(within)
	if ctx.Err() != nil { // who asked has left, which is no trouble
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, c.failed(advised(err))
	}
	now := &state{
		began: began, epoch: "j" + strconv.FormatInt(info.Created.UnixNano(), 36),
		first: max(info.State.FirstSeq, 1), last: info.State.LastSeq, duplicates: info.Config.Duplicates,
	}
	if info.State.Msgs == 0 {
		now.first = now.last + 1
	}
	c.state.Store(now)
	if c.trouble.Swap(nil) != nil {
		c.troubles.over()
	}
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
	manages := c.settings.Publish && c.settings.Manage
	stream, err := c.jet.Stream(ctx, c.settings.Stream)
	switch {
	case err == nil:
		c.missed = time.Time{}
		info := stream.CachedInfo()
		if err := fits(&info.Config); err != nil {
			return nil, err
		}
		if manages && c.state.Load() == nil {
			return c.manage(ctx, info.Config.MaxConsumers, c.jet.UpdateStream)
		}
		return info, nil
	case !errors.Is(err, jetstream.ErrStreamNotFound) || !manages:
		return nil, err
	case c.missed.IsZero():
		c.missed = time.Now()
	}
	// A stream that is made while the server still removes the one before it loses its files (nats-server 2.15.2).
	if c.state.Load() != nil && time.Since(c.missed) < deleting {
		return nil, err
	}
	return c.manage(ctx, 0, c.jet.CreateStream)
}

// fits says whether a stream is one for us, and nobody else's: what it holds would be lost with its subjects and its limits.
func fits(c *jetstream.StreamConfig) error {
	switch {
	case !slices.Equal(c.Subjects, []string{prefix + ">"}): // a hole in the numbers is a gap
		return fmt.Errorf("the stream %s does not have exactly the subjects %s>: somebody else's is left as it is; give another name as stream.jetstream.stream",
			c.Name, prefix)
	case c.Retention != jetstream.LimitsPolicy:
		return fmt.Errorf("the stream %s has the retention %s, which lets go of what readers still need: make it anew with limits", c.Name, c.Retention)
	case c.NoAck:
		return fmt.Errorf("the stream %s acknowledges nothing (no_ack): nobody could tell what is published; turn that off", c.Name)
	case c.Discard != jetstream.DiscardOld:
		return fmt.Errorf("the stream %s takes nothing more once it is full (discard new): set discard old", c.Name)
	}
	return nil
}

// maxConsumers is how many feeds all gateways have at most together, which each bounds for itself: a stream that says nothing of it may
// have 1,000 (nats-server 2.15, JSDefaultMaxConsumersPerStream).
const maxConsumers = 100_000

// manage makes the stream, or keeps its limits at what is configured. It is given how many consumers it may have now; 0: the server's word.
func (c *connection) manage(
	ctx context.Context, has int, do func(context.Context, jetstream.StreamConfig) (jetstream.Stream, error),
) (*jetstream.StreamInfo, error) {
	l := c.settings.Limits
	wanted := jetstream.StreamConfig{
		Name: c.settings.Stream, Subjects: []string{prefix + ">"}, Description: "the external stream of Delegraph",
		Storage: jetstream.FileStorage, Discard: jetstream.DiscardOld, AllowDirect: true,
		Replicas: l.Replicas, MaxAge: l.Age, MaxBytes: l.Bytes, MaxMsgsPerSubject: l.PerSubject, MaxMsgSize: l.Message, Duplicates: l.Duplicates,
		MaxConsumers: maxConsumers,
	}
	stream, err := do(ctx, wanted)
	if refused := (*jetstream.APIError)(nil); errors.As(err, &refused) { // the account has fewer, or an older server changes no such limit
		wanted.MaxConsumers = has
		stream, err = do(ctx, wanted)
	}
	if err != nil {
		return nil, fmt.Errorf("making or changing the stream by stream.jetstream (max_bytes %d, replicas %d): %w", l.Bytes, l.Replicas, err)
	}
	return stream.CachedInfo(), nil
}

// failed notes why the stream cannot be reached.
func (c *connection) failed(err error) error {
	c.trouble.Store(&err)
	c.troubles.say("the stream "+c.settings.Stream+" cannot be reached; trying again", err)
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
