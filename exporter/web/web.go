// Package web is the admin server: health, metrics, reload, and the runs that ended last.
package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"strings"
	"time"
	"unicode"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	toolkit "github.com/prometheus/exporter-toolkit/web"

	"github.com/delegraph/delegraph/exporter/tracker"
)

// Settings are what the admin server shows and asks.
type Settings struct {
	Gatherer prometheus.Gatherer
	Ready    func() error            // nil where there is nothing to wait for
	Reload   func() error            // nil where there is nothing to reload
	Runs     func() []tracker.Report // the newest first
	Version  string
	Logger   *slog.Logger
	PProf    bool
}

// maxScrapes is how many scrapes are answered at once; more are told to come back.
const maxScrapes = 5

// Handler is the whole server.
func Handler(s Settings) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.landing)
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
	mux.HandleFunc("POST /-/reload", s.reload)
	mux.HandleFunc("GET /api/v1/runs", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, s.Runs()) })
	mux.HandleFunc("GET /api/v1/runs/{id}", s.run)
	if s.PProf {
		mux.HandleFunc("/debug/pprof/", pprof.Index)
		mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	}
	return guarded(mux)
}

// guarded keeps what comes from agents from being more than text in a browser.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		next.ServeHTTP(w, r)
	})
}

// Serve answers as the toolkit's flags say until the context is done, then lets answers on their way end within grace.
func Serve(ctx context.Context, h http.Handler, flags *toolkit.FlagConfig, grace time.Duration, logger *slog.Logger) error {
	server := newServer(h, logger)
	served := make(chan error, 1)
	go func() { served <- toolkit.ListenAndServe(server, flags, logger) }()
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

func (s Settings) run(w http.ResponseWriter, r *http.Request) {
	for _, report := range s.Runs() {
		if report.Run != nil && *report.Run == r.PathValue("id") {
			answer(w, http.StatusOK, report)
			return
		}
	}
	answer(w, http.StatusNotFound, map[string]string{"error": "no such run among those that ended last"})
}

var page = template.Must(template.New("landing").Funcs(template.FuncMap{"or_dash": orDash}).Parse(`<!doctype html><html lang="en"><meta charset="utf-8"><title>Delegraph</title>
<style>body{font-family:sans-serif;margin:2em}td,th{padding:.2em 1em;text-align:left}</style>
<h1>Delegraph {{.Version}}</h1>
<p><a href="metrics">metrics</a> · <a href="-/healthy">health</a> · <a href="-/ready">readiness</a> · <a href="api/v1/runs">runs as JSON</a></p>
<h2>Runs that ended last</h2>
{{if .Runs}}<table><tr><th>status</th><th>agent</th><th>run</th><th>session</th><th>started</th><th>ended</th><th>operations</th></tr>
{{range .Runs}}<tr><td>{{.Status}}</td><td>{{or_dash .Agent}}</td><td>{{or_dash .Run}}</td><td>{{or_dash .Session}}</td><td>{{or_dash .Started}}</td><td>{{or_dash .Ended}}</td><td>{{len .Operations}}</td></tr>
{{end}}</table>{{else}}<p>None yet.</p>{{end}}</html>
`))

// longestShown is how many bytes of a name from the wire the page shows; the API has it whole.
const longestShown = 200

// orDash makes one line of what an agent sent: no control character, and none that turns the direction of the text around it.
func orDash(s *string) string {
	if s == nil {
		return "-"
	}
	shown := strings.ToValidUTF8((*s)[:min(len(*s), longestShown)], "\uFFFD")
	if len(*s) > longestShown {
		shown += "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return unicode.ReplacementChar
		}
		return r
	}, shown)
}

func (s Settings) landing(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	shown := struct {
		Version string
		Runs    []tracker.Report
	}{s.Version, s.Runs()}
	if err := page.Execute(w, shown); err != nil {
		s.Logger.Debug("landing page", "err", err)
	}
}

func say(w http.ResponseWriter, status int, sentence string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(sentence + "\n"))
}

func answer(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		say(w, http.StatusInternalServerError, "this cannot be written as JSON: "+err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}
