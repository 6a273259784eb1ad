package sidecar

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	hub            *stream.Hub
	gate           *access.Authorizer
	publisher      *stream.Publisher
	store          *jetstream.Shards // nil: in memory
	storeLayout    func(config.Stream) (jetstream.Layout, error)
	listener       net.Listener // nil: gateways serve it
	origins        []string
	policy         string
	webConfig      string
	panics         *recovery.Recorder
	logger         *slog.Logger
	customDialects atomic.Pointer[map[string]dialect.Dialect] // by source
	isPublic       atomic.Bool                                // the policy in force is public
	drainDelay     time.Duration                              // from the signal to stop until subscribers are disconnected
	stopping       atomic.Bool                                // the signal to stop was received
}

// drainTimeout is how long the disconnection of subscribers may take when the process stops.
const drainTimeout = 2 * time.Second

// recheckInterval is how often the token of an open stream is checked again. A check may miss a change: the tokens file is read at
// most once a second, and while one caller reads it, the others see the old tokens. So a stream of a removed token ends within 5 s.
const recheckInterval = 2 * time.Second

// newExternal opens the external stream's port. It returns nil if the configuration neither serves nor stores the stream.
func newExternal(whole config.Config, publish bool, memory *memory, m *metrics.Metrics, panics *recovery.Recorder, logger *slog.Logger) (e *external, err error) {
	c := whole.Stream
	if c.Listen == "" && c.Store == config.StoreMemory {
		return nil, nil
	}
	logger = logger.With("server", "stream")
	counters := m.Stream()
	e = &external{origins: c.AllowedOrigins, policy: c.Policy, webConfig: c.WebConfigFile, panics: panics, logger: logger}
	if c.Store == config.StoreJetStream {
		counted := m.Store(counters)
		e.storeLayout = func(c config.Stream) (jetstream.Layout, error) {
			return storeLayout(c, storeSettings(c, publish, memory.replay, counted, panics, logger))
		}
		var wanted jetstream.Layout
		if wanted, err = e.storeLayout(c); err == nil {
			e.store, err = jetstream.OpenShards(wanted)
		}
		if err != nil {
			return nil, fmt.Errorf("%w; see stream.jetstream", err)
		}
		counted.Observe(e.store)
		defer func() {
			if err != nil {
				e.close(context.Background())
			}
		}()
	}
	e.storeCustomDialects(whole)
	return e, e.open(whole, memory, counters)
}

// open opens the port if the configuration has one.
func (e *external) open(whole config.Config, memory *memory, counters *metrics.Stream) error {
	c := whole.Stream
	if c.Listen == "" {
		counters.Observe(e.store.Stats, func() access.Counts { return access.Counts{} })
		e.publisher = stream.NewPublisher(e.filterSettings(c), e.store.Publish, counters.CountWithheld)
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
		e.logger.Warn("check the tokens file", "err", warning)
	}
	served := hubSettings(c, memory.replay, gate, counters)
	decoding := settings.Collector(whole)
	decoding.Panics = e.panics
	served.Panics = e.panics
	served.DecoderMemory, served.Memory, served.Turns = memory.decodings, memory.subscribers, memory.turns
	served.Decoder = settings.Decoder(decoding, e.mayHaveArguments, func(source string) dialect.Dialect { return (*e.customDialects.Load())[source] })
	if e.store != nil {
		served.Store = e.store
	}
	hub, err := stream.New(served)
	if err != nil {
		return err
	}
	counters.Observe(hub.ReplayStats, gate.Counts)
	memory.frames.ShrinkFirst(func() { hub.ReplayStats() }) // reading the statistics evicts frames over the replay buffer's limit
	if e.listener, err = net.Listen("tcp", c.Listen); err != nil {
		return fmt.Errorf("stream: %w; see stream.listen", err)
	}
	e.hub, e.gate = hub, gate
	e.publisher = stream.NewPublisher(e.filterSettings(c), hub.Store().Publish, counters.CountWithheld)
	return nil
}

func accessSettings(c config.Stream, logger *slog.Logger) access.Settings {
	a := c.Authentication
	named := a.BearerTokensFile != "" || a.ClientCertificates
	return access.Settings{
		TokensFile:         a.BearerTokensFile,
		ClientCertificates: a.ClientCertificates,
		AnonymousLoopback:  !named, // where the stream can be reached from elsewhere, CheckListen refuses it
		AnonymousAnywhere:  a.Anonymous == config.AnonymousAnywhere,
		WebConfigFile:      c.WebConfigFile,
		MaxTickets:         c.MaxTickets,
		ReportError:        func(err error) { logger.Error("reload of the tokens failed; the old tokens stay valid", "err", err) },
	}
}

