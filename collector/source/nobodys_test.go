package source

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

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
		{ProxySettings{Public: true}, "/", true, false},
		{ProxySettings{Public: true}, "/invocations", true, false},
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

// TestRequestNamesProtocol sends requests to a path that is no agent's: only one that no other protocol has makes it an agent's.
func TestRequestNamesProtocol(t *testing.T) {
	for body, asks := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"message":{"messageId":"m"}}}`: "a2a",
		`{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{}}`:                      "a2a",
		`{"jsonrpc":"2.0","id":1,"method":"tasks/resubscribe","params":{"id":"t"}}`:                 "a2a",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`:                                "",
		`{"model":"m","stream":true,"messages":[]}`:                                                 "",
	} {
		p := &Proxy{settings: ProxySettings{JSONDepth: 64}, dialects: collector.Dialects(), now: time.Now}
		r := httptest.NewRequest(http.MethodPost, "/jsonrpc", strings.NewReader(body))
		x := &exchange{route: route{dialects: p.dialects, open: true}, body: newRequestBody(r), length: r.ContentLength}
		x.body.limit = len(body)
		if _, err := io.ReadAll(x.body); err != nil {
			t.Fatal(err)
		}
		if s, names := p.stream(x); s.Dialect != asks || x.open != (asks == "") || !slices.Equal(names, []string{asks}) {
			t.Errorf("%s: dialect %q of %q, open %t", body, s.Dialect, names, x.open)
		}
	}
}
