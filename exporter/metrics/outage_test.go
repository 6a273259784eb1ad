package metrics

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	metricscollector "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/delegraph/delegraph/exporter/otlp"
)

// fixedService is an OTLP service that always gives the same answer.
type fixedService struct {
	metricscollector.UnimplementedMetricsServiceServer
	answer *metricscollector.ExportMetricsServiceResponse
	err    error
}

func (r fixedService) Export(context.Context, *metricscollector.ExportMetricsServiceRequest) (*metricscollector.ExportMetricsServiceResponse, error) {
	return r.answer, r.err
}

var partly = &metricscollector.ExportMetricsServiceResponse{
	PartialSuccess: &metricscollector.ExportMetricsPartialSuccess{RejectedDataPoints: 3, ErrorMessage: "out\nof order"},
}

// one returns a request with one metric and no series.
func one() *metricdata.ResourceMetrics {
	return &metricdata.ResourceMetrics{Resource: resource.Empty(), ScopeMetrics: []metricdata.ScopeMetrics{{
		Metrics: []metricdata.Metrics{{Name: "m", Data: metricdata.Gauge[float64]{}}},
	}}}
}

// TestCausesOverGRPC checks the causes in the log with the SDK's gRPC exporter.
func TestCausesOverGRPC(t *testing.T) {
	for want, service := range map[string]fixedService{
		"":                                  {answer: &metricscollector.ExportMetricsServiceResponse{}},
		"some of a batch":                   {answer: partly},
		"gRPC status Unauthenticated":       {err: status.Error(codes.Unauthenticated, "hunter2")},
		"gRPC status Unavailable":           {err: status.Error(codes.Unavailable, "hunter2")},
		"gRPC status ResourceExhausted":     {err: status.Error(codes.ResourceExhausted, "hunter2")},
		"connection refused, by nobody":     {},
		"gRPC status Unimplemented, by one": {},
	} {
		t.Run(want, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			server := grpc.NewServer()
			switch want {
			case "connection refused, by nobody":
				want = "connection refused"
				listener.Close()
			case "gRPC status Unimplemented, by one":
				want = "gRPC status Unimplemented"
			default:
				metricscollector.RegisterMetricsServiceServer(server, service)
			}
			done := make(chan struct{})
			go func() { defer close(done); _ = server.Serve(listener) }()
			defer func() { server.Stop(); <-done }()
			e, err := otlpmetricgrpc.New(t.Context(), otlpmetricgrpc.WithEndpointURL("http://"+listener.Addr().String()),
				otlpmetricgrpc.WithRetry(otlpmetricgrpc.RetryConfig{}))
			if err != nil {
				t.Fatal(err)
			}
			checkCause(t, e, want)
		})
	}
}

// TestCausesOverHTTP checks the causes in the log with the SDK's HTTP exporter.
func TestCausesOverHTTP(t *testing.T) {
	says := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "hunter2", code) }
	}
	for want, answer := range map[string]http.HandlerFunc{
		"":                                 func(http.ResponseWriter, *http.Request) {},
		"HTTP status 400":                  says(http.StatusBadRequest),
		"HTTP status 413":                  says(http.StatusRequestEntityTooLarge),
		"HTTP status 429, 502, 503 or 504": says(http.StatusServiceUnavailable),
		"some of a batch": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-protobuf")
			body, err := proto.Marshal(partly)
			if err != nil {
				panic(err)
			}
			_, _ = w.Write(body)
		},
		"connection refused": nil,
	} {
		t.Run(want, func(t *testing.T) {
			server := httptest.NewServer(answer)
			defer server.Close()
			if answer == nil {
				server.Close()
			}
			e, err := otlpmetrichttp.New(t.Context(), otlpmetrichttp.WithEndpointURL(server.URL+"/hunter2"), otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{}))
			if err != nil {
				t.Fatal(err)
			}
			checkCause(t, e, want)
		})
	}
}

func checkCause(t *testing.T, e sdkmetric.Exporter, want string) {
	t.Helper()
	err := e.Export(t.Context(), one())
	if got := otlp.Classify(err).Cause; got != want {
		t.Errorf("the cause is %q, want %q: %v", got, want, err)
	}
	if err := e.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestRedirectedMetrics checks that a page that answers the GET after a redirect does not count as delivery.
func TestRedirectedMetrics(t *testing.T) {
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/login" {
			http.Redirect(w, r, "/login", http.StatusFound)
		}
	}))
	defer backend.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", backend.URL)
	e, _, err := newOTLP(t.Context(), os.Getenv, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkCause(t, e, "redirect without the telemetry")
}
