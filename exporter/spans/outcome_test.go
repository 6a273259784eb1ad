package spans

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
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
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/delegraph/delegraph/exporter/otlp"
)

// partialSuccess returns a backend's answer that rejects some spans.
func partialSuccess(rejected int64, message string) *collector.ExportTraceServiceResponse {
	return &collector.ExportTraceServiceResponse{PartialSuccess: &collector.ExportTracePartialSuccess{RejectedSpans: rejected, ErrorMessage: message}}
}

// handlerTransport is a transport without a network.
type handlerTransport http.HandlerFunc

func (a handlerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	a(w, r)
	answer := w.Result()
	answer.Status = fmt.Sprint(answer.StatusCode, " ", http.StatusText(answer.StatusCode))
	return answer, nil
}

// httpExporter returns the SDK's exporter as NewExporter makes it, with another transport.
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

// TestJudgeHTTP checks Classify with the errors of the real HTTP exporter.
func TestJudgeHTTP(t *testing.T) {
	says := func(code int, body string) http.RoundTripper {
		return handlerTransport(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code); _, _ = io.WriteString(w, body) })
	}
	speaks := func(body []byte) http.RoundTripper {
		return handlerTransport(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-protobuf")
			_, _ = w.Write(body)
		})
	}
	partly := func(rejected int64, message string) http.RoundTripper {
		body, err := proto.Marshal(partialSuccess(rejected, message))
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
		want     otlp.Outcome
		rejected int
		cause    string
	}{
		"200":                       {says(200, ""), "s", otlp.Delivered, 0, ""},
		"200, in part":              {partly(3, "bad"), "s", otlp.Delivered, 3, "some of a batch"},
		"200, in part, no reason":   {partly(3, ""), "s", otlp.Delivered, 3, "some of a batch"},
		"200, with a warning":       {partly(0, "a (7 spans rejected)\nwarning"), "s", otlp.Delivered, 0, "some of a batch"},
		"200, not understood":       {speaks([]byte("\xff")), "s", otlp.Delivered, 0, ""},
		"400":                       {says(400, "bad\nspan"), "s", otlp.Malformed, 0, "HTTP status 400"},
		"400, which deceives":       {says(400, deceit), "s", otlp.Malformed, 0, "HTTP status 400"},
		"401":                       {says(401, ""), "s", otlp.Refused, 0, "HTTP status 401"},
		"404":                       {says(404, ""), "s", otlp.Refused, 0, "HTTP status 404"},
		"413":                       {says(413, ""), "s", otlp.TooLarge, 0, "HTTP status 413"},
		"429":                       {says(429, ""), "s", otlp.Unreachable, 0, "HTTP status 429, 502, 503 or 504"},
		"500":                       {says(500, ""), "s", otlp.Refused, 0, "HTTP status 500"},
		"502":                       {says(502, ""), "s", otlp.Unreachable, 0, "HTTP status 429, 502, 503 or 504"},
		"503":                       {says(503, deceit), "s", otlp.Unreachable, 0, "HTTP status 429, 502, 503 or 504"},
		"504":                       {says(504, ""), "s", otlp.Unreachable, 0, "HTTP status 429, 502, 503 or 504"},
		"refused":                   {fails(&net.OpError{Op: "dial", Err: errors.New("connection refused")}), "s", otlp.NoConnection, 0, "connection refused"},
		"no such host":              {fails(&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "timeout", IsNotFound: true}}), "s", otlp.NoConnection, 0, "no such host"},
		"broken off":                {fails(io.EOF), "s", otlp.Unreachable, 0, "connection broken"},
		"timeout":                   {fails(context.DeadlineExceeded), "s", otlp.Unreachable, 0, "timeout"},
		"over the exporter's limit": {says(200, ""), strings.Repeat("s", 2<<20), otlp.TooLarge, 0, "too large for the exporter"},
		"not UTF-8":                 {says(200, ""), "\xff", otlp.Malformed, 0, "cannot be encoded"}, // which the observer never creates
	} {
		t.Run(name, func(t *testing.T) {
			e := httpExporter(t, c.backend)
			err := e.ExportSpans(t.Context(), []sdktrace.ReadOnlySpan{span(c.name)})
			if v := otlp.Classify(err); v.Outcome != c.want || v.Rejected != c.rejected || v.Cause != c.cause {
				t.Errorf("%+v; want %d with %d rejected and the cause %q, of the error %v", v, c.want, c.rejected, c.cause, err)
			}
		})
	}
}

