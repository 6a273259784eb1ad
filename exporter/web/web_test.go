package web

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.uber.org/goleak"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// settings are those of a server with one metric and no run.
func settings() Settings {
	reg := prometheus.NewPedanticRegistry()
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: "a_total", Help: "A counter."})
	c.(prometheus.ExemplarAdder).AddWithExemplar(1, prometheus.Labels{"trace_id": "0123"})
	reg.MustRegister(c)
	return Settings{
		Gatherer: reg, Runs: func() []tracker.Report { return []tracker.Report{} }, Version: "1.2.3",
		Logger: slog.New(slog.DiscardHandler),
	}
}

// run is the report of one whose names are all s.
func run(s string) tracker.Report {
	r := &tracker.Run{ID: s, Session: s, Agent: s, Status: tracker.Completed}
	r.Root = &tracker.Operation{Kind: tracker.InvokeAgent, Name: s, Agent: s}
	r.Operations = []*tracker.Operation{r.Root}
	r.Artifacts = []tracker.Artifact{{Name: s}}
	return r.Report()
}

// ask sends a request, with header lines "Name: value", and returns the answer with its body.
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

// TestEndpoints asks for everything that there is, and for some that there is not.
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
		s.Runs = func() []tracker.Report { return []tracker.Report{run("e-2"), run("e-1")} }
	})
	profiled := with(func(s *Settings) { s.PProf = true })
	for name, c := range map[string]struct {
		settings     Settings
		method, path string
		status       int
		contentType  string
		body         string // a part of it
	}{
		"landing page":              {settings(), "GET", "/", 200, page, "<p>None yet.</p>"},
		"landing page, its version": {settings(), "GET", "/", 200, page, "<h1>Delegraph 1.2.3</h1>"},
		"landing page with runs":    {ran, "GET", "/", 200, page, "<td>completed</td><td>e-2</td>"},
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
		"unknown run":               {ran, "GET", "/api/v1/runs/e-3", 404, data, `{"error":"no such run among those that ended last"}`},
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

// checkHeaders holds the answer against what keeps text from being more than text in a browser.
func checkHeaders(t *testing.T, answer *http.Response) {
	t.Helper()
	for name, want := range map[string]string{
		"X-Content-Type-Options":  "nosniff",
		"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	} {
		if got := answer.Header.Get(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestOpenMetrics has the exemplars, which the older format leaves out.
func TestOpenMetrics(t *testing.T) {
	answer, body := ask(t, settings(), "GET", "/metrics", "Accept: application/openmetrics-text; version=1.0.0")
	if got := answer.Header.Get("Content-Type"); !strings.HasPrefix(got, "application/openmetrics-text; version=1.0.0; charset=utf-8") {
		t.Errorf("Content-Type: %s", got)
	}
	if !strings.Contains(body, `a_total 1.0 # {trace_id="0123"} 1.0`) || !strings.HasSuffix(body, "# EOF\n") {
		t.Errorf("body %s", body)
	}
}

// TestScrapeThatFails says so, and does not end the server.
func TestScrapeThatFails(t *testing.T) {
	s := settings()
	s.Gatherer = prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) { return nil, errors.New("no metrics today") })
	if answer, body := ask(t, s, "GET", "/metrics"); answer.StatusCode != 500 || !strings.Contains(body, "no metrics today") {
		t.Errorf("%d %s", answer.StatusCode, body)
	}
}

// TestRunIsWhole shows that the API has a run as `replay --format=json` prints it.
func TestRunIsWhole(t *testing.T) {
	s := settings()
	want := run("e-1")
	s.Runs = func() []tracker.Report { return []tracker.Report{want} }
	var list []tracker.Report
	_, body := ask(t, s, "GET", "/api/v1/runs")
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]tracker.Report{want}, list); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	var one tracker.Report
	_, body = ask(t, s, "GET", "/api/v1/runs/e-1")
	if err := json.Unmarshal([]byte(body), &one); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, one); diff != "" {
		t.Errorf("run (-want +got):\n%s", diff)
	}
}

// TestNewestRun answers with the run that ended last, where ids are not unique, and never with one that has none.
func TestNewestRun(t *testing.T) {
	s := settings()
	nobody, newest, oldest := run(""), run("e-1"), run("e-1")
	newest.Status = tracker.Failed
	s.Runs = func() []tracker.Report { return []tracker.Report{nobody, newest, oldest} }
	if _, body := ask(t, s, "GET", "/api/v1/runs/e-1"); !strings.Contains(body, `"status":"failed"`) {
		t.Errorf("body %s", body)
	}
	if answer, _ := ask(t, s, "GET", "/api/v1/runs/"); answer.StatusCode != 404 {
		t.Errorf("a run without an id: %d", answer.StatusCode)
	}
}

// TestNoHalfAnswer has a report that JSON cannot hold: that is an error, and not an answer that ends in the middle.
func TestNoHalfAnswer(t *testing.T) {
	s := settings()
	r := &tracker.Run{ID: "e-1", Root: &tracker.Operation{}}
	r.Confidence = []tracker.Statement{{Confidence: event.Confidence{Value: math.NaN(), Known: true}}}
	s.Runs = func() []tracker.Report { return []tracker.Report{r.Report()} }
	for _, path := range []string{"/api/v1/runs", "/api/v1/runs/e-1"} {
		if answer, body := ask(t, s, "GET", path); answer.StatusCode != 500 || !strings.Contains(body, "cannot be written as JSON") {
			t.Errorf("%s: %d %s", path, answer.StatusCode, body)
		}
	}
}
