package otlp_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

var rounds = flag.Int("rounds", 1, "how often each case is run where our times are held against the agent's own")

// TestOwnSpans runs agents that send their own spans to their own backend while their streams pass through the sidecar, and
// compares our account of each run with the agent's.
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
						harness.AskOK(t, s.service, adkserver.RunRequest("u", session, "case:"+c, streaming))
						runs = append(runs, &doubleRun{story: c, streaming: streaming, session: session, report: s.service.Recent.Reports()[0]})
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
	ours, own harness.SpanTree
}

func (r *doubleRun) name() string { return fmt.Sprint(r.story, " streaming=", r.streaming) }

// stage is an agent that sends its spans to its own backend, and a sidecar in front of it that sends ours to another one.
type stage struct {
	language
	agent     *adkserver.Server
	service   *harness.Service
	own, ours *harness.Receiver
}

func newStage(t *testing.T, l language, env ...string) *stage {
	t.Helper()
	s := &stage{language: l, own: harness.NewReceiver(t), ours: harness.NewReceiver(t)}
	// Only spans, because the backend accepts nothing else; and early, because the test waits for them.
	env = append(env, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="+s.own.HTTP.URL+"/v1/traces", "OTEL_BSP_SCHEDULE_DELAY=200")
	s.agent = l.start(t, adkserver.NewFakeModel(t), env...)
	s.service = harness.Launch(t, fmt.Sprintf(harness.Verbatim, s.agent.URL), s.ours.Environment(nil))
	return s
}

// complete waits until both sides have sent all spans of the runs.
func (s *stage) complete(t *testing.T, runs []*doubleRun) {
	t.Helper()
	s.service.Stop()
	ours := map[string]harness.SpanTree{}
	for _, trace := range s.ours.Traces(t) {
		ours[harness.Attribute(trace.Run(t), "gen_ai.conversation.id")] = trace
	}
	harness.Await(t, func(context.Context) error {
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

// ownTraces returns the agent's spans by session. The root is sent last.
func (s *stage) ownTraces(t *testing.T) map[string]harness.SpanTree {
	t.Helper()
	bySession := map[string]harness.SpanTree{}
	for _, trace := range s.own.Traces(t) {
		for _, span := range trace {
			if session := harness.Attribute(span, "gen_ai.conversation.id"); session != "" {
				bySession[session] = trace
			}
		}
	}
	return bySession
}
