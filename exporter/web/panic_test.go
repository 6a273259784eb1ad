package web_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/exporter/recent"
	"github.com/delegraph/delegraph/exporter/web"
)

// TestPagePanics checks that a panic aborts only its own response.
func TestPagePanics(t *testing.T) {
	var log bytes.Buffer
	counted := 0
	panics := recovery.New(slog.New(slog.NewTextHandler(&log, nil)), func(recovery.Component) { counted++ })
	server := httptest.NewServer(web.Handler(web.Settings{
		Gatherer: prometheus.NewRegistry(), Runs: recent.New(1, 1), Logger: slog.New(slog.DiscardHandler), Panics: panics,
		Ready: func() error { panic("c4n4ry") },
	}))
	defer server.Close()
	defer http.DefaultClient.CloseIdleConnections()
	for range 2 {
		if resp, err := http.Get(server.URL + "/-/ready"); err == nil {
			t.Errorf("a page that panicked answers %s", resp.Status)
		}
	}
	if resp, err := http.Get(server.URL + "/-/healthy"); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("%v, %v", resp, err)
	} else {
		resp.Body.Close()
	}
	if line := log.String(); counted != 2 || strings.Count(line, "\n") != 1 || !strings.Contains(line, "component=admin") || !strings.Contains(line, "panic_test.go") || strings.Contains(line, "c4n4ry") {
		t.Errorf("%d panics; the log is %s", counted, line)
	}
}
