package web

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.uber.org/goleak"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/recent"
	"github.com/delegraph/delegraph/exporter/tracker"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// settings returns the settings of a server with one metric and no run.
func settings() Settings {
	reg := prometheus.NewPedanticRegistry()
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: "a_total", Help: "A counter."})
	c.(prometheus.ExemplarAdder).AddWithExemplar(1, prometheus.Labels{"trace_id": "0123"})
	reg.MustRegister(c)
	return Settings{
		Gatherer: reg, Runs: runsOf(), Version: "1.2.3", Logger: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return noon.Add(time.Minute) },
	}
}

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// runsOf stores runs that end in the given order, so that the last is the newest.
func runsOf(runs ...*tracker.Run) *recent.Runs {
	r := recent.New(100, 64<<20)
	for _, run := range runs {
		r.RunStarted(run)
		r.RunEnded(run)
	}
	return r
}

// run returns a run whose names are all s.
func run(s string) *tracker.Run {
	root := &tracker.Operation{ID: tracker.SpanID{1}, Kind: tracker.InvokeAgent, Name: s, Agent: s}
	return &tracker.Run{
		ID: s, Source: s, Dialect: s, Session: s, Agent: s, Status: tracker.Completed, Root: root, Operations: []*tracker.Operation{root},
		Transfers: []tracker.Transfer{{From: s, To: s, EventID: s}}, Artifacts: []tracker.Artifact{{Name: s}},
		Confidence: []tracker.Confidence{{Agent: s, Confidence: event.Confidence{Value: 0.5, Known: true, Scope: s, Label: s, Topic: s}}},
		Citations:  []tracker.Citation{{Agent: s, Citation: event.Citation{Source: s, Reference: s, URI: s}}},
		Links:      []tracker.Link{{Kind: "resumes", Run: s}},
	}
}

// ask sends a request with header lines "Name: value", and returns the response and its body.
func ask(t *testing.T, s Settings, method, path string, headers ...string) (*http.Response, string) {
	t.Helper()
	r := httptest.NewRequest(method, path, nil)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	Handler(s).ServeHTTP(w, r)
	answer := w.Result()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(body)
}

// TestEndpoints requests every endpoint, and some that do not exist.
func TestEndpoints(t *testing.T) {
	const text, page, data = "text/plain; charset=utf-8", "text/html; charset=utf-8", "application/json"
	with := func(change func(*Settings)) Settings { s := settings(); change(&s); return s }
	sick := errors.New("delegraph is starting or stopping")
	starting := with(func(s *Settings) { s.Ready = func() error { return sick } })
	ready := with(func(s *Settings) { s.Ready = func() error { return nil } })
	reloads := with(func(s *Settings) { s.Reload = func() error { return nil } })
	fails := with(func(s *Settings) {
		s.Reload = func() error { return errors.New("delegraph.yml: line 3: runs.max: no such key") }
	})
	ran := with(func(s *Settings) {
		s.Runs = runsOf(run("e-1"), run("e-2"))
	})
	profiled := with(func(s *Settings) { s.PProf = true })
	for name, c := range map[string]struct {
		settings     Settings
		method, path string
		status       int
		contentType  string
		body         string // a part of it
	}{
		"landing page":              {settings(), "GET", "/", 200, page, ">No runs yet. "},
		"landing page, its version": {settings(), "GET", "/", 200, page, "Delegraph 1.2.3"},
		"landing page with runs":    {ran, "GET", "/", 200, page, `<span class="status completed">completed</span>`},
		"landing page's head":       {settings(), "HEAD", "/", 200, page, ""},
		"no landing page to post":   {settings(), "POST", "/", 405, text, "Method Not Allowed"},
		"no other page":             {settings(), "GET", "/other", 404, text, "404"},
		"metrics":                   {settings(), "GET", "/metrics", 200, "text/plain; version=0.0.4; charset=utf-8; escaping=underscores", "\na_total 1\n"},
		"no metrics to post":        {settings(), "POST", "/metrics", 405, text, "Method Not Allowed"},
		"healthy":                   {starting, "GET", "/-/healthy", 200, text, "delegraph is healthy\n"},
		"ready":                     {ready, "GET", "/-/ready", 200, text, "delegraph is ready\n"},
		"ready, nobody asked":       {settings(), "GET", "/-/ready", 200, text, "delegraph is ready\n"},
		"not ready":                 {starting, "GET", "/-/ready", 503, text, "delegraph is starting or stopping\n"},
		"reload":                    {reloads, "POST", "/-/reload", 200, text, "reloaded\n"},
		"reload that fails":         {fails, "POST", "/-/reload", 500, text, "delegraph.yml: line 3: runs.max: no such key\n"},
		"nothing to reload":         {settings(), "POST", "/-/reload", 404, text, "there is no configuration to reload\n"},
		"no reload by a link":       {reloads, "GET", "/-/reload", 405, text, "Method Not Allowed"},
		"runs":                      {ran, "GET", "/api/v1/runs", 200, data, `"run":"e-2"`},
		"no runs":                   {settings(), "GET", "/api/v1/runs", 200, data, "[]\n"},
		"run":                       {ran, "GET", "/api/v1/runs/e-1", 200, data, `"run":"e-1"`},
		"unknown run":               {ran, "GET", "/api/v1/runs/e-3", 404, data, `{"error":"no such run: it is neither open nor stored"}`},
		"no profiles":               {settings(), "GET", "/debug/pprof/", 404, text, "404"},
		"profiles":                  {profiled, "GET", "/debug/pprof/", 200, page, "goroutine"},
		"profile":                   {profiled, "GET", "/debug/pprof/goroutine?debug=1", 200, text, "goroutine profile: total"},
		"no command line":           {profiled, "GET", "/debug/pprof/cmdline", 404, text, "Unknown profile"},
	} {
		t.Run(name, func(t *testing.T) {
			answer, body := ask(t, c.settings, c.method, c.path)
			if answer.StatusCode != c.status || answer.Header.Get("Content-Type") != c.contentType || !strings.Contains(body, c.body) {
				t.Errorf("%d %s %.300s", answer.StatusCode, answer.Header.Get("Content-Type"), body)
			}
			if allowed := answer.Header.Get("Allow"); (c.status == 405) != (allowed != "") {
				t.Errorf("Allow: %s", allowed)
			}
			checkHeaders(t, answer)
		})
	}
}

