package main

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
)

// TestFaultH2C has agents and clients speak HTTP/2 without TLS. Delegraph speaks HTTP/1.1 with both: an agent that has both is read
// by it, one that has nothing else gets its clients a 502, a client that has nothing else is refused, and one that offers to switch
// is answered in HTTP/1.1. Nothing hangs. A plain proxy does the same, but hands the first words of HTTP/2 to the agent.
func TestFaultH2C(t *testing.T) {
	const whole = callFrame + responseFrame + finalFrame
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
			car := launch(t, fmt.Sprintf("stream: {listen: \"127.0.0.1:0\"}\nsources:\n"+
				"  - {name: both, relay: %[1]s, proxy: {listen: \"127.0.0.1:0\", upstream: %[2]q}}\n"+
				"  - {name: only, relay: %[1]s, proxy: {listen: \"127.0.0.1:0\", upstream: %[3]q}}\n", relay, both, only), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
			at := func(i int) string { return "http://" + car.Proxies()[i].Addr }
			for name, header := range map[string]http.Header{"HTTP/1.1": nil, "an offer": offers} {
				if got := post(t, at(0), ask, header); got.status != http.StatusOK || got.err != nil || strings.Count(string(got.body), "\n\n") != 3 {
					t.Errorf("an agent that speaks both, asked by %s: %d %q, %v", name, got.status, got.body, got.err)
				}
			}
			target, _ := url.Parse(only)
			plain := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, ErrorLog: log.New(io.Discard, "", 0)})
			defer plain.Close()
			want, got := post(t, plain.URL, ask, nil), post(t, at(1), ask, nil)
			if want.status != http.StatusBadGateway || got.status != http.StatusBadGateway || !strings.HasPrefix(string(got.body), "delegraph: ") {
				t.Errorf("an agent that speaks HTTP/2 alone: %d %q, and without Delegraph %d", got.status, got.body, want.status)
			}
			if got := preface(t, at(0)); !strings.HasPrefix(got, "HTTP/1.1 505 ") {
				t.Errorf("a client that speaks HTTP/2 alone is told %q", got)
			}
			car.Wait()
			if ended := car.count(t, "delegraph_runs_ended_total", "status", "completed"); ended != 2 || car.count(t, "delegraph_runs_open") != 0 {
				t.Errorf("%v runs completed, %v are open", ended, car.count(t, "delegraph_runs_open"))
			}
		})
	}
}

// preface is the first line that a server says to a client that begins to speak HTTP/2.
func preface(t *testing.T, address string) string {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute)) // of a server that hangs
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
