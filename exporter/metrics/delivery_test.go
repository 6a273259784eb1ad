package metrics

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
)

const (
	noExporter = " is not supported: use none, or a comma-separated list of otlp, console and prometheus"
	noTime     = " is not supported: use a whole number of milliseconds, from 1 to 86400000"
)

// TestDeliveryEnvironment checks valid and invalid values of each variable. An invalid value is an error that names the variable
// and the remedy, unless metrics are not sent at all.
func TestDeliveryEnvironment(t *testing.T) {
	for _, c := range []struct {
		exporter string
		env      []string
		readers  string // the configured exporters
		err      string
	}{
		{exporter: ""},
		{exporter: "none"},
		{exporter: "Prometheus"},
		{exporter: "otlp", readers: "127.0.0.1:1"},
		{exporter: " OTLP ", readers: "127.0.0.1:1"},
		{exporter: "console", readers: "standard output"},
		{exporter: "prometheus, otlp", readers: "127.0.0.1:1"},
		{exporter: "otlp,console,otlp", readers: "standard output 127.0.0.1:1"},
		{exporter: "none,otlp", err: "OTEL_METRICS_EXPORTER=none,otlp" + noExporter},
		{exporter: "statsd", err: "OTEL_METRICS_EXPORTER=statsd" + noExporter},
		{exporter: "otlp,", err: "OTEL_METRICS_EXPORTER=otlp," + noExporter},
		{exporter: "statsd", env: []string{"OTEL_SDK_DISABLED=true"}},
		{exporter: "none", env: []string{"OTEL_METRIC_EXPORT_INTERVAL=soon", "OTEL_EXPORTER_OTLP_PROTOCOL=udp"}},
		{exporter: "otlp", env: []string{"OTEL_METRIC_EXPORT_INTERVAL= 1000 ", "OTEL_METRIC_EXPORT_TIMEOUT=1"}, readers: "127.0.0.1:1"},
		{exporter: "otlp", env: []string{"OTEL_METRIC_EXPORT_INTERVAL=1s"}, err: "OTEL_METRIC_EXPORT_INTERVAL=1s" + noTime},
		{exporter: "console", env: []string{"OTEL_METRIC_EXPORT_TIMEOUT=0"}, err: "OTEL_METRIC_EXPORT_TIMEOUT=0" + noTime},
		{exporter: "otlp", env: []string{"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL=http/protobuf"}, readers: "127.0.0.1:1"},
		{exporter: "otlp", env: []string{"OTEL_EXPORTER_OTLP_PROTOCOL=http/json"}, err: "OTEL_EXPORTER_OTLP_PROTOCOL=http/json is not supported: use grpc or http/protobuf"},
		{exporter: "otlp", env: []string{"OTEL_EXPORTER_OTLP_PROTOCOL=http/json", "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL=grpc"}, readers: "127.0.0.1:1"},
		{exporter: "otlp", env: []string{"OTEL_EXPORTER_OTLP_METRICS_TIMEOUT=1s"}, err: "OTEL_EXPORTER_OTLP_METRICS_TIMEOUT: not a timeout: use a whole number of milliseconds"},
		{exporter: "otlp", env: []string{temporality + "=Cumulative"}, readers: "127.0.0.1:1"},
		{exporter: "otlp", env: []string{temporality + "=delta"}, err: temporality + "=delta is not supported: use cumulative, and the cumulativetodelta processor of a collector if the backend needs deltas"},
		{exporter: "otlp", env: []string{aggregation + "=Base2_exponential_bucket_histogram"}, readers: "127.0.0.1:1"},
		{exporter: "otlp", env: []string{aggregation + "=explicit_bucket_histogram"}, readers: "127.0.0.1:1"},
		{exporter: "otlp", env: []string{aggregation + "=summary"}, err: aggregation + "=summary is not supported: use explicit_bucket_histogram or base2_exponential_bucket_histogram"},
	} {
		t.Run(c.exporter+" "+strings.Join(c.env, " "), func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
			t.Setenv("OTEL_METRICS_EXPORTER", c.exporter)
			for _, pair := range c.env {
				name, value, _ := strings.Cut(pair, "=")
				t.Setenv(name, value)
			}
			to, _, err := receivers(t.Context(), os.Getenv, testSettings, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
			var backends []string
			for _, o := range to {
				backends = append(backends, o.backend)
				if err := o.Exporter.Shutdown(t.Context()); err != nil {
					t.Error(err)
				}
			}
			got := ""
			if err != nil {
				got = strings.TrimPrefix(err.Error(), "prepare the metrics exporter: ")
			}
			if got != c.err || strings.Join(backends, " ") != c.readers {
				t.Errorf("to %q, error %s; want %q, %s", backends, got, c.readers, c.err)
			}
		})
	}
}

