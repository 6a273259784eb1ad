package source_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/source"
)

// unsentLimit returns TCP_NOTSENT_LOWAT of a connection.
func unsentLimit(t *testing.T, c net.Conn) (n int) {
	t.Helper()
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	controlErr := raw.Control(func(fd uintptr) {
		n, err = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT)
	})
	if err != nil || controlErr != nil {
		t.Fatal(err, controlErr)
	}
	return n
}

// TestLargeFramesLeaveInSmallSteps checks that the system keeps few bytes for a client that gets a large frame.
// Otherwise a client that reads slowly would seem to take nothing. For other clients the system keeps as much as usual.
func TestLargeFramesLeaveInSmallSteps(t *testing.T) {
	for size, limited := range map[int]bool{100: false, 500 << 10: true} {
		agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			stream(w, `data: {"author":"a","invocationId":"e-1","n":"`+strings.Repeat("x", size)+`"}`+"\n\n")
		}))
		defer agent.Close()
		p := newProxy(t, &proxyRecorder{}, agent.URL, source.ProxySettings{
			NewFilter: func() source.Filter { return passValid{} }, FrameMemory: source.NewFrameMemory(budget.New(64<<20).Account("relays", 1, 1)),
		})
		var conn net.Conn
		server := httptest.NewUnstartedServer(p)
		server.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
			conn = c
			return source.ConnContext(ctx, c)
		}
		server.Start()
		defer server.Close()
		answer := post(t, server.URL, "{}")
		if n, err := io.Copy(io.Discard, answer.Body); err != nil || n < int64(size) {
			t.Fatalf("the client gets %d bytes, %v", n, err)
		}
		if got := unsentLimit(t, conn); (got == 64<<10) != limited {
			t.Errorf("after a frame of %d bytes, the system keeps %d bytes unsent; limited: want %t", size, got, limited)
		}
		http.DefaultClient.CloseIdleConnections()
		p.Wait()
	}
}
