package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	tracecollector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	_ "google.golang.org/grpc/encoding/gzip" // OTEL_EXPORTER_OTLP_COMPRESSION=gzip
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
)

// TestTraceBackendFaults has backends that do not take spans: clients notice nothing, and every span is accounted for.
func TestTraceBackendFaults(t *testing.T) {
	const overGRPC, overHTTP = "grpc", "http/protobuf"
	for name, fault := range map[string]struct {
		endpoint func(testing.TB, *backend) string
		protocol string
		reason   string
	}{
		"refuses the connection":                {closed, overGRPC, "shutdown"},
		"refuses the connection over HTTP":      {closed, overHTTP, "shutdown"},
		"accepts and hangs":                     {deaf, overGRPC, "shutdown"},
		"accepts and hangs over HTTP":           {deaf, overHTTP, "shutdown"},
		"has a certificate of nobody":           {encrypted, overGRPC, "shutdown"},
		"has a certificate of nobody over HTTP": {encrypted, overHTTP, "shutdown"},
		"is unavailable": {func(_ testing.TB, b *backend) string {
			b.refuse = func() error { return status.Error(codes.Unavailable, "starting") }
			return "http://" + b.grpc
		}, overGRPC, "shutdown"},
		"answers 500": {func(_ testing.TB, b *backend) string {
			b.refuse = func() error { return errors.New("broken") }
			return b.http.URL
		}, overHTTP, "rejected"},
	} {
		t.Run(name, func(t *testing.T) {
			agent, receiver := newRecordedAgent(t), newBackend(t)
			car := launch(t, fmt.Sprintf(verbatim, agent.URL), map[string]string{
				"OTEL_EXPORTER_OTLP_ENDPOINT": fault.endpoint(t, receiver), "OTEL_EXPORTER_OTLP_PROTOCOL": fault.protocol,
			})
			car.Grace = time.Second / 4
			names := agent.names()[:20]
			for _, name := range names {
				if got := ask200(t, car, adkserver.RunRequest("u", "s", name, true)); !bytes.Equal(got, agent.recordings[name]) {
					t.Errorf("%s: the client got %d bytes of %d", name, len(got), len(agent.recordings[name]))
				}
			}
			made := len(names) // the server's
			for _, r := range car.Recent.Reports() {
				made += len(r.Operations)
			}
			car.stop()
			exported, queued := car.count(t, "delegraph_spans_exported_total"), car.count(t, "delegraph_spans_queued")
			if dropped := car.count(t, "delegraph_spans_dropped_total", "reason", fault.reason); dropped != float64(made) || exported != 0 || queued != 0 {
				t.Errorf("of %d spans %v were dropped, %v exported, %v are queued", made, dropped, exported, queued)
			}
			if n := len(receiver.spans()); n > 0 {
				t.Errorf("%d spans received", n)
			}
			if told := strings.Contains(car.log.String(), "not every span was delivered"); told != (fault.reason == "shutdown") {
				t.Errorf("the log:\n%s", car.log)
			}
		})
	}
}

// TestBackendComesBack has a backend that is away when spans come and is there again before the sidecar has stopped.
func TestBackendComesBack(t *testing.T) {
	agent, receiver := newRecordedAgent(t), newBackend(t)
	attempts := 0
	receiver.refuse = func() error {
		if attempts++; attempts <= 2 {
			return status.Error(codes.Unavailable, "starting")
		}
		return nil
	}
	car := launch(t, fmt.Sprintf(verbatim, agent.URL), receiver.environment(nil))
	ask200(t, car, adkserver.RunRequest("u", "s", "adk-go/transfer", true))
	car.stop()
	for _, spans := range receiver.traces(t) {
		if made := len(car.Recent.Reports()[0].Operations) + 1; len(spans) != made {
			t.Errorf("%d spans of %d", len(spans), made)
		}
	}
	if attempts < 3 || len(receiver.traces(t)) != 1 || car.count(t, "delegraph_spans_dropped_total") != 0 {
		t.Errorf("%d traces after %d attempts", len(receiver.traces(t)), attempts)
	}
}

