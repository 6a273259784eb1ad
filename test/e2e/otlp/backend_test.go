package otlp_test

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	_ "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/status"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/loopback"
)

// TestTraceBackendFaults uses backends that do not accept spans. Clients notice nothing, and every span is accounted for.
func TestTraceBackendFaults(t *testing.T) {
	const overGRPC, overHTTP = "grpc", "http/protobuf"
	for name, fault := range map[string]struct {
		endpoint func(testing.TB, *harness.Receiver) string
		protocol string
		reason   string
	}{
		"refuses the connection":                {harness.ClosedURL, overGRPC, "shutdown"},
		"refuses the connection over HTTP":      {harness.ClosedURL, overHTTP, "shutdown"},
		"accepts and hangs":                     {deaf, overGRPC, "shutdown"},
		"accepts and hangs over HTTP":           {deaf, overHTTP, "shutdown"},
		"has a certificate of nobody":           {encrypted, overGRPC, "shutdown"},
		"has a certificate of nobody over HTTP": {encrypted, overHTTP, "shutdown"},
		"is unavailable": {func(_ testing.TB, b *harness.Receiver) string {
			b.Refuse = func() error { return status.Error(codes.Unavailable, "starting") }
			return "http://" + b.GRPC
		}, overGRPC, "shutdown"},
		"answers 500": {func(_ testing.TB, b *harness.Receiver) string {
			b.Refuse = func() error { return errors.New("broken") }
			return b.HTTP.URL
		}, overHTTP, "rejected"},
	} {
		t.Run(name, func(t *testing.T) {
			agent, receiver := recorded.NewAgent(t), harness.NewReceiver(t)
			service := harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL), map[string]string{
				"OTEL_EXPORTER_OTLP_ENDPOINT": fault.endpoint(t, receiver), "OTEL_EXPORTER_OTLP_PROTOCOL": fault.protocol,
			})
			service.Grace = time.Second / 4
			names := agent.Names()[:20]
			for _, name := range names {
				if got := harness.AskOK(t, service, adkserver.RunRequest("u", "s", name, true)); !bytes.Equal(got, agent.Recordings[name]) {
					t.Errorf("%s: the client got %d bytes of %d", name, len(got), len(agent.Recordings[name]))
				}
			}
			made := len(names) // including the server spans
			for _, r := range service.Recent.Reports() {
				made += len(r.Operations)
			}
			service.Stop()
			exported, queued := service.Count(t, "delegraph_spans_exported_total"), service.Count(t, "delegraph_spans_queued")
			if dropped := service.Count(t, "delegraph_spans_dropped_total", "reason", fault.reason); dropped != float64(made) || exported != 0 || queued != 0 {
				t.Errorf("of %d spans %v were dropped, %v exported, %v are queued", made, dropped, exported, queued)
			}
			if n := len(receiver.Spans()); n > 0 {
				t.Errorf("%d spans received", n)
			}
			if told := strings.Contains(service.Log.String(), "not every span was delivered"); told != (fault.reason == "shutdown") {
				t.Errorf("the log:\n%s", service.Log)
			}
		})
	}
}

// TestBackendComesBack uses a backend that is away when spans come and back before the sidecar has stopped.
func TestBackendComesBack(t *testing.T) {
	agent, receiver := recorded.NewAgent(t), harness.NewReceiver(t)
	attempts := 0
	receiver.Refuse = func() error {
		if attempts++; attempts <= 2 {
			return status.Error(codes.Unavailable, "starting")
		}
		return nil
	}
	service := harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL), receiver.Environment(nil))
	harness.AskOK(t, service, adkserver.RunRequest("u", "s", "adk-go/transfer", true))
	service.Stop()
	for _, spans := range receiver.Traces(t) {
		if made := len(service.Recent.Reports()[0].Operations) + 1; len(spans) != made {
			t.Errorf("%d spans of %d", len(spans), made)
		}
	}
	if attempts < 3 || len(receiver.Traces(t)) != 1 || service.Count(t, "delegraph_spans_dropped_total") != 0 {
		t.Errorf("%d traces after %d attempts", len(receiver.Traces(t)), attempts)
	}
}

// deaf returns a URL at which the kernel accepts connections, but no program does.
func deaf(t testing.TB, _ *harness.Receiver) string {
	t.Helper()
	l := loopback.Listen(t)
	t.Cleanup(func() { l.Close() })
	return "http://" + l.Addr().String()
}

// encrypted returns the URL of a backend whose certificate is not trusted.
func encrypted(t testing.TB, b *harness.Receiver) string {
	t.Helper()
	// The first verification loads the system's certificates, which can outlast the test and look like a leak.
	_, _ = x509.SystemCertPool()
	server := httptest.NewUnstartedServer(b)
	server.EnableHTTP2 = true
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL
}
