package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter/metrics"
	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/stream/access"
	"github.com/delegraph/delegraph/exporter/stream/filter"
	"github.com/delegraph/delegraph/exporter/stream/jetstream"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// external is the external stream with its port.
type external struct {
	hub       *stream.Hub
	gate      *access.Gate
	publisher *stream.Publisher
	store     *jetstream.Store // nil: in memory
	listener  net.Listener     // nil: others serve it
	origins   []string
	policy    string
	webConfig string
	panics    *recovery.Recorder
	logger    *slog.Logger
	mapped    atomic.Pointer[map[string]dialect.Dialect] // by source
}

// leaving is how long the subscribers have to leave when we stop: they come back to another, so it is part of every restart.
const leaving = 2 * time.Second

// recheck is how often an open stream's grant is asked whether it still stands.
const recheck = 5 * time.Second

// newExternal opens the external stream's port; nil where the configuration wants none, and nobody else's either.
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

// open opens the port, if there is to be one.
func (e *external) open(whole config.Config, memory *budget.Account, counters *metrics.Stream) error {
	c := whole.Stream
	if c.Listen == "" {
		counters.Observe(e.store.Stats, func() access.Counts { return access.Counts{} })
		e.publisher = stream.NewPublisher(e.filterSettings(c), e.store.Publish, counters.Kept)
		return nil
	}
	who := accessSettings(c, e.logger)
	if err := access.CheckListen(c.Listen, who); err != nil {
		return err
	}
	gate, err := access.New(who)
	if err != nil {
		return err
	}
	if warning := gate.Warning(); warning != nil {
		e.logger.Warn("the tokens file is not as it should be", "err", warning)
	}
	served := hubSettings(c, memory, gate, counters)
	decoding := collectorSettings(whole)
	decoding.Panics = e.panics
	served.Decoder = decoderOf(decoding, func(source string) dialect.Dialect { return (*e.mapped.Load())[source] })
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

// storeSettings say where the stream is kept, and what may be held of it here.
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

// filterSettings say what the stream lets out, and who is told of panics.
func (e *external) filterSettings(c config.Stream) filter.Settings {
	s := filterSettings(c)
	s.Panics = e.panics
	return s
}

func filterSettings(c config.Stream) filter.Settings {
	s := filter.Settings{
		Policy: event.Policy(c.Policy), Out: kindsNamed(c.Kinds.Out),
		Thoughts: event.Verbosity(slices.Index(config.Verbosities(), c.Thoughts)),
		Floor:    c.ConfidenceFloor, StateKeys: c.StateKeys,
	}
	if len(c.Kinds.In) > 0 {
		s.In = kindsNamed(c.Kinds.In)
	}
	if len(c.Authors) > 0 {
		s.Authors = c.Authors
	}
	return s
}

func kindsNamed(names []string) (kinds []event.Kind) {
	for _, k := range event.Kinds() {
		if slices.Contains(names, k.String()) {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// check says whether a configuration may be taken over.
func (e *external) check(c config.Stream) error {
	if e.listener == nil {
		return nil
	}
	// The toolkit reads its file at each connection, and would say nothing.
	return access.CheckListen(c.Listen, accessSettings(c, e.logger))
}

// configure takes over what may change while the stream is served, and the tokens.
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

// read takes the mappings by which frames of custom dialects are read again.
func (e *external) read(whole config.Config) {
	mapped := mappings(whole)
	e.mapped.Store(&mapped)
}

// close publishes what still waits, as long as the context lets it.
func (e *external) close(ctx context.Context) {
	if e.store == nil {
		return
	}
	if err := e.store.Close(ctx); err != nil {
		e.logger.Warn("not every frame was published", "err", err)
	}
}

// serve answers subscribers until the context is done, and then lets them go.
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
		Grace: leaving,
		Drain: func(ctx context.Context) {
			if err := e.hub.Drain(ctx, leaving/2); err != nil {
				e.logger.Warn("not everybody left in time", "err", err)
			}
		},
	}, e.logger)
}
