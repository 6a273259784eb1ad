package source

import (
	"net/http"
	"net/http/httputil"
	"strings"
)

// rewrite makes the request to the agent. It stays what the client sent, but for the way that it came, the trace that it is of
// and the encodings that can be judged.
func (p *Proxy) rewrite(r *httputil.ProxyRequest) {
	r.SetURL(p.settings.Upstream)
	r.Out.Host = r.In.Host
	r.Out.URL.RawQuery = r.In.URL.RawQuery // also what does not parse: it is the agent's
	if target := p.target(r.In.RequestURI); !strings.HasPrefix(target, "//") {
		r.Out.URL.Opaque = target // net/url takes two slashes for a host, and would escape what it finds odd in any other path
	}
	if body, ok := r.In.Body.(*requestBody); ok {
		r.Out.Trailer = body.trailer
	}
	forwarded(r)
	granted, _ := r.In.Context().Value(reachKey{}).(reach)
	if granted != reachAll || p.settings.Judge != nil && offersHTTP2(r.Out.Header) {
		for _, name := range []string{"Connection", "Upgrade", "Http2-Settings"} {
			r.Out.Header.Del(name)
		}
	}
	run, _ := r.In.Context().Value(exchangeKey{}).(*exchange)
	if len(r.In.Header.Values("Accept-Encoding")) > 0 && p.settings.Judge != nil && (run != nil && run.span != nil || asksForStream(r.In.Header)) {
		// What cannot be read cannot be judged, and what is compressed can be read only when more of it has come.
		r.Out.Header.Set("Accept-Encoding", "identity")
	}
	if body, ok := r.In.Context().Value(requestKey{}).(*requestBody); ok && len(r.Out.Header["Accept-Encoding"]) > 0 && p.cards(body) != nil {
		r.Out.Header.Set("Accept-Encoding", "identity") // an agent card is read, whatever the relay
	}
	if run != nil && run.span != nil && p.settings.Judge != nil {
		r.Out.Header.Del("Range") // a part of a stream can read as what the whole is not
		r.Out.Header.Del("If-Range")
	}
	if run != nil && run.span != nil {
		run.span.propagate(r.Out.Header)
	}
}

// asksForStream reports whether a request asks for an event stream, as EventSource does.
func asksForStream(h http.Header) bool {
	return strings.Contains(strings.ToLower(strings.Join(h.Values("Accept"), ",")), "event-stream")
}

// target is the path that the client asked for, byte for byte, below the agent's own.
func (p *Proxy) target(requested string) string {
	path, _, _ := strings.Cut(requested, "?")
	if path == "*" {
		return path
	}
	return strings.TrimSuffix(p.settings.Upstream.EscapedPath(), "/") + path
}

// forwarded adds the client to those that a request came from. What a proxy in front of us says of the outside stays: the agent
// makes its own links of it.
func forwarded(r *httputil.ProxyRequest) {
	outer := r.In.Header
	r.Out.Header["X-Forwarded-For"] = outer["X-Forwarded-For"]
	r.SetXForwarded()
	standard, saidSo := outer["Forwarded"]
	if saidSo {
		r.Out.Header["Forwarded"] = standard
	}
	for _, name := range []string{"X-Forwarded-Host", "X-Forwarded-Proto"} {
		if values, ok := outer[name]; ok {
			r.Out.Header[name] = values
		} else if saidSo {
			r.Out.Header.Del(name) // ours would contradict it
		}
	}
}
