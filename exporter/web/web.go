// Package web is the admin server: health, metrics, reload, and the runs as live pages and as JSON.
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

// Settings configure the admin server.
type Settings struct {
	Gatherer prometheus.Gatherer
	Ready    func() error // nil: always ready
	Reload   func() error // nil: nothing to reload
	Runs     *recent.Runs
	Sources  *recent.Sources                                      // nil: sources are not shown
	OTLP     func(context.Context, io.Writer, *tracker.Run) error // writes a run as OTLP/JSON; nil disables that format
	TraceURL string                                               // URL of a trace in a tracing UI, with {trace_id} in it; "" for no link
	Version  string
	Logger   *slog.Logger
	Panics   *recovery.Recorder // nil aborts the response without a record
	PProf    bool
	Now      func() time.Time // nil: time.Now
}

// maxScrapes bounds concurrent scrapes; further ones get status 503.
const maxScrapes = 5

// Handler returns the handler of the admin server.
func Handler(s Settings) http.Handler {
	if s.Now == nil {
		s.Now = time.Now
	}
	mux := http.NewServeMux()
	limited := limitResponses()
	mux.Handle("GET /{$}", limited(s.list))
	mux.Handle("GET /runs/{key}", limited(s.run))
	mux.Handle("GET /session", limited(s.session))
	mux.Handle("GET /runs/events", newEvents(s.Runs.Version))
	mux.HandleFunc("GET /assets/{name}", asset)
	mux.Handle("GET /api/v1/runs", limited(s.apiRuns))
	mux.Handle("GET /api/v1/runs/{id}", limited(s.apiRun))
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.Gatherer, promhttp.HandlerOpts{
		EnableOpenMetrics: true, MaxRequestsInFlight: maxScrapes, Timeout: 10 * time.Second,
		ErrorLog: slog.NewLogLogger(s.Logger.Handler(), slog.LevelError),
	}))
	mux.HandleFunc("GET /-/healthy", func(w http.ResponseWriter, _ *http.Request) { writeText(w, http.StatusOK, "delegraph is healthy") })
	mux.HandleFunc("GET /-/ready", func(w http.ResponseWriter, _ *http.Request) {
		if s.Ready != nil {
			if err := s.Ready(); err != nil {
				writeText(w, http.StatusServiceUnavailable, err.Error())
				return
			}
		}
		writeText(w, http.StatusOK, "delegraph is ready")
	})
	mux.Handle("POST /-/reload", http.NewCrossOriginProtection().Handler(http.HandlerFunc(s.reload))) // not from a web page on another origin
	if s.PProf {
		mux.HandleFunc("/debug/pprof/", pprof.Index)
		mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	}
	return s.Panics.Handler(recovery.Admin, secureHeaders(loopbackHostOnly(mux)))
}

// contentPolicy allows a page only its own style sheet, script, icon and events: no inline script
// or style, and no other host.
const contentPolicy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// secureHeaders sets headers that keep a browser from treating text from agents as anything but
// text.
func secureHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		next.ServeHTTP(w, r)
	})
}

// loopbackHostOnly rejects requests on a loopback address whose Host is not a loopback name. They
// come from web pages elsewhere (DNS rebinding).
func loopbackHostOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
		if ok && at.IP.IsLoopback() && !access.HasLoopbackHost(r) {
			writeText(w, http.StatusMisdirectedRequest, "on a loopback address the admin server accepts only the host localhost; a proxy in front of it must send that Host")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// shutdownKey is the context key of the channel that is closed when the server starts to shut down.
type shutdownKey struct{}

// Serve serves h as configured by the toolkit's flags until the context is done, and then gives
// open requests the grace period to finish.
func Serve(ctx context.Context, h http.Handler, flags *toolkit.FlagConfig, grace time.Duration, logger *slog.Logger) error {
	guard, err := access.NewWebGuard(*flags.WebConfigFile, func(err error) { logger.Error("requests are refused", "err", err) })
	if err != nil {
		return fmt.Errorf("admin server: %w", err)
	}
	return serveUntil(ctx, newServer(guard.Handler(h), logger), grace, func(server *http.Server) error { return toolkit.ListenAndServe(server, flags, logger) })
}

// ServeListener is like Serve for a listener, without TLS. It closes the listener.
func ServeListener(ctx context.Context, l net.Listener, h http.Handler, grace time.Duration, logger *slog.Logger) error {
	return serveUntil(ctx, newServer(h, logger), grace, func(server *http.Server) error { return server.Serve(l) })
}

func serveUntil(ctx context.Context, server *http.Server, grace time.Duration, listen func(*http.Server) error) error {
	// Event streams end when the shutdown starts, so that other requests have the grace period.
	server.BaseContext = func(net.Listener) context.Context {
		return context.WithValue(context.Background(), shutdownKey{}, ctx.Done())
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

// newServer returns a server that closes idle connections. It has no write timeout, because a
// profile may take long.
func newServer(h http.Handler, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
}

func (s Settings) reload(w http.ResponseWriter, _ *http.Request) {
	if s.Reload == nil {
		writeText(w, http.StatusNotFound, "there is no configuration to reload")
		return
	}
	if err := s.Reload(); err != nil {
		writeText(w, http.StatusInternalServerError, err.Error())
		return
	}
	writeText(w, http.StatusOK, "reloaded")
}

func writeText(w http.ResponseWriter, status int, sentence string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(sentence + "\n"))
}
