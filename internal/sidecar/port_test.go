package sidecar

import (
	"bufio"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/recovery"
)

// TestHeadersAreBounded checks that the port answers 431 to a header of more than maxHeaderBytes before it is complete.
func TestHeadersAreBounded(t *testing.T) {
	logger := slog.New(slog.DiscardHandler)
	p, err := openPort("a", "127.0.0.1:0", recovery.New(logger, func(recovery.Component) {}), logger)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = p.serve() }()
	defer p.close()
	conn, err := net.Dial("tcp", p.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go func() {
		_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: a\r\nX: "+strings.Repeat("a", 2*maxHeaderBytes))
	}()
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("the answer is %d, want 431", answer.StatusCode)
	}
}
