package source_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/source"
)

// TestNamedSessions checks that OnSession gets the session of a request before the agent answers.
func TestNamedSessions(t *testing.T) {
	named := make(chan string, 10)
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, 1000)
		for {
			if _, err := r.Body.Read(body); err != nil {
				break
			}
		}
		if got := <-named; got != "s-1" {
			t.Errorf("OnSession gets %q", got)
		}
	}))
	defer agent.Close()
	p := newProxy(t, &proxyRecorder{}, agent.URL, source.ProxySettings{OnSession: func(session string) { named <- session }})
	address := front(t, p, p)
	resp, err := http.Post(address+"/run_sse", "application/json", strings.NewReader(`{"appName":"a","sessionId":"s-1"}`))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	p.Wait()
}
