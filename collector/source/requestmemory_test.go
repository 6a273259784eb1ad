package source_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/source"
)

// TestStalledRequest checks that the part of a request that has arrived is charged to the budget while its client
// stalls. The charge must be released when the answer begins, although the stream continues.
func TestStalledRequest(t *testing.T) {
	eachRelay(t, func(t *testing.T, newFilter func() source.Filter) {
		read, end := make(chan struct{}), make(chan struct{})
		upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.ReadFull(r.Body, make([]byte, 600))
			read <- struct{}{}
			_, _ = io.Copy(io.Discard, r.Body)
			stream(w, fmt.Sprintf(frame, 1))
			<-end
		}))
		defer upstream.Close()
		memory := budget.New(1 << 30)
		s := &proxyRecorder{}
		p := newProxy(t, s, upstream.URL, source.ProxySettings{
			QueueLimit: 1 << 20, NewFilter: newFilter, RequestBudget: memory.Account("requests", 1, 1),
		})
		body, client := io.Pipe()
		go func() {
			_, _ = io.WriteString(client, `{"sessionId":"s","newMessage":"`+strings.Repeat("x", 600))
			<-read
			if used := memory.Usage()[0].Bytes; used < 600 {
				t.Errorf("%d bytes are charged for the beginning of a request", used)
			}
			_, _ = io.WriteString(client, `"}`)
			client.Close()
		}()
		answer, err := http.Post(front(t, p, p)+"/run_sse", "application/json", body)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if used := memory.Usage()[0].Bytes; used != 0 {
			t.Errorf("%d bytes are charged after the answer began", used)
		}
		close(end)
		_, _ = io.ReadAll(answer.Body)
		if p.Wait(); len(s.unread) != 0 || s.streams[0].Session != "s" {
			t.Errorf("unread requests: %v, session %q", s.unread, s.streams[0].Session)
		}
	})
}
