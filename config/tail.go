package config

import (
	"fmt"
	"maps"
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

// tail reports the mistakes of a source that subscribes.
func (c *checker) tail(t Tail, key string) {
	c.tailURL(t.URL, key+".url")
	between(c.report, key+".max_sessions", t.MaxSessions, 1, 100_000)
	between(c.report, key+".idle_timeout", t.IdleTimeout, time.Second, 7*24*time.Hour)
	if !c.within(key+".headers", len(t.Headers), maxHeaders) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(t.Headers)) {
		c.header(name, t.Headers[name], join(key+".headers", name))
	}
}

// tailURL never quotes the URL: it may hold a key.
func (c *checker) tailURL(text, key string) {
	const remedy = `give the URL of the agent's stream, such as "http://127.0.0.1:3000/events/{session}"`
	u, err := url.Parse(strings.ReplaceAll(text, TailSession, "session"))
	switch {
	case text == "":
		c.report.wrong(key, c.report.lack(key), remedy)
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		c.report.wrong(key, "this is not an http or https URL", remedy)
	case u.User != nil:
		c.report.wrong(key, "the URL has user info", "put it in headers.Authorization.file")
	case strings.Contains(text, "#"):
		c.report.wrong(key, "the URL has a fragment", remedy)
	case strings.Contains(text, TailSession) && strings.Count(strings.SplitN(text, TailSession, 2)[0], "/") < 3:
		c.report.wrong(key, TailSession+" stands in the host", "put it into the path or the query")
	case len(text) > maxURL:
		c.report.wrong(key, fmt.Sprintf("the URL has %d bytes", len(text)), fmt.Sprintf("give at most %d", maxURL))
	}
}

// headerName is RFC 9110's token.
var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$")

// ownHeaders are those that the subscription itself needs.
var ownHeaders = []string{"accept", "accept-encoding", "connection", "content-length", "host", "last-event-id", "transfer-encoding"}

func (c *checker) header(name string, h Header, key string) {
	switch {
	case !headerName.MatchString(name):
		c.report.wrong(key, "this is not the name of a header", "use letters, digits and -")
	case slices.Contains(ownHeaders, strings.ToLower(name)):
		c.report.wrong(key, "delegraph sends this header itself", "remove it")
	case (h.Value == "") == (h.File == ""):
		c.report.wrong(key, "there is not exactly one of value and file", "give {file: …} for a secret, else {value: …}")
	case strings.ContainsFunc(h.Value, unprintable):
		c.report.wrong(key, "the value holds a control character", "give one line of text")
	}
}
