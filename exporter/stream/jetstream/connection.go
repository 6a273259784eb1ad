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

// deletionTime is the time that a server may need to remove a stream.
const deletionTime = time.Second

// requestTimeout bounds one request to NATS.
const requestTimeout = 5 * time.Second

// connection connects to the stream in NATS and reconnects when needed.
type connection struct {
	settings  Settings
	nats      *nats.Conn
	jet       jetstream.JetStream
	logger    *slog.Logger
	restarted func() // called when the stream was recreated

	log          *throttledLogger
	connectError atomic.Pointer[error]       // of the last attempt to connect; nil if it succeeded
	state        atomic.Pointer[streamState] // nil until the stream was reached
	refreshToken chan struct{}               // has one element while no refresh is running
	missingSince time.Time                   // when the stream was first missing; used only by the holder of refreshToken
	lastError    atomic.Pointer[error]       // of the last refresh; nil if it succeeded

	mu      sync.Mutex
	current context.Context    // done when the connection is replaced
	replace context.CancelFunc // ends current

	stop context.CancelFunc // stops maintain
	work sync.WaitGroup
}

// streamState is the state of the stream as of the last refresh.
type streamState struct {
	askedAt     time.Time // when the request was sent
	epoch       string
	first, last uint64        // message numbers
	duplicates  time.Duration // how long NATS recognizes the id of a message
}

