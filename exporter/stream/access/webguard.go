package access

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"sync"
)

// WebGuard refuses requests while the exporter toolkit's web configuration file demands less of clients than when the
// guard was made: the toolkit reads the file at each request, and accepts one that demands nothing, such as a file that
// is being rewritten. A nil WebGuard permits everything. It is safe for concurrent use.
type WebGuard struct {
	path   string
	demand webConfig
	report func(error) // called once for each content that is refused; may be nil

	mu      sync.Mutex
	info    fs.FileInfo // of the file as last read; nil if it could not be read
	refused string      // why its content is refused, or ""
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
			http.Error(w, "the web configuration file changed; try again, or read the log", http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// permits reports whether a request that the toolkit has let through met the demands. It returns false for the first
// request after a change, because the toolkit may have judged it by another content.
func (g *WebGuard) permits(r *http.Request) bool {
	if g == nil {
		return true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.demand.certificates == certificatesRequired && !hasVerifiedCertificate(r) {
		g.refuse(errors.New("it does not require client certificates any more"))
		return false
	}
	if !g.demand.passwords {
		return true
	}
	info, err := os.Stat(g.path)
	if err == nil && g.info != nil && sameFile(info, g.info) {
		return g.refused == ""
	}
	g.info = info
	switch current, err := readWebConfig(g.path); {
	case err != nil:
		g.refuse(err)
	case !current.passwords:
		g.refuse(errors.New("it has no basic_auth_users any more"))
	default:
		g.refused = ""
	}
	return false
}

// refuse reports why the file's content is refused, once.
func (g *WebGuard) refuse(why error) {
	if g.refused == why.Error() {
		return
	}
	g.refused = why.Error()
	if g.report != nil {
		g.report(fmt.Errorf("web configuration file %s: %w; requests are refused until it demands what it did at the start", g.path, why))
	}
}
