package web

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/delegraph/delegraph/exporter/recent"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// parameters returns the query parameters of a URL. An unknown or repeated parameter is an error,
// because the response would not match the request.
func parameters(u *url.URL, known ...string) (url.Values, error) {
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, errors.New("the query string is malformed; percent-encode its values and join them with &")
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("unknown query parameter %.40q; use one of %s", name, strings.Join(known, ", "))
		}
		if len(values[name]) > 1 {
			return nil, fmt.Errorf("give only one %s", name)
		}
	}
	return values, nil
}

// runParameters lists the parameters that select runs.
var runParameters = []string{"agent", "cursor", "from", "limit", "q", "since", "sort", "source", "status", "to"}

// maxText is the maximum number of bytes of q. Names and ids have at most 256.
const maxText = 256

// ranges lists the values of since.
var ranges = []struct {
	Value, Label string
	Length       time.Duration
}{
	{"15m", "last 15 minutes", 15 * time.Minute}, {"1h", "last hour", time.Hour},
	{"6h", "last 6 hours", 6 * time.Hour}, {"24h", "last 24 hours", 24 * time.Hour},
}

// parseQuery parses a query for runs. The cursor must belong to the order of the list.
func parseQuery(u *url.URL, limit int, now time.Time) (values url.Values, q recent.Query, err error) {
	if values, err = parameters(u, runParameters...); err != nil {
		return nil, q, err
	}
	q = recent.Query{
		Source: values.Get("source"), Agent: values.Get("agent"), Status: tracker.Status(values.Get("status")),
		Text: strings.TrimSpace(values.Get("q")), Sort: recent.Sort(values.Get("sort")), Limit: limit,
	}
	if q.Status != "" && !slices.Contains(statuses(), q.Status) {
		return nil, q, fmt.Errorf("%.40q is not a status; use one of %v", q.Status, statuses())
	}
	if len(q.Text) > maxText {
		return nil, q, fmt.Errorf("q has %d bytes; use at most %d", len(q.Text), maxText)
	}
	if q.Sort != recent.SortDefault && !slices.Contains(recent.Sorts(), q.Sort) {
		return nil, q, fmt.Errorf("sort=%.40q is not valid; use one of %v, or leave it out", q.Sort, recent.Sorts())
	}
	if text := values.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxLimit {
			return nil, q, fmt.Errorf("limit=%.40q is not valid; use a number from 1 to %d", text, maxLimit)
		}
		q.Limit = n
	}
	if q.From, q.To, err = parseRange(values, now); err != nil {
		return nil, q, err
	}
	q.After, err = recent.ParseCursor(values.Get("cursor"), q.Sort)
	return values, q, err
}

// parseRange returns the time range of since, or of from and to. Zero values are no limit.
func parseRange(values url.Values, now time.Time) (from, to time.Time, err error) {
	since := values.Get("since")
	for _, name := range []string{"from", "to"} {
		text := values.Get(name)
		if text == "" {
			continue
		}
		if since != "" {
			return from, to, errors.New("give either since, or from and to")
		}
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return from, to, fmt.Errorf("%s=%.40q is not a time; use RFC 3339, such as 2026-01-02T15:04:05Z, with + encoded as %%2B", name, text)
		}
		if name == "from" {
			from = at
		} else {
			to = at
		}
	}
	if !from.IsZero() && !to.IsZero() && !from.Before(to) {
		return from, to, errors.New("from must be before to")
	}
	if since == "" {
		return from, to, nil
	}
	var known []string
	for _, r := range ranges {
		if known = append(known, r.Value); r.Value == since {
			return now.Add(-r.Length), to, nil
		}
	}
	return from, to, fmt.Errorf("since=%.40q is not valid; use one of %s, or from and to", since, strings.Join(known, ", "))
}

// statuses returns every status of a run.
func statuses() []tracker.Status {
	return append([]tracker.Status{tracker.Running}, tracker.Statuses()...)
}

// nextPage returns the query for the next page, or "" on the last page.
func nextPage(values url.Values, cursor recent.Cursor) string {
	if cursor == (recent.Cursor{}) {
		return ""
	}
	following := url.Values{}
	for _, key := range runParameters {
		if v := values.Get(key); v != "" {
			following.Set(key, v)
		}
	}
	following.Set("cursor", cursor.String())
	return "?" + following.Encode()
}
