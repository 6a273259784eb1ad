package source_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/source"
)

// TestNoContentType checks that the proxy adds no Content-Type to an answer without one. It sends many requests, because net/http guesses a
// type only if part of the body is available when it sends the header.
func TestNoContentType(t *testing.T) {
	page := strings.Repeat("<html>", 20_000)
	for name, hint := range map[string]bool{"at once": false, "after an early hint": true} {
		t.Run(name, func(t *testing.T) {
			address, _ := startProxy(t, &proxyRecorder{}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if hint {
					w.WriteHeader(http.StatusEarlyHints)
				}
				w.Header()["Content-Type"] = nil
				_, _ = io.WriteString(w, page)
			}), 0)
			for _, path := range slices.Repeat([]string{"/", "/run_sse"}, 20) {
				got := sendRaw(t, address, "POST "+path+" HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}", false)
				if !strings.HasPrefix(got, "HTTP/1.1 ") || strings.Contains(got, "Content-Type") {
					t.Errorf("%s: the client gets %.300q, want no Content-Type", path, got)
				}
			}
		})
	}
}

// TestHalfClosedClient checks that a client that closes its sending side still gets the answer.
func TestHalfClosedClient(t *testing.T) {
	known := make(chan struct{})
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		<-known
		_, _ = io.WriteString(w, "ready")
	}))
	defer agent.Close()
	p := newProxy(t, &proxyRecorder{}, agent.URL, source.ProxySettings{})
	p.Linger(time.Hour)
	address := front(t, p, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		context.AfterFunc(r.Context(), func() { close(known) })
		p.ServeHTTP(w, r)
	}))
	if got := sendRaw(t, address, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", true); !strings.HasSuffix(got, "\r\n\r\nready") {
		t.Errorf("the client gets %q, want the whole answer", got)
	}
}

// rawAnswer posts a run request and returns the answer without decoding it.
func rawAnswer(t *testing.T, address string) string {
	t.Helper()
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/run_sse", strings.NewReader(request))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

// TestHeaderOfBrokenAnswer checks that the client gets the status of an answer that breaks off before its body begins.
func TestHeaderOfBrokenAnswer(t *testing.T) {
	eachRelay(t, func(t *testing.T, newFilter func() source.Filter) {
		address, _ := startFiltered(t, &proxyRecorder{}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			stream(w, "")
			panic(http.ErrAbortHandler)
		}), 0, newFilter)
		for range 200 {
			if resp := post(t, address, request); resp.StatusCode != http.StatusOK {
				t.Fatal(resp.Status)
			} else if _, err := io.ReadAll(resp.Body); err == nil {
				t.Fatal("the answer is complete")
			}
		}
	})
}

func zipped(t *testing.T, plain string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, plain)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