// TestUnreadableAnswers checks that a batch counts as delivered if only the body of the answer cannot be read.
func TestUnreadableAnswers(t *testing.T) {
	for _, body := range []string{"[]", "1", "OK", "{"} {
		e := httpExporter(t, handlerTransport(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, body)
		}))
		if v := otlp.Classify(e.ExportSpans(t.Context(), []sdktrace.ReadOnlySpan{span("s")})); v != (otlp.Result{}) {
			t.Errorf("after the answer %s: %+v", body, v)
		}
	}
}

// TestRetryAfter checks the wait that a backend asks for, in the errors of the real exporters.
func TestRetryAfter(t *testing.T) {
	for header, want := range map[string]time.Duration{"": 0, "0": 0, "7": 7 * time.Second, "-7": 0, "soon": 0, "99999999999": math.MaxInt64, time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat): 0} {
		e := httpExporter(t, handlerTransport(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", header)
			w.WriteHeader(503)
		}))
		if v := otlp.Classify(e.ExportSpans(t.Context(), []sdktrace.ReadOnlySpan{span("s")})); v.Outcome != otlp.Unreachable || v.RetryAfter != want {
			t.Errorf("Retry-After: %s is %+v, want %s", header, v, want)
		}
	}
	for _, code := range []codes.Code{codes.Unavailable, codes.ResourceExhausted} {
		for delay, want := range map[time.Duration]time.Duration{0: 0, 7 * time.Second: 7 * time.Second, -time.Second: 0} {
			later, err := status.New(code, "later").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(delay)})
			if err != nil {
				t.Fatal(err)
			}
			if v := otlp.Classify(exportGRPC(t, service{err: later.Err()}, "s")); v.Outcome != otlp.Unreachable || v.RetryAfter != want {
				t.Errorf("%s with the delay %s is %+v", code, delay, v)
			}
		}
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

