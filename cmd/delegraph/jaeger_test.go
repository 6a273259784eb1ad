package main

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	tracecollector "go.opentelemetry.io/proto/otlp/collector/trace/v1"

	"github.com/delegraph/delegraph/exporter/tracker"
)

// TestJaeger has a real Jaeger take every capture, live through the proxy and replayed from its file, and holds what it shows
// of each against the run's own report.
func TestJaeger(t *testing.T) {
	server := startJaeger(t)
	for name, env := range map[string]map[string]string{
		"live over gRPC": {"OTEL_EXPORTER_OTLP_ENDPOINT": server.grpc},
		"live over HTTP": {"OTEL_EXPORTER_OTLP_ENDPOINT": server.http, "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"},
	} {
		t.Run(name, func(t *testing.T) { checkLive(t, server, env) })
	}
	t.Run("replayed", func(t *testing.T) { checkReplayed(t, server) })
	t.Run("services", func(t *testing.T) {
		await(t, func(context.Context) error {
			var services []string
			if err := server.get("/api/services", &services); err != nil || slices.Equal(services, []string{"delegraph"}) {
				return err
			}
			return fmt.Errorf("the services are %q", services)
		})
	})
	t.Run("wrong", func(t *testing.T) { checkWrong(t, server) })
}

// liveRun is one that went through the proxy.
type liveRun struct {
	capture, trace string
	report         tracker.Report
}

// checkLive sends every capture through the proxy and looks at what became of each run once all are over.
func checkLive(t *testing.T, server *jaeger, env map[string]string) {
	agent := newRecordedAgent(t)
	car := launch(t, fmt.Sprintf(verbatim, agent.URL), env)
	var runs []liveRun
	asked := map[string]string{} // what a session waits for
	for i, name := range agent.names() {
		family, capture, _ := strings.Cut(name, "/")
		replay := replayed(t, filepath.Join(captures[family], capture+".sse"))[0]
		session, app := conversation(name), ""
		if root := replay.Operations[0]; root.Name != nil {
			app = *root.Name
		}
		ask200(t, car, fmt.Appendf(nil, `{"appName":%q,"userId":"u","sessionId":%q,"streaming":true,"newMessage":{"parts":[{"functionResponse":{"id":%q}},{"text":%q}]}}`,
			app, session, asked[session], name))
		report := car.Recent.Reports()[0]
		if diff := cmp.Diff(branches(replay), branches(report)); diff != "" {
			t.Errorf("%s: replayed (-) and live (+):\n%s", name, diff)
		}
		if answers := asked[session] != ""; answers != (len(report.Links) == 1) {
			t.Errorf("%s: links %v", name, report.Links)
		}
		if len(report.Inputs) > 0 {
			asked[session] = text(report.Inputs[0].ID)
		}
		runs = append(runs, liveRun{name, strings.Split(agent.asked[i].Get("traceparent"), "-")[1], report})
	}
	for _, r := range runs {
		trace := server.trace(t, r.trace, len(r.report.Operations)+1)
		above := trace.proxied()
		if above == "" {
			t.Errorf("%s: the proxy's own span is not the root", r.capture)
		}
		server.check(t, r.capture, trace, r.report, above)
	}
}

// conversation is the session that a capture belongs to: a question and its answer share one.
func conversation(capture string) string {
	return strings.NewReplacer(".answered", "", "hitl_1_confirmation", "hitl", "hitl_2_approved", "hitl").Replace(capture)
}

// branches are a run's operations, each with the one above it, by name and fate.
func branches(r tracker.Report) (all []string) {
	names := map[string]string{}
	for _, op := range r.Operations {
		names[op.ID] = spanName(op)
	}
	for _, op := range r.Operations {
		all = append(all, fmt.Sprintf("%s > %s: %s", names[text(op.Parent)], spanName(op), op.Status))
	}
	slices.Sort(all)
	return all
}

// checkReplayed posts every capture's OTLP/JSON line.
func checkReplayed(t *testing.T, server *jaeger) {
	for family, folder := range adkCaptures {
		for _, file := range sseFiles(t, folder) {
			reports := replayed(t, file)
			if len(reports) == 0 {
				continue // an error body and no stream
			}
			var line, errs bytes.Buffer
			if err := run(t.Context(), []string{"replay", "--format=otlp", file}, &line, &errs); err != nil {
				t.Fatal(err)
			}
			server.send(t, line.Bytes())
			request := &tracecollector.ExportTraceServiceRequest{}
			if err := unmarshalJSON(line.Bytes(), request); err != nil {
				t.Fatal(err)
			}
			traces := (&backend{received: request.ResourceSpans}).traces(t)
			if len(reports) != 1 || len(traces) != 1 {
				t.Fatalf("%s: %d runs in %d traces", file, len(reports), len(traces))
			}
			for id := range traces {
				server.check(t, family+"/"+filepath.Base(file), server.trace(t, id, len(reports[0].Operations)), reports[0], "")
			}
		}
	}
}

// checkWrong sends a trace in which all is wrong that can be: this Jaeger warns, and the checks of the others find it.
func checkWrong(t *testing.T, server *jaeger) {
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	spans := ""
	for i, s := range []struct {
		parent, name string
		start, end   int64
	}{
		{"", "invoke_agent parent", 2000, 9000},
		{"0000000000000001", "chat early", 1000, 4000},
		{"0000000000000001", "chat long", 3000, 19000},
		{"0000000000000001", "chat instant", 5000, 5000},
		{"000000000000000f", "chat orphan", 3000, 4000},
	} {
		spans += fmt.Sprintf(`,{"traceId":%q,"spanId":"%016x","parentSpanId":%q,"name":%q,"startTimeUnixNano":"%d","endTimeUnixNano":"%d"}`,
			trace, i+1, s.parent, s.name, 1_700_000_000_000_000_000+s.start, 1_700_000_000_000_000_000+s.end)
	}
	server.send(t, []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[`+spans[1:]+`]}]}]}`))
	got := server.trace(t, trace, 5)
	var found []string
	for _, fault := range got.faults(tracker.Report{Transfers: []tracker.TransferReport{{To: "nobody"}}}, "") {
		what, _, _ := strings.Cut(fault, ":")
		found = append(found, what)
	}
	slices.Sort(found)
	want := []string{
		"chat early lies outside invoke_agent parent", "chat long lies outside invoke_agent parent",
		"chat orphan has no parent",
		"the transfers", "the tree",
		"warned of chat early", "warned of chat instant", "warned of chat orphan",
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
}
