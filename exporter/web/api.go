package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/delegraph/delegraph/exporter/recent"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// Pages of the API.
const (
	defaultLimit = 100
	maxLimit     = 1000
)

// parameters returns the query parameters of a URL. One that is not known, or is given twice, is an error, since the answer would not
// be what was asked for.
func parameters(u *url.URL, known ...string) (url.Values, error) {
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, errors.New("the query cannot be read: percent-encode its values and join them with &")
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("unknown query parameter %.40q; known are %s", name, strings.Join(known, ", "))
		}
		if len(values[name]) > 1 {
			return nil, fmt.Errorf("give one %s", name)
		}
	}
	return values, nil
}

// ofRuns lists the parameters that choose runs.
var ofRuns = []string{"agent", "cursor", "limit", "source", "status"}

// asked reads a query for runs.
func asked(u *url.URL, limit int) (values url.Values, q recent.Query, err error) {
	if values, err = parameters(u, ofRuns...); err != nil {
		return nil, q, err
	}
	q = recent.Query{Source: values.Get("source"), Agent: values.Get("agent"), Status: tracker.Status(values.Get("status")), Limit: limit}
	if q.Status != "" && !slices.Contains(statuses(), q.Status) {
		return nil, q, fmt.Errorf("%.40q is no status: use one of %v", q.Status, statuses())
	}
	if text := values.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxLimit {
			return nil, q, fmt.Errorf("limit=%.40q: use a number from 1 to %d", text, maxLimit)
		}
		q.Limit = n
	}
	q.After, err = recent.ParseCursor(values.Get("cursor"))
	return values, q, err
}

// statuses are all that a run can have.
func statuses() []tracker.Status {
	return append([]tracker.Status{tracker.Running}, tracker.Statuses()...)
}

// next is the same query with the next page's cursor; "" where nothing follows.
func next(values url.Values, cursor recent.Cursor) string {
	if cursor == (recent.Cursor{}) {
		return ""
	}
	following := url.Values{}
	for _, key := range []string{"source", "agent", "status", "limit"} {
		if v := values.Get(key); v != "" {
			following.Set(key, v)
		}
	}
	following.Set("cursor", cursor.String())
	return "?" + following.Encode()
}

// apiRuns lists runs; the page that follows is in the header Link (RFC 8288), so that the list is what replay prints and no more.
func (s Settings) apiRuns(w http.ResponseWriter, r *http.Request) {
	values, q, err := asked(r.URL, defaultLimit)
	if err != nil {
		answer(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
		return
	}
	page := s.Runs.Page(q, true)
	reports := make([]tracker.Report, 0, len(page.Whole))
	for _, run := range page.Whole {
		reports = append(reports, run.Report())
	}
	if more := next(values, page.Next); more != "" {
		w.Header().Set("Link", fmt.Sprintf("<runs%s>; rel=\"next\"", more)) // relative, for a proxy that strips a prefix
	}
	answer(w, http.StatusOK, reports)
}

func (s Settings) apiRun(w http.ResponseWriter, r *http.Request) {
	values, err := parameters(r.URL, "format")
	if err != nil {
		answer(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
		return
	}
	run, _, known := s.Runs.Run(r.PathValue("id"))
	if !known {
		answer(w, http.StatusNotFound, map[string]string{"error": "no such run among those that are open or ended last"})
		return
	}
	switch format := values.Get("format"); {
	case format == "" || format == "json":
		answer(w, http.StatusOK, run.Report())
	case format == "otlp" && s.OTLP != nil:
		var lines bytes.Buffer
		if err := s.OTLP(r.Context(), &lines, run); err != nil {
			s.Logger.Debug("a run as OTLP", "err", err)
			answer(w, http.StatusInternalServerError, map[string]string{"error": "this run cannot be written as OTLP"})
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_, _ = w.Write(lines.Bytes())
	default:
		answer(w, http.StatusBadRequest, map[string]string{"error": fmt.Sprintf("%.40q is no format: use json or otlp", format)})
	}
}

func answer(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		say(w, http.StatusInternalServerError, "this cannot be written as JSON: "+err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}
