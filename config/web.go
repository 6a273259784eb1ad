package config

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
)

// checkTraceURL refuses a URL that a browser could not open as the page of a trace, or whose host depends on the
// trace.
func (c *checker) checkTraceURL(text, key string) {
	const remedy = `give the URL of a trace with {trace_id} in it, such as "http://localhost:16686/trace/{trace_id}"`
	u, err := url.Parse(strings.ReplaceAll(text, TraceID, "0123456789abcdef0123456789abcdef"))
	switch {
	case text == "":
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || strings.ContainsFunc(text, unicode.IsSpace):
		c.report.invalid(key, "this is not an http or https URL", remedy)
	case u.User != nil:
		c.report.invalid(key, "the URL has user info, which everyone who opens a page would see", remedy)
	case !strings.Contains(text, TraceID):
		c.report.invalid(key, TraceID+" is missing from the URL", remedy)
	case isInHost(text, TraceID):
		c.report.invalid(key, TraceID+" is in the host", "put it into the path, the query or the fragment")
	case len(text) > maxURL:
		c.report.invalid(key, fmt.Sprintf("the URL has %d bytes", len(text)), fmt.Sprintf("give at most %d", maxURL))
	}
}
