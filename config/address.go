package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// address is a host and a port in canonical spelling, so that equal addresses compare equal.
type address struct {
	host string // "" for all addresses of the machine
	port uint16
}

// listener is an address at which a key tells the program to listen.
type listener struct {
	key     string
	address address
}

// overlaps reports whether a machine cannot listen on both addresses. An address without a host takes its
// port on every address of the machine. Port 0 conflicts with nothing.
func (a address) overlaps(b address) bool {
	return a.port != 0 && a.port == b.port && (a.host == b.host || a.host == "" || b.host == "")
}

// receives reports whether a call from the same machine arrives at a listener on a.
func (a address) receives(call address) bool {
	ip, err := netip.ParseAddr(call.host)
	here := call.host == "" || err == nil && ip.IsLoopback()
	return a.overlaps(call) && (a.host == call.host || here)
}

func (c *checker) checkListen(text, key string) address {
	const remedy = `give host:port, such as "127.0.0.1:8080", or ":8080" for every address`
	if text == "" {
		c.report.invalid(key, c.report.missingOrEmpty(key), remedy)
		return address{}
	}
	listen, err := parseAddress(text)
	if err != nil {
		c.report.invalid(key, err.Error(), remedy)
		return address{}
	}
	for _, other := range c.listeners {
		if listen.overlaps(other.address) {
			c.report.invalid(key, fmt.Sprintf("%q is already used by %s", text, other.key), "give each source an address of its own")
			break
		}
	}
	c.listeners = append(c.listeners, listener{key, listen})
	return listen
}

// hop is one proxy on the way of a request: where it listens, and where it forwards.
type hop struct {
	key              string
	listen, upstream address
}

// checkLoops reports proxies that forward requests in a loop.
func (c *checker) checkLoops(hops []hop) {
	for i, first := range hops {
		at := first
		for range hops {
			next := slices.IndexFunc(hops, func(h hop) bool { return h.listen.receives(at.upstream) })
			if next < i { // there is no loop, or it was reported at an earlier hop
				break
			}
			if at = hops[next]; next == i {
				c.report.invalid(first.key, "requests come back to this proxy", "give the URL of the agent behind it, not of a proxy before it")
				break
			}
		}
	}
}

// checkUpstream checks an agent's URL. ok is false if it reports a mistake.
func (c *checker) checkUpstream(text, key string, listen address) (upstream address, ok bool) {
	const remedy = `give the agent's URL, such as "http://127.0.0.1:8000"`
	if text == "" {
		c.report.invalid(key, c.report.missingOrEmpty(key), remedy)
		return address{}, false
	}
	upstream, problem := parseUpstream(text)
	switch {
	case problem != "":
		c.report.invalid(key, problem, remedy)
	case listen.receives(upstream):
		c.report.invalid(key, "the proxy itself listens there", "give the agent a port of its own, and its URL here")
	default:
		return upstream, true
	}
	return address{}, false
}

// parseUpstream returns the address of an agent's URL, or a problem. The problem never quotes the text,
// which may contain a password.
func parseUpstream(text string) (upstream address, problem string) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https":
		return address{}, "this is not an http or https URL"
	case u.User != nil:
		return address{}, "the URL has user info"
	case strings.Contains(text, "?"):
		return address{}, "the URL has a query"
	case strings.Contains(text, "#"):
		return address{}, "the URL has a fragment"
	}
	port := u.Port()
	if !strings.HasSuffix(u.Host, ":") && port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	upstream, err = parseAddress(net.JoinHostPort(u.Hostname(), port))
	if err != nil || u.Hostname() == "" || upstream.port == 0 {
		return address{}, "the URL has no valid host and port"
	}
	return upstream, ""
}

func parseAddress(text string) (address, error) {
	host, portText, err := net.SplitHostPort(text)
	if err != nil {
		return address{}, fmt.Errorf("%.60q is not host:port", text)
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return address{}, fmt.Errorf("%.60q has no port from 0 to 65535", text)
	}
	host, err = canonicalHost(host)
	return address{host: host, port: uint16(port)}, err
}

// maxHost is the maximum length of a host name (RFC 1035).
const maxHost = 253

var hostName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

func canonicalHost(host string) (string, error) {
	host = strings.ToLower(host)
	if host == "localhost" {
		return "127.0.0.1", nil
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		if ip.IsUnspecified() {
			return "", nil
		}
		return ip.Unmap().String(), nil
	}
	if host != "" && (len(host) > maxHost || !hostName.MatchString(host)) {
		return "", fmt.Errorf("%.60q is not a host", host)
	}
	return host, nil
}
