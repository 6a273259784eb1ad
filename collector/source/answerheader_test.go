package source_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/source"
)

// TestAnswerHeaders checks that the header of an answer passes up to 1 MiB, and that a longer one is 502.
func TestAnswerHeaders(t *testing.T) {
	for length, want := range map[int]int{900 << 10: http.StatusOK, 2 << 20: http.StatusBadGateway} {
		long := strings.Repeat("x", length)
		agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Long", long)
			_, _ = io.WriteString(w, "ok")
		}))
		p := newProxy(t, &proxyRecorder{}, agent.URL, source.ProxySettings{})
		w := httptest.NewRecorder()
		p.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/run_sse", nil))
		if passed := w.Header().Get("X-Long") == long; w.Code != want || passed != (want == http.StatusOK) {
			t.Errorf("a header of %d bytes: status %d, passed %t", length, w.Code, passed)
		}
		agent.Close()
	}
}
