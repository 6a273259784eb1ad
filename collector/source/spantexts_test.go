package source_test

import (
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"
	"unsafe"

	"go.opentelemetry.io/otel/attribute"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/source"
)

// TestServerSpanTexts checks that attributes are limited, valid UTF-8 and copies, for requests with long or invalid texts.
func TestServerSpanTexts(t *testing.T) {
	const length = 900 << 10
	long := strings.Repeat("a", length)
	agent := startAgent(t)
	for name, c := range map[string]struct {
		method, path string
		header       string // X-Forwarded-Host
	}{
		"long path":         {"POST", "/run_sse;" + long, ""},
		"long escaped path": {"POST", "/run_sse;" + strings.Repeat("%ff", length/3), ""},
		"long query":        {"POST", "/run_sse?" + long, ""},
		"long method":       {long, "/run_sse", ""},
		"long host":         {"POST", "/run_sse", long},
		"invalid path":      {"POST", "/run_sse;%ff%00", ""},
		"invalid host":      {"POST", "/run_sse", "a\xff\xfe:81"},
	} {
		t.Run(name, func(t *testing.T) {
			p := startTraced(t, agent, source.ProxySettings{})
			var line, host string
			address := front(t, p.Proxy, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				line, host = requestLine(r), r.Header.Get("X-Forwarded-Host")
				p.ServeHTTP(w, r)
			}))
			header := ""
			if c.header != "" {
				header = "X-Forwarded-Host: " + c.header + "\r\n"
			}
			sendRaw(t, address, c.method+" "+c.path+" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"+header+"\r\n", false)
			span := p.span(t)
			texts := map[string]string{"the name": span.Name()}
			for _, a := range span.Attributes() {
				if a.Value.Type() == attribute.STRING {
					texts[string(a.Key)] = a.Value.AsString()
				}
			}
			for what, s := range texts {
				if len(s) > event.MaxText || !utf8.ValidString(s) {
					t.Errorf("%s has %d bytes: %.40q", what, len(s), s)
				}
				if sharesMemory(s, line) || sharesMemory(s, host) {
					t.Errorf("%s shares memory with the request: %.40q", what, s)
				}
			}
		})
	}
}

// sharesMemory reports whether s is in the memory of whole.
func sharesMemory(s, whole string) bool {
	from, start := uintptr(unsafe.Pointer(unsafe.StringData(s))), uintptr(unsafe.Pointer(unsafe.StringData(whole)))
	return s != "" && whole != "" && from >= start && from < start+uintptr(len(whole))
}

// TestIdentityReleasesRequest checks that the session of a long request does not keep the request in memory.
func TestIdentityReleasesRequest(t *testing.T) {
	const requests, length = 8, 900 << 10
	long := strings.Repeat("a", length)
	for _, path := range []string{"/sse/stream?contextId=s-1&" + long, "/api/chats/s-1/messages/" + long + "/stream"} {
		p := startTraced(t, startAgent(t), source.ProxySettings{})
		ask(t, p.address, "GET", path, nil)
		p.Wait()
		before := heap()
		for range requests {
			ask(t, p.address, "GET", path, nil)
		}
		p.Wait()
		if grown := int64(heap()) - int64(before); grown > requests*length/4 {
			t.Errorf("%.40s: %d requests of %d bytes keep %d bytes", path, requests, length, grown)
		}
		if session := p.streams[requests].Session; session != "s-1" {
			t.Errorf("%.40s: the session is %q, want s-1", path, session)
		}
	}
}

// requestLine returns the server's request line, with which the method and the path share memory.
func requestLine(r *http.Request) string {
	return unsafe.String(unsafe.StringData(r.Method), len(r.Method+" "+r.RequestURI))
}
