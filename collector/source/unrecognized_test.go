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

// TestDeclaresInternal checks which frames of an unrecognized stream declare themselves internal.
func TestDeclaresInternal(t *testing.T) {
	for _, c := range []struct {
		name, data string
		want       bool
	}{
		{"", `{"kind":"internal:x"}`, true},
		{"", `{"type":"InternalEvent"}`, true},
		{"", `{"Type":" internal"}`, true},
		{"", `{"data":{"kind":"internal:x"}}`, true},
		{"", `{"kind":"internal:x","kind":"y"}`, true}, // not strict JSON
		{"", `[{"kind":"internal:x","kind":"y"}]`, true},
		{"", `{"kind":"\u0069nternal:x","kind":"y"}`, true},
		{"", `{"kind":"\tinternal:x","kind":"y"}`, true},
		{"", `{"kind":"\internal:x","kind":"y"}`, true}, // some readers ignore a needless backslash
		{"", `{"text":"\\internal:x","kind":"y","kind":"y"}`, false},
		{"internal:x", `text`, true},
		{"", `{"text":"internal"}`, false},
		{"", `an "internal" text`, false},
		{"message", `{"type":"x"}`, false},
		{"", ``, false},
	} {
		b := &event.Batch{}
		b.Begin(&event.Stream{}, sse.Frame{Event: []byte(c.name), Data: []byte(c.data)}, b.Received)
		b.Parse(16)
		if got := declaresInternal(b); got != c.want {
			t.Errorf("declaresInternal() = %t for the event %q with the data %s, want %t", got, c.name, c.data, c.want)
		}
	}
}

// TestRoutes checks which paths are run paths, which of them are open, and which requests may get a stream on any path.
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
		if known := found.dialects != nil; known != c.known || found.unconfirmed != c.open {
			t.Errorf("%s with %+v is a run path: %t, open: %t", c.path, c.settings, known, found.unconfirmed)
		}
	}
	for header, want := range map[string]bool{"Content-Type: application/json; charset=utf-8": true, "Accept: a/b, text/event-stream": true, "Content-Type: text/plain": false} {
		r := httptest.NewRequest(http.MethodPost, "/chat", nil)
		name, value, _ := strings.Cut(header, ": ")
		if r.Header.Set(name, value); mayRequestRun(r) != want {
			t.Errorf("a request with %s may get a stream: %t, want %t", header, !want, want)
		}
	}
}

// TestRequestNamesProtocol checks that, on an open path and on a run path of several dialects, a request body selects a dialect only if
// no other protocol has such requests.
func TestRequestNamesProtocol(t *testing.T) {
	for body, asks := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"message":{"messageId":"m"}}}`: "a2a",
		`{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{}}`:                      "a2a",
		`{"jsonrpc":"2.0","id":1,"method":"tasks/resubscribe","params":{"id":"t"}}`:                 "a2a",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`:                                "",
		`{"id":"c","trigger":"submit-message","messages":[]}`:                                       "aisdk",
		`{"model":"m","stream":true,"messages":[]}`:                                                 "",
	} {
		for _, isOpen := range []bool{true, false} {
			p := &Proxy{settings: ProxySettings{JSONDepth: 64}, dialects: collector.Dialects(), now: time.Now}
			r := httptest.NewRequest(http.MethodPost, "/jsonrpc", strings.NewReader(body))
			x := &exchange{route: route{dialects: p.dialects, unconfirmed: isOpen}, body: newRequestBody(r), length: r.ContentLength}
			x.body.copy.limit = len(body)
			if _, err := io.ReadAll(x.body); err != nil {
				t.Fatal(err)
			}
			s, names := p.describeStream(x)
			isKnown := slices.Equal(names, []string{asks})
			if s.Dialect != asks || x.unconfirmed != (isOpen && asks == "") || isKnown != (isOpen || asks != "") {
				t.Errorf("%s selects the dialect %q of %q, open: %t", body, s.Dialect, names, x.unconfirmed)
			}
		}
	}
}
