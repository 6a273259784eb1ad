package source

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
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
			resp, err := u.RoundTrip(withForwarded(r, &forwardedRequest{}))
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

// TestHostOfAgent checks which host a request to the agent names: behind TLS, the one that its certificate is for.
func TestHostOfAgent(t *testing.T) {
	for upstream, want := range map[string]string{"http://agent.test:8000": "client.test", "https://agent.test": "agent.test", "https://agent.test:8443/base": "agent.test:8443"} {
		to, err := url.Parse(upstream)
		if err != nil {
			t.Fatal(err)
		}
		in := withForwarded(httptest.NewRequest(http.MethodPost, "http://client.test/run_sse", http.NoBody), &forwardedRequest{})
		out := in.Clone(t.Context())
		p := &Proxy{settings: ProxySettings{Upstream: to}}
		p.rewrite(&httputil.ProxyRequest{In: in, Out: out})
		if got := cmp.Or(out.Host, out.URL.Host); got != want || out.Header.Get("X-Forwarded-Host") != "client.test" {
			t.Errorf("%s: the request names %s and was forwarded for %s, want %s and client.test", upstream, got, out.Header.Get("X-Forwarded-Host"), want)
		}
	}
}
