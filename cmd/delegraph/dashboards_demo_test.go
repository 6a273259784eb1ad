package main

import (
	"context"
	"fmt"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/delegraph/delegraph/dashboards/picture"
)

// beyondDemo are the panels that have no answer of the demo: its agent's protocol has no internal frames.
var beyondDemo = []string{"Internal frames a second"}

// TestDashboardsOfDemo has a real Prometheus scrape a running demo, as a new user would: it has runs that fail and that wait,
// frames that cannot be read, and an answer for every panel.
func TestDashboardsOfDemo(t *testing.T) {
	binary := component(t, "prometheus", "prometheus")
	for name, value := range newBackend(t).environment(nil) {
		t.Setenv(name, value)
	}
	ctx, stop := context.WithCancel(t.Context())
	said, over := &journal{}, make(chan error, 1)
	go func() {
		over <- run(ctx, []string{"demo", "--speed=1000", "--web.listen-address=127.0.0.1:0"}, said, said)
	}()
	t.Cleanup(func() {
		stop()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
	admin := regexp.MustCompile(`metrics  (http://\S+)/metrics\n`)
	await(t, func(context.Context) error {
		if !admin.MatchString(said.String()) {
			return fmt.Errorf("the demo says %q", said)
		}
		return nil
	})
	address, err := url.Parse(admin.FindStringSubmatch(said.String())[1])
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
	for _, job := range []string{"native", "classic"} {
		v := picture.View{
			Prometheus: server.url, Variables: map[string]string{"job": job}, From: began, To: time.Now().Truncate(time.Second),
			Step: time.Second, Rate: 10 * time.Second,
		}
		for name, d := range boards {
			for _, p := range d.Panels {
				for _, target := range p.Targets {
					series, err := v.Ask(t.Context(), target)
					if err != nil || len(series) == 0 && !slices.Contains(beyondDemo, p.Title) {
						t.Errorf("job %s: %s: %s: %d series of %s (%v)", job, name, p.Title, len(series), target.Expr, err)
					}
				}
			}
		}
	}
	checkRules(t, server)
}