// TestNobodyIsDescribed checks that the resource is read only if metrics are delivered.
func TestNobodyIsDescribed(t *testing.T) {
	fails := func(context.Context) (*resource.Resource, error) { return nil, errors.New("unreadable") }
	for name, want := range map[string]bool{"": false, "none": false, "console": true} {
		env := func(variable string) string { return map[string]string{"OTEL_METRICS_EXPORTER": name}[variable] }
		d, err := NewDelivery(t.Context(), env, testSettings, prometheus.NewRegistry(), fails, slog.New(slog.DiscardHandler))
		if want != (err != nil) {
			t.Errorf("%q: error %v", name, err)
		}
		if err == nil {
			if err := d.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
}

// scriptedExporter is an exporter whose responses the test chooses.
type scriptedExporter struct {
	sdkmetric.Exporter // Temporality and Aggregation
	answer             func(ctx context.Context, n int) error

	mu       sync.Mutex
	exports  int
	received []metricdata.Metrics
	longest  int // the most data points in an export
}

func (r *scriptedExporter) Export(ctx context.Context, data *metricdata.ResourceMetrics) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.exports++
	points := 0
	for _, scope := range data.ScopeMetrics {
		for _, m := range scope.Metrics {
			if sum, ok := m.Data.(metricdata.Sum[float64]); ok {
				points += len(sum.DataPoints)
			}
			r.received = append(r.received, m)
		}
	}
	r.longest = max(r.longest, points)
	return r.answer(ctx, r.exports)
}

func (r *scriptedExporter) ForceFlush(context.Context) error { return nil }
func (r *scriptedExporter) Shutdown(context.Context) error   { return nil }

// begin starts to deliver every ten seconds. The test's bubble must shut it down.
func begin(reg prometheus.Gatherer, to *scriptedExporter, log *bytes.Buffer) *Delivery {
	to.Exporter = constant{}
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	return deliver(resource.Empty(), []sdkmetric.PeriodicReaderOption{sdkmetric.WithInterval(10 * time.Second), sdkmetric.WithTimeout(5 * time.Second)},
		&outages{Exporter: to, Producer: newBridge(reg, testSettings, false), backend: "collector:4317", logger: logger})
}

// constant has the temporality and aggregation of an OTLP exporter.
type constant struct{ sdkmetric.Exporter }

func (constant) Temporality(sdkmetric.InstrumentKind) metricdata.Temporality {
	return metricdata.CumulativeTemporality
}

func (constant) Aggregation(kind sdkmetric.InstrumentKind) sdkmetric.Aggregation {
	return sdkmetric.DefaultAggregationSelector(kind)
}

// TestOutagesAreToldOnce checks that each outage of a backend is logged once.
func TestOutagesAreToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		m, reg := newTest(10, 100)
		m.RunStarted(run())
		d := begin(reg, &scriptedExporter{answer: func(ctx context.Context, n int) error {
			switch {
			case n == 2:
				return errors.New("failed to upload metrics: failed to send metrics to http://user:hunter2@collector: 400 Bad Request (body: hunter2)")
			case n > 2 && n < 10:
				<-ctx.Done() // the timeout of the attempt
				return ctx.Err()
			case n == 12:
				return errors.New("failed to upload metrics: OTLP partial success: hunter2 (3 metric data points rejected)")
			}
			return nil
		}}, &log)
		time.Sleep(200 * time.Second)
		if err := d.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		want := `level=WARN msg="the metrics backend does not accept all metrics; they are sent again at each interval" endpoint=collector:4317 err="HTTP status 400"
level=INFO msg="the metrics backend is back" endpoint=collector:4317
level=WARN msg="the metrics backend does not accept all metrics; they are sent again at each interval" endpoint=collector:4317 err="some of a batch"
level=INFO msg="the metrics backend is back" endpoint=collector:4317
`
		if diff := cmp.Diff(want, log.String()); diff != "" {
			t.Errorf("log (-want +got):\n%s", diff)
		}
	})
}

