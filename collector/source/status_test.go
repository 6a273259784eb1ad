package source_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/source"
)

// TestInvalidStatus checks that the client gets 502 and no stream for a status below 100, which net/http can read but not write.
func TestInvalidStatus(t *testing.T) { eachRelay(t, testInvalidStatus) }

func testInvalidStatus(t *testing.T, newFilter func() source.Filter) {
	for _, status := range []string{"000", "099"} {
		address := listen(t, func(conn net.Conn) {
			_, _ = fmt.Fprintf(conn, "HTTP/1.1 %s x\r\nContent-Type: text/event-stream\r\n\r\n"+frame, status, 1)
			_, _ = io.Copy(io.Discard, conn)
		})
		s := &proxyRecorder{}
		p := newProxy(t, s, "http://"+address, source.ProxySettings{NewFilter: newFilter})
		resp := post(t, front(t, p, p), request)
		body, err := io.ReadAll(resp.Body)
		if want := "delegraph: the agent behind source \"test\" did not answer in HTTP"; err != nil || resp.StatusCode != http.StatusBadGateway || !strings.HasPrefix(string(body), want) {
			t.Errorf("%s: the client gets %d %q, %v", status, resp.StatusCode, body, err)
		}
		p.Wait()
		if s.locked(func() {}); len(s.ends) != 0 || s.down != 1 {
			t.Errorf("%s: there are %d streams, and the agent is counted as unreachable %d times", status, len(s.ends), s.down)
		}
	}
}