// TestJudgeGRPC checks Classify with the errors of the real gRPC exporter.
func TestJudgeGRPC(t *testing.T) {
	says := func(code codes.Code) service { return service{err: status.Error(code, "no")} }
	later, err := status.New(codes.ResourceExhausted, "later").WithDetails(&errdetails.RetryInfo{})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		backend  service
		name     string
		want     otlp.Outcome
		rejected int
		cause    string
	}{
		"OK":                        {service{answer: &collector.ExportTraceServiceResponse{}}, "s", otlp.Delivered, 0, ""},
		"OK, in part":               {service{answer: partialSuccess(3, "bad")}, "s", otlp.Delivered, 3, "some of a batch"},
		"canceled":                  {says(codes.Canceled), "s", otlp.Unreachable, 0, "gRPC status Canceled"},
		"unknown":                   {service{err: errors.New("no")}, "s", otlp.Refused, 0, "gRPC status Unknown"},
		"invalid argument":          {says(codes.InvalidArgument), "s", otlp.Malformed, 0, "gRPC status InvalidArgument"},
		"deadline exceeded":         {says(codes.DeadlineExceeded), "s", otlp.Unreachable, 0, "timeout"},
		"not found":                 {says(codes.NotFound), "s", otlp.Refused, 0, "gRPC status NotFound"},
		"already exists":            {says(codes.AlreadyExists), "s", otlp.Refused, 0, "gRPC status AlreadyExists"},
		"permission denied":         {says(codes.PermissionDenied), "s", otlp.Refused, 0, "gRPC status PermissionDenied"},
		"resource exhausted":        {says(codes.ResourceExhausted), "s", otlp.TooLarge, 0, "gRPC status ResourceExhausted"},
		"resource exhausted, later": {service{err: later.Err()}, "s", otlp.Unreachable, 0, "gRPC status ResourceExhausted"},
		"failed precondition":       {says(codes.FailedPrecondition), "s", otlp.Refused, 0, "gRPC status FailedPrecondition"},
		"aborted":                   {says(codes.Aborted), "s", otlp.Unreachable, 0, "gRPC status Aborted"},
		"out of range":              {says(codes.OutOfRange), "s", otlp.Unreachable, 0, "gRPC status OutOfRange"},
		"unimplemented":             {says(codes.Unimplemented), "s", otlp.Refused, 0, "gRPC status Unimplemented"},
		"internal":                  {says(codes.Internal), "s", otlp.Refused, 0, "gRPC status Internal"},
		"unavailable":               {says(codes.Unavailable), "s", otlp.Unreachable, 0, "gRPC status Unavailable"},
		"data loss":                 {says(codes.DataLoss), "s", otlp.Unreachable, 0, "gRPC status DataLoss"},
		"unauthenticated":           {says(codes.Unauthenticated), "s", otlp.Refused, 0, "gRPC status Unauthenticated"},
		"over the server's limit":   {service{answer: &collector.ExportTraceServiceResponse{}}, strings.Repeat("s", 5<<20), otlp.TooLarge, 0, "gRPC status ResourceExhausted"},
		"not UTF-8":                 {service{answer: &collector.ExportTraceServiceResponse{}}, "\xff", otlp.Malformed, 0, "cannot be encoded"}, // which the observer never creates
	} {
		t.Run(name, func(t *testing.T) {
			err := exportGRPC(t, c.backend, c.name)
			if v := otlp.Classify(err); v.Outcome != c.want || v.Rejected != c.rejected || v.Cause != c.cause {
				t.Errorf("%+v; want %d with %d rejected and the cause %q, of the error %v", v, c.want, c.rejected, c.cause, err)
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

// TestJudgeConnection checks Classify with connection errors of both real exporters.
func TestJudgeConnection(t *testing.T) {
	quiet := slog.NewLogLogger(slog.DiscardHandler, 0)
	listen := func(t *testing.T) net.Listener {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	closed := func(t *testing.T) string {
		l := listen(t)
		defer l.Close()
		return "http://" + l.Addr().String()
	}
	slamming := func(t *testing.T) string {
		l := listen(t)
		t.Cleanup(func() { l.Close() })
		go func() {
			for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
				conn.Close()
			}
		}()
		return "http://" + l.Addr().String()
	}
	untrusted := func(t *testing.T) string {
		server := httptest.NewUnstartedServer(http.NotFoundHandler())
		server.EnableHTTP2, server.Config.ErrorLog = true, quiet
		server.StartTLS()
		t.Cleanup(server.Close)
		return server.URL
	}
	web := func(t *testing.T) string {
		server := httptest.NewUnstartedServer(http.NotFoundHandler())
		server.Config.ErrorLog = quiet
		server.Start()
		t.Cleanup(server.Close)
		return server.URL
	}
	secure := func(server func(*testing.T) string) func(*testing.T) string {
		return func(t *testing.T) string { return strings.Replace(server(t), "http:", "https:", 1) }
	}
	const overGRPC, overHTTP = "grpc", "http/protobuf"
	for name, c := range map[string]struct {
		protocol string
		end      func(*testing.T) string
		want     otlp.Outcome
		cause    string
	}{
		"nobody listens":              {overGRPC, closed, otlp.NoConnection, "connection refused"},
		"nobody listens, HTTP":        {overHTTP, closed, otlp.NoConnection, "connection refused"},
		"nobody made the socket":      {overGRPC, func(*testing.T) string { return "unix:///nowhere/otlp.sock" }, otlp.NoConnection, "no connection"},
		"closed at once, HTTP":        {overHTTP, slamming, otlp.Unreachable, "connection broken"},
		"certificate of nobody":       {overGRPC, untrusted, otlp.NoConnection, "TLS handshake failed"},
		"certificate of nobody, HTTP": {overHTTP, untrusted, otlp.NoConnection, "TLS handshake failed"},
		"no TLS":                      {overGRPC, secure(web), otlp.NoConnection, "TLS handshake failed"},
		"no TLS, HTTP":                {overHTTP, secure(web), otlp.NoConnection, "TLS handshake failed"},
		"gRPC to a web server":        {overGRPC, web, otlp.NoConnection, "no gRPC server; see OTEL_EXPORTER_OTLP_PROTOCOL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", c.protocol)
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.end(t))
			e, err := NewExporter(t.Context(), os.Getenv)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := e.Shutdown(t.Context()); err != nil {
					t.Error(err)
				}
			}()
			err = e.ExportSpans(t.Context(), []sdktrace.ReadOnlySpan{span("s")})
			if v := otlp.Classify(err); v.Outcome != c.want || v.Cause != c.cause {
				t.Errorf("%+v; want %d and the cause %q, of the error %v", v, c.want, c.cause, err)
			}
		})
	}
}

// TestPoison checks that only one span is dropped if an HTTP backend refuses every batch that contains it. Otherwise the
// batch would be retried forever while the queue fills up.
func TestPoison(t *testing.T) {
	for name, c := range map[string]struct {
		code     int
		rejected uint64 // while the backend refuses that span
	}{"bad request": {400, 1}, "unauthorized": {401, batchSize}, "too large": {413, 1}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := NewProcessor(httpExporter(t, handlerTransport(func(w http.ResponseWriter, r *http.Request) {
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
				})), settings(t, 10_000))
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
