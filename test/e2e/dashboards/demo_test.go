package dashboards_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httputil"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/delegraph/delegraph/dashboards/query"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// unshown lists the panels without data in the demo, in addition to those that are quiet anywhere.
var unshown = []string{
	"Requests expired", "Late frames", "Reconnects", "Event IDs removed", "Unread requests", "Resumes and gaps", "Refused requests",
}

// TestDashboardsOfDemo lets a real Prometheus scrape a running demo, as a new user would. The demo has failed and waiting runs,
// unreadable frames, and data for every panel.
func TestDashboardsOfDemo(t *testing.T) {
	harness.Component(t, "prometheus", "prometheus")
	for name, value := range harness.NewReceiver(t).Environment(nil) {
		t.Setenv(name, value)
	}
	address, err := url.Parse(harness.StartDemo(t, "--speed=1000").URL(t))
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	server := alerted(t, httputil.NewSingleHostReverseProxy(address))
	for _, query := range []string{
		`sum by (job) (increase(delegraph_runs_ended_total{status="failed"}[1m])) > bool 0`,
		`sum by (job) (increase(delegraph_runs_ended_total{status="interrupted"}[1m])) > bool 0`,
		`sum by (job) (increase(delegraph_parse_errors_total[1m])) > bool 0`,
		`sum by (job) (increase(delegraph_transfers_total[1m])) > bool 0`,
	} {
		server.Until(t, query, "job", map[string]float64{"native": 1, "classic": 1})
	}
	boards := dashboards(t)
	unanswered := append(slices.Clip(absent), "Wait for input") // answers are runs of their own
	for _, job := range []string{"native", "classic"} {
		harness.Await(t, func(ctx context.Context) error { // a scrape on a busy machine may be late
			v := query.View{
				Prometheus: server.URL, Variables: map[string]string{"job": job}, From: began, To: time.Now().Truncate(time.Second),
				Step: time.Second, Rate: 10 * time.Second,
			}
			var problems []error
			for name, d := range boards {
				for _, p := range d.AllPanels() {
					for _, target := range p.Targets {
						series, err := v.Query(ctx, target)
						there, either := !slices.Contains(unanswered, p.Title), slices.Contains(quiet, p.Title) || slices.Contains(unshown, p.Title)
						if err != nil || len(series) > 0 != there && !either {
							problems = append(problems, fmt.Errorf("job %s: %s: %s: %d series of %s (%v)", job, name, p.Title, len(series), target.Expr, err))
						}
					}
				}
			}
			return errors.Join(problems...)
		})
	}
	checkRules(t, server)
}
