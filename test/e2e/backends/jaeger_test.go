package backends_test

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
	"github.com/delegraph/delegraph/internal/command"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// TestJaeger sends every capture to a real Jaeger, live through the proxy and replayed from its file, and compares the traces
// with the reports of the runs.
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
		harness.Await(t, func(context.Context) error {
			var services []string
			if err := server.get("/api/services", &services); err != nil || slices.Equal(services, []string{"delegraph"}) {
				return err
			}
			return fmt.Errorf("the services are %q", services)
		})
	})
	t.Run("wrong", func(t *testing.T) { checkWrong(t, server) })
}

// liveRun is a run that went through the proxy.
type liveRun struct {
	capture, trace string
	report         tracker.Report
}

// checkLive sends every capture through the proxy, and checks each run once all are over.
func checkLive(t *testing.T, server *jaeger, env map[string]string) {
	agent := recorded.NewAgent(t)
	service := harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL), env)
	var runs []liveRun
	asked := map[string]string{} // the run of a session that waits for an answer
	for i, name := range agent.Names() {
		family, capture, _ := strings.Cut(name, "/")
		replay := harness.Replay(t, filepath.Join(recorded.Captures[family], capture+".sse"))[0]
		session, app := conversation(name), ""
		if root := replay.Operations[0]; root.Name != nil {
			app = *root.Name
		}
		harness.AskOK(t, service, fmt.Appendf(nil, `{"appName":%q,"userId":"u","sessionId":%q,"streaming":true,"newMessage":{"parts":[{"functionResponse":{"id":%q}},{"text":%q}]}}`,
			app, session, asked[session], name))
		report := service.Recent.Reports()[0]
		if diff := cmp.Diff(branches(replay), branches(report)); diff != "" {
			t.Errorf("%s: replayed (-) and live (+):\n%s", name, diff)
		}
		if answers := asked[session] != ""; answers != (len(report.Links) == 1) {
			t.Errorf("%s: links %v", name, report.Links)
		}
		if len(report.Inputs) > 0 {
			asked[session] = harness.Text(report.Inputs[0].ID)
		}
		runs = append(runs, liveRun{name, strings.Split(agent.Asked[i].Get("traceparent"), "-")[1], report})
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

// conversation returns the session that a capture belongs to. A question and its answer share one.
func conversation(capture string) string {
	return strings.NewReplacer(".answered", "", "hitl_1_confirmation", "hitl", "hitl_2_approved", "hitl").Replace(capture)
}

// branches returns a run's operations, each with its parent, by name and status.
func branches(r tracker.Report) (all []string) {
	names := map[string]string{}
	for _, op := range r.Operations {
		names[op.ID] = spanName(op)
	}
	for _, op := range r.Operations {
		all = append(all, fmt.Sprintf("%s > %s: %s", names[harness.Text(op.Parent)], spanName(op), op.Status))
	}
	slices.Sort(all)
	return all
}

// checkReplayed sends every capture's OTLP/JSON line.
func checkReplayed(t *testing.T, server *jaeger) {
	for family, folder := range recorded.ADKCaptures {
		for _, file := range recorded.Files(t, folder) {
			reports := harness.Replay(t, file)
			if len(reports) == 0 {
				continue // an error body instead of a stream
			}
			var line, errs bytes.Buffer
			if err := command.Run(t.Context(), []string{"replay", "--format=otlp", file}, &line, &errs); err != nil {
				t.Fatal(err)
			}
			server.send(t, line.Bytes())
			request := &tracecollector.ExportTraceServiceRequest{}
			if err := harness.UnmarshalJSON(line.Bytes(), request); err != nil {
				t.Fatal(err)
			}
			traces := (&harness.Receiver{Received: request.ResourceSpans}).Traces(t)
			if len(reports) != 1 || len(traces) != 1 {
				t.Fatalf("%s: %d runs in %d traces", file, len(reports), len(traces))
			}
			for id := range traces {
				server.check(t, family+"/"+filepath.Base(file), server.trace(t, id, len(reports[0].Operations)), reports[0], "")
			}
		}
	}
}

// checkWrong sends a trace with every kind of mistake, and checks that Jaeger warns and that our own checks find them.
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
