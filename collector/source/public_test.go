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

	"github.com/delegraph/delegraph/collector/source"
)

// startPublic starts a proxy with the policy public in front of an agent, and counts the requests that reach the agent.
func startPublic(t *testing.T, agent http.HandlerFunc, settings source.ProxySettings) (string, *atomic.Int64) {
	t.Helper()
	asked := &atomic.Int64{}
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked.Add(1); agent(w, r) }))
	t.Cleanup(upstream.Close)
	settings.Public, settings.NewFilter = true, func() source.Filter { return constantFilter{} }
	p := newProxy(t, &proxyRecorder{}, upstream.URL, settings)
	return front(t, p, p), asked
}

// leakyAgent puts a canary into each part of its answer.
func leakyAgent(w http.ResponseWriter, r *http.Request) {
	h, frames := w.Header(), fmt.Sprintf(frame, 1)+"data: "+canary+"\n\n"
	h.Set("Link", canary)
	w.WriteHeader(http.StatusEarlyHints)
	h.Set("Set-Cookie", "a="+canary)
	h.Set("X-Debug", canary)
	h.Set("ETag", `"`+canary+`"`)
	h.Set("Cache-Control", canary)
	h.Set("Trailer", "X-Sum")
	h.Set("Access-Control-Allow-Origin", "https://page.example")
	kind, status := r.URL.Query().Get("type"), http.StatusOK
	_, _ = fmt.Sscan(r.URL.Query().Get("status"), &status)
	if h["Content-Type"] = nil; kind != "" {
		h.Set("Content-Type", kind)
	}
	if status/100 == 3 {
		h.Set("Location", "/"+canary)
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
	h.Set("X-Sum", canary)
	h.Set(http.TrailerPrefix+"X-Late", canary)
}

// TestPublic checks that, under the policy public, only filtered event streams leave, whatever the agent answers to run requests.
func TestPublic(t *testing.T) {
	address, _ := startPublic(t, leakyAgent, source.ProxySettings{})
	for query, want := range map[string]string{
		"type=text/event-stream":                     "200",
		"type=text/event-stream%3Bprofile=" + canary: "200",
		"type=TEXT/Event-Stream":                     "200",
		"type=text/event-stream&encoding=gzip":       "200",
		"type=text/event-stream&encoding=" + canary:  "502",
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
			if method == "HEAD" && strings.Contains(query, "encoding="+canary) {
				continue // the answer has no body
			}
			got := sendRaw(t, address, method+" /run_sse?"+query+" HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTE: trailers\r\nRange: bytes=3-\r\nContent-Length: 2\r\n\r\n{}", false)
			if !strings.HasPrefix(got, "HTTP/1.1 "+want+" ") || strings.Contains(got, canary) || strings.Contains(got, `"text"`) {
				t.Errorf("%s %s: the client gets %q", method, query, got)
			}
			if want == "200" && method == "POST" && (!strings.Contains(got, "data: 1") || !strings.Contains(got, "Access-Control-Allow-Origin: https://page.example\r\n")) {
				t.Errorf("%s: the client gets %q", query, got)
			}
		}
	}
}

// TestPublicHeaders checks that a public stream has the headers with which proxies pass it on at once, and its location only if that is
// a path of names and IDs.
func TestPublicHeaders(t *testing.T) {
	for location, want := range map[string]bool{
		"/threads/5b0c-1/runs/1f0_2": true, "/runs/1": true,
		"": false, "runs/1": false, "//host/runs": false, "http://host/runs/1": false, "/runs/1?key=secret": false, "/a b": false, "/../admin": false, "/" + strings.Repeat("a", 65): false,
	} {
		address, _ := startPublic(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("Cache-Control", "max-age=60")
			w.Header().Set("Content-Location", location)
			fmt.Fprintf(w, frame, 1)
		}, source.ProxySettings{})
		got := sendRaw(t, address, "POST /run_sse HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}", false)
		if !strings.Contains(got, "\r\nCache-Control: no-cache, no-transform\r\n") || !strings.Contains(got, "\r\nX-Accel-Buffering: no\r\n") {
			t.Errorf("the client gets %q", got)
		}
		if left := strings.Contains(got, "\r\nContent-Location: "+location+"\r\n"); left != want {
			t.Errorf("the location %q leaves: %t, want %t", location, left, want)
		}
	}
}

