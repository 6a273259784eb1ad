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

// TestStatusThatIsNone has an agent answer with a status below 100, which net/http reads and cannot write: the client gets 502, and
// nothing of the answer stays behind.
func TestStatusThatIsNone(t *testing.T) { eachRelay(t, testStatusThatIsNone) }

func testStatusThatIsNone(t *testing.T, judge func() source.Judge) {
	for _, status := range []string{"000", "099"} {
		address := listen(t, func(conn net.Conn) {
			_, _ = fmt.Fprintf(conn, "HTTP/1.1 %s x\r\nContent-Type: text/event-stream\r\n\r\n"+frame, status, 1)
			_, _ = io.Copy(io.Discard, conn)
		})
		s := &seen{}
		p := newProxy(t, s, "http://"+address, source.ProxySettings{Judge: judge})
		resp := post(t, front(t, p, p), request)
		body, err := io.ReadAll(resp.Body)
		if want := "delegraph: the agent behind source \"test\" answered, but not in HTTP"; err != nil || resp.StatusCode != http.StatusBadGateway || !strings.HasPrefix(string(body), want) {
			t.Errorf("%s: %d %q, %v", status, resp.StatusCode, body, err)
		}
		p.Wait()
		if s.locked(func() {}); len(s.ends) != 0 || s.down != 1 {
			t.Errorf("%s: %d streams, %d times unreachable", status, len(s.ends), s.down)
		}
	}
}
