package source

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
)

// prepareUpgrade makes sure that a connection that has switched protocols is closed when the proxy stops.
// The connection is not observed: whatever the answer's headers say, it carries no event stream. The error
// is errUnrequestedUpgrade if the client did not ask for the protocol.
func (p *Proxy) prepareUpgrade(resp *http.Response, x *exchange) error {
	if asked := resp.Request.Header.Get("Upgrade"); asked == "" || !strings.EqualFold(asked, resp.Header.Get("Upgrade")) {
		return errUnrequestedUpgrade
	}
	if x != nil && x.span != nil {
		x.span.recordStatus(resp.StatusCode) // ReverseProxy does not call WriteHeader for it
	}
	agent := resp.Body // keep it: ReverseProxy removes it from the response
	// Also close it when the request is over, because ReverseProxy leaves it open if it refuses to switch.
	forget := context.AfterFunc(p.stopped, func() { agent.Close() })
	context.AfterFunc(resp.Request.Context(), func() { forget(); agent.Close() })
	return nil
}

var errUnrequestedUpgrade = errors.New("the agent switched to a protocol that the client did not ask for")

// offersHTTP2 reports whether a request offers to switch to HTTP/2. After such a switch the agent's streams
// would pass unfiltered. Removing the offer is harmless: servers may ignore it, and RFC 9113 has deprecated it.
func offersHTTP2(h http.Header) bool {
	offered := strings.Split(strings.ToLower(strings.Join(h.Values("Upgrade"), ",")), ",")
	return slices.ContainsFunc(offered, func(protocol string) bool {
		protocol = strings.TrimSpace(protocol)
		return strings.HasPrefix(protocol, "h2") || strings.HasPrefix(protocol, "http")
	})
}