// TestOneBatchOfSeveralFails checks that an outage lasts until all batches of an attempt succeed.
func TestOneBatchOfSeveralFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		m, reg := newTest(10_000, 10_000)
		for i := range 2 * batchSize {
			ends(m, call("a", fmt.Sprint(i)))
		}
		to := &scriptedExporter{answer: func(_ context.Context, n int) error {
			if n%2 == 0 {
				return errors.New("too large")
			}
			return nil
		}}
		d := begin(reg, to, &log)
		time.Sleep(95 * time.Second)
		if err := d.Shutdown(t.Context()); err == nil || !strings.Contains(err.Error(), "send metrics to collector:4317: unknown error") {
			t.Error(err)
		}
		if n := strings.Count(log.String(), "\n"); n != 1 || !strings.Contains(log.String(), "does not accept") {
			t.Errorf("log:\n%s", &log)
		}
		series := 0
		for _, received := range to.received {
			if sum, ok := received.Data.(metricdata.Sum[float64]); ok && received.Name == toolCalls.name {
				series += len(sum.DataPoints)
			}
		}
		// nine intervals and the final export
		if to.longest > batchSize || series != 10*2*batchSize {
			t.Errorf("%d series in all, %d at once", series, to.longest)
		}
	})
}

// TestShutdownSendsTheLast checks that a shutdown sends the changes since the last interval, even while an attempt is
// running.
func TestShutdownSendsTheLast(t *testing.T) {
	for name, busy := range map[string]bool{"idle": false, "in an attempt": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				m, reg := newTest(10, 100)
				to := &scriptedExporter{answer: func(ctx context.Context, n int) error {
					if busy && n == 1 {
						<-ctx.Done()
						return ctx.Err()
					}
					return nil
				}}
				d := begin(reg, to, &log)
				time.Sleep(11 * time.Second)
				m.RunStarted(run())
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				before := time.Now()
				if err := d.Shutdown(ctx); err != nil || log.Len() > 0 || time.Since(before) > 0 {
					t.Errorf("error %v after %s; log %s", err, time.Since(before), &log)
				}
				last := to.received[len(to.received)-1]
				if last.Name != runsStarted.name || to.exports != 2 {
					t.Errorf("%d exports, of which the last has %s", to.exports, last.Name)
				}
			})
		})
	}
}

// TestShutdownWithoutReceivers checks that a shutdown without exporters reports no undelivered metrics.
func TestShutdownWithoutReceivers(t *testing.T) {
	d, err := NewDelivery(t.Context(), func(string) string { return "" }, Settings{}, prometheus.NewRegistry(), nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.Shutdown(over); err != nil {
		t.Error(err)
	}
}

// TestShutdownIsBounded checks that a shutdown ends with its context.
func TestShutdownIsBounded(t *testing.T) {
	for name, heeds := range map[string]bool{"heeds": true, "does not": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				_, reg := newTest(10, 100)
				released := make(chan struct{})
				d := begin(reg, &scriptedExporter{answer: func(ctx context.Context, _ int) error {
					if heeds {
						<-ctx.Done()
					} else {
						<-released
					}
					return ctx.Err()
				}}, &log)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				before := time.Now()
				if err := d.Shutdown(ctx); err == nil || time.Since(before) != time.Second {
					t.Errorf("error %v after %s", err, time.Since(before))
				}
				close(released)
			})
		})
	}
}
