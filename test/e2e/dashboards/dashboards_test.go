package dashboards_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/delegraph/delegraph/dashboards/grafana"
	"github.com/delegraph/delegraph/dashboards/query"
	"github.com/delegraph/delegraph/internal/settings"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// watched configures a proxy and a tail, with limits that are reached.
const watched = `
runs: {idle_timeout: %[2]s, max_open: %[3]d}
stream: {listen: "127.0.0.1:0", max_subscribers: 4, replay: {frames: 500}}
sources:
  - name: fire-briefing
    proxy: {listen: "127.0.0.1:0", upstream: "%[1]s"}
    agents_as_tools: [burn_analyst, trail_assessor, cruising_assistant, nepa_advisor]
  - name: support
    tail: {url: "%[1]s/events/ctx-1?filterInternal=false"}
`

// quiet lists the panels that may show 0 or nothing: where nothing is wrong, where this scene has nothing, or only at times.
var quiet = []string{
	"Unobserved bytes per second", "Spans dropped", "Recovered panics", "Log lines dropped", "Spans queued", "Failed requests", "Label values replaced",
	"Open now", "Runs and operations dropped", "Repeated frames", "Sessions evicted", "Tokens and tickets", "Tool call count mismatches", "Missing and repeated chunks",
	"Unrecognized streams", "Memory shed", "Unreadable confidence", "Agent cards unchanged", "Transfer loops", "Unknown event kinds", "Missed frames",
	"Wait for input", // 0 if questions and answers arrive in one read
}

// absent lists the panels of stores that this sidecar does not have: its external stream is in memory.
var absent = []string{
	"Frames published per second", "Publish queue", "Frames not published", "Store connected", "Feeds", "Gaps in feeds",
}

// TestDashboards lets a real Prometheus scrape a sidecar with traffic of every kind, including failures and unreadable frames. It checks
// that every query of every panel and every rule has a result, for both forms of histograms.
func TestDashboards(t *testing.T) {
	harness.Component(t, "prometheus", "prometheus")
	const most = 6
	s := newScene(t)
	agents := s.serve(t)
	service := harness.Launch(t, fmt.Sprintf(watched, agents, 2*time.Second, most)+s.sources(agents), harness.NewReceiver(t).Environment(nil))
	server := alerted(t, service.Admin)
	began := time.Now()
	subscribe(t, service, "") // stays until the end, so that every scrape sees a subscriber
	look := func(job string) query.View {
		return query.View{
			Prometheus: server.URL, Variables: map[string]string{"job": job}, From: began, To: time.Now().Truncate(time.Second),
			Step: time.Second, Rate: 10 * time.Second,
		}
	}
	boards := dashboards(t)
	enough := func() bool {
		return time.Since(began) > time.Minute || unanswered(t, boards, look("native")) == nil && unanswered(t, boards, look("classic")) == nil
	}
	for first := true; first || !enough(); first = false {
		s.happen(t, service, most)
	}
	for _, job := range []string{"native", "classic"} {
		for _, problem := range unanswered(t, boards, look(job)) {
			t.Errorf("job %s: %s", job, problem)
		}
	}
	for _, name := range settings.DialectNames() {
		query := fmt.Sprintf(`sum by (job) (delegraph_events_total{dialect=%q}) > bool 0`, name)
		server.Until(t, query, "job", map[string]float64{"native": 1, "classic": 1})
	}
	checkRules(t, server)
}

