package config

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
)

// traceURL refuses what a browser would not open as a page of a trace, or what it would open elsewhere than meant.
func (c *checker) traceURL(text, key string) {
	const remedy = `give the URL of a trace with {trace_id} in it, such as "http://localhost:16686/trace/{trace_id}"`
	u, err := url.Parse(strings.ReplaceAll(text, TraceID, "0123456789abcdef0123456789abcdef"))
	switch {
	case text == "":
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || strings.ContainsFunc(text, unicode.IsSpace):
		c.report.wrong(key, "this is not an http or https URL", remedy)
	case u.User != nil:
		c.report.wrong(key, "the URL has user info, which everybody would see who opens a page", remedy)
	case !strings.Contains(text, TraceID):
		c.report.wrong(key, TraceID+" does not stand in the URL", remedy)
	case strings.Count(strings.SplitN(text, TraceID, 2)[0], "/") < 3:
		c.report.wrong(key, TraceID+" stands in the host", "put it into the path, the query or the fragment")
	case len(text) > maxURL:
		c.report.wrong(key, fmt.Sprintf("the URL has %d bytes", len(text)), fmt.Sprintf("give at most %d", maxURL))
	}
}
