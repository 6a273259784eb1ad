package cost_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter"
	"github.com/delegraph/delegraph/exporter/conventions"
	"github.com/delegraph/delegraph/exporter/metrics"
	"github.com/delegraph/delegraph/exporter/spans"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/internal/settings"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// TestContentIsOptIn checks that a word of a run's content is in its spans only where the configuration allows it.
func TestContentIsOptIn(t *testing.T) {
	const secret = "hunter2"
	stream := bytes.ReplaceAll(namedRun(1, []int{1}), []byte("done"), []byte(secret))
	stream = bytes.ReplaceAll(stream, []byte(`"args":{}`), []byte(`"args":{"q":"`+secret+`"}`))
	stream = bytes.ReplaceAll(stream, []byte("Closed."), []byte(secret))
	stream = fmt.Appendf(stream, "data: %s\n\n", `{"invocationId":"e-1","author":"coordinator","id":"ask","content":{"role":"model","parts":[`+
		`{"functionCall":{"id":"q1","name":"adk_request_input","args":{"message":"`+secret+`","responseSchema":{"title":"`+secret+`"}}}},`+
		`{"functionCall":{"id":"q2","name":"adk_request_credential","args":{"message":"key-`+secret+`","authConfig":{"secret":"key-`+secret+`"}}}}]},"longRunningToolIds":["q1","q2"]}`)
	for _, c := range []struct {
		configured string
		want       []attribute.Key
	}{
		{"", nil}, // the default
		{"traces: {content: none}", nil},
		{"traces: {content: all}", []attribute.Key{"gen_ai.output.messages", "gen_ai.output.messages", "gen_ai.tool.call.arguments", "gen_ai.tool.call.result", "delegraph.input.prompt", "delegraph.input.schema"}},
	} {
		configured, err := config.Parse("test", []byte("sources: [{name: s, proxy: {listen: \"127.0.0.1:0\", upstream: \"http://127.0.0.1:1\"}}]\n"+c.configured), settings.KnownNames())
		if err != nil {
			t.Fatal(err)
		}
		recorder := tracetest.NewSpanRecorder()
		sink := exporter.New(metrics.New(prometheus.NewRegistry(), settings.Metrics(configured, conventions.Released())), settings.Tracker(configured, func(*tracker.Run) bool { return true }), nil,
			spans.NewObserver(spans.NewProvider(sdktrace.AlwaysSample(), recorder, resource.Empty()), conventions.Released(), ""))
		in := collector.Input{Reader: bytes.NewReader(stream), ReceivedAt: harness.ReceiveClock}
		if err := collector.New(collector.Dialects(), settings.Collector(configured), sink).Observe(harness.ProxyStream(), in, ""); err != nil {
			t.Fatal(err)
		}
		var got []attribute.Key
		for _, span := range recorder.Ended() {
			for _, a := range span.Attributes() {
				if strings.Contains(a.Value.String(), secret) {
					got = append(got, a.Key)
				}
			}
			for _, e := range span.Events() {
				for _, a := range e.Attributes {
					if strings.Contains(a.Value.String(), secret) {
						got = append(got, a.Key)
					}
					if strings.Contains(a.Value.String(), "key-") {
						t.Errorf("%q: what stands beside a request for a credential is %s", c.configured, a.Key)
					}
				}
			}
			if strings.Contains(fmt.Sprint(span.Name(), span.Links(), span.Status()), secret) {
				t.Errorf("%q: it is in %s beside its attributes", c.configured, span.Name())
			}
		}
		slices.Sort(c.want)
		if slices.Sort(got); !slices.Equal(got, c.want) || len(recorder.Ended()) != 6 {
			t.Errorf("%q: it is in %v of %d spans, not in %v", c.configured, got, len(recorder.Ended()), c.want)
		}
	}
}
