package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestRequestPanics has the handling of a request panic. It breaks off, and a scrape and the log tell of it.
func TestRequestPanics(t *testing.T) {
	car := launch(t, fmt.Sprintf(verbatim, "http://127.0.0.1:1"), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	car.panicking = true
	p := car.proxies[0]
	before := p.current
	p.mu.Lock()
	p.current = &turn{} // without a proxy
	p.mu.Unlock()
	if resp, err := http.Get("http://" + p.listener.Addr().String() + "/c4n4ry"); err == nil {
		t.Error(resp.Status)
	}
	p.mu.Lock()
	p.current = before
	p.mu.Unlock()
	scrape := httptest.NewRecorder()
	car.admin.ServeHTTP(scrape, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if !strings.Contains(scrape.Body.String(), "\ndelegraph_panics_total{component=\"proxy\"} 1\n") {
		t.Error(scrape.Body)
	}
	if log := car.log.String(); strings.Count(log, "a fault of Delegraph") != 1 || !strings.Contains(log, "source.(*Proxy)") || strings.Contains(log, "c4n4ry") {
		t.Error(log)
	}
}
