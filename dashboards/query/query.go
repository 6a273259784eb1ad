// Package query runs the queries of a dashboard's panels on a Prometheus server, as Grafana would.
// Tests use it to check the results.
package query

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/delegraph/delegraph/dashboards/grafana"
)

// View holds the server and the settings with which a user views a dashboard.
type View struct {
	Prometheus string            // base URL of the server
	Variables  map[string]string // regular expressions by variable name; a variable without one matches everything
	From, To   time.Time
	Step       time.Duration // between two values of a range query; $__interval
	Rate       time.Duration // $__rate_interval
}

// Series is one series of a result. It has floats or native histograms; of the latter only the number
// is kept.
type Series struct {
	Labels     map[string]string
	Values     []float64
	Histograms int
}

var variable = regexp.MustCompile(`\$(\w+)|\$\{(\w+)\}`)

// Expand replaces the variables in an expression with their values.
func (v View) Expand(expr string) string {
	return variable.ReplaceAllStringFunc(expr, func(name string) string {
		switch name = strings.Trim(name, "${}"); {
		case name == "__rate_interval":
			return seconds(v.Rate)
		case name == "__interval":
			return seconds(v.Step)
		case name == "__interval_ms":
			return strconv.FormatInt(v.Step.Milliseconds(), 10)
		case name == "__range_s":
			return strconv.Itoa(int(v.To.Sub(v.From).Seconds()))
		case name == "__range":
			return seconds(v.To.Sub(v.From))
		case name[0] >= '0' && name[0] <= '9':
			return "$" + name // a group of label_replace
		case v.Variables[name] != "":
			return v.Variables[name]
		}
		return ".*"
	})
}

func seconds(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) + "s" }

// Query runs a target's query. An error contains the expanded expression.
func (v View) Query(ctx context.Context, target grafana.Target) ([]Series, error) {
	parameters := url.Values{"query": {v.Expand(target.Expr)}}
	path := "/api/v1/query"
	if target.Range {
		path = "/api/v1/query_range"
		parameters.Set("start", unix(v.From))
		parameters.Set("end", unix(v.To))
		parameters.Set("step", seconds(v.Step))
	} else {
		parameters.Set("time", unix(v.To))
	}
	var data struct {
		Result []struct {
			Metric                map[string]string
			Value                 *sample
			Values                []sample
			Histogram, Histograms json.RawMessage
		}
	}
	if err := v.get(ctx, path, parameters, &data); err != nil {
		return nil, fmt.Errorf("%s: %w", parameters.Get("query"), err)
	}
	var all []Series
	for _, r := range data.Result {
		s := Series{Labels: r.Metric}
		if r.Value != nil {
			r.Values = append(r.Values, *r.Value)
		}
		for _, value := range r.Values {
			s.Values = append(s.Values, float64(value))
		}
		if r.Histogram != nil {
			s.Histograms = 1
		}
		var histograms []json.RawMessage
		if r.Histograms != nil {
			if err := json.Unmarshal(r.Histograms, &histograms); err != nil {
				return nil, err
			}
			s.Histograms = len(histograms)
		}
		all = append(all, s)
	}
	return all, nil
}

// TraceIDs returns the trace id of each exemplar of the target's series, or "" for an exemplar that
// has none.
func (v View) TraceIDs(ctx context.Context, target grafana.Target) ([]string, error) {
	parameters := url.Values{"query": {v.Expand(target.Expr)}, "start": {unix(v.From)}, "end": {unix(v.To)}}
	var data []struct {
		Exemplars []struct{ Labels map[string]string }
	}
	if err := v.get(ctx, "/api/v1/query_exemplars", parameters, &data); err != nil {
		return nil, err
	}
	var ids []string
	for _, s := range data {
		for _, e := range s.Exemplars {
			ids = append(ids, e.Labels["trace_id"])
		}
	}
	return ids, nil
}

func (v View) get(ctx context.Context, path string, parameters url.Values, data any) error {
	return Fetch(ctx, v.Prometheus+path+"?"+parameters.Encode(), data)
}

// Fetch requests a URL of the Prometheus API and decodes the data of the response. It returns the
// server's own error if there is one.
func Fetch(ctx context.Context, address string, data any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var answer struct {
		Error string
		Data  json.RawMessage
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || answer.Error != "" {
		return errors.Join(err, errors.New(answer.Error))
	}
	return json.Unmarshal(answer.Data, data)
}

// sample is the value in a pair [time, "value"].
type sample float64

func (s *sample) UnmarshalJSON(b []byte) error {
	var (
		at    float64
		value string
	)
	if err := json.Unmarshal(b, &[]any{&at, &value}); err != nil {
		return err
	}
	n, err := strconv.ParseFloat(value, 64)
	*s = sample(n)
	return err
}

func unix(at time.Time) string { return strconv.FormatFloat(float64(at.UnixMilli())/1000, 'f', 3, 64) }
