package access

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"

	toolkit "github.com/prometheus/exporter-toolkit/web"
	"go.yaml.in/yaml/v3"
)

// CheckListen says why the stream must not be served at the address with these settings, and what to do: nobody could read
// it, some reader could not show what they are asked for, or it is reachable from other machines without authentication.
func CheckListen(address string, s Settings) error {
	web, err := readWebConfig(s.WebConfigFile)
	if err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(address)
	switch {
	case err != nil:
		return fmt.Errorf("stream: listen address %.60q is not host:port; give one such as 127.0.0.1:10478", address)
	case !s.named() && !web.authenticates():
		return errors.New("stream: nobody could read it; give authentication.bearer_tokens_file or " +
			"authentication.client_certificates, or say authentication.anonymous: anywhere")
	case s.ClientCertificates && web.certificates == ignored:
		return errors.New("stream: authentication.client_certificates is on, but no client is asked for one; " +
			"in the web configuration file set client_auth_type to RequireAndVerifyClientCert or VerifyClientCertIfGiven, and client_ca_file")
	case s.TokensFile != "" && web.passwords:
		return errors.New("stream: basic_auth_users in the web configuration file and authentication.bearer_tokens_file " +
			"both need the one Authorization header of a request; delete either")
	case isLoopback(host) || s.AnonymousAnywhere || !s.open() || web.authenticates():
		return nil
	}
	return fmt.Errorf("stream: %.60q can be reached from other machines, whose users could read everything without saying who they are; "+
		"give authentication.bearer_tokens_file, or listen on 127.0.0.1, or say authentication.anonymous: anywhere", address)
}

// AsksLoopback says whether a request asks for this machine by a loopback name. A web page that has its own name resolved to
// 127.0.0.1 has its visitors' browsers ask by that name (DNS rebinding).
func AsksLoopback(r *http.Request) bool { return isLoopback((&url.URL{Host: r.Host}).Hostname()) }

// isLoopback takes no name but localhost: what another one means is for a name server to say, and can change.
func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback() || strings.EqualFold(host, "localhost")
}

// webConfig is what the toolkit asks of every client before its request comes to us.
type webConfig struct {
	certificates demand
	passwords    bool
}

// demand is how certificates of the configured client CA are asked for.
type demand int

const (
	ignored demand = iota
	optional
	required
)

// authenticates says whether nobody passes the toolkit without having said who they are.
func (w webConfig) authenticates() bool { return w.certificates == required || w.passwords }

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
	w := webConfig{passwords: len(c.Users) > 0}
	switch c.TLSConfig.ClientAuth {
	case "VerifyClientCertIfGiven":
		w.certificates = optional
	case "RequireAndVerifyClientCert":
		w.certificates = required
	}
	if w.certificates != ignored && c.TLSConfig.ClientCAs == "" && c.TLSConfig.ClientCAsText == "" {
		// crypto/tls falls back to the system's authorities, which sign for anyone.
		return fail(fmt.Errorf("client_auth_type %s without a client CA takes the certificates of every public authority; "+
			"set client_ca_file", c.TLSConfig.ClientAuth))
	}
	return w, nil
}
