package spans

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// partly is a backend's answer that some spans are not taken.
func partly(rejected int64, message string) *collector.ExportTraceServiceResponse {
	return &collector.ExportTraceServiceResponse{PartialSuccess: &collector.ExportTracePartialSuccess{RejectedSpans: rejected, ErrorMessage: message}}
}

// answering is a transport in the place of the network.
type answering http.HandlerFunc

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	a(w, r)
	answer := w.Result()
	answer.Status = fmt.Sprint(answer.StatusCode, " ", http.StatusText(answer.StatusCode))
	return answer, nil
}

// httpExporter is the SDK's, as NewExporter makes it but for the network.
func httpExporter(t *testing.T, answer http.RoundTripper) sdktrace.SpanExporter {
	t.Helper()
	e, err := otlptracehttp.New(t.Context(), otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}),
		otlptracehttp.WithEndpointURL("https://user:hunter2@collector:4318/a%20path"), otlptracehttp.WithMaxRequestSize(1<<20),
		otlptracehttp.WithHTTPClient(&http.Client{Transport: answer}))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// TestJudgeHTTP holds the texts by which answers are known against the exporter that makes them.
func TestJudgeHTTP(t *testing.T) {
	says := func(code int, body string) http.RoundTripper {
		return answering(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code); _, _ = io.WriteString(w, body) })
	}
	speaks := func(body []byte) http.RoundTripper {
		return answering(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-protobuf")
			_, _ = w.Write(body)
		})
	}
	partly := func(rejected int64, message string) http.RoundTripper {
		body, err := proto.Marshal(partly(rejected, message))
		if err != nil {
			t.Fatal(err)
		}
		return speaks(body)
	}
	fails := func(err error) http.RoundTripper {
		return transport(func(*http.Request) (*http.Response, error) { return nil, err })
	}
	deceit := "OTLP partial success: traces export: retry-able request failure: \ntraces export: OTLP partial success: x (5 spans rejected)"
	for name, c := range map[string]struct {
		backend  http.RoundTripper
		name     string // of the span
		want     outcome
		rejected int
	}{
		"200":                       {says(200, ""), "s", delivered, 0},
		"200, in part":              {partly(3, "bad"), "s", delivered, 3},
		"200, in part, no reason":   {partly(3, ""), "s", delivered, 3},
		"200, with a warning":       {partly(0, "a (7 spans rejected)\nwarning"), "s", delivered, 0},
		"200, not understood":       {speaks([]byte("\xff")), "s", obscure, 0},
		"400":                       {says(400, "bad\nspan"), "s", refused, 0},
		"400, which deceives":       {says(400, deceit), "s", refused, 0},
		"401":                       {says(401, ""), "s", refused, 0},
		"404":                       {says(404, ""), "s", refused, 0},
		"413":                       {says(413, ""), "s", tooLarge, 0},
		"429":                       {says(429, ""), "s", unreachable, 0},
		"500":                       {says(500, ""), "s", refused, 0},
		"502":                       {says(502, ""), "s", unreachable, 0},
		"503":                       {says(503, deceit), "s", unreachable, 0},
		"504":                       {says(504, ""), "s", unreachable, 0},
		"refused":                   {fails(&net.OpError{Op: "dial", Err: errors.New("connection refused")}), "s", unreachable, 0},
		"broken off":                {fails(io.EOF), "s", unreachable, 0},
		"timeout":                   {fails(context.DeadlineExceeded), "s", unreachable, 0},
		"over the exporter's limit": {says(200, ""), strings.Repeat("s", 2<<20), tooLarge, 0},
		"not UTF-8":                 {says(200, ""), "\xff", obscure, 0}, // which the observer never makes
	} {
		t.Run(name, func(t *testing.T) {
			e := httpExporter(t, c.backend)
			err := e.ExportSpans(t.Context(), []sdktrace.ReadOnlySpan{span(c.name)})
			if got, rejected := judge(err); got != c.want || rejected != c.rejected {
				t.Errorf("outcome %d with %d rejected; want %d with %d, of the error %v", got, rejected, c.want, c.rejected, err)
			}
		})
	}
}

// service is a gRPC backend.
type service struct {
	collector.UnimplementedTraceServiceServer
	answer *collector.ExportTraceServiceResponse
	err    error
}

