package main

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
)

// shapesRun is a recording that went through the proxy.
type shapesRun struct {
	adkshapes.Recording
	trace string // its id
	spans int    // that Delegraph made, the proxy's own among them
}

// TestJaegerShapes sends every recording of adkshapes through a proxy and compares what a real Jaeger shows of the run with ADK's own
// spans: one root, which is the proxy's span, no span without its parent, and otherwise what TestRecordedRuns of test/accuracy compares.
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

// proxyShapes has a sidecar, which sends its spans to the server, relay all recordings of a version, one after the other.
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
	car := launch(t, fmt.Sprintf(verbatim, agent.URL), map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": server.grpc})
	for _, recording := range adkshapes.Recordings(t) {
		if recording.Version != version || len(recording.Frames) == 0 { // an empty stream is not a run
			continue
		}
		next = shapesRun{Recording: recording}
		ask200(t, car, recording.Request)
		next.spans = len(car.Recent.Reports()[0].Operations) + 1
		runs = append(runs, next)
	}
	return runs
}

// account returns what the trace says of its run: the operations below the proxy's own span, which is the only root.
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
