package source_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/source"
)

// TestGzipStart checks what the client gets of a filtered stream that should be gzip, by its content and by when it comes.
func TestGzipStart(t *testing.T) {
	frame := fmt.Sprintf(frame, 1)
	packed := zipped(t, frame)
	for _, c := range []struct {
		name    string
		parts   []string      // the agent sends the header, then each part
		pause   time.Duration // before each part
		status  int
		want    string
		isWhole bool
	}{
		{"gzip", []string{packed}, 0, 200, frame, true},
		{"byte by byte", strings.Split(packed, "")[:20], time.Millisecond, 200, "", false},
		{"late", []string{packed}, 200 * time.Millisecond, 200, frame, true},
		{"nothing", nil, 0, 200, "", true},
		{"cut", []string{packed[:len(packed)-9]}, 0, 200, frame, false},
		{"only the start", []string{packed[:2]}, 0, 200, "", false},
		{"plain", []string{frame}, 0, 502, "", true},
		{"one other byte", []string{"x"}, 0, 502, "", true},
		{"plain, late", []string{frame}, 200 * time.Millisecond, 200, "", false},
		{"plain after gzip", []string{packed, frame}, 0, 200, frame, false},
	} {
		address, wait := startFiltered(t, &proxyRecorder{}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			stream(w, "")
			for _, part := range c.parts {
				time.Sleep(c.pause)
				stream(w, part)
			}
		}), 0, func() source.Filter { return passAll{} })
		resp := post(t, address, request)
		body, err := io.ReadAll(resp.Body)
		got := string(body)
		if resp.StatusCode != c.status || (err == nil) != c.isWhole {
			t.Errorf("%s: the client gets status %d, %q, %v", c.name, resp.StatusCode, got, err)
		}
		if refused := strings.Contains(got, `"gzip", but its content is not gzip`); refused != (c.status == 502) || !refused && got != c.want {
			t.Errorf("%s: the client gets %q, want %q", c.name, got, c.want)
		}
		wait()
	}
}

// TestGzipStartIsNotAwaited checks that the client gets the header of an answer before its content, and that nothing stays
// when the client then leaves.
func TestGzipStartIsNotAwaited(t *testing.T) {
	left := make(chan struct{})
	address, wait := startFiltered(t, &proxyRecorder{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		stream(w, "")
		defer close(left)
		select {
		case <-r.Context().Done():
		case <-time.After(20 * time.Second):
			t.Error("the client has not got the header")
		}
	}), 0, func() source.Filter { return passAll{} })
	resp := post(t, address, request)
	if resp.StatusCode != http.StatusOK {
		t.Error(resp.Status)
	}
	resp.Body.Close()
	<-left
	wait()
}
