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

// TestRequestPanics makes the handling of a request panic. The connection is closed, and a metric and the log report the panic.
func TestRequestPanics(t *testing.T) {
	c, err := config.Parse("test", []byte(`sources: [{name: agent, proxy: {listen: "127.0.0.1:0", upstream: "http://127.0.0.1:1"}}]`), settings.Known())
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
	proper := p.current
	setCurrent := func(g *generation) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.current = g
	}
	setCurrent(&generation{}) // it has no proxy
	if resp, err := http.Get("http://" + s.Proxies()[0].Addr + "/c4n4ry"); err == nil {
		t.Error(resp.Status)
	}
	setCurrent(proper)
	scrape := httptest.NewRecorder()
	s.Admin(nil, false).ServeHTTP(scrape, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if !strings.Contains(scrape.Body.String(), "\ndelegraph_panics_total{component=\"proxy\"} 1\n") {
		t.Error(scrape.Body)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if text := log.String(); strings.Count(text, "a fault of Delegraph") != 1 || !strings.Contains(text, "source.(*Proxy)") || strings.Contains(text, "c4n4ry") {
		t.Error(text)
	}
}
