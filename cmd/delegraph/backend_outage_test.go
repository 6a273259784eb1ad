package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	tracecollector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/internal/settings"
	"github.com/delegraph/delegraph/internal/sidecar"
	"github.com/delegraph/delegraph/test/subprocess"
)

// What is logged of a backend.
const (
	backendDown = "the trace backend takes no spans"
	backendBack = "the trace backend is back"
)

// serveAt takes spans at an address until it is stopped, which cuts its connections.
func (b *backend) serveAt(t *testing.T, address, protocol string) (stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	web := &http.Server{Handler: b}
	serve, end := web.Serve, func() { _ = web.Close() }
	if protocol == "grpc" {
		server := grpc.NewServer()
		tracecollector.RegisterTraceServiceServer(server, b)
		serve, end = server.Serve, server.Stop
	}
	served := make(chan error, 1)
	go func() { served <- serve(l) }()
	stop = sync.OnceFunc(func() {
		end()
		if err := <-served; err != nil && !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// made is how many spans the runs that ended have, each with that of its request.
func (r *running) made() (n int) {
	for _, run := range r.Recent.Reports() {
		n += len(run.Operations) + 1
	}
	return n
}

// outage is for how long a killed backend stays away at least, amid traffic.
var outage = flag.Duration("outage", 0, "how long TestBackendKilled leaves a killed backend away, for each protocol")

// TestBackendKilled kills a backend amid traffic and starts it again: what it never got is what is counted, and the metrics and
// the log tell of it meanwhile.
func TestBackendKilled(t *testing.T) {
	const queue = 60
	for _, protocol := range []string{"grpc", "http/protobuf"} {
		t.Run(protocol, func(t *testing.T) {
			agent, receiver := newRecordedAgent(t), newBackend(t)
			endpoint := closed(t, receiver)
			address := strings.TrimPrefix(endpoint, "http://")
			stop := receiver.serveAt(t, address, protocol)
			car := launch(t, fmt.Sprintf(verbatim, agent.URL), map[string]string{
				"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
				"OTEL_BSP_MAX_QUEUE_SIZE": fmt.Sprint(queue), "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "20", "OTEL_BSP_SCHEDULE_DELAY": "10",
			})
			ask := func(runs int) {
				for range runs {
					ask200(t, car, adkserver.RunRequest("u", "s", "adk-go/transfer", true))
				}
			}
			says := func(line string) func(context.Context) error {
				return func(context.Context) error {
					if strings.Count(car.log.String(), line) != 1 {
						return fmt.Errorf("not told once that %s:\n%s", line, car.log)
					}
					return nil
				}
			}

			ask(1)
			await(t, func(context.Context) error {
				if n := car.count(t, "delegraph_spans_exported_total"); n != float64(car.made()) {
					return fmt.Errorf("%v spans exported of %d", n, car.made())
				}
				return nil
			})
			each := car.made() // of a run; more runs than the sidecar remembers may follow
			stop()
			killed := time.Now()
			for ask(20); time.Since(killed) < *outage; {
				ask(20)
			}
			await(t, says(backendDown))
			if queued, dropped := car.count(t, "delegraph_spans_queued"), car.count(t, "delegraph_spans_dropped_total", "reason", "queue_full"); queued != queue || dropped == 0 {
				t.Errorf("while it is away, %v spans are queued and %v dropped", queued, dropped)
			}
			receiver.serveAt(t, address, protocol)
			await(t, says(backendBack))
			ask(1)
			car.stop()

			received := map[string]bool{} // a span whose answer was lost comes twice
			for _, s := range receiver.spans() {
				received[string(s.TraceId)+string(s.SpanId)] = true
			}
			exported, queued := car.count(t, "delegraph_spans_exported_total"), car.count(t, "delegraph_spans_queued")
			dropped := car.count(t, "delegraph_spans_dropped_total", "reason", "queue_full")
			made := each * int(car.count(t, "delegraph_runs_ended_total"))
			if all := car.count(t, "delegraph_spans_dropped_total"); len(received)+int(dropped) != made || exported != float64(len(received)) || all != dropped || queued != 0 {
				t.Errorf("of %d spans the backend has %d; %v were exported, %v dropped, %v as queue_full, %v are queued", made, len(received), exported, all, dropped, queued)
			}
			for _, line := range []string{backendDown, backendBack} {
				if err := says(line)(t.Context()); err != nil {
					t.Error(err)
				}
			}
			if want := fmt.Sprintf("endpoint=%s after=", address); !strings.Contains(car.log.String(), want) || !strings.Contains(car.log.String(), fmt.Sprintf(" waited=%d dropped=%v\n", queue, dropped)) {
				t.Errorf("the log:\n%s", car.log)
			}
		})
	}
}

// TestStopWithoutBackend has all the time that a stop could want, and takes it not.
func TestStopWithoutBackend(t *testing.T) {
	for _, protocol := range []string{"grpc", "http/protobuf"} {
		t.Run(protocol, func(t *testing.T) {
			agent, receiver := newRecordedAgent(t), newBackend(t)
			car := launch(t, fmt.Sprintf(verbatim, agent.URL), map[string]string{
				"OTEL_EXPORTER_OTLP_ENDPOINT": closed(t, receiver), "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
			})
			car.Grace = time.Hour
			ask200(t, car, adkserver.RunRequest("u", "s", "adk-go/transfer", true))
			car.stop()
			if dropped := car.count(t, "delegraph_spans_dropped_total", "reason", "shutdown"); dropped != float64(car.made()) {
				t.Errorf("%v spans dropped of %d", dropped, car.made())
			}
			if !strings.Contains(car.log.String(), fmt.Sprintf("err=\"%d spans were not delivered to 127.0.0.1:", car.made())) {
				t.Errorf("the log:\n%s", car.log)
			}
		})
	}
}

// TestBackendMistakes are errors of the start, each with the variable and what to do.
func TestBackendMistakes(t *testing.T) {
	c, err := config.Parse("test", fmt.Appendf(nil, verbatim, "http://127.0.0.1:9"), settings.Known())
	if err != nil {
		t.Fatal(err)
	}
	for variable, want := range map[string]string{
		"OTEL_TRACES_EXPORTER=jaeger":              "prepare the trace exporter: OTEL_TRACES_EXPORTER=jaeger is not supported: use otlp, console or none",
		"OTEL_EXPORTER_OTLP_PROTOCOL=thrift":       "prepare the trace exporter: OTEL_EXPORTER_OTLP_PROTOCOL=thrift is not supported: use grpc, http/protobuf or http/json",
		"OTEL_EXPORTER_OTLP_ENDPOINT=10.0.0.1:1":   "prepare the trace exporter: OTEL_EXPORTER_OTLP_ENDPOINT: this is no URL: use one such as http://localhost:4317",
		"OTEL_TRACES_SAMPLER_ARG=lots":             "", // of a sampler that takes none
		"OTEL_PROPAGATORS=b3":                      "OTEL_PROPAGATORS=b3 is not supported: use tracecontext, baggage or none, with commas between",
		"OTEL_BSP_SCHEDULE_DELAY=5s":               "OTEL_BSP_SCHEDULE_DELAY=5s is not supported: use a whole number of milliseconds, from 0 to 3600000",
		"OTEL_BSP_EXPORT_TIMEOUT=-1":               "OTEL_BSP_EXPORT_TIMEOUT=-1 is not supported: use a whole number of milliseconds, from 0 to 3600000",
		"OTEL_BSP_MAX_QUEUE_SIZE=0":                "OTEL_BSP_MAX_QUEUE_SIZE=0 is not supported: use a whole number of spans, from 1 to 1000000",
		"OTEL_BSP_MAX_EXPORT_BATCH_SIZE=1e9":       "OTEL_BSP_MAX_EXPORT_BATCH_SIZE=1e9 is not supported: use a whole number of spans that the queue can hold, from 1 to 8192",
		"OTEL_EXPORTER_OTLP_CERTIFICATE=/no/where": "prepare the trace exporter: OTEL_EXPORTER_OTLP_CERTIFICATE: open /no/where: no such file or directory: name a file of certificates in PEM form",
	} {
		car, err := sidecar.New(t.Context(), c, slog.New(slog.DiscardHandler), func(name string) string {
			value, _ := strings.CutPrefix(variable, name+"=")
			if value == variable {
				return ""
			}
			return value
		})
		said := ""
		if err != nil {
			said = err.Error()
		} else if err := car.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if said != want {
			t.Errorf("%s: %q, not %q", variable, said, want)
		}
	}
}

// TestConsole prints each span, and with none no span is made.
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
