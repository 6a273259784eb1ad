package source

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
)

// TestCallsItselfInternal finds the names by which a frame that is no dialect's calls itself internal.
func TestCallsItselfInternal(t *testing.T) {
	for _, c := range []struct {
		name, data string
		want       bool
	}{
		{"", `{"kind":"internal:x"}`, true},
		{"", `{"type":"InternalEvent"}`, true},
		{"", `{"Type":" internal"}`, true},
		{"", `{"data":{"kind":"internal:x"}}`, true},
		{"", `{"kind":"internal:x","kind":"y"}`, true}, // no strict JSON
		{"internal:x", `text`, true},
		{"", `{"text":"internal"}`, false},
		{"", `an "internal" text`, false},
		{"message", `{"type":"x"}`, false},
		{"", ``, false},
	} {
		b := &event.Batch{}
		b.Begin(&event.Stream{}, sse.Frame{Event: []byte(c.name), Data: []byte(c.data)}, b.Received)
		b.Parse(16)
		if got := callsItselfInternal(b); got != c.want {
			t.Errorf("%s %s: %t", c.name, c.data, got)
		}
	}
}

// TestRoutes says which paths are an agent's, which need not be, and which requests may ask for a run anywhere.
func TestRoutes(t *testing.T) {
	for _, c := range []struct {
		settings ProxySettings
		path     string
		known    bool
		open     bool
	}{
		{ProxySettings{}, "/", true, true},
		{ProxySettings{}, "/invocations", true, true},
		{ProxySettings{}, "/agui", true, false},
		{ProxySettings{}, "/run_sse", true, false},
		{ProxySettings{}, "/chat", false, false},
		{ProxySettings{Paths: []string{"/invocations"}}, "/invocations", true, false},
		{ProxySettings{Paths: []string{"/chat"}}, "/invocations", false, false},
		{ProxySettings{Dialect: "looopy"}, "/invocations", true, false},
	} {
		p := &Proxy{settings: c.settings, dialects: collector.Dialects()}
		found := p.route(httptest.NewRequest(http.MethodPost, c.path, nil))
		if known := found.dialects != nil; known != c.known || found.open != c.open {
			t.Errorf("%s with %+v: known %t, open %t", c.path, c.settings, known, found.open)
		}
	}
	for header, want := range map[string]bool{"Content-Type: application/json; charset=utf-8": true, "Accept: a/b, text/event-stream": true, "Content-Type: text/plain": false} {
		r := httptest.NewRequest(http.MethodPost, "/chat", nil)
		name, value, _ := strings.Cut(header, ": ")
		if r.Header.Set(name, value); mayAskForRun(r) != want {
			t.Errorf("%s: %t", header, !want)
		}
	}
}
