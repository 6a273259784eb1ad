package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter/metrics"
	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/stream/access"
	"github.com/delegraph/delegraph/exporter/stream/filter"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// external is the external stream with its port.
type external struct {
	hub       *stream.Hub
	gate      *access.Gate
	publisher *stream.Publisher
	listener  net.Listener
	origins   []string
	policy    string
	webConfig string
	logger    *slog.Logger
}

// leaving is how long the subscribers have to leave when we stop: they come back to another, so it is part of every restart.
const leaving = 2 * time.Second

// recheck is how often an open stream's grant is asked whether it still stands.
const recheck = 5 * time.Second

// newExternal opens the external stream's port; nil where the configuration wants none.
func newExternal(whole config.Config, m *metrics.Metrics, logger *slog.Logger) (*external, error) {
	c := whole.Stream
	if c.Listen == "" {
		return nil, nil
	}
	logger = logger.With("server", "stream")
	who := accessSettings(c, logger)
	if err := access.CheckListen(c.Listen, who); err != nil {
		return nil, err
	}
	gate, err := access.New(who)
	if err != nil {
		return nil, err
	}
	if warning := gate.Warning(); warning != nil {
		logger.Warn("the tokens file is not as it should be", "err", warning)
	}
	counters := m.Stream()
	served := hubSettings(c, gate, counters)
	served.Decoder = decoderOf(collectorSettings(whole))
	hub, err := stream.New(served)
	if err != nil {
		return nil, err
	}
	counters.Observe(hub.Replay, gate.Counts)
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return nil, fmt.Errorf("stream: %w; see stream.listen", err)
	}
	return &external{
		hub: hub, gate: gate, listener: listener, origins: c.AllowedOrigins, policy: c.Policy, webConfig: c.WebConfigFile, logger: logger,
		publisher: stream.NewPublisher(filterSettings(c), hub.Publish, counters.Kept),
	}, nil
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

func hubSettings(c config.Stream, gate *access.Gate, counters stream.Observer) stream.Settings {
	return stream.Settings{
		Replay: replay.Settings{Frames: c.Replay.Frames, Bytes: int(c.Replay.Bytes), Age: c.Replay.Age},
		Authorize: func(r *http.Request) (stream.Grant, error) {
			grant, err := gate.Authorize(r)
			return stream.Grant{Token: grant.Token, Sessions: grant.Sessions, Recheck: grant.Valid}, err
		},
		Origins: c.AllowedOrigins, Observer: counters,
		Subscribers: c.MaxSubscribers, SubscribersPerToken: c.MaxPerToken,
		Heartbeat: c.Heartbeat, WriteDeadline: c.WriteTimeout, Life: c.MaxLife, Recheck: recheck,
	}
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

// serve answers subscribers until the context is done, and then lets them go.
func (e *external) serve(ctx context.Context) error {
	tickets := http.NewServeMux()
	tickets.HandleFunc("POST /tickets", e.gate.ServeTicket)
	mux := http.NewServeMux()
	mux.Handle("/", e.hub.Handler())
	mux.Handle("/tickets", stream.CORS(e.origins, tickets))
	e.logger.Info("serving", "address", e.listener.Addr().String(), "policy", e.policy)
	return access.Serve(ctx, e.listener, mux, e.webConfig, access.Shutdown{
		Grace: leaving,
		Drain: func(ctx context.Context) {
			if err := e.hub.Drain(ctx, leaving/2); err != nil {
				e.logger.Warn("not everybody left in time", "err", err)
			}
		},
	}, e.logger)
}
