package web

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestAnswersAreLimited checks that a request for runs waits for a place, and is told to retry if none becomes free.
func TestAnswersAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open atomic.Int64
		release := make(chan struct{})
		h := limitResponses()(func(http.ResponseWriter, *http.Request) { open.Add(1); <-release })
		ask := func(ctx context.Context) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			go h.ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/runs", nil).WithContext(ctx))
			synctest.Wait()
			return w
		}
		for range maxResponses {
			ask(t.Context())
		}
		ctx, leave := context.WithCancel(t.Context())
		ask(ctx)
		refused := ask(t.Context())
		leave()
		if open.Load() != maxResponses {
			t.Errorf("%d responses are built at once, want %d", open.Load(), maxResponses)
		}
		time.Sleep(responseWait - time.Second)
		waiting := ask(t.Context())
		time.Sleep(time.Second)
		synctest.Wait()
		if refused.Code != http.StatusServiceUnavailable || refused.Header().Get("Retry-After") == "" {
			t.Errorf("a request over the limit gets %d %v", refused.Code, refused.Header())
		}
		release <- struct{}{}
		synctest.Wait()
		if open.Load() != maxResponses+1 || waiting.Code != http.StatusOK {
			t.Errorf("%d responses were built, want one more than %d; status %d", open.Load(), maxResponses, waiting.Code)
		}
		close(release)
	})
}

// TestUnreadAnswer checks that a client that does not read loses its place after a while.
func TestUnreadAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var left atomic.Bool
		client, conn := net.Pipe()
		server := &http.Server{Handler: limitResponses()(func(w http.ResponseWriter, _ *http.Request) {
			_, err := io.WriteString(w, strings.Repeat("x", 1<<20))
			left.Store(err != nil)
		})}
		listener := &oneConn{conns: make(chan net.Conn, 1), closed: make(chan struct{})}
		listener.conns <- conn
		go func() { _ = server.Serve(listener) }()
		go func() { _, _ = io.WriteString(client, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n") }()
		time.Sleep(responseTimeout - time.Second)
		if synctest.Wait(); left.Load() {
			t.Error("the answer is given up early")
		}
		time.Sleep(time.Second)
		if synctest.Wait(); !left.Load() {
			t.Errorf("the response still waits for its client after %s", responseTimeout)
		}
		_ = server.Close()
		_ = client.Close()
	})
}

// oneConn is a listener with one connection.
type oneConn struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l *oneConn) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *oneConn) Close() error   { close(l.closed); return nil }
func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{} }
