package otlp_test

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/internal/settings"
	"github.com/delegraph/delegraph/internal/sidecar"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/subprocess"
)

// outage is the minimum time that a killed backend stays away during traffic.
var outage = flag.Duration("outage", 0, "how long TestBackendKilled keeps a killed backend away, for each protocol")

// TestBackendKilled kills a backend during traffic and starts it again. The spans that never arrived are those counted as
// dropped, and the metrics and the log report the outage meanwhile.
func TestBackendKilled(t *testing.T) {
	const queue = 60
	for _, protocol := range []string{"grpc", "http/protobuf"} {
		t.Run(protocol, func(t *testing.T) {
			agent, receiver := recorded.NewAgent(t), harness.NewReceiver(t)
			endpoint := harness.ClosedURL(t, receiver)
			address := strings.TrimPrefix(endpoint, "http://")
			stop := receiver.ServeAt(t, address, protocol)
			service := harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL), map[string]string{
				"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
				"OTEL_BSP_MAX_QUEUE_SIZE": fmt.Sprint(queue), "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "20", "OTEL_BSP_SCHEDULE_DELAY": "10",
			})
			asked := 0
			ask := func(runs int) {
				for asked += runs; runs > 0; runs-- {
					harness.AskOK(t, service, adkserver.RunRequest("u", "s", "adk-go/transfer", true))
				}
			}
			says := func(line string) func(context.Context) error {
				return func(context.Context) error {
					if strings.Count(service.Log.String(), line) != 1 {
						return fmt.Errorf("the log does not say once that %s:\n%s", line, service.Log)
					}
					return nil
				}
			}

			ask(1)
			harness.Await(t, func(context.Context) error {
				if n := service.Count(t, "delegraph_spans_exported_total"); n != float64(service.Made()) || service.Count(t, "delegraph_runs_ended_total") != 1 {
					return fmt.Errorf("%v spans exported of %d, or the run has not ended", n, service.Made())
				}
				return nil
			})
			each := service.Made() // of each run; more runs than the sidecar remembers may follow
			stop()
			killed := time.Now()
			for ask(20); time.Since(killed) < *outage; {
				ask(20)
			}
			harness.Await(t, says(harness.BackendDown))
			harness.Await(t, func(context.Context) error { // runs end a little after their answers
				if n := service.Count(t, "delegraph_spans_exported_total") + service.Count(t, "delegraph_spans_queued") + service.Count(t, "delegraph_spans_dropped_total"); n != float64(asked*each) {
					return fmt.Errorf("%v spans were made of %d", n, asked*each)
				}
				return nil
			})
			if queued, dropped := service.Count(t, "delegraph_spans_queued"), service.Count(t, "delegraph_spans_dropped_total", "reason", "queue_full"); queued != queue || dropped == 0 {
				t.Errorf("while it is away, %v spans are queued and %v dropped", queued, dropped)
			}
			receiver.ServeAt(t, address, protocol)
			harness.Await(t, says(harness.BackendBack))
			harness.Await(t, func(context.Context) error { // a run before that would find the queue full
				if n := service.Count(t, "delegraph_spans_queued"); n > 0 {
					return fmt.Errorf("%v spans are still queued", n)
				}
				return nil
			})
			ask(1)
			service.Stop()

			received := map[string]bool{} // a span whose response was lost comes twice
			for _, s := range receiver.Spans() {
				received[string(s.TraceId)+string(s.SpanId)] = true
			}
			exported, queued := service.Count(t, "delegraph_spans_exported_total"), service.Count(t, "delegraph_spans_queued")
			dropped := service.Count(t, "delegraph_spans_dropped_total", "reason", "queue_full")
			made := each * int(service.Count(t, "delegraph_runs_ended_total"))
			if all := service.Count(t, "delegraph_spans_dropped_total"); len(received)+int(dropped) != made || exported != float64(len(received)) || all != dropped || queued != 0 {
				t.Errorf("of %d spans the backend has %d; %v were exported, %v dropped, %v as queue_full, %v are queued", made, len(received), exported, all, dropped, queued)
			}
			for _, line := range []string{harness.BackendDown, harness.BackendBack} {
				if err := says(line)(t.Context()); err != nil {
					t.Error(err)
				}
			}
			if want := fmt.Sprintf("endpoint=%s after=", address); !strings.Contains(service.Log.String(), want) || !strings.Contains(service.Log.String(), fmt.Sprintf(" waited=%d dropped=%v\n", queue, dropped)) {
				t.Errorf("the log:\n%s", service.Log)
			}
		})
	}
}

