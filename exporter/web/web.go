// Package web is the admin server: health, metrics, reload, and the runs, as pages that follow them live and as JSON.
package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	toolkit "github.com/prometheus/exporter-toolkit/web"

	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/exporter/recent"
	"github.com/delegraph/delegraph/exporter/stream/access"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// Settings are what the admin server shows and asks.
type Settings struct {
	Gatherer prometheus.Gatherer
	Ready    func() error // nil where there is nothing to wait for
	Reload   func() error // nil where there is nothing to reload
	Runs     *recent.Runs
	Sources  *recent.Sources                                      // nil where none is shown
	OTLP     func(context.Context, io.Writer, *tracker.Run) error // writes a run as OTLP/JSON; nil where nobody can
	TraceURL string                                               // of a trace elsewhere, with {trace_id} in it; "" for no link
	Version  string
	Logger   *slog.Logger
	Panics   *recovery.Recorder // nil aborts an answer without a record
	PProf    bool
	Now      func() time.Time // nil for the clock
}

// maxScrapes is how many scrapes are answered at once; more are told to come back.
const maxScrapes = 5

// Handler is the whole server.
func Handler(s Settings) http.Handler {
	if s.Now == nil {
		s.Now = time.Now
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.list)
	mux.HandleFunc("GET /runs/{key}", s.run)
	mux.Handle("GET /runs/events", newEvents(s.Runs.Version))
	mux.HandleFunc("GET /assets/{name}", asset)
	mux.HandleFunc("GET /api/v1/runs", s.apiRuns)
	mux.HandleFunc("GET /api/v1/runs/{id}", s.apiRun)
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.Gatherer, promhttp.HandlerOpts{
		EnableOpenMetrics: true, MaxRequestsInFlight: maxScrapes, Timeout: 10 * time.Second,
		ErrorLog: slog.NewLogLogger(s.Logger.Handler(), slog.LevelError),
	}))
	mux.HandleFunc("GET /-/healthy", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "delegraph is healthy") })
	mux.HandleFunc("GET /-/ready", func(w http.ResponseWriter, _ *http.Request) {
		if s.Ready != nil {
			if err := s.Ready(); err != nil {
				say(w, http.StatusServiceUnavailable, err.Error())
				return
			}
		}
		say(w, http.StatusOK, "delegraph is ready")
	})
	mux.Handle("POST /-/reload", http.NewCrossOriginProtection().Handler(http.HandlerFunc(s.reload))) // not by a page that somebody visits
	if s.PProf {
		mux.HandleFunc("/debug/pprof/", pprof.Index)
		mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	}
	return s.Panics.Handler(recovery.Admin, guarded(local(mux)))
}

// policy lets a page have its own style sheet, script, icon and events, and nothing else: no inline script or style, no other host.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// guarded keeps what comes from agents from being more than text in a browser.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", policy)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		next.ServeHTTP(w, r)
	})
}

// local answers on a loopback address only who asks for it by such a name: a web page elsewhere does not.
func local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
		if ok && at.IP.IsLoopback() && !access.AsksLoopback(r) {
			say(w, http.StatusMisdirectedRequest, "the admin server answers here as localhost only: ask for that; a proxy before it has to send such a Host")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// stopping is the key of the channel that is closed when the server begins to stop.
type stopping struct{}

// Serve answers as the toolkit's flags say until the context is done, then lets answers on their way end within grace.
func Serve(ctx context.Context, h http.Handler, flags *toolkit.FlagConfig, grace time.Duration, logger *slog.Logger) error {
	return serveUntil(ctx, newServer(h, logger), grace, func(server *http.Server) error { return toolkit.ListenAndServe(server, flags, logger) })
}

// ServeOn answers on a listener, without TLS, as Serve does. It closes the listener.
func ServeOn(ctx context.Context, l net.Listener, h http.Handler, grace time.Duration, logger *slog.Logger) error {
	return serveUntil(ctx, newServer(h, logger), grace, func(server *http.Server) error { return server.Serve(l) })
}

func serveUntil(ctx context.Context, server *http.Server, grace time.Duration, listen func(*http.Server) error) error {
	// An answer that would last for as long as its reader listens ends when the server does, so that others have the grace period.
	server.BaseContext = func(net.Listener) context.Context {
		return context.WithValue(context.Background(), stopping{}, ctx.Done())
	}
	served := make(chan error, 1)
	go func() { served <- listen(server) }()
	select {
	case err := <-served:
		return fmt.Errorf("admin server: %w", err)
	case <-ctx.Done():
	}
	within, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if err := server.Shutdown(within); err != nil {
		server.Close()
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("admin server: %w", err)
	}
	return nil
}

// newServer keeps no connection that says nothing. It writes for as long as it takes: a profile lasts as long as it is asked to.
func newServer(h http.Handler, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
}

func (s Settings) reload(w http.ResponseWriter, _ *http.Request) {
	if s.Reload == nil {
		say(w, http.StatusNotFound, "there is no configuration to reload")
		return
	}
	if err := s.Reload(); err != nil {
		say(w, http.StatusInternalServerError, err.Error())
		return
	}
	say(w, http.StatusOK, "reloaded")
}

func say(w http.ResponseWriter, status int, sentence string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(sentence + "\n"))
}
