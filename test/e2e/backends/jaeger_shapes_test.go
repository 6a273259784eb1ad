package backends_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/test/accuracy"
	"github.com/delegraph/delegraph/test/agents/adkshapes"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// shapesRun is a recording that was sent through the proxy.
type shapesRun struct {
	adkshapes.Recording
	trace string // the id of its trace
	spans int    // made by Delegraph, including the proxy's own
}

// TestJaegerShapes sends every recording of adkshapes through a proxy and compares the run in a real Jaeger with ADK's own spans.
// The trace has one root, the proxy's span, and every span has its parent. The rest is compared as in TestRecordedRuns of
// test/accuracy.
func TestJaegerShapes(t *testing.T) {
	server := startJaeger(t)
	for _, version := range adkshapes.Versions {
		t.Run(version, func(t *testing.T) {
			for _, run := range proxyShapes(t, server, version) {
				t.Run(run.Name, func(t *testing.T) {
					shown, err := server.trace(t, run.trace, run.spans).account()
					if err != nil {
						t.Fatal(err)
					}
					accuracy.Check(t, run.Recording, shown, false)
				})
			}
		})
	}
}

// proxyShapes relays all recordings of a version, one after the other, through a sidecar that sends its spans to the server.
func proxyShapes(t *testing.T, server *jaeger, version string) (runs []shapesRun) {
	t.Helper()
	var next shapesRun
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.trace = strings.Split(r.Header.Get("traceparent"), "-")[1]
		w.Header().Set("Content-Type", "text/event-stream")
		for _, frame := range next.Frames {
			fmt.Fprintf(w, "data: %s\n\n", frame.Data)
			_ = http.NewResponseController(w).Flush()
		}
	}))
	t.Cleanup(agent.Close)
	service := harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL), map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": server.grpc})
	for _, recording := range adkshapes.Recordings(t) {
		if recording.Version != version || len(recording.Frames) == 0 { // an empty stream has no run
			continue
		}
		next = shapesRun{Recording: recording}
		harness.AskOK(t, service, recording.Request)
		next.spans = len(service.Recent.Reports()[0].Operations) + 1
		runs = append(runs, next)
	}
	return runs
}

// account returns the account of the run in a trace: the operations below the proxy's own span, which must be the only root.
func (tr jaegerTrace) account() (a accuracy.Account, err error) {
	above := tr.proxied()
	index := map[string]int{above: -1}
	var shown []jaegerSpan
	for _, s := range tr.Spans {
		switch {
		case s.SpanID == above:
		case s.parent() == above:
			shown = slices.Insert(shown, 0, s)
		default:
			shown = append(shown, s)
		}
	}
	for i, s := range shown {
		index[s.SpanID] = i
	}
	for i, s := range shown {
		parent, known := index[s.parent()]
		if !known || (parent == -1) != (i == 0) || len(s.Warnings) > 0 {
			return a, fmt.Errorf("%s is a second root or an orphan: its parent is %q; warnings %q", s.OperationName, s.parent(), s.Warnings)
		}
		kind, name, _ := strings.Cut(s.OperationName, " ")
		if kind == string(tracker.Chat) {
			name = s.tag("gen_ai.agent.name")
		}
		a.Operations = append(a.Operations, accuracy.Operation{Kind: kind, Name: name, Parent: parent, Failed: s.tag("otel.status_code") == "ERROR"})
	}
	a.Failed = shown[0].tag("delegraph.run.status") == string(tracker.Failed)
	a.Operations[0].Input, _ = strconv.Atoi(shown[0].tag("gen_ai.usage.input_tokens"))
	a.Operations[0].Output, _ = strconv.Atoi(shown[0].tag("gen_ai.usage.output_tokens"))
	return a, nil
}
