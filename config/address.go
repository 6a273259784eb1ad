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

// address is a host and a port in one spelling, so that two ways to write one place are equal.
type address struct {
	host string // "" for every address of the machine
	port uint16
}

// listener is the address that the value of a key takes.
type listener struct {
	key     string
	address address
}

// overlaps says whether one machine can not listen on both: a wildcard takes the port of every address, and port 0
// takes none.
func (a address) overlaps(b address) bool {
	return a.port != 0 && a.port == b.port && (a.host == b.host || a.host == "" || b.host == "")
}

// answers says whether a call to the address, made on the same machine, arrives at a listener on a.
func (a address) answers(call address) bool {
	ip, err := netip.ParseAddr(call.host)
	here := call.host == "" || err == nil && ip.IsLoopback()
	return a.overlaps(call) && (a.host == call.host || here)
}

func (c *checker) listen(text, key string) address {
	const remedy = `give host:port, such as "127.0.0.1:8080", or ":8080" for every address`
	if text == "" {
		c.report.wrong(key, c.report.lack(key), remedy)
		return address{}
	}
	listen, err := parseAddress(text)
	if err != nil {
		c.report.wrong(key, err.Error(), remedy)
		return address{}
	}
	for _, other := range c.listeners {
		if listen.overlaps(other.address) {
			c.report.wrong(key, fmt.Sprintf("%q is taken by %s", text, other.key), "give each source an address of its own")
			break
		}
	}
	c.listeners = append(c.listeners, listener{key, listen})
	return listen
}

// hop is the way of a request through one proxy.
type hop struct {
	key              string
	listen, upstream address
}

// loops reports proxies that send requests around in a circle.
func (c *checker) loops(hops []hop) {
	for i, first := range hops {
		at := first
		for range hops {
			next := slices.IndexFunc(hops, func(h hop) bool { return h.listen.answers(at.upstream) })
			if next < i { // there is none, or the circle was reported at an earlier hop
				break
			}
			if at = hops[next]; next == i {
				c.report.wrong(first.key, "requests come back to this proxy", "give the URL of the agent behind it, not of a proxy before it")
				break
			}
		}
	}
}

// upstream checks an agent's URL; it is not ok where there is something to mend.
func (c *checker) upstream(text, key string, listen address) (upstream address, ok bool) {
	const remedy = `give the agent's URL, such as "http://127.0.0.1:8000"`
	if text == "" {
		c.report.wrong(key, c.report.lack(key), remedy)
		return address{}, false
	}
	upstream, problem := parseUpstream(text)
	switch {
	case problem != "":
		c.report.wrong(key, problem, remedy)
	case listen.answers(upstream):
		c.report.wrong(key, "the proxy itself listens there", "give the agent a port of its own, and its URL here")
	default:
		return upstream, true
	}
	return address{}, false
}

// parseUpstream never quotes the text: what it refuses may hold a password.
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

var hostName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,252}$`)

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
	if host != "" && !hostName.MatchString(host) {
		return "", fmt.Errorf("%.60q is not a host", host)
	}
	return host, nil
}
