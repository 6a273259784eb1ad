package sidecar

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/internal/settings"
)

// TestRequestPanics checks that a panic while a request is handled closes the connection and is reported by a metric and the log.
func TestRequestPanics(t *testing.T) {
	c, err := config.Parse("test", []byte(`{stream: {listen: "127.0.0.1:0"}, sources: [{name: agent, proxy: {listen: "127.0.0.1:0", upstream: "http://127.0.0.1:1"}}]}`), settings.KnownNames())
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	s, err := New(t.Context(), c, slog.New(slog.NewTextHandler(&log, nil)), func(name string) string {
		return map[string]string{"OTEL_TRACES_EXPORTER": "none"}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Run(ctx) }()
	p := s.proxies[0]
	before := p.current
	setCurrent := func(g *generation) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.current = g
	}
	setCurrent(&generation{}) // without a proxy, requests panic
	if resp, err := http.Get("http://" + s.Proxies()[0].Addr + "/c4n4ry"); err == nil {
		t.Errorf("the client gets %s, want a closed connection", resp.Status)
	}
	setCurrent(before)
	scrape := httptest.NewRecorder()
	s.Admin(nil, false).ServeHTTP(scrape, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if !strings.Contains(scrape.Body.String(), "\ndelegraph_panics_total{component=\"proxy\"} 1\n") {
		t.Errorf("the panic is not counted in\n%s", scrape.Body)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("Run() = %v", err)
	}
	if text := log.String(); strings.Count(text, "recovered from an internal error") != 1 || !strings.Contains(text, "source.(*Proxy)") || strings.Contains(text, "c4n4ry") {
		t.Errorf("the log is %s, want one line with the place of the panic and without the request", text)
	}
}