func (s service) Export(context.Context, *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	return s.answer, s.err
}

// TestJudgeGRPC has the answers of a gRPC backend, by the exporter that receives them.
func TestJudgeGRPC(t *testing.T) {
	says := func(code codes.Code) service { return service{err: status.Error(code, "no")} }
	later, err := status.New(codes.ResourceExhausted, "later").WithDetails(&errdetails.RetryInfo{})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		backend  service
		name     string
		want     outcome
		rejected int
	}{
		"OK":                        {service{answer: &collector.ExportTraceServiceResponse{}}, "s", delivered, 0},
		"OK, in part":               {service{answer: partly(3, "bad")}, "s", delivered, 3},
		"canceled":                  {says(codes.Canceled), "s", unreachable, 0},
		"unknown":                   {service{err: errors.New("no")}, "s", refused, 0},
		"invalid argument":          {says(codes.InvalidArgument), "s", refused, 0},
		"deadline exceeded":         {says(codes.DeadlineExceeded), "s", unreachable, 0},
		"not found":                 {says(codes.NotFound), "s", refused, 0},
		"already exists":            {says(codes.AlreadyExists), "s", refused, 0},
		"permission denied":         {says(codes.PermissionDenied), "s", refused, 0},
		"resource exhausted":        {says(codes.ResourceExhausted), "s", tooLarge, 0},
		"resource exhausted, later": {service{err: later.Err()}, "s", unreachable, 0},
		"failed precondition":       {says(codes.FailedPrecondition), "s", refused, 0},
		"aborted":                   {says(codes.Aborted), "s", unreachable, 0},
		"out of range":              {says(codes.OutOfRange), "s", unreachable, 0},
		"unimplemented":             {says(codes.Unimplemented), "s", refused, 0},
		"internal":                  {says(codes.Internal), "s", refused, 0},
		"unavailable":               {says(codes.Unavailable), "s", unreachable, 0},
		"data loss":                 {says(codes.DataLoss), "s", unreachable, 0},
		"unauthenticated":           {says(codes.Unauthenticated), "s", refused, 0},
		"over the server's limit":   {service{answer: &collector.ExportTraceServiceResponse{}}, strings.Repeat("s", 5<<20), tooLarge, 0},
		"not UTF-8":                 {service{answer: &collector.ExportTraceServiceResponse{}}, "\xff", refused, 0}, // which the observer never makes
	} {
		t.Run(name, func(t *testing.T) {
			err := exportGRPC(t, c.backend, c.name)
			if got, rejected := judge(err); got != c.want || rejected != c.rejected {
				t.Errorf("outcome %d with %d rejected; want %d with %d, of the error %v", got, rejected, c.want, c.rejected, err)
			}
		})
	}
}

func exportGRPC(t *testing.T, backend service, name string) error {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	collector.RegisterTraceServiceServer(server, backend)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	e, err := otlptracegrpc.New(t.Context(), otlptracegrpc.WithRetry(otlptracegrpc.RetryConfig{}),
		otlptracegrpc.WithEndpoint(listener.Addr().String()), otlptracegrpc.WithInsecure())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	return e.ExportSpans(t.Context(), []sdktrace.ReadOnlySpan{span(name)})
}

// TestPoison lets an HTTP backend refuse every batch that holds one certain span. It used to be tried for ever, and all that
// came after it waited until the queue was full.
func TestPoison(t *testing.T) {
	for name, c := range map[string]struct {
		code     int
		rejected uint64 // with the poison
	}{"bad request": {400, batchSize}, "too large": {413, 1}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := NewProcessor(httpExporter(t, answering(func(w http.ResponseWriter, r *http.Request) {
					body, err := io.ReadAll(r.Body)
					var request collector.ExportTraceServiceRequest
					if err == nil {
						err = proto.Unmarshal(body, &request)
					}
					if err != nil {
						t.Error(err)
					}
					if strings.Contains(string(body), "poison") {
						w.WriteHeader(c.code)
					}
				})), 10_000)
				hand(p, 0, 100)
				p.OnEnd(span("poison"))
				hand(p, 101, 1000)
				time.Sleep(batchDelay)
				synctest.Wait()
				check(t, p, 1000-c.rejected, 0, 0, c.rejected, 0)
				shut(t, p, time.Second)
			})
		})
	}
}
