package main

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
)

// unshown are the panels of what the demo does not show, besides those that are quiet anywhere.
var unshown = []string{
	"Requests never answered", "Late frames", "Reconnects", "Frames relayed without their id", "Requests not understood", "Resumes and gaps", "Requests refused",
}

// TestDashboardsOfDemo has a real Prometheus scrape a running demo, as a new user would: it has runs that fail and that wait,
// frames that cannot be read, and an answer for every panel.
func TestDashboardsOfDemo(t *testing.T) {
	binary := component(t, "prometheus", "prometheus")
	for name, value := range newBackend(t).environment(nil) {
		t.Setenv(name, value)
	}
	address, err := url.Parse(showDemo(t, "--speed=1000").pages(t))
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	server := alerted(t, binary, httputil.NewSingleHostReverseProxy(address))
	for _, query := range []string{
		`sum by (job) (increase(delegraph_runs_ended_total{status="failed"}[1m])) > bool 0`,
		`sum by (job) (increase(delegraph_runs_ended_total{status="interrupted"}[1m])) > bool 0`,
		`sum by (job) (increase(delegraph_parse_errors_total[1m])) > bool 0`,
		`sum by (job) (increase(delegraph_transfers_total[1m])) > bool 0`,
	} {
		server.until(t, query, "job", map[string]float64{"native": 1, "classic": 1})
	}
	boards := dashboards(t)
	unanswered := append(slices.Clip(absent), "Wait for input") // answers come in runs of their own
	for _, job := range []string{"native", "classic"} {
		await(t, func(ctx context.Context) error { // a scrape of a busy machine may come late
			v := query.View{
				Prometheus: server.url, Variables: map[string]string{"job": job}, From: began, To: time.Now().Truncate(time.Second),
				Step: time.Second, Rate: 10 * time.Second,
			}
			var problems []error
			for name, d := range boards {
				for _, p := range d.Panels {
					for _, target := range p.Targets {
						series, err := v.Ask(ctx, target)
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
