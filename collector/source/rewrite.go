package source

import (
	"net/http"
	"net/http/httputil"
	"strings"
)

// rewrite prepares the request to the agent. It changes only the forwarding headers, the trace context and,
// if the proxy may change or withhold the answer, the headers that would make the answer unreadable.
func (p *Proxy) rewrite(r *httputil.ProxyRequest) {
	r.SetURL(p.settings.Upstream)
	if p.settings.Upstream.Scheme != "https" { // behind TLS, a server knows itself by the name in its certificate
		r.Out.Host = r.In.Host
	}
	r.Out.URL.RawQuery = r.In.URL.RawQuery // ReverseProxy would remove parameters that it cannot parse
	if target := p.target(r.In.RequestURI); !strings.HasPrefix(target, "//") {
		r.Out.URL.Opaque = target // keep net/url from changing the escaping; it would take a leading "//" for a host
	}
	if body, ok := r.In.Body.(*requestBody); ok {
		r.Out.Trailer = body.trailer
	}
	setForwarded(r)
	f := forwardedOf(r.In.Context())
	onRunPath, filters := f.exchange != nil && f.exchange.span != nil, p.settings.NewFilter != nil
	if f.granted != permitAll || filters && offersHTTP2(r.Out.Header) {
		for _, name := range []string{"Connection", "Upgrade", "Http2-Settings"} {
			r.Out.Header.Del(name)
		}
	}
	if len(r.In.Header.Values("Accept-Encoding")) > 0 && filters && (onRunPath || asksForStream(r.In.Header)) {
		// A stream is filtered as plain text, and a compressed one could be decoded only with a delay.
		r.Out.Header.Set("Accept-Encoding", "identity")
	}
	if p.settings.RewriteCards && len(r.Out.Header["Accept-Encoding"]) > 0 && p.cardDialect(f.body) != nil {
		r.Out.Header.Set("Accept-Encoding", "identity") // agent cards are rewritten even if streams are not filtered
	}
	if onRunPath && filters {
		r.Out.Header.Del("Range") // a part of a stream could mislead the filter
		r.Out.Header.Del("If-Range")
	}
	if onRunPath {
		f.exchange.span.propagate(r.Out.Header)
	}
}

// useOriginForm turns an absolute request target into the path and query that it contains. A server accepts both
// forms (RFC 9112, section 3.2.2). net/http has already set r.Host from the absolute form.
func useOriginForm(r *http.Request) {
	if r.URL.Host == "" || r.Method == http.MethodConnect {
		return
	}
	_, rest, _ := strings.Cut(r.RequestURI, "://")
	target := "/"
	if at := strings.IndexAny(rest, "/?"); at >= 0 {
		target = "/" + strings.TrimPrefix(rest[at:], "/")
	}
	u := *r.URL
	u.Scheme, u.User, u.Host = "", nil, ""
	if u.Path == "" {
		u.Path = "/"
	}
	r.URL, r.RequestURI = &u, target
}

// asksForStream reports whether a request accepts an event stream, as EventSource does.
func asksForStream(h http.Header) bool {
	return headerContains(h, "Accept", "event-stream")
}

// target returns the requested path, byte for byte, below the path of the agent's URL.
func (p *Proxy) target(requested string) string {
	path, _, _ := strings.Cut(requested, "?")
	if path == "*" {
		return path
	}
	return strings.TrimSuffix(p.settings.Upstream.EscapedPath(), "/") + path
}

// setForwarded adds the client to the forwarding headers. It keeps the host and scheme that an outer proxy
// has set, because the agent makes its links from them.
func setForwarded(r *httputil.ProxyRequest) {
	outer := r.In.Header
	r.Out.Header["X-Forwarded-For"] = outer["X-Forwarded-For"]
	r.SetXForwarded()
	standard, hasStandard := outer["Forwarded"]
	if hasStandard {
		r.Out.Header["Forwarded"] = standard
	}
	for _, name := range []string{"X-Forwarded-Host", "X-Forwarded-Proto"} {
		if values, ok := outer[name]; ok {
			r.Out.Header[name] = values
		} else if hasStandard {
			r.Out.Header.Del(name) // it could contradict Forwarded
		}
	}
}
