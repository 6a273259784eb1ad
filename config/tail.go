package config

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	maxHeaders = 100
	maxURL     = 4096
)

// checkTail reports the mistakes of a tail.
func (c *checker) checkTail(t Tail, key string) {
	c.checkTailURL(t.URL, key+".url")
	checkRange(c.report, key+".max_sessions", t.MaxSessions, 1, 100_000)
	checkRange(c.report, key+".idle_timeout", t.IdleTimeout, time.Second, 7*24*time.Hour)
	if !c.checkCount(key+".headers", len(t.Headers), maxHeaders) {
		return
	}
	known := make(map[string]string, len(t.Headers)) // canonical name → name
	for _, name := range slices.Sorted(maps.Keys(t.Headers)) {
		at, canonical := join(key+".headers", name), http.CanonicalHeaderKey(name)
		if other, isKnown := known[canonical]; isKnown {
			c.report.invalid(at, fmt.Sprintf("this is the header %q in another spelling", other), "remove one of them")
		}
		known[canonical] = name
		c.checkHeader(name, t.Headers[name], at)
	}
}

// checkTailURL checks the URL of a tail. It never quotes the URL, which may contain a key.
func (c *checker) checkTailURL(text, key string) {
	const remedy = `give the URL of the agent's stream, such as "http://127.0.0.1:3000/events/{session}"`
	u, err := url.Parse(strings.ReplaceAll(text, TailSession, "session"))
	switch {
	case text == "":
		c.report.invalid(key, c.report.missingOrEmpty(key), remedy)
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		c.report.invalid(key, "this is not an http or https URL", remedy)
	case u.User != nil:
		c.report.invalid(key, "the URL has user info", "put it in headers.Authorization.file")
	case strings.Contains(text, "#"):
		c.report.invalid(key, "the URL has a fragment", remedy)
	case isInHost(text, TailSession):
		c.report.invalid(key, TailSession+" is in the host", "put it into the path or the query")
	case len(text) > maxURL:
		c.report.invalid(key, fmt.Sprintf("the URL has %d bytes", len(text)), fmt.Sprintf("give at most %d", maxURL))
	}
}

// isInHost reports whether a placeholder is in the host of a URL.
func isInHost(text, placeholder string) bool {
	_, rest, _ := strings.Cut(text, "://")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	return strings.Contains(rest, placeholder)
}

const maxHeaderName = 100

// headerName matches a token of RFC 9110.
var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// reservedHeaders lists the headers that the tail or its HTTP client sets.
var reservedHeaders = []string{"accept", "accept-encoding", "cache-control", "connection", "content-length", "host", "last-event-id", "trailer", "transfer-encoding"}

func (c *checker) checkHeader(name string, h Header, key string) {
	switch {
	case len(name) > maxHeaderName || !headerName.MatchString(name):
		c.report.invalid(key, "this is not the name of a header", "use letters, digits and -")
	case slices.Contains(reservedHeaders, strings.ToLower(name)):
		c.report.invalid(key, "delegraph sends this header itself", "remove it")
	case (h.Value == "") == (h.File == ""):
		c.report.invalid(key, "exactly one of value and file is required", "give {file: …} for a secret, else {value: …}")
	case strings.ContainsFunc(h.Value, unprintable):
		c.report.invalid(key, "the value contains a control character", "give one line of text")
	}
}
