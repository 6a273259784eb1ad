package sidecar

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter/metrics"
	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/stream/access"
	"github.com/delegraph/delegraph/exporter/stream/filter"
	"github.com/delegraph/delegraph/exporter/stream/jetstream"
	"github.com/delegraph/delegraph/exporter/stream/replay"
	"github.com/delegraph/delegraph/internal/settings"
)

// external is the external stream and its port.
type external struct {
	hub       *stream.Hub
	gate      *access.Gate
	publisher *stream.Publisher
	store     *jetstream.Store // nil: in memory
	listener  net.Listener     // nil: gateways serve it
	origins   []string
	policy    string
	webConfig string
	panics    *recovery.Recorder
	logger    *slog.Logger
	mapped    atomic.Pointer[map[string]dialect.Dialect] // by source
}

// drainTime is how long subscribers have to leave when the process stops. They then connect to another one.
const drainTime = 2 * time.Second

// recheck is how often an open stream's token is checked again.
const recheck = 5 * time.Second

// newExternal opens the external stream's port. It returns nil if the configuration neither serves nor stores the stream.
func newExternal(whole config.Config, publish bool, memory *budget.Account, m *metrics.Metrics, panics *recovery.Recorder, logger *slog.Logger) (e *external, err error) {
	c := whole.Stream
	if c.Listen == "" && c.Store == config.StoreMemory {
		return nil, nil
	}
	logger = logger.With("server", "stream")
	counters := m.Stream()
	e = &external{origins: c.AllowedOrigins, policy: c.Policy, webConfig: c.WebConfigFile, panics: panics, logger: logger}
	if c.Store == config.StoreJetStream {
		counted := m.Store(counters)
		if e.store, err = jetstream.Open(storeSettings(c, publish, memory, counted, panics, logger)); err != nil {
			return nil, fmt.Errorf("%w; see stream.jetstream", err)
		}
		counted.Observe(e.store)
		defer func() {
			if err != nil {
				e.close(context.Background())
			}
		}()
	}
	e.read(whole)
	return e, e.open(whole, memory, counters)
}

// open opens the port if the configuration has one.
func (e *external) open(whole config.Config, memory *budget.Account, counters *metrics.Stream) error {
	c := whole.Stream
	if c.Listen == "" {
		counters.Observe(e.store.Stats, func() access.Counts { return access.Counts{} })
		e.publisher = stream.NewPublisher(e.filterSettings(c), e.store.Publish, counters.Kept)
		return nil
	}
	allowed := accessSettings(c, e.logger)
	if err := access.CheckListen(c.Listen, allowed); err != nil {
		return err
	}
	gate, err := access.New(allowed)
	if err != nil {
		return err
	}
	if warning := gate.Warning(); warning != nil {
		e.logger.Warn("the tokens file is not as it should be", "err", warning)
	}
	served := hubSettings(c, memory, gate, counters)
	decoding := settings.Collector(whole)
	decoding.Panics = e.panics
	served.Decoder = settings.Decoder(decoding, func(source string) dialect.Dialect { return (*e.mapped.Load())[source] })
	if e.store != nil {
		served.Store = e.store
	}
	hub, err := stream.New(served)
	if err != nil {
		return err
	}
	counters.Observe(hub.Replay, gate.Counts)
	if e.listener, err = net.Listen("tcp", c.Listen); err != nil {
		return fmt.Errorf("stream: %w; see stream.listen", err)
	}
	e.hub, e.gate = hub, gate
	e.publisher = stream.NewPublisher(e.filterSettings(c), hub.Publish, counters.Kept)
	return nil
}

// storeSettings returns where the stream is stored, and how much of it is held in memory.
func storeSettings(c config.Stream, publish bool, memory *budget.Account, counters jetstream.Observer, panics *recovery.Recorder, logger *slog.Logger) jetstream.Settings {
	j := c.JetStream
	return jetstream.Settings{
		URLs: j.URLs, CredentialsFile: j.CredentialsFile, NKeyFile: j.NKeyFile,
		CAFile: j.TLS.CAFile, CertFile: j.TLS.CertFile, KeyFile: j.TLS.KeyFile,
		Stream: j.Stream, Manage: j.Manage, Publish: publish,
		Limits: jetstream.Limits{
			Replicas: j.Replicas, Age: j.MaxAge, Bytes: int64(j.MaxBytes), PerSubject: int64(j.MaxMessages),
			Message: int32(j.MaxMessage), Duplicates: j.Duplicates,
		},
		Queue: int(j.Queue), Feeds: j.MaxFeeds, Held: int(j.AllFeeds),
		Ring:     replay.Settings{Memory: memory, Frames: c.Replay.Frames, Bytes: int(j.FeedBytes), Age: c.Replay.Age},
		Observer: counters, Logger: logger, Panics: panics,
	}
}

