package source

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestAgentsWithHTTP2 sends requests to an agent behind TLS that prefers HTTP/2. Requests that must not share a connection use HTTP/1.1.
func TestAgentsWithHTTP2(t *testing.T) {
	for _, offersHTTP2 := range []bool{true, false} {
		agent := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(w, r.Body)
			_, _ = io.WriteString(w, r.Proto)
		}))
		agent.EnableHTTP2 = offersHTTP2
		agent.StartTLS()
		defer agent.Close()
		u := newUpstream()
		defer u.closeIdle()
		trust := x509.NewCertPool()
		trust.AddCert(agent.Certificate())
		for _, transport := range []*http.Transport{u.reused, u.single} {
			if transport.TLSClientConfig == nil {
				transport.TLSClientConfig = &tls.Config{}
			}
			transport.TLSClientConfig.RootCAs = trust
		}
		for method, body := range map[string]string{http.MethodPost: "{}", http.MethodPut: "{}", http.MethodDelete: "", http.MethodGet: ""} {
			r, err := http.NewRequestWithContext(t.Context(), method, agent.URL, http.NoBody)
			if body != "" {
				r, err = http.NewRequestWithContext(t.Context(), method, agent.URL, strings.NewReader(body))
			}
			if err != nil {
				t.Fatal(err)
			}
			if body == "" {
				r.Body = nil
			}
			resp, err := u.RoundTrip(r)
			if err != nil {
				t.Errorf("%s, HTTP/2 offered %t: %v", method, offersHTTP2, err)
				continue
			}
			got, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			want := body + "HTTP/1.1"
			if method == http.MethodGet && offersHTTP2 {
				want = "HTTP/2.0"
			}
			if err != nil || string(got) != want {
				t.Errorf("%s, HTTP/2 offered %t: the answer is %q, %v; want %q", method, offersHTTP2, got, err, want)
			}
		}
	}
}
