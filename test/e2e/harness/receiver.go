package harness

import (
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	tracecollector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	_ "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/delegraph/delegraph/test/loopback"
)

// Log messages about a trace backend.
const (
	BackendDown = "the trace backend accepts no spans"
	BackendBack = "the trace backend is back"
)

// ServeAt also receives spans at an address until stop, which closes its connections.
func (b *Receiver) ServeAt(t *testing.T, address, protocol string) (stop func()) {
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

// Receiver is a trace backend that receives OTLP over gRPC and HTTP.
type Receiver struct {
	tracecollector.UnimplementedTraceServiceServer
	GRPC string // host:port
	HTTP *httptest.Server

	mu       sync.Mutex
	Received []*tracepb.ResourceSpans
	Refuse   func() error // called before each request is accepted; nil accepts every request
	idFile   io.Writer    // if set, gets the ID of each span on a line before the response; then Received stays empty
}

// NewReceiver starts a trace backend, which runs until the test ends.
func NewReceiver(t testing.TB) *Receiver {
	t.Helper()
	b := &Receiver{}
	b.GRPC, b.HTTP = ServeOTLP(t, b, func(s *grpc.Server) { tracecollector.RegisterTraceServiceServer(s, b) })
	return b
}

// ServeOTLP serves one signal over gRPC and HTTP until the test ends. It returns the host and port for gRPC, and the HTTP server.
func ServeOTLP(t testing.TB, http http.Handler, register func(*grpc.Server)) (string, *httptest.Server) {
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

// Environment returns an environment with the variables that send spans to the receiver, over the protocol that the environment
// names.
func (b *Receiver) Environment(rest map[string]string) map[string]string {
	env := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://" + b.GRPC}
	maps.Copy(env, rest)
	for _, protocol := range []string{env["OTEL_EXPORTER_OTLP_PROTOCOL"], env["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"]} {
		if strings.HasPrefix(protocol, "http/") {
			env["OTEL_EXPORTER_OTLP_ENDPOINT"] = b.HTTP.URL
		}
	}
	return env
}

// Export implements the OTLP service.
func (b *Receiver) Export(_ context.Context, r *tracecollector.ExportTraceServiceRequest) (*tracecollector.ExportTraceServiceResponse, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Refuse != nil {
		if err := b.Refuse(); err != nil {
			return nil, err
		}
	}
	if b.idFile != nil {
		return &tracecollector.ExportTraceServiceResponse{}, writeIDs(b.idFile, r.ResourceSpans)
	}
	b.Received = append(b.Received, r.ResourceSpans...)
	return &tracecollector.ExportTraceServiceResponse{}, nil
}

// writeIDs writes the trace and span ID of each span on a line.
func writeIDs(w io.Writer, received []*tracepb.ResourceSpans) error {
	var ids []byte
	for _, resource := range received {
		for _, scope := range resource.ScopeSpans {
			for _, s := range scope.Spans {
				ids = fmt.Appendf(ids, "%x%x\n", s.TraceId, s.SpanId)
			}
		}
	}
	_, err := w.Write(ids)
	return err
}

// receiverMain is the program "receiver ADDRESS FILE": a trace backend that appends the ID of each span to a file before it answers.
func receiverMain() {
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		panic(err)
	}
	file, err := os.OpenFile(os.Args[2], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	server := grpc.NewServer()
	tracecollector.RegisterTraceServiceServer(server, &Receiver{idFile: file})
	panic(server.Serve(listener))
}

// ServeHTTP receives spans over OTLP/HTTP, as protobuf or JSON.
func (b *Receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		body, _ = gzip.NewReader(body)
	}
	content, err := io.ReadAll(body)
	request := &tracecollector.ExportTraceServiceRequest{}
	if r.URL.Path != "/v1/traces" || err != nil {
		err = fmt.Errorf("%s: %w", r.URL.Path, err)
	} else if r.Header.Get("Content-Type") == "application/json" {
		err = UnmarshalJSON(content, request)
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

// UnmarshalJSON reads OTLP/JSON. Its IDs are hexadecimal, while the JSON of protobuf has base64.
func UnmarshalJSON(content []byte, request *tracecollector.ExportTraceServiceRequest) error {
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

// Spans returns all received spans.
func (b *Receiver) Spans() (all []*tracepb.Span) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.Received {
		for _, scope := range r.ScopeSpans {
			all = append(all, scope.Spans...)
		}
	}
	return all
}

// ClosedURL returns a URL at which nothing listens.
func ClosedURL(t testing.TB, _ *Receiver) string {
	t.Helper()
	return "http://" + loopback.FreeAddress(t)
}

// Distinct returns the number of different spans. A span is sent twice if the answer to the first request was lost.
func (b *Receiver) Distinct() int {
	received := map[string]bool{}
	for _, s := range b.Spans() {
		received[string(s.TraceId)+string(s.SpanId)] = true
	}
	return len(received)
}

// Traces returns the received spans by trace ID.
func (b *Receiver) Traces(t *testing.T) map[string]SpanTree {
	t.Helper()
	traces, seen := map[string]SpanTree{}, map[string]string{}
	for _, s := range b.Spans() {
		id := hex.EncodeToString(s.TraceId)
		if other, twice := seen[id+string(s.SpanId)]; twice {
			t.Errorf("%s and %s are both span %x of trace %s", other, s.Name, s.SpanId, id)
		}
		seen[id+string(s.SpanId)] = s.Name
		traces[id] = append(traces[id], s)
	}
	return traces
}
