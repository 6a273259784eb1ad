package source_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/source"
)

// severe is a judge that lets nothing out but that there was a frame.
type severe struct{}

func (severe) Append(dst []byte, _ *event.Batch) []byte { return append(dst, "data: 1\n\n"...) }

// startPublic puts a proxy for strangers in front of an agent, and counts the requests that reach it.
func startPublic(t *testing.T, agent http.HandlerFunc, settings source.ProxySettings) (string, *atomic.Int64) {
	t.Helper()
	asked := &atomic.Int64{}
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked.Add(1); agent(w, r) }))
	t.Cleanup(upstream.Close)
	settings.Public, settings.Judge = true, func() source.Judge { return severe{} }
	p := newProxy(t, &seen{}, upstream.URL, settings)
	return front(t, p, p), asked
}

// leaky says a canary wherever an answer can say anything.
func leaky(w http.ResponseWriter, r *http.Request) {
	h, frames := w.Header(), fmt.Sprintf(frame, 1)+"data: "+quoted+"\n\n"
	h.Set("Link", quoted)
	w.WriteHeader(http.StatusEarlyHints)
	h.Set("Set-Cookie", "a="+quoted)
	h.Set("X-Debug", quoted)
	h.Set("ETag", `"`+quoted+`"`)
	h.Set("Cache-Control", quoted)
	h.Set("Trailer", "X-Sum")
	h.Set("Access-Control-Allow-Origin", "https://page.example")
	kind, status := r.URL.Query().Get("type"), http.StatusOK
	_, _ = fmt.Sscan(r.URL.Query().Get("status"), &status)
	if h["Content-Type"] = nil; kind != "" {
		h.Set("Content-Type", kind)
	}
	if status/100 == 3 {
		h.Set("Location", "/"+quoted)
	}
	switch encoding := r.URL.Query().Get("encoding"); encoding {
	case "gzip":
		h.Set("Content-Encoding", "gzip")
		w.WriteHeader(status)
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, frames)
		_ = z.Close()
	case "":
		w.WriteHeader(status)
		_, _ = io.WriteString(w, frames)
	default:
		h.Set("Content-Encoding", encoding)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, frames)
	}
	h.Set("X-Sum", quoted)
	h.Set(http.TrailerPrefix+"X-Late", quoted)
}

// TestPublic has an agent answer run requests in every way: only what the filter lets out of an event stream leaves.
func TestPublic(t *testing.T) {
	address, _ := startPublic(t, leaky, source.ProxySettings{})
	for query, want := range map[string]string{
		"type=text/event-stream":                     "200",
		"type=text/event-stream%3Bprofile=" + quoted: "200",
		"type=TEXT/Event-Stream":                     "200",
		"type=text/event-stream&encoding=gzip":       "200",
		"type=text/event-stream&encoding=" + quoted:  "502",
		"type=text/event-stream&status=500":          "500",
		"type=text/event-stream&status=206":          "206",
		"type=text/plain":                            "403",
		"type=application/json":                      "403",
		"type=application/x-ndjson":                  "403",
		"type=application/vnd.ag-ui.event%2Bproto":   "403",
		"":                                    "403",
		"type=application/json&encoding=gzip": "403",
		"type=text/html&status=302":           "403",
		"status=204":                          "204",
		"status=304":                          "403",
		"type=application/json&status=404":    "404",
		"type=application/json&status=503":    "503",
	} {
		for _, method := range []string{"POST", "HEAD"} {
			if method == "HEAD" && strings.Contains(query, "encoding="+quoted) {
				continue // there is no body to be read
			}
			got := say(t, address, method+" /run_sse?"+query+" HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTE: trailers\r\nRange: bytes=3-\r\nContent-Length: 2\r\n\r\n{}", false)
			if !strings.HasPrefix(got, "HTTP/1.1 "+want+" ") || strings.Contains(got, quoted) || strings.Contains(got, `"text"`) {
				t.Errorf("%s %s: the client gets %q", method, query, got)
			}
			if want == "200" && method == "POST" && (!strings.Contains(got, "data: 1") || !strings.Contains(got, "Access-Control-Allow-Origin: https://page.example\r\n")) {
				t.Errorf("%s: the client gets %q", query, got)
			}
		}
	}
}

