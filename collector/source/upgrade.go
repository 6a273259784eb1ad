package source

import (
	"context"
	"net/http"
	"slices"
	"strings"
)

// upgraded prepares a connection that has switched protocols: it is closed when the proxy stops. Whatever the answer's header says,
// what follows is no event stream. The error is a notUpgraded where the client did not ask for the protocol.
func (p *Proxy) upgraded(resp *http.Response, x *exchange) error {
	if asked := resp.Request.Header.Get("Upgrade"); asked == "" || !strings.EqualFold(asked, resp.Header.Get("Upgrade")) {
		return notUpgraded{}
	}
	if x != nil && x.span != nil {
		x.span.answered(resp.StatusCode) // which ReverseProxy writes by itself
	}
	agent := resp.Body // ReverseProxy takes it out of the response
	// It is closed in any case when the request is over: ReverseProxy leaves it open where it refuses to switch.
	forget := context.AfterFunc(p.stopped, func() { agent.Close() })
	context.AfterFunc(resp.Request.Context(), func() { forget(); agent.Close() })
	return nil
}

// notUpgraded is an answer that switches to a protocol that the client did not ask for.
type notUpgraded struct{}

func (notUpgraded) Error() string {
	return "the agent switched to a protocol that the client did not ask for"
}

// offersHTTP2 reports whether a request offers to switch to HTTP/2. After such a switch the agent's streams would pass unfiltered.
// Servers ignore an offer that they do not get, and RFC 9113 has withdrawn it.
func offersHTTP2(h http.Header) bool {
	offered := strings.Split(strings.ToLower(strings.Join(h.Values("Upgrade"), ",")), ",")
	return slices.ContainsFunc(offered, func(protocol string) bool {
		protocol = strings.TrimSpace(protocol)
		return strings.HasPrefix(protocol, "h2") || strings.HasPrefix(protocol, "http")
	})
}