// TestReloadByAPage checks that reloads requested by web pages of other origins are refused, and those of other clients accepted.
func TestReloadByAPage(t *testing.T) {
	s, reloads := settings(), 0
	s.Reload = func() error { reloads++; return nil }
	for header, want := range map[string]int{
		"Sec-Fetch-Site: cross-site": 403, "Sec-Fetch-Site: same-site": 403, "Origin: https://elsewhere.example": 403,
		"Sec-Fetch-Site: same-origin": 200, "Accept: */*": 200,
	} {
		before := reloads
		if answer, _ := ask(t, s, "POST", "/-/reload", header); answer.StatusCode != want || (reloads > before) != (want == 200) {
			t.Errorf("%s: %s, %d reloads", header, answer.Status, reloads-before)
		}
	}
}

// checkHeaders checks the headers that keep a browser from treating text as anything but text.
func checkHeaders(t *testing.T, answer *http.Response) {
	t.Helper()
	for name, want := range map[string]string{
		"X-Content-Type-Options":  "nosniff",
		"Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
		"Referrer-Policy":         "no-referrer",
	} {
		if got := answer.Header.Get(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestOpenMetrics checks that OpenMetrics has the exemplars, which the older format omits.
func TestOpenMetrics(t *testing.T) {
	answer, body := ask(t, settings(), "GET", "/metrics", "Accept: application/openmetrics-text; version=1.0.0")
	if got := answer.Header.Get("Content-Type"); !strings.HasPrefix(got, "application/openmetrics-text; version=1.0.0; charset=utf-8") {
		t.Errorf("Content-Type: %s", got)
	}
	if !strings.Contains(body, `a_total 1.0 # {trace_id="0123"} 1.0`) || !strings.HasSuffix(body, "# EOF\n") {
		t.Errorf("body %s", body)
	}
}

// TestScrapeThatFails checks that a failed scrape returns an error and the server continues.
func TestScrapeThatFails(t *testing.T) {
	s := settings()
	s.Gatherer = prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) { return nil, errors.New("no metrics today") })
	if answer, body := ask(t, s, "GET", "/metrics"); answer.StatusCode != 500 || !strings.Contains(body, "no metrics today") {
		t.Errorf("%d %s", answer.StatusCode, body)
	}
}
