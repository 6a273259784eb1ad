package main

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
	"github.com/delegraph/delegraph/exporter/tracker"
)

var rounds = flag.Int("rounds", 1, "how often each case is run where our times are held against the agent's own")

// TestOwnSpans has running agents send their own spans to a backend of theirs while their streams pass through the sidecar, and
// holds what we make of each run against what the agent says of it.
func TestOwnSpans(t *testing.T) {
	for name, l := range languages {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, l)
			var runs []*doubleRun
			for round := range *rounds {
				for _, c := range adkserver.Cases() {
					for _, streaming := range []bool{false, true} {
						session := fmt.Sprintf("%s-%v-%d", c, streaming, round)
						s.agent.CreateSession(t, adkserver.App, "u", session)
						ask200(t, s.car, adkserver.RunRequest("u", session, "case:"+c, streaming))
						runs = append(runs, &doubleRun{story: c, streaming: streaming, session: session, report: s.car.Recent.Reports()[0]})
					}
				}
			}
			s.complete(t, runs)
			measured := deviations{}
			for _, r := range runs {
				t.Run(r.name(), func(t *testing.T) {
					l.checkAccounts(t, r)
					l.checkTimes(t, r)
				})
				measured.add(l.pairs(r)...)
			}
			t.Logf("our times against the agent's own:\n%s", measured)
		})
	}
}

// doubleRun is a run as both sides saw it.
type doubleRun struct {
	story     string
	streaming bool
	session   string
	report    tracker.Report
	ours, own spanTree
}

func (r *doubleRun) name() string { return fmt.Sprint(r.story, " streaming=", r.streaming) }

// stage is an agent that sends its own spans to its own backend, and the sidecar in front of it that sends ours to ours.
type stage struct {
	language
	agent     *adkserver.Server
	car       *running
	own, ours *backend
}

func newStage(t *testing.T, l language, env ...string) *stage {
	t.Helper()
	s := &stage{language: l, own: newBackend(t), ours: newBackend(t)}
	// Spans alone, since the backend takes nothing else; and soon, since the test waits for them.
	env = append(env, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="+s.own.http.URL+"/v1/traces", "OTEL_BSP_SCHEDULE_DELAY=200")
	s.agent = l.start(t, adkserver.NewModel(t), env...)
	s.car = launch(t, fmt.Sprintf(verbatim, s.agent.URL), s.ours.environment(nil))
	return s
}

// complete waits until both sides have sent all their spans of the runs.
func (s *stage) complete(t *testing.T, runs []*doubleRun) {
	t.Helper()
	s.car.stop()
	ours := map[string]spanTree{}
	for _, trace := range s.ours.traces(t) {
		ours[said(trace.run(t), "gen_ai.conversation.id")] = trace
	}
	await(t, func(context.Context) error {
		own := s.ownTraces(t)
		for _, r := range runs {
			r.ours, r.own = ours[r.session], own[r.session]
			if r.ours == nil || !slices.ContainsFunc(r.own, s.isRoot) {
				return fmt.Errorf("of %s we have sent %d spans, the agent %d or its root not yet", r.session, len(r.ours), len(r.own))
			}
		}
		return nil
	})
}

// ownTraces is what the agent has sent by session. The root is sent last.
func (s *stage) ownTraces(t *testing.T) map[string]spanTree {
	t.Helper()
	bySession := map[string]spanTree{}
	for _, trace := range s.own.traces(t) {
		for _, span := range trace {
			if session := said(span, "gen_ai.conversation.id"); session != "" {
				bySession[session] = trace
			}
		}
	}
	return bySession
}
