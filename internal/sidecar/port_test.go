package sidecar

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/collector/source"
)

// TestHeadersAreBounded checks that the port answers 431 to a header of more than maxHeaderBytes before it is complete.
func TestHeadersAreBounded(t *testing.T) {
	logger := slog.New(slog.DiscardHandler)
	p, err := openPort("a", "127.0.0.1:0", nil, recovery.New(logger, func(recovery.Component) {}), logger)
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

// TestProxiesGetConnections checks that a proxy gets the connections of its clients.
func TestProxiesGetConnections(t *testing.T) {
	logger := slog.New(slog.DiscardHandler)
	p, err := openPort("a", "127.0.0.1:0", nil, recovery.New(logger, func(recovery.Component) {}), logger)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	client, _ := net.Pipe()
	defer client.Close()
	conn := &headerConn{Conn: client}
	want := source.ConnContext(context.WithValue(t.Context(), headerKey{}, conn), client)
	if got := p.server.ConnContext(t.Context(), conn); !reflect.DeepEqual(got, want) {
		t.Errorf("the context of a request is %v, want %v", got, want)
	}
}
