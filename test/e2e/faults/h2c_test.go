package faults_test

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
	"github.com/delegraph/delegraph/test/agents/fakeagent"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// TestFaultH2C uses agents and clients that speak HTTP/2 without TLS. Delegraph speaks HTTP/1.1 with both:
//   - An agent that speaks both versions works.
//   - Clients of an agent that speaks only HTTP/2 get a 502.
//   - A client that speaks only HTTP/2 is refused.
//   - A client that offers an upgrade is answered in HTTP/1.1.
//
// Nothing hangs. A plain proxy does the same, except that it passes the HTTP/2 preface to the agent.
func TestFaultH2C(t *testing.T) {
	const whole = fakeagent.Run
	serve := func(http1 bool) (address string) {
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, whole)
		}))
		server.Config.Protocols = new(http.Protocols)
		server.Config.Protocols.SetHTTP1(http1)
		server.Config.Protocols.SetUnencryptedHTTP2(true)
		server.Start()
		t.Cleanup(server.Close)
		return server.URL
	}
	ask := adkserver.RunRequest("u", "s", "x", true)
	offers := http.Header{"Connection": {"Upgrade, HTTP2-Settings"}, "Upgrade": {"h2c"}, "Http2-Settings": {"AAMAAABkAAQAoAAAAAIAAAAA"}}
	for _, relay := range []string{"verbatim", "filtered"} {
		t.Run(relay, func(t *testing.T) {
			both, only := serve(true), serve(false)
			service := harness.Launch(t, fmt.Sprintf("stream: {listen: \"127.0.0.1:0\"}\nsources:\n"+
				"  - {name: both, relay: %[1]s, proxy: {listen: \"127.0.0.1:0\", upstream: %[2]q}}\n"+
				"  - {name: only, relay: %[1]s, proxy: {listen: \"127.0.0.1:0\", upstream: %[3]q}}\n", relay, both, only), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
			at := func(i int) string { return "http://" + service.Proxies()[i].Addr }
			for name, header := range map[string]http.Header{"HTTP/1.1": nil, "an offer": offers} {
				if got := harness.Post(t, at(0), ask, header); got.Status != http.StatusOK || got.Err != nil || strings.Count(string(got.Body), "\n\n") != 3 {
					t.Errorf("an agent that speaks both, asked by %s: %d %q, %v", name, got.Status, got.Body, got.Err)
				}
			}
			target, _ := url.Parse(only)
			plain := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, ErrorLog: log.New(io.Discard, "", 0)})
			defer plain.Close()
			want, got := harness.Post(t, plain.URL, ask, nil), harness.Post(t, at(1), ask, nil)
			if want.Status != http.StatusBadGateway || got.Status != http.StatusBadGateway || !strings.HasPrefix(string(got.Body), "delegraph: ") {
				t.Errorf("an agent that speaks HTTP/2 alone: %d %q, and without Delegraph %d", got.Status, got.Body, want.Status)
			}
			if got := preface(t, at(0)); !strings.HasPrefix(got, "HTTP/1.1 505 ") {
				t.Errorf("a client that speaks only HTTP/2 got %q", got)
			}
			service.Wait()
			if ended := service.Count(t, "delegraph_runs_ended_total", "status", "completed"); ended != 2 || service.Count(t, "delegraph_runs_open") != 0 {
				t.Errorf("%v runs completed, %v are open", ended, service.Count(t, "delegraph_runs_open"))
			}
		})
	}
}

// preface is the first line that a server sends to a client that starts with HTTP/2.
func preface(t *testing.T, address string) string {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute)) // for a server that hangs
	if _, err := io.WriteString(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil && len(answer) == 0 {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(answer), "\r\n")
	return line
}
