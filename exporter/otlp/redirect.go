package otlp

import (
	"errors"
	"net/http"
	"net/url"
)

// errRedirected says that a redirect asks for a GET, which has no telemetry.
var errRedirected = errors.New("the backend redirects to a GET request, which has no telemetry")

// Proxy returns the proxy for a request of an OTLP exporter, as http.ProxyFromEnvironment does. It refuses the GET that net/http sends
// after 301, 302 and 303: a page that answers it would count as delivery. The exporters have no other option that sees redirects.
func Proxy(r *http.Request) (*url.URL, error) {
	if r.Method != http.MethodPost {
		return nil, errRedirected
	}
	return http.ProxyFromEnvironment(r)
}