// TestPublicPaths checks that requests reach the agent only in the canonical spelling of a listed path.
func TestPublicPaths(t *testing.T) {
	address, asked := startPublic(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "told") }, source.ProxySettings{
		PublicPaths: []string{"/open", "/apps/*/card", "/docs/", "/run", "/r\u00e9"},
	})
	for target, want := range map[string]bool{
		"GET /open": true, "GET /open?a=../x": true, "POST /open": true, "GET /apps/a/card": true, "GET /docs/": true, "POST /run": true, "GET /r%C3%A9": true,
		"OPTIONS /open": true, "HEAD /open": true, "GET http://a/open": true,

		"GET http://a//open": false, "GET http://a/x/../open": false, "GET http://a": false, "GET http://a/op%65n": false,
		"GET /": false, "GET /open/": false, "GET /OPEN": false, "GET /Open": false, "GET //open": false, "GET /./open": false, "GET /x/../open": false,
		"GET /open/.": false, "GET /open/..": false, "GET /open/../secret": false, "GET /open/%2e%2e/secret": false, "GET /open%2f..%2fsecret": false,
		"GET /op%65n": false, "GET /open;x=1": false, "GET /open%3bx": false, "GET /open%00": false, "GET /open%20": false, "GET /open%23": false,
		"GET /open%3f": false, "GET /apps/a%2fb/card": false, "GET /apps/../card": false, "GET /apps//card": false, "GET /apps/a/b/card": false,
		"GET /apps/..%5c..%5csecret/card": false, `GET /apps/\..\x/card`: false, "GET /apps/%ff/card": false, "GET /apps/%252e%252e/card": false,
		"GET /apps/a;b/card": false, "GET /r%c3%a9": false, "OPTIONS /secret": false, "HEAD /secret": false, "PUT /secret": false,
	} {
		before := asked.Load()
		got := sendRaw(t, address, target+" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", false)
		reached := asked.Load() > before
		if refused := strings.HasPrefix(got, "HTTP/1.1 403 ") && (strings.Contains(got, "proxy.public_paths") || strings.HasPrefix(target, "HEAD ")) || strings.HasPrefix(got, "HTTP/1.1 400 "); refused == want || reached != want {
			t.Errorf("%s reaches the agent: %t; the client gets %q", target, reached, got)
		}
		if strings.HasPrefix(target, "GET ") && want != strings.HasSuffix(got, "told") {
			t.Errorf("%s: the client gets %q", target, got)
		}
	}
}

// TestPublicAmbiguousPaths checks that a path that some servers may not interpret as a run path is rejected.
func TestPublicAmbiguousPaths(t *testing.T) {
	address, asked := startPublic(t, leakyAgent, source.ProxySettings{Paths: []string{"/chat/*"}})
	for path, want := range map[string]bool{
		"/chat/a": true, "/chat/a/": true, "/chat/./a": false, "/chat/a;b": false, "/chat/a%2f": false, "/chat/%61": false, "/Chat/a": false, "//chat/a": false,
		"/admin/../chat/a": false, "/admin/%2e%2e/chat/a": false, `/admin\..\chat/a`: false, "/chat/a%20": true, "/chat%20/a": false, "/chat/a%23b": false,
		"/chat/a%2fb": false, "/chat/..%2f..%2fsecret": false, "/chat/..": false, "/chat/a%5c..%5cb%5cc": false, "/chat/a%2f" + strings.Repeat("b/", 4<<10): false,
	} {
		for _, method := range []string{"POST", "OPTIONS"} {
			before := asked.Load()
			got := sendRaw(t, address, method+" "+path+" HTTP/1.1\r\nHost: a\r\nConnection: close\r\nOrigin: https://page.example\r\nAccess-Control-Request-Method: POST\r\n\r\n", false)
			if reached := asked.Load() > before; reached != want || !want && !strings.HasPrefix(got, "HTTP/1.1 403 ") {
				t.Errorf("%s %.40s reaches the agent: %t; the client gets %q", method, path, reached, got)
			}
		}
	}
}

// TestPublicPreflight checks that CORS preflight requests for run paths are answered without the agent's text.
func TestPublicPreflight(t *testing.T) {
	address, asked := startPublic(t, leakyAgent, source.ProxySettings{})
	const origin = "Origin: https://page.example\r\nAccess-Control-Request-Method: "
	for request, want := range map[string]string{
		"OPTIONS /run_sse HTTP/1.1\r\n" + origin + "POST\r\n": "200",
		"OPTIONS /other HTTP/1.1\r\n" + origin + "POST\r\n":   "403",
		"OPTIONS /run_sse HTTP/1.1\r\n":                       "403",
	} {
		before := asked.Load()
		got := sendRaw(t, address, request+"Host: a\r\nConnection: close\r\n\r\n", false)
		if !strings.HasPrefix(got, "HTTP/1.1 "+want+" ") || strings.Contains(got, canary) || (asked.Load() > before) != (want == "200") {
			t.Errorf("%q: the client gets %q", request, got)
		}
		if want == "200" && !strings.Contains(got, "Access-Control-Allow-Origin: https://page.example\r\n") {
			t.Errorf("%q: the client gets %q", request, got)
		}
	}
}

// TestPublicUpgrades checks that the agent gets Upgrade headers only on listed paths.
func TestPublicUpgrades(t *testing.T) {
	address, _ := startPublic(t, echo(t, "").ServeHTTP, source.ProxySettings{PublicPaths: []string{"/live"}})
	for path, want := range map[string]int{"/run_sse": http.StatusForbidden, "/other": http.StatusForbidden, "/live": http.StatusOK} {
		if resp, _, _ := upgrade(t, address, path, "h2c"); resp.StatusCode != want {
			t.Errorf("%s: the client gets %s", path, resp.Status)
		}
	}
	address, _ = startPublic(t, echo(t, "Upgrade: websocket\r\n").ServeHTTP, source.ProxySettings{Paths: []string{"/run"}, PublicPaths: []string{"/live"}})
	for path, want := range map[string]int{"/run": http.StatusForbidden, "/live": http.StatusSwitchingProtocols} {
		if resp, conn, _ := upgrade(t, address, path, "websocket"); resp.StatusCode != want {
			t.Errorf("%s: the client gets %s", path, resp.Status)
		} else {
			conn.Close()
		}
	}
}