// TestStopWithoutBackend checks that a stop ends early although its time limit is long.
func TestStopWithoutBackend(t *testing.T) {
	for _, protocol := range []string{"grpc", "http/protobuf"} {
		t.Run(protocol, func(t *testing.T) {
			agent, receiver := recorded.NewAgent(t), harness.NewReceiver(t)
			service := harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL), map[string]string{
				"OTEL_EXPORTER_OTLP_ENDPOINT": harness.ClosedURL(t, receiver), "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
			})
			service.Grace = time.Hour
			harness.AskOK(t, service, adkserver.RunRequest("u", "s", "adk-go/transfer", true))
			service.Stop()
			if dropped := service.Count(t, "delegraph_spans_dropped_total", "reason", "shutdown"); dropped != float64(service.Made()) {
				t.Errorf("%v spans dropped of %d", dropped, service.Made())
			}
			if !strings.Contains(service.Log.String(), fmt.Sprintf("err=\"%d spans were not delivered to 127.0.0.1:", service.Made())) {
				t.Errorf("the log:\n%s", service.Log)
			}
		})
	}
}

// TestBackendMistakes checks that each mistake in the environment is a startup error that names the variable and the remedy.
func TestBackendMistakes(t *testing.T) {
	c, err := config.Parse("test", fmt.Appendf(nil, harness.Verbatim, "http://127.0.0.1:9"), settings.KnownNames())
	if err != nil {
		t.Fatal(err)
	}
	for variable, want := range map[string]string{
		"OTEL_TRACES_EXPORTER=jaeger":              "prepare the trace exporter: OTEL_TRACES_EXPORTER=jaeger is not supported: use otlp, console or none",
		"OTEL_EXPORTER_OTLP_PROTOCOL=thrift":       "prepare the trace exporter: OTEL_EXPORTER_OTLP_PROTOCOL=thrift is not supported: use grpc, http/protobuf or http/json",
		"OTEL_EXPORTER_OTLP_ENDPOINT=10.0.0.1:1":   "prepare the trace exporter: OTEL_EXPORTER_OTLP_ENDPOINT: not a URL: use one such as http://localhost:4317",
		"OTEL_TRACES_SAMPLER_ARG=lots":             "", // for a sampler without an argument
		"OTEL_PROPAGATORS=b3":                      "OTEL_PROPAGATORS=b3 is not supported: use none, or a comma-separated list of tracecontext and baggage",
		"OTEL_BSP_SCHEDULE_DELAY=5s":               "OTEL_BSP_SCHEDULE_DELAY=5s is not supported: use a whole number of milliseconds, from 0 to 3600000",
		"OTEL_BSP_EXPORT_TIMEOUT=-1":               "OTEL_BSP_EXPORT_TIMEOUT=-1 is not supported: use a whole number of milliseconds, from 0 to 3600000",
		"OTEL_BSP_MAX_QUEUE_SIZE=0":                "OTEL_BSP_MAX_QUEUE_SIZE=0 is not supported: use a whole number of spans, from 1 to 1000000",
		"OTEL_BSP_MAX_EXPORT_BATCH_SIZE=1e9":       "OTEL_BSP_MAX_EXPORT_BATCH_SIZE=1e9 is not supported: use a whole number of spans that the queue can hold, from 1 to 8192",
		"OTEL_EXPORTER_OTLP_CERTIFICATE=/no/where": "prepare the trace exporter: OTEL_EXPORTER_OTLP_CERTIFICATE: open /no/where: no such file or directory: name a file of certificates in PEM form",
	} {
		service, err := sidecar.New(t.Context(), c, slog.New(slog.DiscardHandler), func(name string) string {
			value, _ := strings.CutPrefix(variable, name+"=")
			if value == variable {
				return ""
			}
			return value
		})
		said := ""
		if err != nil {
			said = err.Error()
		} else if err := service.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if said != want {
			t.Errorf("%s: %q, not %q", variable, said, want)
		}
	}
}

// TestConsole checks that the console exporter prints each span, and that no spans exist without an exporter.
func TestConsole(t *testing.T) {
	for exporter, want := range map[string]int{"console": 1, "none": 0} {
		command := subprocess.CommandContext(t.Context(), "delegraph", "demo", "--runs=1", "--speed=100000", "--web.listen-address=127.0.0.1:0")
		command.Env = []string{"GORACE=atexit_sleep_ms=0", "OTEL_TRACES_EXPORTER=" + exporter}
		printed, err := command.Output()
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(printed), `"Name":"invoke_agent coordinator"`); n != want {
			t.Errorf("%s: %d times:\n%.2000s", exporter, n, printed)
		}
	}
}
