package faults_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/test/agents/fakeagent"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// TestFaultUnusualHTTP uses rare parts of HTTP. The agent gets what the client sent and the client gets what the agent answered,
// except for what belongs to one connection.
func TestFaultUnusualHTTP(t *testing.T) {
	agent := httptest.NewServer(http.HandlerFunc(unusual))
	defer agent.Close()
	service := harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	direct, through := agent.Listener.Addr().String(), service.Proxies()[0].Addr
	const length, chunked = "Content-Length: 5\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
	for name, request := range map[string]string{
		"HEAD":                   "HEAD /plain HTTP/1.1\r\n",
		"HEAD of a stream":       "HEAD /run_sse HTTP/1.1\r\n",
		"a page not changed":     "GET /304 HTTP/1.1\r\nIf-None-Match: \"a\"\r\n",
		"nothing to say":         "GET /204 HTTP/1.1\r\n",
		"hints first":            "GET /103 HTTP/1.1\r\n",
		"trailers":               "GET /trailers HTTP/1.1\r\nTE: trailers\r\n",
		"trailers of a stream":   "POST /trailers HTTP/1.1\r\nTE: trailers\r\nAccept: text/event-stream\r\nContent-Length: 0\r\n\r\n",
		"a part of a page":       "GET /plain HTTP/1.1\r\nRange: bytes=1-3\r\n",
		"a body by its length":   "POST /plain HTTP/1.1\r\n" + length,
		"a body in chunks":       "POST /plain HTTP/1.1\r\n" + chunked,
		"a run in chunks":        "POST /run_sse HTTP/1.1\r\n" + chunked,
		"a body after a promise": "POST /plain HTTP/1.1\r\nExpect: 100-continue\r\n" + length,
		"a body of nothing":      "POST /plain HTTP/1.1\r\nContent-Length: 0\r\n",
		"a body with DELETE":     "DELETE /plain HTTP/1.1\r\n" + length,
		"a body with GET":        "GET /plain HTTP/1.1\r\n" + length,
		"a method of its own":    "BREW /plain?a=%zz;b HTTP/1.1\r\n",
		"encodings":              "GET /gzip HTTP/1.1\r\nAccept-Encoding: br;q=1, gzip\r\n",
		"headers twice":          "GET /plain HTTP/1.1\r\nCookie: a=1\r\nCookie: b=2\r\nX-Empty:\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			want, got := exchanged(t, direct, request), exchanged(t, through, request)
			if got != want {
				t.Errorf("through the sidecar:\n%s\nwithout it:\n%s", got, want)
			}
			if strings.Count(want, "\n") < 2 {
				t.Errorf("the agent says %q", want)
			}
		})
	}
}

// unusual is an agent that echoes its request in an unusual way.
func unusual(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	asked := maps.Clone(r.Header)
	for name := range asked {
		if strings.HasPrefix(name, "X-Forwarded-") || name == "Traceparent" || name == "Connection" {
			delete(asked, name)
		}
	}
	said, _ := json.Marshal([]any{r.Method, r.RequestURI, r.ContentLength, r.TransferEncoding, string(body), asked})
	h := w.Header()
	h["X-Twice"] = []string{"one", "two"}
	switch r.URL.Path {
	case "/304":
		h.Set("ETag", `"a"`)
		w.WriteHeader(http.StatusNotModified)
	case "/204":
		w.WriteHeader(http.StatusNoContent)
	case "/103":
		h.Set("Link", "</style.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		_, _ = w.Write(said)
	case "/trailers":
		if r.Header.Get("Accept") != "" {
			h.Set("Content-Type", "text/event-stream")
		}
		h.Set("Trailer", "X-Sum")
		_, _ = w.Write(said)
		h.Set("X-Sum", "4711")
		h.Set(http.TrailerPrefix+"X-Late", "unannounced")
	case "/gzip":
		h.Set("Content-Encoding", "gzip")
		_, _ = io.WriteString(w, compressed(string(said)))
	case "/run_sse":
		h.Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, ": %s\n\n%s", said, fakeagent.FinalFrame)
	default:
		h.Set("Content-Length", fmt.Sprint(len(said)))
		_, _ = w.Write(said)
	}
}

// exchanged returns what a connection sends in response to a request, without the date, with sorted headers and joined chunks.
func exchanged(t *testing.T, address, request string) string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	head, body, _ := strings.Cut(request, "\r\n\r\n")
	if _, err := io.WriteString(conn, strings.TrimSuffix(head, "\r\n")+"\r\nHost: agent.example\r\nConnection: close\r\n\r\n"+body); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for rest := string(answer); rest != ""; {
		head, after, _ := strings.Cut(rest, "\r\n\r\n")
		lines := strings.Split(head, "\r\n")
		lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "Date: ") })
		slices.Sort(lines[1:])
		all.WriteString(strings.Join(lines, "\n") + "\n\n")
		if rest = after; !strings.HasPrefix(head, "HTTP/1.1 1") {
			all.WriteString(unchunked(head, after))
			break
		}
	}
	return all.String()
}

// unchunked returns a body and its trailers without the lengths of the chunks.
func unchunked(head, body string) (whole string) {
	if !strings.Contains(head, "Transfer-Encoding: chunked") {
		return body
	}
	for {
		line, after, _ := strings.Cut(body, "\r\n")
		var length int
		if _, err := fmt.Sscanf(line, "%x", &length); err != nil || length == 0 || length+2 > len(after) {
			return whole + "\n" + line + "\n" + after
		}
		whole, body = whole+after[:length], after[length+2:]
	}
}
