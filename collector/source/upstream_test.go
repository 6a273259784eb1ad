package source_test

import (
	"bufio"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/delegraph/delegraph/collector/source"
)

// TestNothingIsSentTwice checks that a request that must not be repeated is sent once, even if the agent closes an idle connection while
// the request is on its way.
func TestNothingIsSentTwice(t *testing.T) {
	const times = 3
	for name, c := range map[string]struct {
		method, path, body string
		header             http.Header
		again              bool // the transport may repeat it
	}{
		"a run":                {http.MethodPost, "/run_sse", request, nil, false},
		"a run without a body": {http.MethodPost, "/run_sse", "", http.Header{"Idempotency-Key": {"k"}}, false},
		"a run by GET":         {http.MethodGet, "/run_sse", "", nil, false},
		"a session":            {http.MethodPost, "/apps/a/users/u/sessions", "{}", nil, false},
		"a session's end":      {http.MethodDelete, "/apps/a/users/u/sessions/s", "", nil, false},
		"a GET":                {http.MethodGet, "/list-apps", "", nil, true},
		"a GET with a body":    {http.MethodGet, "/list-apps", "{}", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			agent, begun := forgetfulAgent(t)
			p := newProxy(t, &proxyRecorder{}, agent, source.ProxySettings{})
			address := front(t, p, p)
			for range times {
				r, err := http.NewRequestWithContext(t.Context(), c.method, address+c.path, strings.NewReader(c.body))
				if err != nil {
					t.Fatal(err)
				}
				if c.header != nil {
					r.Header = c.header
				}
				resp, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || resp.StatusCode != http.StatusOK || string(got) != "ok" {
					t.Errorf("the client gets %d %q, %v", resp.StatusCode, got, err)
				}
			}
			if n := begun(); n != times && !c.again {
				t.Errorf("the agent reads %d requests, but the clients sent %d", n, times)
			}
		})
	}
}

// forgetfulAgent starts an agent that answers the first request of each connection and closes the connection at the second. It returns its
// address and a function that returns the number of requests.
func forgetfulAgent(t *testing.T) (string, func() int) {
	t.Helper()
	var mu sync.Mutex
	begun := 0
	address := listen(t, func(conn net.Conn) {
		requests := bufio.NewReader(conn)
		for first := true; ; first = false {
			r, err := http.ReadRequest(requests)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			mu.Lock()
			begun++
			mu.Unlock()
			if !first {
				return
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	})
	return "http://" + address, func() int { mu.Lock(); defer mu.Unlock(); return begun }
}

// listen serves connections until the test ends.
func listen(t *testing.T, serve func(net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	ending := make(chan struct{})
	t.Cleanup(func() { l.Close(); close(ending); all.Wait() })
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			over := make(chan struct{})
			all.Go(func() { defer close(over); serve(conn) })
			all.Go(func() {
				select {
				case <-over:
				case <-ending:
				}
				conn.Close()
			})
		}
	})
	return l.Addr().String()
}

// TestUnreachableReasons checks the reasons that are logged if the agent does not answer.
func TestUnreachableReasons(t *testing.T) {
	answers := func(bytes string) func(*testing.T) string {
		return func(t *testing.T) string {
			return listen(t, func(conn net.Conn) {
				if r, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
					_, _ = io.Copy(io.Discard, r.Body)
				}
				_, _ = io.WriteString(conn, bytes)
			})
		}
	}
	encrypted := func(config *tls.Config) func(*testing.T) string {
		return func(t *testing.T) string {
			agent := httptest.NewUnstartedServer(http.NotFoundHandler())
			agent.Config.ErrorLog, agent.TLS = log.New(io.Discard, "", 0), config
			agent.StartTLS()
			t.Cleanup(agent.Close)
			return agent.Listener.Addr().String()
		}
	}
	for name, c := range map[string]struct {
		scheme string
		agent  func(*testing.T) string
		why    string // in the log
	}{
		"closed":                {"http", answers(""), "EOF"},
		"an incomplete header":  {"http", answers("HTTP/1.1 200 OK\r\nX-Secret: hunt"), "unexpected EOF"},
		"not HTTP":              {"http", answers("hunter2\r\n\r\n"), "its answer is not HTTP"},
		"a status below 100":    {"http", answers("HTTP/1.1 099 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: hunter2\n\n"), "its answer is not HTTP"},
		"an invalid header":     {"http", answers("HTTP/1.1 200 OK\r\nhunter2\r\n\r\n"), "its answer is not HTTP"},
		"HTTP, not HTTPS":       {"https", answers("HTTP/1.1 400 hunter2\r\n\r\n"), "first record does not look like a TLS handshake"},
		"not TLS":               {"https", answers("hunter2 hunter2\r\n"), "first record does not look like a TLS handshake"},
		"a private certificate": {"https", encrypted(nil), "certificate signed by unknown authority"},
		"an old version":        {"https", encrypted(&tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}), "protocol version not supported"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &proxyRecorder{}
			p := newProxy(t, s, c.scheme+"://"+c.agent(t), source.ProxySettings{})
			resp := post(t, front(t, p, p), request)
			body, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != http.StatusBadGateway || s.down != 1 || strings.Contains(string(body), "did not answer in HTTP") != (c.why == "its answer is not HTTP") {
				t.Errorf("the client gets %d %q, %v; the agent is counted as unreachable %d times", resp.StatusCode, body, err, s.down)
			}
			if logged := s.log.String(); !strings.Contains(logged, c.why) || strings.Contains(logged+string(body), "hunt") {
				t.Errorf("the log is %s", logged)
			}
		})
	}
}

// TestInvalidRequests checks that invalid and incomplete requests are not reported as an unreachable agent.
func TestInvalidRequests(t *testing.T) {
	for name, sent := range map[string]string{
		"malformed":    "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
		"too short":    "Content-Length: 10\r\n\r\n{",
		"in its chunk": "Transfer-Encoding: chunked\r\n\r\n9\r\n{",
	} {
		t.Run(name, func(t *testing.T) {
			s := &proxyRecorder{}
			address, _ := startProxy(t, s, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.ReadAll(r.Body) }), 0)
			got := sendRaw(t, address, "POST /run_sse HTTP/1.1\r\nHost: a\r\n"+sent, true)
			if !strings.HasPrefix(got, "HTTP/1.1 400 ") || s.down != 0 || s.log.Len() > 0 {
				t.Errorf("the client gets %q; the agent is counted as unreachable %d times, and the log is %s", got, s.down, &s.log)
			}
		})
	}
}
