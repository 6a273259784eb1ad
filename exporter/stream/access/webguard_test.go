package access

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// guarded is a handler behind the guard of a web configuration file, without the toolkit in front of it.
type guarded struct {
	t        *testing.T
	config   string
	more     string // what follows the server's certificates in the file
	handler  http.Handler
	reported []string
}

func newGuarded(t *testing.T, a authority, more string) *guarded {
	t.Helper()
	g := &guarded{t: t, config: a.webConfigWith(t, more), more: more}
	guard, err := NewWebGuard(g.config, func(err error) { g.reported = append(g.reported, err.Error()) })
	if err != nil {
		t.Fatal(err)
	}
	g.handler = guard.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	return g
}

// rewrite changes what follows the certificates. "" empties the file.
func (g *guarded) rewrite(more string) {
	g.t.Helper()
	content, err := os.ReadFile(g.config)
	if err != nil {
		g.t.Fatal(err)
	}
	if content = []byte(strings.Replace(string(content), g.more, more, 1)); more == "" {
		content = nil
	}
	write(g.t, g.config, string(content))
}

func (g *guarded) status(r *http.Request) int {
	w := httptest.NewRecorder()
	g.handler.ServeHTTP(w, r)
	return w.Code
}

// connected returns a request of a connection with client certificates.
func connected(t *testing.T, a authority, certificates ...*x509.Certificate) *http.Request {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/events", nil)
	r.TLS = &tls.ConnectionState{PeerCertificates: certificates}
	if len(certificates) > 0 {
		r.TLS.VerifiedChains = [][]*x509.Certificate{append(certificates, a.certificate)}
	}
	return r
}

const (
	requires = ", client_auth_type: RequireAndVerifyClientCert, client_ca_file: ca.pem}"
	offers   = ", client_auth_type: VerifyClientCertIfGiven, client_ca_file: ca.pem}"
	users    = "}\nbasic_auth_users: {joe: " + passwordHash + "}"
)

// TestWebConfigWeakens changes the toolkit's file while it is served. What it demanded at the start stays demanded.
func TestWebConfigWeakens(t *testing.T) {
	a := newAuthority(t)
	client := a.issue(t, "client", nil).Leaf
	for name, test := range map[string]struct {
		before string
		after  []string // contents that demand less
	}{
		"passwords":    {users, []string{"}\n", "}\nbasic_auth_users: {}", "broken", ""}},
		"certificates": {requires, []string{"}\n", offers, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, after := range test.after {
				g := newGuarded(t, a, test.before)
				request := connected(t, a, client)
				request.SetBasicAuth("joe", "wrong") // the toolkit does not check it after the change
				if got := g.status(request); got != http.StatusOK && name == "certificates" {
					t.Fatalf("the status before is %d", got)
				}
				g.rewrite(after)
				for range 2 {
					if got := g.status(connected(t, a)); got != http.StatusServiceUnavailable {
						t.Errorf("the status is %d after the file has become %q, want 503", got, after)
					}
				}
				if len(g.reported) != 1 {
					t.Errorf("reported after the file has become %q: %q, want one error", after, g.reported)
				}
			}
		})
	}
}

// TestWebConfigChanges changes the toolkit's file or the client CA to what demands as much. Only requests pass that a new
// connection could send.
func TestWebConfigChanges(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	client := a.issue(t, "client", nil).Leaf
	joe, jane := connected(t, a), connected(t, a)
	joe.SetBasicAuth("joe", "pass")
	jane.SetBasicAuth("jane", "pass")
	for name, test := range map[string]struct {
		before, after string
		request       *http.Request
		want          int
	}{
		"another user in place of the request's": {users, strings.Replace(users, "joe", "jane", 1), joe, http.StatusServiceUnavailable},
		"the request's user is new":              {users, strings.Replace(users, "joe", "jane", 1), jane, http.StatusOK},
		"the same users":                         {users, users + "\n# reviewed", joe, http.StatusOK},
		"certificates are required now":          {"}\n", requires, connected(t, a), http.StatusServiceUnavailable},
		"certificates are required still":        {offers, requires, connected(t, a, client), http.StatusOK},
		"the certificate is of another CA":       {requires, requires + "\n# reviewed", connected(t, a, other.issue(t, "client", nil).Leaf), http.StatusServiceUnavailable},
		"the certificate names nobody listed":    {requires, strings.Replace(requires, "}", ", client_allowed_sans: [other.example]}", 1), connected(t, a, client), http.StatusServiceUnavailable},
		"certificates do not count any more":     {offers, "}\n", connected(t, a, client), http.StatusServiceUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGuarded(t, a, test.before)
			g.rewrite(test.after)
			for range 2 {
				if got := g.status(test.request); got != test.want {
					t.Errorf("the status is %d, want %d", got, test.want)
				}
			}
			if len(g.reported) > 0 {
				t.Errorf("reported: %q", g.reported)
			}
		})
	}
}