func dashboards(t *testing.T) map[string]grafana.Dashboard {
	t.Helper()
	files, err := filepath.Glob("../../../dashboards/*.json")
	if err != nil || len(files) != 2 {
		t.Fatalf("the dashboards are %q, %v", files, err)
	}
	all := map[string]grafana.Dashboard{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if all[strings.TrimSuffix(filepath.Base(file), ".json")], err = grafana.Decode(content); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// unanswered returns the queries without a series, or with nothing but 0 where more is expected.
func unanswered(t *testing.T, boards map[string]grafana.Dashboard, v query.View) (problems []string) {
	t.Helper()
	for name, d := range boards {
		for _, variable := range d.Templating.List {
			if variable.Type == "query" {
				if err := offered(t.Context(), v, variable); err != nil {
					problems = append(problems, fmt.Sprintf("%s: the variable %s: %v", name, variable.Name, err))
				}
			}
		}
		for _, p := range d.AllPanels() {
			if slices.Contains(absent, p.Title) {
				continue
			}
			for _, target := range p.Targets {
				if err := answers(t.Context(), v, target, slices.Contains(quiet, p.Title)); err != nil {
					problems = append(problems, fmt.Sprintf("%s: %s: %s: %v", name, p.Title, v.Expand(target.Expr), err))
				}
			}
		}
	}
	return problems
}

func answers(ctx context.Context, v query.View, target grafana.Target, zero bool) error {
	series, err := v.Query(ctx, target)
	if err != nil {
		return err
	}
	something := slices.ContainsFunc(series, func(s query.Series) bool {
		return s.Histograms > 0 || slices.ContainsFunc(s.Values, func(n float64) bool { return !math.IsNaN(n) && n != 0 })
	})
	if !something && !zero {
		return fmt.Errorf("%d series, all of them 0", len(series))
	}
	if target.Exemplar {
		if traces, err := v.TraceIDs(ctx, target); err != nil || len(traces) == 0 || slices.Contains(traces, "") {
			return fmt.Errorf("%d exemplars, each must have a trace id (%v)", len(traces), err)
		}
	}
	return nil
}

var labelValues = regexp.MustCompile(`^label_values\((.+), (\w+)\)$`)

// offered queries the values of a variable.
func offered(ctx context.Context, v query.View, variable grafana.Variable) error {
	parts := labelValues.FindStringSubmatch(variable.Query)
	if parts == nil {
		return errors.New(variable.Query)
	}
	p := &harness.PrometheusServer{URL: v.Prometheus, Log: &harness.LogBuffer{}}
	var values []string
	if err := p.Get(ctx, "/api/v1/label/"+parts[2]+"/values", url.Values{"match[]": {v.Expand(parts[1])}}, &values); err != nil {
		return err
	}
	if len(values) == 0 {
		return fmt.Errorf("%s has no values", variable.Query)
	}
	return nil
}

// The parts of an alert's expression besides its query: its limit, and that something is absent.
var (
	limit = regexp.MustCompile(`(==|[<>]=?) (bool )?[-0-9.]+( \* 0\.001)?( |$|\n)`)
	there = strings.NewReplacer(" unless delegraph_events_total offset 1h", "", "absent_over_time(", "count_over_time(", " unless ", " and ", " < avg_over_time", " * avg_over_time")
)

// ofReplicas matches the rules about NATS stores and many readers, which do not exist here. dashboards/rules/tests checks their
// values.
var ofReplicas = regexp.MustCompile(`^DelegraphStore|:delegraph_stream_(store|feed|subscribers:max_per_avg)`)

// checkRules runs the expression of every rule, those of alerts without their limits, and checks every recorded series.
func checkRules(t *testing.T, server *harness.PrometheusServer) {
	t.Helper()
	content, err := os.ReadFile("../../../dashboards/rules/delegraph.yml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Rules []struct{ Alert, Record, Expr string }
		}
	}
	if err := yaml.Unmarshal(content, &file); err != nil {
		t.Fatal(err)
	}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			expr := r.Expr
			if r.Alert != "" {
				expr = there.Replace(limit.ReplaceAllString(expr, "$4"))
			}
			for _, query := range []string{expr, r.Record} {
				if query == "" {
					continue
				}
				harness.Await(t, func(ctx context.Context) error {
					got, err := server.Vector(ctx, query, "job")
					if err == nil && len(got) != 2 && !ofReplicas.MatchString(r.Alert+r.Record) {
						err = fmt.Errorf("%s%s: of the jobs native and classic only %v answers %s", r.Alert, r.Record, got, query)
					}
					return err
				})
			}
		}
	}
	var loaded struct {
		Groups []struct {
			Rules []struct{ Name, Health, LastError string }
		}
	}
	if err := server.Get(t.Context(), "/api/v1/rules", nil, &loaded); err != nil {
		t.Fatal(err)
	}
	for _, g := range loaded.Groups {
		for _, r := range g.Rules {
			if r.Health != "ok" {
				t.Errorf("%s is %s: %s", r.Name, r.Health, r.LastError)
			}
		}
	}
}
