// Package picture draws a dashboard as SVG from the live answers of a Prometheus, so that people can look at it without Grafana.
package picture

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/delegraph/delegraph/dashboards/grafana"
)

// View is what a dashboard is looked at with.
type View struct {
	Prometheus string            // its URL
	Variables  map[string]string // patterns, by the names of variables; those that are not named are anything
	From, To   time.Time
	Step       time.Duration // between the moments of a line, $__interval
	Rate       time.Duration // $__rate_interval
}

// Series is one of an answer.
type Series struct {
	Labels  map[string]string
	Points  []Point
	Buckets []Buckets // in place of points, where the answer is native histograms
	Legend  string
	Query   string // the RefID of the query that it answers
}

// Last is the value of the last point; not a number where there is none.
func (s Series) Last() float64 {
	if len(s.Points) == 0 {
		return math.NaN()
	}
	return s.Points[len(s.Points)-1].Value
}

// Point is a value.
type Point struct {
	At    time.Time
	Value float64
}

// Buckets are a native histogram, from the lowest to the highest.
type Buckets struct {
	At    time.Time
	Upper []float64
	Count []float64 // in each
}

var variable = regexp.MustCompile(`\$(\w+)|\$\{(\w+)\}`)

// Expand puts values in the place of variables.
func (v View) Expand(expr string) string {
	return variable.ReplaceAllStringFunc(expr, func(name string) string {
		switch name = strings.Trim(name, "${}"); {
		case name == "__rate_interval":
			return seconds(v.Rate)
		case name == "__interval":
			return seconds(v.Step)
		case name == "__interval_ms":
			return strconv.FormatInt(v.Step.Milliseconds(), 10)
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

// Ask answers a query as Grafana would have it asked, in the order of its labels.
func (v View) Ask(ctx context.Context, target grafana.Target) ([]Series, error) {
	parameters := url.Values{"query": {v.Expand(target.Expr)}}
	path := "/api/v1/query"
	if target.Range {
		path = "/api/v1/query_range"
		parameters.Set("start", stamp(v.From))
		parameters.Set("end", stamp(v.To))
		parameters.Set("step", seconds(v.Step))
	} else {
		parameters.Set("time", stamp(v.To))
	}
	var data struct{ Result []result }
	if err := v.get(ctx, path, parameters, &data); err != nil {
		return nil, fmt.Errorf("%s: %w", parameters.Get("query"), err)
	}
	var all []Series
	for _, r := range data.Result {
		s, err := r.series()
		if err != nil {
			return nil, err
		}
		s.Query, s.Legend = target.RefID, legend(target.LegendFormat, s.Labels)
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Series) int { return strings.Compare(key(a.Labels), key(b.Labels)) })
	return all, nil
}

// Exemplars are the points of a query's series that lead to a trace.
func (v View) Exemplars(ctx context.Context, target grafana.Target) (points []Point, traces []string, err error) {
	parameters := url.Values{"query": {v.Expand(target.Expr)}, "start": {stamp(v.From)}, "end": {stamp(v.To)}}
	var data []struct {
		Exemplars []struct {
			Labels    map[string]string
			Value     string
			Timestamp float64
		}
	}
	if err := v.get(ctx, "/api/v1/query_exemplars", parameters, &data); err != nil {
		return nil, nil, err
	}
	for _, s := range data {
		for _, e := range s.Exemplars {
			value, err := strconv.ParseFloat(e.Value, 64)
			if err != nil {
				return nil, nil, err
			}
			points = append(points, Point{time.UnixMilli(int64(e.Timestamp * 1000)), value})
			traces = append(traces, e.Labels["trace_id"])
		}
	}
	return points, traces, nil
}

func (v View) get(ctx context.Context, path string, parameters url.Values, data any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, v.Prometheus+path+"?"+parameters.Encode(), nil)
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

// result is one of Prometheus's: a value or values, a histogram or histograms.
type result struct {
	Metric     map[string]string
	Value      *sample
	Values     []sample
	Histogram  *sample
	Histograms []sample
}

// sample is a pair of a time and a value: a string, or a histogram.
type sample struct {
	at    time.Time
	value json.RawMessage
}

// UnmarshalJSON reads the pair.
func (s *sample) UnmarshalJSON(b []byte) error {
	var at float64
	if err := json.Unmarshal(b, &[]any{&at, &s.value}); err != nil {
		return err
	}
	s.at = time.UnixMilli(int64(at * 1000))
	return nil
}

func (r result) series() (Series, error) {
	s := Series{Labels: r.Metric}
	if r.Value != nil {
		r.Values = append(r.Values, *r.Value)
	}
	if r.Histogram != nil {
		r.Histograms = append(r.Histograms, *r.Histogram)
	}
	for _, v := range r.Values {
		n, err := number(v.value)
		if err != nil {
			return s, err
		}
		s.Points = append(s.Points, Point{v.at, n})
	}
	for _, h := range r.Histograms {
		var native struct{ Buckets [][4]json.RawMessage }
		if err := json.Unmarshal(h.value, &native); err != nil {
			return s, err
		}
		at := Buckets{At: h.at}
		for _, b := range native.Buckets {
			upper, err := number(b[2])
			count, fault := number(b[3])
			if err != nil || fault != nil {
				return s, errors.Join(err, fault)
			}
			at.Upper, at.Count = append(at.Upper, upper), append(at.Count, count)
		}
		s.Buckets = append(s.Buckets, at)
	}
	return s, nil
}

func number(quoted json.RawMessage) (float64, error) {
	return strconv.ParseFloat(strings.Trim(string(quoted), `"`), 64)
}

func stamp(at time.Time) string { return strconv.FormatFloat(float64(at.UnixMilli())/1000, 'f', 3, 64) }

// key is a series' labels in order.
func key(labels map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		fmt.Fprintf(&b, "%s=%q,", name, labels[name])
	}
	return b.String()
}

var inLegend = regexp.MustCompile(`\{\{(\w+)\}\}`)

// legend is what a series is called.
func legend(format string, labels map[string]string) string {
	return inLegend.ReplaceAllStringFunc(format, func(name string) string { return labels[strings.Trim(name, "{}")] })
}
