package access

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	toolkit "github.com/prometheus/exporter-toolkit/web"
	"go.yaml.in/yaml/v3"
)

// CheckListen returns an error if the stream must not be served at the address with these settings.
// There are three reasons: no reader could be authorized, a reader could not send the required
// credentials, or other machines could reach the stream without authentication. The error says what to
// change.
func CheckListen(address string, s Settings) error {
	web, err := readWebConfig(s.WebConfigFile)
	if err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(address)
	switch {
	case err != nil:
		return fmt.Errorf("stream: listen address %.60q is not host:port; use one such as 127.0.0.1:10478", address)
	case !s.hasOwnAuthentication() && !web.authenticates():
		return errors.New("stream: no way to authenticate is configured; set authentication.bearer_tokens_file or " +
			"authentication.client_certificates, or set authentication.anonymous: anywhere")
	case s.ClientCertificates && web.certificates == certificatesIgnored:
		return errors.New("stream: authentication.client_certificates is on, but clients are not asked for a certificate; " +
			"in the web configuration file set client_auth_type to RequireAndVerifyClientCert or VerifyClientCertIfGiven, and client_ca_file")
	case s.TokensFile != "" && web.hasPasswords():
		return errors.New("stream: basic_auth_users in the web configuration file and authentication.bearer_tokens_file " +
			"both need the Authorization header of a request; remove one of them")
	case isLoopback(host) || s.AnonymousAnywhere || !s.allowsAnonymous() || web.authenticates():
		return nil
	}
	return fmt.Errorf("stream: %.60q can be reached from other machines, and anyone there could read everything without authentication; "+
		"set authentication.bearer_tokens_file, or listen on 127.0.0.1, or set authentication.anonymous: anywhere", address)
}

// HasLoopbackHost reports whether the request's Host is a loopback name. A web page whose own name
// resolves to 127.0.0.1 makes its visitors' browsers send that name instead (DNS rebinding).
func HasLoopbackHost(r *http.Request) bool { return isLoopback((&url.URL{Host: r.Host}).Hostname()) }

// isLoopback reports whether host is a loopback address or localhost. It accepts no other name,
// since a name server decides what that resolves to and can change it.
func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback() || strings.EqualFold(host, "localhost")
}

// webConfig holds what the toolkit requires of every client.
type webConfig struct {
	certificates certificateDemand
	tls          *tls.Config       // nil if certificates are ignored
	users        map[string]string // to the hashes of their passwords
}

func (w webConfig) hasPasswords() bool { return len(w.users) > 0 }

// certificateDemand says how the toolkit asks for certificates of the configured client CA.
type certificateDemand int

const (
	certificatesIgnored certificateDemand = iota
	certificatesOptional
	certificatesRequired
)

// authenticates reports whether the toolkit rejects every client without credentials.
func (w webConfig) authenticates() bool {
	return w.certificates == certificatesRequired || w.hasPasswords()
}

func readWebConfig(path string) (webConfig, error) {
	if path == "" {
		return webConfig{}, nil
	}
	fail := func(err error) (webConfig, error) {
		return webConfig{}, fmt.Errorf("web configuration file %s: %w", path, err)
	}
	if err := toolkit.Validate(path); err != nil {
		return fail(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return fail(err)
	}
	var c toolkit.Config
	if err := yaml.Unmarshal(content, &c); err != nil {
		return fail(err)
	}
	w := webConfig{users: map[string]string{}}
	for name, hash := range c.Users {
		w.users[name] = string(hash)
	}
	switch c.TLSConfig.ClientAuth {
	case "VerifyClientCertIfGiven":
		w.certificates = certificatesOptional
	case "RequireAndVerifyClientCert":
		w.certificates = certificatesRequired
	}
	if w.certificates != certificatesIgnored && c.TLSConfig.ClientCAs == "" && c.TLSConfig.ClientCAsText == "" {
		// crypto/tls falls back to the system's authorities, which sign certificates for anyone.
		return fail(fmt.Errorf("client_auth_type %s without a client CA accepts certificates of every public authority; "+
			"set client_ca_file", c.TLSConfig.ClientAuth))
	}
	if w.certificates != certificatesIgnored {
		c.TLSConfig.SetDirectory(filepath.Dir(path))
		if w.tls, err = toolkit.ConfigToTLSConfig(&c.TLSConfig); err != nil {
			return fail(err)
		}
	}
	return w, nil
}
