package query_test

import (
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/dashboards/grafana"
	"github.com/delegraph/delegraph/dashboards/query"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// newView returns a view of a server that answers requests by path and query.
func newView(t *testing.T, answers map[string]string) query.View {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, answers[r.URL.Path+" "+r.URL.Query().Get("query")])
	}))
	t.Cleanup(server.Close)
	return query.View{Prometheus: server.URL, From: start, To: start.Add(time.Minute), Step: 10 * time.Second, Rate: 20 * time.Second}
}

func TestExpand(t *testing.T) {
	v := query.View{Variables: map[string]string{"job": "a|b"}, From: start, To: start.Add(time.Hour), Step: 30 * time.Second, Rate: time.Minute}
	const expr = `label_replace(rate(x{job=~"$job", agent=~"$agent"}[$__rate_interval]), "a", "$1", "b", "(.*)") + increase(y[$__range]) * $__interval_ms ${job}`
	const want = `label_replace(rate(x{job=~"a|b", agent=~".*"}[60s]), "a", "$1", "b", "(.*)") + increase(y[3600s]) * 30000 a|b`
	if got := v.Expand(expr); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestQuery(t *testing.T) {
	v := newView(t, map[string]string{
		"/api/v1/query_range lines": `{"data":{"result":[
			{"metric":{"agent":"b"},"values":[[1772366400,"1.5"],[1772366410.5,"NaN"]]},
			{"metric":{"agent":"a"},"histograms":[[1772366400,{"count":"3"}],[1772366410,{"count":"4"}]]}]}}`,
		"/api/v1/query now":               `{"data":{"result":[{"metric":{},"value":[1772366460,"7"]},{"metric":{},"histogram":[1772366460,{"count":"1"}]}]}}`,
		"/api/v1/query (":                 `{"status":"error","error":"parse error"}`,
		"/api/v1/query_exemplars linked":  `{"data":[{"exemplars":[{"labels":{"trace_id":"t"}},{"labels":{}}]}]}`,
		"/api/v1/query_exemplars refused": `{"error":"no exemplars"}`,
	})
	for _, test := range []struct {
		target grafana.Target
		want   []query.Series
	}{
		{grafana.Target{Expr: "lines", Range: true}, []query.Series{
			{Labels: map[string]string{"agent": "b"}, Values: []float64{1.5, math.NaN()}}, {Labels: map[string]string{"agent": "a"}, Histograms: 2},
		}},
		{grafana.Target{Expr: "now"}, []query.Series{{Labels: map[string]string{}, Values: []float64{7}}, {Labels: map[string]string{}, Histograms: 1}}},
	} {
		got, err := v.Query(t.Context(), test.target)
		same := cmp.Comparer(func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) })
		if diff := cmp.Diff(test.want, got, same); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", test.target.Expr, err, diff)
		}
	}
	if _, err := v.Query(t.Context(), grafana.Target{Expr: "("}); err == nil || !strings.Contains(err.Error(), "(: parse error") {
		t.Errorf("a query that the server refuses: %v", err)
	}
	if ids, err := v.TraceIDs(t.Context(), grafana.Target{Expr: "linked"}); err != nil || !slices.Equal(ids, []string{"t", ""}) {
		t.Errorf("trace ids %q, %v", ids, err)
	}
	if _, err := v.TraceIDs(t.Context(), grafana.Target{Expr: "refused"}); err == nil {
		t.Error("exemplars that the server refuses give no error")
	}
}