// connect returns a connection that reconnects to NATS whenever it is lost.
func connect(s Settings) (*connection, error) {
	c := &connection{settings: s, logger: s.Logger, log: newThrottledLogger(s.Logger), refreshToken: make(chan struct{}, 1)}
	c.refreshToken <- struct{}{}
	c.current, c.replace = context.WithCancel(context.Background())
	options := nats.GetDefaultOptions()
	options.Servers = s.URLs
	for _, set := range append(securityOptions(s),
		nats.Name("delegraph"), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(),
		nats.ReconnectWait(time.Second), nats.ReconnectJitter(500*time.Millisecond, time.Second),
		nats.ReconnectBufSize(-1), // no buffering in the client: pending messages wait in our queue, which is bounded and counted
		nats.ConnectHandler(func(n *nats.Conn) { c.onConnect(n, "connected") }),
		nats.ReconnectHandler(func(n *nats.Conn) { c.onConnect(n, "reconnected") }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { c.onDisconnect(err) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { c.connectError.Store(&err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { c.onAsyncError(err) }),
	) {
		if err := set(&options); err != nil {
			return nil, fmt.Errorf("jetstream: %w", err)
		}
	}
	var err error
	if c.nats, err = options.Connect(); err != nil {
		return nil, fmt.Errorf("jetstream: connect to NATS: %w", err)
	}
	if c.jet, err = jetstream.New(c.nats, jetstream.WithDefaultTimeout(requestTimeout)); err != nil {
		c.nats.Close()
		return nil, fmt.Errorf("jetstream: %w", err)
	}
	return c, nil
}

func securityOptions(s Settings) (options []nats.Option) {
	if s.CredentialsFile != "" {
		options = append(options, nats.UserCredentials(s.CredentialsFile))
	}
	if s.NKeyFile != "" {
		options = append(options, func(o *nats.Options) error {
			set, err := nats.NkeyOptionFromSeed(s.NKeyFile)
			if err != nil {
				return fmt.Errorf("read the nkey file: %w", err)
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

// onConnect starts a new generation. Callers that wait for a response over the previous connection
// retry.
func (c *connection) onConnect(n *nats.Conn, how string) {
	c.logger.Info("NATS: "+how, "address", n.ConnectedAddr())
	c.connectError.Store(nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.replace()
	c.current, c.replace = context.WithCancel(context.Background())
}

func (c *connection) onDisconnect(err error) {
	if err != nil {
		c.logger.Warn("NATS: disconnected; reconnecting", "err", err)
	}
}

// onAsyncError logs an error that no call returns.
func (c *connection) onAsyncError(err error) {
	if errors.Is(err, nats.ErrPermissionViolation) {
		c.log.warn("not allowed", permissionError(err))
		return
	}
	c.logger.Debug("NATS", "err", err)
}

// notConnected returns the error for a missing connection.
func (c *connection) notConnected() error {
	if err := c.connectError.Load(); err != nil {
		return fmt.Errorf("no connection to %s: %w", strings.Join(c.settings.URLs, ", "), withAdvice(*err))
	}
	return fmt.Errorf("no connection to %s yet", strings.Join(c.settings.URLs, ", "))
}

// generation returns a context that is done when the connection is replaced.
func (c *connection) generation() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current
}

// maintain refreshes the state until that succeeds, and again after each reconnect.
func (c *connection) maintain() {
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	c.work.Go(func() {
		for ctx.Err() == nil {
			now := c.generation()
			pause := time.Duration(0)
			if panicToError(c.settings.Panics, func() error { _, err := c.refresh(ctx); return err }) != nil {
				pause = 2 * time.Second
			}
			wait(ctx, now, pause)
		}
	})
}

// wait returns when one of the contexts is done, or after d unless that is 0.
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

// refresh requests the state of the stream. Concurrent callers share the next response.
func (c *connection) refresh(ctx context.Context) (*streamState, error) {
	asked := time.Now()
	select {
	case <-c.refreshToken:
		defer func() { c.refreshToken <- struct{}{} }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	before := c.state.Load()
	if before != nil && before.askedAt.After(asked) {
		return before, nil
	}
	if !c.nats.IsConnected() {
		return nil, c.fail(c.notConnected())
	}
	within, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	began := time.Now()
	info, err := c.ensureStream(within)
	if ctx.Err() != nil { // the caller canceled; not a failure
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, c.fail(withAdvice(err))
	}
	now := &streamState{
		askedAt: began, epoch: "j" + strconv.FormatInt(info.Created.UnixNano(), 36),
		first: max(info.State.FirstSeq, 1), last: info.State.LastSeq, duplicates: info.Config.Duplicates,
	}
	if info.State.Msgs == 0 {
		now.first = now.last + 1
	}
	c.state.Store(now)
	if c.lastError.Swap(nil) != nil {
		c.log.reset()
	}
	if before == nil {
		c.logger.Info("NATS: the stream is reachable", "stream", c.settings.Stream, "messages", info.State.Msgs)
	} else if before.epoch != now.epoch {
		c.logger.Warn("NATS: the stream was recreated; all readers start again", "stream", c.settings.Stream)
		c.restarted()
	}
	return now, nil
}

// ensureStream returns the stream's info. It creates a missing stream if this process manages it.
func (c *connection) ensureStream(ctx context.Context) (*jetstream.StreamInfo, error) {
	manages := c.settings.Publish && c.settings.ManageStream
	stream, err := c.jet.Stream(ctx, c.settings.Stream)
	switch {
	case err == nil:
		c.missingSince = time.Time{}
		info := stream.CachedInfo()
		if err := checkStreamConfig(&info.Config); err != nil {
			return nil, err
		}
		if manages && c.state.Load() == nil {
			return c.manage(ctx, info.Config.MaxConsumers, c.jet.UpdateStream)
		}
		return info, nil
	case !errors.Is(err, jetstream.ErrStreamNotFound) || !manages:
		return nil, err
	case c.missingSince.IsZero():
		c.missingSince = time.Now()
	}
	// A stream that is created while the server still removes the previous one loses its files
	// (nats-server 2.15.2).
	if c.state.Load() != nil && time.Since(c.missingSince) < deletionTime {
		return nil, err
	}
	return c.manage(ctx, 0, c.jet.CreateStream)
}

// checkStreamConfig returns an error unless the stream is configured as Delegraph needs it. Another
// application's stream is left unchanged: new subjects and limits would lose its messages.
func checkStreamConfig(c *jetstream.StreamConfig) error {
	switch {
	case !slices.Equal(c.Subjects, []string{prefix + ">"}): // other subjects would leave holes in the numbers, which count as gaps
		return fmt.Errorf("the stream %s does not have exactly the subjects %s>, so it is not changed; set another name in stream.jetstream.stream",
			c.Name, prefix)
	case c.Retention != jetstream.LimitsPolicy:
		return fmt.Errorf("the stream %s has the retention %s, which removes messages that readers still need; recreate it with limits", c.Name, c.Retention)
	case c.NoAck:
		return fmt.Errorf("the stream %s does not acknowledge messages (no_ack), so lost messages would go unnoticed; turn that off", c.Name)
	case c.Discard != jetstream.DiscardOld:
		return fmt.Errorf("the stream %s rejects new messages once it is full (discard new); set discard old", c.Name)
	}
	return nil
}

// maxConsumers bounds the feeds of all gateways together; each gateway also limits its own. A
// stream without this setting may have 1,000 (nats-server 2.15, JSDefaultMaxConsumersPerStream).
const maxConsumers = 100_000

// manage creates the stream or sets its limits as configured. has is the current limit of consumers;
// 0 means the server's default.
func (c *connection) manage(
	ctx context.Context, has int, do func(context.Context, jetstream.StreamConfig) (jetstream.Stream, error),
) (*jetstream.StreamInfo, error) {
	l := c.settings.Limits
	wanted := jetstream.StreamConfig{
		Name: c.settings.Stream, Subjects: []string{prefix + ">"}, Description: "the external stream of Delegraph",
		Storage: jetstream.FileStorage, Discard: jetstream.DiscardOld, AllowDirect: true,
		Replicas: l.Replicas, MaxAge: l.MaxAge, MaxBytes: l.MaxBytes, MaxMsgsPerSubject: l.MaxMessagesPerSubject, MaxMsgSize: l.MaxMessageBytes, Duplicates: l.DuplicateWindow,
		MaxConsumers: maxConsumers,
	}
	stream, err := do(ctx, wanted)
	if refused := (*jetstream.APIError)(nil); errors.As(err, &refused) { // the account allows fewer, or an older server cannot change this limit
		wanted.MaxConsumers = has
		stream, err = do(ctx, wanted)
	}
	if err != nil {
		return nil, fmt.Errorf("create or update the stream from stream.jetstream (max_bytes %d, replicas %d): %w", l.MaxBytes, l.Replicas, err)
	}
	return stream.CachedInfo(), nil
}

// fail records and logs why the stream cannot be reached.
func (c *connection) fail(err error) error {
	c.lastError.Store(&err)
	c.log.warn("the stream "+c.settings.Stream+" cannot be reached; retrying", err)
	return err
}

func (c *connection) lastFailure() error {
	if err := c.lastError.Load(); err != nil {
		return *err
	}
	return nil
}

func (c *connection) close() {
	c.stop()
	c.work.Wait()
	c.nats.Close()
}
