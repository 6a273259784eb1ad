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
