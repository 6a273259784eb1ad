package access

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"sync"

	"golang.org/x/crypto/bcrypt"
)

// WebGuard checks each request against the exporter toolkit's web configuration file, as it is now. It refuses all requests
// while the file demands less of clients than it did at the start. The toolkit alone is not enough: it reads the file at each
// request, and accepts one that demands nothing, such as a half-written one. It checks certificates only when a connection
// begins. A nil WebGuard permits everything. It is safe for concurrent use.
type WebGuard struct {
	path   string
	demand webConfig   // at the start
	report func(error) // called once for each reason to refuse all requests; may be nil

	mu      sync.Mutex
	info    fs.FileInfo // of the file when a request was last permitted
	refused string      // why all requests are refused, or ""
}

// NewWebGuard returns the guard of a web configuration file, or nil if path is empty.
func NewWebGuard(path string, report func(error)) (*WebGuard, error) {
	if path == "" {
		return nil, nil //nolint:nilnil // a nil guard permits everything
	}
	info, _ := os.Stat(path) // before the file is read: a later change is noticed
	demand, err := readWebConfig(path)
	return &WebGuard{path: path, report: report, demand: demand, info: info}, err
}

// Handler returns next behind the guard, for a server of the toolkit.
func (g *WebGuard) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !g.permits(r) {
			w.Header().Set("Connection", "close") // another connection may have the right certificate
			http.Error(w, "the web configuration file changed; connect again, or read the log", http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// permits reports whether a request that the toolkit has let through meets the demands.
func (g *WebGuard) permits(r *http.Request) bool {
	if g == nil {
		return true
	}
	info, _ := os.Stat(g.path)
	current, err := readWebConfig(g.path)
	switch {
	case err != nil:
	case g.demand.certificates == certificatesRequired && current.certificates != certificatesRequired:
		err = errors.New("it does not require client certificates any more")
	case g.demand.hasPasswords() && !current.hasPasswords():
		err = errors.New("it has no basic_auth_users any more")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if err != nil {
		g.refuse(err)
		return false
	}
	g.refused = ""
	if (current.certificates == certificatesRequired || hasVerifiedCertificate(r)) && !current.verifies(r.TLS) {
		return false
	}
	if isKnown := info != nil && g.info != nil && sameFile(info, g.info); !isKnown && current.hasPasswords() && !current.hasUser(r) {
		return false // the toolkit may have read another content
	}
	g.info = info
	return true
}

// refuse reports why all requests are refused, once.
func (g *WebGuard) refuse(why error) {
	if g.refused == why.Error() {
		return
	}
	g.refused = why.Error()
	if g.report != nil {
		g.report(fmt.Errorf("web configuration file %s: %w; requests are refused until it demands what it did at the start", g.path, why))
	}
}

// hasUser reports whether a request has the name and password of a user.
func (w webConfig) hasUser(r *http.Request) bool {
	name, password, _ := r.BasicAuth()
	hash, known := w.users[name]
	return known && bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) == nil
}

// verifies reports whether a connection's certificate would still be accepted for a new connection.
func (w webConfig) verifies(state *tls.ConnectionState) bool {
	if w.tls == nil || state == nil || len(state.PeerCertificates) == 0 {
		return false
	}
	raw, intermediates := make([][]byte, 0, len(state.PeerCertificates)), x509.NewCertPool()
	for _, certificate := range state.PeerCertificates {
		raw = append(raw, certificate.Raw)
		intermediates.AddCert(certificate)
	}
	chains, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{
		Roots: w.tls.ClientCAs, Intermediates: intermediates, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	return err == nil && (w.tls.VerifyPeerCertificate == nil || w.tls.VerifyPeerCertificate(raw, chains) == nil)
}
