package source

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestOnePromise checks that a client that expects "100 Continue" gets it once. The agent's own 100 arrives when the
// request's body is already being read, and net/http sends one at the first read.
func TestOnePromise(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := newAnswerWriter(w, r, newRequestBody(r))
		_, _ = io.ReadAll(r.Body)
		answer.WriteHeader(http.StatusContinue) // the agent's
		answer.WriteHeader(http.StatusOK)
	}))
	defer server.Close()
	for request, want := range map[string]int{
		"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}": 1,
		"Content-Length: 2\r\n\r\n{}":                         1, // a 100 that the client did not expect passes
		"Expect: 100-continue\r\n\r\n":                        1, // without a body the server sends none
	} {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"+request)
		answer, _ := io.ReadAll(conn)
		_ = conn.Close()
		if got := strings.Count(string(answer), "100 Continue"); got != want || !strings.Contains(string(answer), "200 OK") {
			t.Errorf("%q: the client gets %q, want %d promises", request, answer, want)
		}
	}
}