func hubSettings(c config.Stream, memory *budget.Account, gate *access.Authorizer, counters stream.Observer) stream.Settings {
	return stream.Settings{
		Replay: replay.Settings{Memory: memory, Frames: c.Replay.Frames, Bytes: int(c.Replay.Bytes), Age: c.Replay.Age},
		Authorize: func(r *http.Request) (stream.Grant, error) {
			grant, err := gate.Authorize(r)
			return stream.Grant{Token: grant.Token, Sessions: grant.Sessions, Valid: grant.Valid}, err
		},
		AllowedOrigins: c.AllowedOrigins, Observer: counters,
		MaxSubscribers: c.MaxSubscribers, MaxSubscribersPerToken: c.MaxPerToken,
		ArrivalRate: float64(c.ArrivalRate), ArrivalBurst: c.ArrivalBurst,
		Heartbeat: c.Heartbeat, WriteDeadline: c.WriteTimeout, MaxLifetime: c.MaxLife, RecheckInterval: recheckInterval,
	}
}

// mayHaveArguments reports whether tool calls on the stream may carry arguments. Other processes may publish to the same store
// under another policy.
func (e *external) mayHaveArguments() bool { return e.store != nil || !e.isPublic.Load() }

// filterSettings returns the settings of the stream's filter, and records which policy is in force.
func (e *external) filterSettings(c config.Stream) filter.Settings {
	e.isPublic.Store(c.Policy == config.PolicyPublic)
	s := settings.Filter(c)
	s.Panics = e.panics
	return s
}

// check reports why a configuration cannot be applied.
func (e *external) check(c config.Stream) error {
	if err := e.withLayout(c, (*jetstream.Shards).Check); err != nil {
		return err
	}
	if e.listener == nil {
		return nil
	}
	// The web toolkit reads its file at each connection and does not report mistakes, so check the file here.
	return access.CheckListen(c.Listen, accessSettings(c, e.logger))
}

// configure applies the settings that may change while the stream is served, and reads the tokens again.
func (e *external) configure(whole config.Config) error {
	if e.gate != nil {
		if err := e.gate.Reload(); err != nil {
			return err
		}
	}
	if err := e.withLayout(whole.Stream, (*jetstream.Shards).Configure); err != nil {
		return err
	}
	e.publisher.Configure(e.filterSettings(whole.Stream))
	e.storeCustomDialects(whole)
	return nil
}

// withLayout passes the configured shards to the store, if there is one.
func (e *external) withLayout(c config.Stream, do func(*jetstream.Shards, jetstream.Layout) error) error {
	if e.store == nil {
		return nil
	}
	wanted, err := e.storeLayout(c)
	if err == nil {
		err = do(e.store, wanted)
	}
	if err != nil {
		return fmt.Errorf("stream.jetstream.shards: %w", err)
	}
	return nil
}

// storeCustomDialects stores the custom dialects, which decode frames for readers of other formats.
func (e *external) storeCustomDialects(whole config.Config) {
	mapped := settings.CustomDialects(whole)
	e.customDialects.Store(&mapped)
}

// close publishes the queued frames. It gives up when the context is done.
func (e *external) close(ctx context.Context) {
	if e.store == nil {
		return
	}
	if err := e.store.Close(ctx); err != nil {
		e.logger.Warn("not every frame was published", "err", err)
	}
}

// serve answers subscribers until the context is done. Then /-/ready fails, so that load balancers choose
// another server. After the drain delay, subscribers are disconnected, not all at once.
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
	mux.HandleFunc("GET /-/healthy", func(w http.ResponseWriter, _ *http.Request) { writeHealth(w, true) })
	mux.HandleFunc("GET /-/ready", func(w http.ResponseWriter, _ *http.Request) { writeHealth(w, e.ready() == nil) })
	e.logger.Info("serving", "address", e.listener.Addr().String(), "policy", e.policy)
	defer context.AfterFunc(ctx, func() { e.stopping.Store(true) })()
	defer e.hub.Close()
	return access.Serve(ctx, e.listener, e.panics.Handler(recovery.Stream, mux), e.webConfig, access.Shutdown{
		Grace: e.drainDelay + drainTimeout,
		Drain: func(ctx context.Context) {
			select {
			case <-time.After(e.drainDelay):
			case <-ctx.Done():
			}
			if err := e.hub.Drain(ctx, drainTimeout/2); err != nil {
				e.logger.Warn("not every subscriber left in time", "err", err)
			}
		},
	}, e.logger)
}

// ready returns why new subscribers should go elsewhere, or nil.
func (e *external) ready() error {
	if e.stopping.Load() {
		return errors.New("delegraph is stopping")
	}
	if e.store == nil {
		return nil
	}
	return e.store.Ready()
}

// writeHealth writes the response to a check by a load balancer. It has no details, because anyone may
// request it.
func writeHealth(w http.ResponseWriter, ok bool) {
	w.Header().Set("Cache-Control", "no-store")
	if !ok {
		http.Error(w, "no", http.StatusServiceUnavailable)
		return
	}
	_, _ = io.WriteString(w, "ok\n") // the client may be gone
}
