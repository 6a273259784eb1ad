package source

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestExpectedContinueOfAgent checks a client that sends its body only after "100 Continue". The body must reach an
// agent that never answers 100, as it does through a plain proxy.
func TestExpectedContinueOfAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		go func() {
			r, err := http.ReadRequest(bufio.NewReader(theirs))
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(theirs, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		}()
		u := newUpstream()
		u.single.DialContext = func(context.Context, string, string) (net.Conn, error) { return ours, nil }
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://agent/run_sse", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Expect", "100-continue")
		before := time.Now()
		resp, err := u.RoundTrip(withForwarded(r, &forwardedRequest{}))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		u.closeIdle()
		_ = theirs.Close()
		plain := http.DefaultTransport.(*http.Transport).ExpectContinueTimeout
		if waited := time.Since(before); waited != plain {
			t.Errorf("the body waited for %v, through a plain proxy %v", waited, plain)
		}
	})
}
