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

// TestNothingIsSentTwice has an agent that answers one request of each connection and closes it when it has read the next, as
// one does that closes an idle connection just then.
func TestNothingIsSentTwice(t *testing.T) {
	const times = 3
	for name, c := range map[string]struct {
		method, path, body string
		header             http.Header
		again              bool // the transport may send it again
	}{
		"a run":                 {http.MethodPost, "/run_sse", request, nil, false},
		"a run without a body":  {http.MethodPost, "/run_sse", "", http.Header{"Idempotency-Key": {"k"}}, false},
		"a run by GET":          {http.MethodGet, "/run_sse", "", nil, false},
		"a session":             {http.MethodPost, "/apps/a/users/u/sessions", "{}", nil, false},
		"a session's end":       {http.MethodDelete, "/apps/a/users/u/sessions/s", "", nil, false},
		"a question":            {http.MethodGet, "/list-apps", "", nil, true},
		"a question with words": {http.MethodGet, "/list-apps", "{}", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			agent, begun := forgetfulAgent(t)
			p := newProxy(t, &seen{}, agent, source.ProxySettings{})
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
					t.Errorf("%d %q, %v", resp.StatusCode, got, err)
				}
			}
			if n := begun(); n != times && !c.again {
				t.Errorf("the agent read %d requests, the clients sent %d", n, times)
			}
		})
	}
}

// forgetfulAgent returns its address and how many requests it has read.
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

// TestWhyThereIsNoAnswer reads the log.
func TestWhyThereIsNoAnswer(t *testing.T) {
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
		"closes":                   {"http", answers(""), "EOF"},
		"breaks off in its header": {"http", answers("HTTP/1.1 200 OK\r\nX-Secret: hunt"), "unexpected EOF"},
		"no HTTP":                  {"http", answers("hunter2\r\n\r\n"), "its answer is no HTTP"},
		"a status below 100":       {"http", answers("HTTP/1.1 099 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: hunter2\n\n"), "its answer is no HTTP"},
		"a header that is none":    {"http", answers("HTTP/1.1 200 OK\r\nhunter2\r\n\r\n"), "its answer is no HTTP"},
		"HTTP, not HTTPS":          {"https", answers("HTTP/1.1 400 hunter2\r\n\r\n"), "first record does not look like a TLS handshake"},
		"no TLS":                   {"https", answers("hunter2 hunter2\r\n"), "first record does not look like a TLS handshake"},
		"its own certificate":      {"https", encrypted(nil), "certificate signed by unknown authority"},
		"an old version":           {"https", encrypted(&tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}), "protocol version not supported"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &seen{}
			p := newProxy(t, s, c.scheme+"://"+c.agent(t), source.ProxySettings{})
			resp := post(t, front(t, p, p), request)
			said, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != http.StatusBadGateway || s.down != 1 || strings.Contains(string(said), "answered, but not in HTTP") != (c.why == "its answer is no HTTP") {
				t.Errorf("%d %q, %v, counted %d", resp.StatusCode, said, err, s.down)
			}
			if logged := s.log.String(); !strings.Contains(logged, c.why) || strings.Contains(logged+string(said), "hunt") {
				t.Errorf("it says %s", logged)
			}
		})
	}
}

// TestClientBreaksOff has requests that are no agent's fault.
func TestClientBreaksOff(t *testing.T) {
	for name, sent := range map[string]string{
		"malformed":    "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
		"too short":    "Content-Length: 10\r\n\r\n{",
		"in its chunk": "Transfer-Encoding: chunked\r\n\r\n9\r\n{",
	} {
		t.Run(name, func(t *testing.T) {
			s := &seen{}
			address, _ := startProxy(t, s, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.ReadAll(r.Body) }), 0)
			got := say(t, address, "POST /run_sse HTTP/1.1\r\nHost: a\r\n"+sent, true)
			if !strings.HasPrefix(got, "HTTP/1.1 400 ") || s.down != 0 || s.log.Len() > 0 {
				t.Errorf("the client gets %q; counted %d, logged %s", got, s.down, &s.log)
			}
		})
	}
}
