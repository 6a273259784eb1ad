package source

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// permission is the part of the agent's answers that a request may get.
type permission int

const (
	permitAll       permission = iota
	permitStream               // a filtered event stream
	permitPreflight            // the answer to a CORS preflight request for an event stream
	permitNothing
)

// permission returns what a request may get: under the policy public, nothing by default.
func (p *Proxy) permission(r *http.Request, found route) permission {
	switch {
	case !p.settings.Public:
		return permitAll
	case slices.ContainsFunc(p.settings.PublicPaths, func(glob string) bool { return isCanonical(r) && matchGlob(glob, r.URL.Path) }):
		return permitAll
	case found.isUnambiguous(r) && r.Method != http.MethodOptions:
		return permitStream
	case p.isPreflight(r):
		return permitPreflight
	}
	return permitNothing
}

// isPreflight reports whether a request is a CORS preflight for an event stream.
func (p *Proxy) isPreflight(r *http.Request) bool {
	method := r.Header.Get("Access-Control-Request-Method")
	if r.Method != http.MethodOptions || method == "" || r.Header.Get("Origin") == "" {
		return false
	}
	other := *r
	other.Method = method
	return p.route(&other).isUnambiguous(r)
}

// isUnambiguous reports whether every server reads the path of a request as the run path of the route. The agent might read another
// spelling as a different path, and act on it. To withhold its answer would be too late.
func (found route) isUnambiguous(r *http.Request) bool {
	return found.dialects != nil && isCanonical(r) && matchGlob(found.pattern, path.Clean(r.URL.Path))
}

// isCanonical reports whether every server reads a request's path in the same way: it has no dot
// segments, double slashes or parameters, and no needless percent-encoding.
func isCanonical(r *http.Request) bool {
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

func matchGlob(glob, asked string) bool {
	ok, _ := path.Match(glob, asked)
	return ok
}

// errNotPublic is the error for an answer that the policy public withholds.
var errNotPublic = errors.New("the policy public allows only event streams of the agent's runs; to allow other answers, list their paths in proxy.public_paths")

// publicHeaders lists the headers of an answer that pass under the policy public, besides Content-Type.
var publicHeaders = []string{
	"Access-Control-Allow-Credentials", "Access-Control-Allow-Headers", "Access-Control-Allow-Methods", "Access-Control-Allow-Origin",
	"Access-Control-Max-Age", "Access-Control-Expose-Headers", "Date", "Retry-After", "Vary",
}

// plainLocation matches a Content-Location that may pass: a path of names and IDs. LangGraph's clients read the IDs of the thread and the
// run from it.
//
// Source: langgraph_api/api/runs.py of langgraph-api 0.16; libs/sdk-js/src/client.ts of @langchain/langgraph-sdk, getRunMetadataFromResponse.
var plainLocation = regexp.MustCompile(`^(?:/[A-Za-z0-9_-]{1,64})+$`)

// restrict removes from an answer the headers and the body that the request may not get.
func restrict(resp *http.Response) error {
	granted := forwardedOf(resp.Request.Context()).granted
	if granted == permitAll {
		return nil
	}
	isStream := granted == permitStream && mayBeStream(resp.Header) && !isBinaryEvents(resp.Header)
	encoding := resp.Header.Values("Content-Encoding")
	kept := http.Header{}
	for _, name := range publicHeaders {
		if values := resp.Header.Values(name); values != nil {
			kept[name] = values
		}
	}
	headers := resp.Header
	resp.Header, resp.Trailer = kept, nil
	switch status := resp.StatusCode; {
	case status == http.StatusSwitchingProtocols:
		return errNotPublic
	case isStream:
		kept.Set("Content-Type", "text/event-stream")
		kept.Set("Cache-Control", "no-cache, no-transform")
		kept.Set("X-Accel-Buffering", "no")
		if location := headers.Get("Content-Location"); plainLocation.MatchString(location) {
			kept.Set("Content-Location", location)
		}
		kept.Set("X-Content-Type-Options", "nosniff")
		kept["Content-Encoding"] = encoding // until the stream has been filtered
		if encoding == nil || resp.Request.Method == http.MethodHead {
			kept.Del("Content-Encoding")
		}
		return nil
	case granted == permitPreflight && status < http.StatusMultipleChoices, status == http.StatusNoContent:
		replaceText(resp, "")
		return nil
	case status >= http.StatusBadRequest:
		replaceText(resp, "delegraph: the agent answered "+strings.TrimSpace(strconv.Itoa(status)+" "+http.StatusText(status))+"; the policy public withholds the text\n")
		return nil
	}
	return errNotPublic
}

// replaceText replaces an answer's body with a sentence, or with nothing if it is "".
func replaceText(resp *http.Response, sentence string) {
	resp.Body.Close()
	resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader(sentence)), int64(len(sentence))
	if sentence == "" {
		resp.Body = http.NoBody
		return
	}
	resp.Header.Set("Content-Type", "text/plain; charset=utf-8")
	resp.Header.Set("X-Content-Type-Options", "nosniff")
}