// TestPublicPaths asks for paths in every spelling. What is not listed does not even reach the agent.
func TestPublicPaths(t *testing.T) {
	address, asked := startPublic(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "told") }, source.ProxySettings{
		PublicPaths: []string{"/open", "/apps/*/card", "/docs/", "/run", "/r\u00e9"},
	})
	for target, want := range map[string]bool{
		"GET /open": true, "GET /open?a=../x": true, "POST /open": true, "GET /apps/a/card": true, "GET /docs/": true, "POST /run": true, "GET /r%C3%A9": true,
		"OPTIONS /open": true, "HEAD /open": true,

		"GET /": false, "GET /open/": false, "GET /OPEN": false, "GET /Open": false, "GET //open": false, "GET /./open": false, "GET /x/../open": false,
		"GET /open/.": false, "GET /open/..": false, "GET /open/../secret": false, "GET /open/%2e%2e/secret": false, "GET /open%2f..%2fsecret": false,
		"GET /op%65n": false, "GET /open;x=1": false, "GET /open%3bx": false, "GET /open%00": false, "GET /open%20": false, "GET /open%23": false,
		"GET /open%3f": false, "GET /apps/a%2fb/card": false, "GET /apps/../card": false, "GET /apps//card": false, "GET /apps/a/b/card": false,
		"GET /apps/..%5c..%5csecret/card": false, `GET /apps/\..\x/card`: false, "GET /apps/%ff/card": false, "GET /apps/%252e%252e/card": false,
		"GET /apps/a;b/card": false, "GET /r%c3%a9": false, "OPTIONS /secret": false, "HEAD /secret": false, "PUT /secret": false,
	} {
		before := asked.Load()
		got := say(t, address, target+" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", false)
		reached := asked.Load() > before
		if refused := strings.HasPrefix(got, "HTTP/1.1 403 ") && (strings.Contains(got, "proxy.public_paths") || strings.HasPrefix(target, "HEAD ")) || strings.HasPrefix(got, "HTTP/1.1 400 "); refused == want || reached != want {
			t.Errorf("%s: reached %t: %q", target, reached, got)
		}
		if strings.HasPrefix(target, "GET ") && want != strings.HasSuffix(got, "told") {
			t.Errorf("%s: %q", target, got)
		}
	}
}

// TestPublicDoubtfulPaths refuses a path that is a run path to some servers only: to the agent it may be another.
func TestPublicDoubtfulPaths(t *testing.T) {
	address, asked := startPublic(t, leaky, source.ProxySettings{Paths: []string{"/chat/*"}})
	for path, want := range map[string]bool{
		"/chat/a": true, "/chat/./a;b": true, "/chat/a%2f": true,
		"/chat/a%2fb": false, "/chat/..%2f..%2fsecret": false, "/chat/..": false, "/chat/a%5c..%5cb%5cc": false, "/chat/a%2f" + strings.Repeat("b/", 4<<10): false,
	} {
		for _, method := range []string{"POST", "OPTIONS"} {
			before := asked.Load()
			got := say(t, address, method+" "+path+" HTTP/1.1\r\nHost: a\r\nConnection: close\r\nOrigin: https://page.example\r\nAccess-Control-Request-Method: POST\r\n\r\n", false)
			if reached := asked.Load() > before; reached != want || !want && !strings.HasPrefix(got, "HTTP/1.1 403 ") {
				t.Errorf("%s %.40s: reached %t: %q", method, path, reached, got)
			}
		}
	}
}

// TestPublicPreflight answers what a browser asks before a run request of another origin, without the agent's words.
func TestPublicPreflight(t *testing.T) {
	address, asked := startPublic(t, leaky, source.ProxySettings{})
	const origin = "Origin: https://page.example\r\nAccess-Control-Request-Method: "
	for request, want := range map[string]string{
		"OPTIONS /run_sse HTTP/1.1\r\n" + origin + "POST\r\n": "200",
		"OPTIONS /other HTTP/1.1\r\n" + origin + "POST\r\n":   "403",
		"OPTIONS /run_sse HTTP/1.1\r\n":                       "403",
	} {
		before := asked.Load()
		got := say(t, address, request+"Host: a\r\nConnection: close\r\n\r\n", false)
		if !strings.HasPrefix(got, "HTTP/1.1 "+want+" ") || strings.Contains(got, quoted) || (asked.Load() > before) != (want == "200") {
			t.Errorf("%q: the client gets %q", request, got)
		}
		if want == "200" && !strings.Contains(got, "Access-Control-Allow-Origin: https://page.example\r\n") {
			t.Errorf("%q: the client gets %q", request, got)
		}
	}
}

// TestPublicUpgrades offers no agent another protocol, unless its path is listed.
func TestPublicUpgrades(t *testing.T) {
	address, _ := startPublic(t, echo(t, "").ServeHTTP, source.ProxySettings{PublicPaths: []string{"/live"}})
	for path, want := range map[string]int{"/run_sse": http.StatusForbidden, "/other": http.StatusForbidden, "/live": http.StatusOK} {
		if resp, _, _ := upgrade(t, address, path, "h2c"); resp.StatusCode != want {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
	address, _ = startPublic(t, echo(t, "Upgrade: websocket\r\n").ServeHTTP, source.ProxySettings{Paths: []string{"/run"}, PublicPaths: []string{"/live"}})
	for path, want := range map[string]int{"/run": http.StatusForbidden, "/live": http.StatusSwitchingProtocols} {
		if resp, conn, _ := upgrade(t, address, path, "websocket"); resp.StatusCode != want {
			t.Errorf("%s: %s", path, resp.Status)
		} else {
			conn.Close()
		}
	}
}
