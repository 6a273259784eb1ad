package relay_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/test/e2e/harness"
)

// TestQuestionToTheServer sends an OPTIONS request for the whole server.
func TestQuestionToTheServer(t *testing.T) {
	agent := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", r.Method+" "+r.RequestURI)
	}))
	agent.Config.DisableGeneralOptionsHandler = true
	agent.Start()
	defer agent.Close()
	service := harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	conn, err := net.Dial("tcp", service.Proxies()[0].Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
	if got, err := io.ReadAll(conn); err != nil || !strings.Contains(string(got), "\r\nAllow: OPTIONS *\r\n") {
		t.Errorf("the client gets %q, %v", got, err)
	}
}