func accessSettings(c config.Stream, logger *slog.Logger) access.Settings {
	a := c.Authentication
	named := a.BearerTokensFile != "" || a.ClientCertificates
	return access.Settings{
		TokensFile:         a.BearerTokensFile,
		ClientCertificates: a.ClientCertificates,
		Anonymous:          !named, // where the stream can be reached from elsewhere, CheckListen refuses it
		AnonymousAnywhere:  a.Anonymous == config.AnonymousAnywhere,
		WebConfigFile:      c.WebConfigFile,
		MaxTickets:         c.MaxTickets,
		Report:             func(err error) { logger.Error("the tokens are those from before", "err", err) },
	}
}

func hubSettings(c config.Stream, memory *budget.Account, gate *access.Gate, counters stream.Observer) stream.Settings {
	return stream.Settings{
		Replay: replay.Settings{Memory: memory, Frames: c.Replay.Frames, Bytes: int(c.Replay.Bytes), Age: c.Replay.Age},
		Authorize: func(r *http.Request) (stream.Grant, error) {
			grant, err := gate.Authorize(r)
			return stream.Grant{Token: grant.Token, Sessions: grant.Sessions, Recheck: grant.Valid}, err
		},
		Origins: c.AllowedOrigins, Observer: counters,
		Subscribers: c.MaxSubscribers, SubscribersPerToken: c.MaxPerToken,
		Heartbeat: c.Heartbeat, WriteDeadline: c.WriteTimeout, Life: c.MaxLife, Recheck: recheck,
	}
}

// filterSettings returns what the stream lets out.
func (e *external) filterSettings(c config.Stream) filter.Settings {
	s := settings.Filter(c)
	s.Panics = e.panics
	return s
}

// check reports why a configuration cannot be applied.
func (e *external) check(c config.Stream) error {
	if e.listener == nil {
		return nil
	}
	// The toolkit reads its file at each connection, and reports nothing.
	return access.CheckListen(c.Listen, accessSettings(c, e.logger))
}

// configure applies what may change while the stream is served, and reads the tokens again.
func (e *external) configure(whole config.Config) error {
	if e.gate != nil {
		if err := e.gate.Reload(); err != nil {
			return err
		}
	}
	e.publisher.Configure(e.filterSettings(whole.Stream))
	e.read(whole)
	return nil
}

// read keeps the mappings of custom dialects, for readers that want another format.
func (e *external) read(whole config.Config) {
	mapped := settings.CustomDialects(whole)
	e.mapped.Store(&mapped)
}

// close publishes what is still queued until the context is done.
func (e *external) close(ctx context.Context) {
	if e.store == nil {
		return
	}
	if err := e.store.Close(ctx); err != nil {
		e.logger.Warn("not every frame was published", "err", err)
	}
}

// serve answers subscribers until the context is done, and then disconnects them in an orderly way.
func (e *external) serve(ctx context.Context) error {
	if e.listener == nil {
		<-ctx.Done()
		return nil
	}
	tickets := http.NewServeMux()
	tickets.HandleFunc("POST /tickets", e.gate.ServeTicket)
	mux := http.NewServeMux()
	mux.Handle("/", e.hub.Handler())
	mux.Handle("/tickets", stream.CORS(e.origins, tickets))
	e.logger.Info("serving", "address", e.listener.Addr().String(), "policy", e.policy)
	return access.Serve(ctx, e.listener, e.panics.Handler(recovery.Stream, mux), e.webConfig, access.Shutdown{
		Grace: drainTime,
		Drain: func(ctx context.Context) {
			if err := e.hub.Drain(ctx, drainTime/2); err != nil {
				e.logger.Warn("not every subscriber left in time", "err", err)
			}
		},
	}, e.logger)
}
