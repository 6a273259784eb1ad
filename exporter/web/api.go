package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/delegraph/delegraph/exporter/recent"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// Page sizes of the API.
const (
	defaultLimit = 100
	maxLimit     = 1000
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
var runParameters = []string{"agent", "cursor", "limit", "source", "status"}

// parseQuery parses a query for runs.
func parseQuery(u *url.URL, limit int) (values url.Values, q recent.Query, err error) {
	if values, err = parameters(u, runParameters...); err != nil {
		return nil, q, err
	}
	q = recent.Query{Source: values.Get("source"), Agent: values.Get("agent"), Status: tracker.Status(values.Get("status")), Limit: limit}
	if q.Status != "" && !slices.Contains(statuses(), q.Status) {
		return nil, q, fmt.Errorf("%.40q is not a status; use one of %v", q.Status, statuses())
	}
	if text := values.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxLimit {
			return nil, q, fmt.Errorf("limit=%.40q is not valid; use a number from 1 to %d", text, maxLimit)
		}
		q.Limit = n
	}
	q.After, err = recent.ParseCursor(values.Get("cursor"))
	return values, q, err
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
	for _, key := range []string{"source", "agent", "status", "limit"} {
		if v := values.Get(key); v != "" {
			following.Set(key, v)
		}
	}
	following.Set("cursor", cursor.String())
	return "?" + following.Encode()
}

// apiRuns lists runs. The next page is in the Link header (RFC 8288), so that the body equals the
// output of replay.
func (s Settings) apiRuns(w http.ResponseWriter, r *http.Request) {
	values, q, err := parseQuery(r.URL, defaultLimit)
	if err != nil {
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
		return
	}
	page := s.Runs.Page(q, true)
	if more := nextPage(values, page.Next); more != "" {
		w.Header().Set("Link", fmt.Sprintf("<runs%s>; rel=\"next\"", more)) // relative, for a proxy that strips a prefix
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	writeReports(w, page.Whole)
}

// writeReports writes the reports of runs as a JSON array, run by run: all of them may be many megabytes. If a later run cannot be
// encoded, it aborts the response, so that the client does not take it for complete.
func writeReports(w http.ResponseWriter, runs []*tracker.Run) {
	separator, end := "[", "[]\n"
	for i, run := range runs {
		text, err := json.Marshal(run.Report())
		if err != nil && i == 0 {
			writeUnencodable(w, err)
			return
		}
		if err == nil {
			_, err = w.Write(append([]byte(separator), text...))
		}
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		separator, end = ",", "]\n"
		runtime.Gosched() // the scheduler would let an agent's stream wait up to 10 ms
	}
	_, _ = io.WriteString(w, end)
}

func (s Settings) apiRun(w http.ResponseWriter, r *http.Request) {
	values, err := parameters(r.URL, "format")
	if err != nil {
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
		return
	}
	run, _, known := s.Runs.Run(r.PathValue("id"))
	if !known {
		writeJSON(w, http.StatusNotFound, map[string]string{"error": "no such run: it is neither open nor stored"})
		return
	}
	switch format := values.Get("format"); {
	case format == "" || format == "json":
		writeJSON(w, http.StatusOK, run.Report())
	case format == "otlp" && s.OTLP != nil:
		var lines bytes.Buffer
		if err := s.OTLP(r.Context(), &lines, run); err != nil {
			s.Logger.Debug("cannot write a run as OTLP", "err", err)
			writeJSON(w, http.StatusInternalServerError, map[string]string{"error": "this run cannot be written as OTLP"})
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_, _ = w.Write(lines.Bytes())
	default:
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": fmt.Sprintf("%.40q is not a format; use json or otlp", format)})
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		writeUnencodable(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}

func writeUnencodable(w http.ResponseWriter, err error) {
	writeText(w, http.StatusInternalServerError, "cannot encode the response as JSON: "+err.Error())
}
