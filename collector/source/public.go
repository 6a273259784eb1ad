package source

import (
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"
)

// reach is what a request may get of a proxy's agent.
type reach int

const (
	reachAll       reach = iota
	reachStream          // an event stream, filtered
	reachPreflight       // what a browser asks before it asks for an event stream of another origin
	reachNothing
)

type reachKey struct{}

// reach decides what a request may get. Where the policy is public, that is nothing by default.
func (p *Proxy) reach(r *http.Request, found route) reach {
	switch {
	case !p.settings.Public:
		return reachAll
	case slices.ContainsFunc(p.settings.PublicPaths, func(glob string) bool { return isPlain(r) && matchesExactly(glob, r.URL.Path) }):
		return reachAll
	case found.dialects != nil && !found.doubtful && r.Method != http.MethodOptions:
		return reachStream
	case p.isPreflight(r):
		return reachPreflight
	}
	return reachNothing
}

// isPreflight reports whether a browser asks whether a page may ask for an event stream.
func (p *Proxy) isPreflight(r *http.Request) bool {
	method := r.Header.Get("Access-Control-Request-Method")
	if r.Method != http.MethodOptions || method == "" || r.Header.Get("Origin") == "" {
		return false
	}
	other := *r
	other.Method = method
	found := p.route(&other)
	return found.dialects != nil && !found.doubtful
}

// isPlain reports whether a path has one spelling only, so that every server takes it for the same resource: no dot segments, no
// double slashes, no parameters, and nothing encoded that need not be.
func isPlain(r *http.Request) bool {
	sent, _, _ := strings.Cut(r.RequestURI, "?")
	plain := r.URL.Path
	cleaned := path.Clean(plain)
	if strings.HasSuffix(plain, "/") && plain != "/" {
		cleaned += "/"
	}
	spelled := url.URL{Path: plain}
	return plain == cleaned && spelled.EscapedPath() == sent && !strings.ContainsFunc(plain, func(c rune) bool {
		return strings.ContainsRune(`\;#?%`, c) || c == unicode.ReplacementChar || unicode.IsControl(c)
	})
}

func matchesExactly(glob, asked string) bool {
	ok, _ := path.Match(glob, asked)
	return ok
}

// notPublic is an answer that is not for strangers.
type notPublic struct{}

func (notPublic) Error() string {
	return "by the policy public only event streams of the agent's runs leave here; to let other answers out, list the path in proxy.public_paths"
}

// publicHeaders are what strangers get of the headers of an answer, besides its type.
var publicHeaders = []string{
	"Access-Control-Allow-Credentials", "Access-Control-Allow-Headers", "Access-Control-Allow-Methods", "Access-Control-Allow-Origin",
	"Access-Control-Max-Age", "Access-Control-Expose-Headers", "Date", "Retry-After", "Vary",
}

// restrict takes from an answer what a request may not get: headers, and bodies that are no event streams.
func (p *Proxy) restrict(resp *http.Response) error {
	granted, _ := resp.Request.Context().Value(reachKey{}).(reach)
	if granted == reachAll {
		return nil
	}
	isStream := granted == reachStream && mayBeStream(resp.Header) && !isBinary(resp.Header)
	encoding := resp.Header.Values("Content-Encoding")
	kept := http.Header{}
	for _, name := range publicHeaders {
		if values := resp.Header.Values(name); values != nil {
			kept[name] = values
		}
	}
	resp.Header, resp.Trailer = kept, nil
	switch status := resp.StatusCode; {
	case status == http.StatusSwitchingProtocols:
		return notPublic{}
	case isStream:
		kept.Set("Content-Type", "text/event-stream")
		kept.Set("Cache-Control", "no-cache")
		kept.Set("X-Content-Type-Options", "nosniff")
		kept["Content-Encoding"] = encoding // until the stream has been filtered
		if encoding == nil || resp.Request.Method == http.MethodHead {
			kept.Del("Content-Encoding")
		}
		return nil
	case granted == reachPreflight && status < http.StatusMultipleChoices, status == http.StatusNoContent:
		replace(resp, "")
		return nil
	case status >= http.StatusBadRequest:
		replace(resp, "delegraph: the agent answered "+http.StatusText(status)+"; by the policy public its words stay in\n")
		return nil
	}
	return notPublic{}
}

// replace puts a sentence in the place of an answer's body.
func replace(resp *http.Response, sentence string) {
	resp.Body.Close()
	resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader(sentence)), int64(len(sentence))
	if sentence == "" {
		resp.Body = http.NoBody
		return
	}
	resp.Header.Set("Content-Type", "text/plain; charset=utf-8")
	resp.Header.Set("X-Content-Type-Options", "nosniff")
}