// backend is a trace backend: OTLP's own service over gRPC and over HTTP.
type backend struct {
	tracecollector.UnimplementedTraceServiceServer
	grpc string // host:port
	http *httptest.Server

	mu       sync.Mutex
	received []*tracepb.ResourceSpans
	refuse   func() error // over gRPC; nil takes everything
}

func newBackend(t testing.TB) *backend {
	t.Helper()
	b := &backend{}
	b.grpc, b.http = serveOTLP(t, b, func(s *grpc.Server) { tracecollector.RegisterTraceServiceServer(s, b) })
	return b
}

// serveOTLP serves one signal over gRPC, where it returns host:port, and over HTTP, until the test ends.
func serveOTLP(t testing.TB, http http.Handler, register func(*grpc.Server)) (string, *httptest.Server) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	register(server)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	beside := httptest.NewServer(http)
	t.Cleanup(func() {
		beside.Close()
		server.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String(), beside
}

// environment is what a user sets to send spans here by the protocol that the rest of the environment names.
func (b *backend) environment(rest map[string]string) map[string]string {
	env := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://" + b.grpc}
	maps.Copy(env, rest)
	for _, protocol := range []string{env["OTEL_EXPORTER_OTLP_PROTOCOL"], env["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"]} {
		if strings.HasPrefix(protocol, "http/") {
			env["OTEL_EXPORTER_OTLP_ENDPOINT"] = b.http.URL
		}
	}
	return env
}

// Export is the service's.
func (b *backend) Export(_ context.Context, r *tracecollector.ExportTraceServiceRequest) (*tracecollector.ExportTraceServiceResponse, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.refuse != nil {
		if err := b.refuse(); err != nil {
			return nil, err
		}
	}
	b.received = append(b.received, r.ResourceSpans...)
	return &tracecollector.ExportTraceServiceResponse{}, nil
}

func (b *backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		body, _ = gzip.NewReader(body)
	}
	content, err := io.ReadAll(body)
	request := &tracecollector.ExportTraceServiceRequest{}
	if r.URL.Path != "/v1/traces" || err != nil {
		err = fmt.Errorf("%s: %w", r.URL.Path, err)
	} else if r.Header.Get("Content-Type") == "application/json" {
		err = unmarshalJSON(content, request)
	} else {
		err = proto.Unmarshal(content, request)
	}
	if err == nil {
		_, err = b.Export(r.Context(), request)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// unmarshalJSON reads OTLP/JSON, whose ids are hexadecimal where protobuf's own JSON has base64.
func unmarshalJSON(content []byte, request *tracecollector.ExportTraceServiceRequest) error {
	if err := protojson.Unmarshal(content, request); err != nil {
		return err
	}
	var err error
	fix := func(id *[]byte) {
		plain, fault := hex.DecodeString(base64.StdEncoding.EncodeToString(*id))
		*id, err = plain, errors.Join(err, fault)
	}
	for _, r := range request.ResourceSpans {
		for _, scope := range r.ScopeSpans {
			for _, s := range scope.Spans {
				fix(&s.TraceId)
				fix(&s.SpanId)
				fix(&s.ParentSpanId)
			}
		}
	}
	return err
}

func (b *backend) spans() (all []*tracepb.Span) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.received {
		for _, scope := range r.ScopeSpans {
			all = append(all, scope.Spans...)
		}
	}
	return all
}

// closed is a URL at which nobody listens.
func closed(t testing.TB, _ *backend) string {
	t.Helper()
	l := listen(t)
	l.Close()
	return "http://" + l.Addr().String()
}

// deaf is the URL of somebody for whom the kernel takes connections, and no more.
func deaf(t testing.TB, _ *backend) string {
	t.Helper()
	l := listen(t)
	t.Cleanup(func() { l.Close() })
	return "http://" + l.Addr().String()
}

// encrypted is the URL of a backend whose certificate nobody has signed.
func encrypted(t testing.TB, b *backend) string {
	t.Helper()
	// The first to verify a certificate loads the system's, which can outlast the test and look like a leak.
	_, _ = x509.SystemCertPool()
	server := httptest.NewUnstartedServer(b)
	server.EnableHTTP2 = true
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL
}
