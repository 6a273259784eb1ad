package sidecar

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/recovery"
)

// headerRig is a port with an account for two large headers. Its handler reads the body and answers when it is released.
type headerRig struct {
	*port
	budget  *budget.Budget
	account *budget.Account
	closed  chan struct{} // gets a value for each connection that the server has closed
	release chan struct{}
}

const largeHeader = 100 << 10

// inUse returns the bytes that the account was charged.
func (r *headerRig) inUse() int { return r.account.Limit() - r.account.Remaining() }

func newHeaderRig(t *testing.T) *headerRig {
	logger := slog.New(slog.DiscardHandler)
	b := budget.New(2*largeHeader + largeHeader/2)
	account := b.Account("headers", 1, 1)
	p, err := openPort("a", "127.0.0.1:0", account, recovery.New(logger, func(recovery.Component) {}), logger)
	if err != nil {
		t.Fatal(err)
	}
	rig := &headerRig{port: p, budget: b, account: account, closed: make(chan struct{}, 10), release: make(chan struct{})}
	p.server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		headerIsComplete(r)
		_, _ = io.Copy(io.Discard, r.Body)
		<-rig.release
	})
	p.server.ConnState = func(c net.Conn, s http.ConnState) {
		if releaseHeader(c, s); s == http.StateClosed {
			rig.closed <- struct{}{}
		}
	}
	served := make(chan struct{})
	go func() { defer close(served); _ = p.serve() }()
	t.Cleanup(func() { p.server.Close(); <-served })
	return rig
}

// send sends a request on a new connection, whose header has a size in bytes.
func (r *headerRig) send(t *testing.T, size int, rest string) net.Conn {
	conn, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", r.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: a\r\nX: "+strings.Repeat("a", size)+rest)
	}()
	return conn
}

func status(t *testing.T, conn net.Conn) int {
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}

// TestLargeHeadersAreBounded sends three large headers when there is room for two, complete and unfinished ones. A
// small header must still pass, and the memory must be released with the connections.
func TestLargeHeadersAreBounded(t *testing.T) {
	for name, rest := range map[string]string{"complete": "\r\nContent-Length: 0\r\n\r\n", "unfinished": ""} {
		t.Run(name, func(t *testing.T) {
			rig := newHeaderRig(t)
			conns := []net.Conn{rig.send(t, largeHeader, rest), rig.send(t, largeHeader, rest)}
			for rig.inUse() < 2*(largeHeader-smallHeader) {
				runtime.Gosched()
			}
			third := rig.send(t, largeHeader, rest)
			answer, err := http.ReadResponse(bufio.NewReader(third), nil)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(answer.Body) // until the server closes the connection
			if want := "431 Request Header Fields Too Large"; string(text) != want {
				t.Errorf("a header without room gets %q, want %q", text, want)
			}
			<-rig.closed
			close(rig.release)
			if got := status(t, rig.send(t, 1000, "\r\nContent-Length: 0\r\n\r\n")); got != http.StatusOK {
				t.Errorf("a small header gets %d, want 200", got)
			}
			for _, conn := range conns {
				conn.Close()
			}
			<-rig.closed
			<-rig.closed
			if shed := rig.budget.Usage()[0].Shed; shed != 1 {
				t.Errorf("%d refusals are counted, want 1", shed)
			}
			if left := rig.inUse(); left != 0 {
				t.Errorf("after all connections, %d bytes are in use, want 0", left)
			}
		})
	}
}

// TestBodiesAreNoHeaders sends requests with bodies on one connection, which together have more bytes than headers may.
func TestBodiesAreNoHeaders(t *testing.T) {
	rig := newHeaderRig(t)
	close(rig.release)
	body := strings.Repeat("b", 4*largeHeader)
	request := fmt.Sprintf("\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	conn := rig.send(t, largeHeader, request)
	for range 3 {
		if got := status(t, conn); got != http.StatusOK {
			t.Fatalf("a request gets %d, want 200", got)
		}
		_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: a\r\nX: "+strings.Repeat("a", largeHeader)+request)
	}
}
