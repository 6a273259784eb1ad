package source_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/source"
)

// TestRefusedBody checks that a client that sends "Expect: 100-continue" gets the agent's refusal and is not asked for
// the body. Otherwise it would still be sending when the agent closes the connection.
func TestRefusedBody(t *testing.T) {
	eachRelay(t, func(t *testing.T, newFilter func() source.Filter) {
		address, _ := startFiltered(t, &proxyRecorder{}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
		}), 1<<20, newFilter)
		for _, path := range []string{"/run_sse", "/upload"} {
			client, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = client.Close() })
			_, _ = io.WriteString(client, "POST "+path+" HTTP/1.1\r\nHost: agent\r\nExpect: 100-continue\r\nContent-Length: 5000000\r\n\r\n")
			if first, err := bufio.NewReader(client).ReadString('\n'); err != nil || !strings.Contains(first, " 401 ") {
				t.Errorf("%s: the client gets %q (%v), want the refusal", path, first, err)
			}
		}
	})
}

// TestRefusedBodyOfOpenConnection checks that the client gets a refusal that the agent sends late, on a connection that stays open.
// The transport then reads the body as soon as the refusal has arrived.
func TestRefusedBodyOfOpenConnection(t *testing.T) {
	agent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Close() })
	go func() {
		for {
			c, err := agent.Accept()
			if err != nil {
				return
			}
			if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				_, _ = io.WriteString(c, "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")
			}
		}
	}()
	for _, policy := range []source.ProxySettings{{}, {NewFilter: func() source.Filter { return passValid{} }}, {Public: true, NewFilter: func() source.Filter { return passValid{} }}} {
		p := newProxy(t, &proxyRecorder{}, "http://"+agent.Addr().String(), policy)
		address := strings.TrimPrefix(front(t, p, p), "http://")
		for range 60 {
			client, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(client, "POST /run_sse HTTP/1.1\r\nHost: agent\r\nExpect: 100-continue\r\nContent-Length: 5000000\r\n\r\n")
			first, err := bufio.NewReader(client).ReadString('\n')
			_ = client.Close()
			if err != nil || !strings.Contains(first, " 401 ") {
				t.Fatalf("public %t: the client gets %q (%v), want the refusal", policy.Public, first, err)
			}
		}
	}
}
