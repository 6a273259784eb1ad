package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"

	"github.com/delegraph/delegraph/exporter/tracker"
)

// Page sizes of the API.
const (
	defaultLimit = 100
	maxLimit     = 1000
)

// apiRuns lists runs. The next page is in the Link header (RFC 8288), so that the body equals the
// output of replay.
func (s Settings) apiRuns(w http.ResponseWriter, r *http.Request) {
	values, q, err := parseQuery(r.URL, defaultLimit, s.Now())
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

// writeReports writes the reports of runs as a JSON array, run by run: together they may have many megabytes. If a
// run after the first cannot be encoded, it aborts the response, so that the client does not take it for complete.
func writeReports(w http.ResponseWriter, runs []*tracker.Run) {
	separator, end := "[", "[]\n" // without runs
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
		runtime.Gosched() // otherwise an agent's stream may wait for up to 10 ms, until the scheduler preempts this
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
