package picture_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/dashboards/grafana"
	"github.com/delegraph/delegraph/dashboards/picture"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// answering is a view of a server that answers each query as the table has it, and anything else with nothing.
func answering(t *testing.T, answers map[string]string) picture.View {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, ok := answers[r.URL.Path+" "+r.URL.Query().Get("query")]
		if strings.HasSuffix(r.URL.Path, "exemplars") && !ok {
			data = `[]`
		} else if !ok {
			data = `{"result":[]}`
		}
		_, _ = io.WriteString(w, `{"status":"success","data":`+data+`}`)
	}))
	t.Cleanup(server.Close)
	return picture.View{Prometheus: server.URL, Variables: map[string]string{"job": "delegraph"}, From: start, To: start.Add(time.Minute), Step: 10 * time.Second, Rate: 20 * time.Second}
}

func TestExpand(t *testing.T) {
	v := picture.View{Variables: map[string]string{"job": "a|b"}, From: start, To: start.Add(time.Hour), Step: 30 * time.Second, Rate: time.Minute}
	const asked = `label_replace(rate(x{job=~"$job", agent=~"$agent"}[$__rate_interval]), "a", "$1", "b", "(.*)") + increase(y[$__range]) * $__interval_ms ${job}`
	const want = `label_replace(rate(x{job=~"a|b", agent=~".*"}[60s]), "a", "$1", "b", "(.*)") + increase(y[3600s]) * 30000 a|b`
	if got := v.Expand(asked); got != want {
		t.Errorf("%s\nis not\n%s", got, want)
	}
}

func TestAsk(t *testing.T) {
	v := answering(t, map[string]string{
		"/api/v1/query_range lines": `{"result":[
			{"metric":{"agent":"b"},"values":[[1772366400,"1.5"],[1772366410.5,"NaN"]]},
			{"metric":{"agent":"a"},"histograms":[[1772366400,{"count":"3","sum":"1","buckets":[[0,"0.5","0.6","2"],[0,"0.6","0.7","1"]]}]]}]}`,
		"/api/v1/query now": `{"result":[{"metric":{},"value":[1772366460,"7"]}]}`,
	})
	got, err := v.Ask(t.Context(), grafana.Target{RefID: "A", Expr: "lines", LegendFormat: "of {{agent}}", Range: true})
	if err != nil {
		t.Fatal(err)
	}
	utc(got)
	want := []picture.Series{
		{Labels: map[string]string{"agent": "a"}, Legend: "of a", Query: "A", Buckets: []picture.Buckets{{At: start, Upper: []float64{0.6, 0.7}, Count: []float64{2, 1}}}},
		{Labels: map[string]string{"agent": "b"}, Legend: "of b", Query: "A", Points: []picture.Point{{At: start, Value: 1.5}, {At: start.Add(10500 * time.Millisecond), Value: math.NaN()}}},
	}
	same := cmp.Comparer(func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) })
	if diff := cmp.Diff(want, got, same); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if now, err := v.Ask(t.Context(), grafana.Target{Expr: "now"}); err != nil || len(now) != 1 || now[0].Last() != 7 {
		t.Errorf("%v, %v", now, err)
	}
}

func utc(series []picture.Series) {
	for i := range series {
		for j := range series[i].Points {
			series[i].Points[j].At = series[i].Points[j].At.UTC()
		}
		for j := range series[i].Buckets {
			series[i].Buckets[j].At = series[i].Buckets[j].At.UTC()
		}
	}
}

func TestAskRefused(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"status":"error","error":"parse error"}`)
	}))
	defer server.Close()
	if _, err := (picture.View{Prometheus: server.URL}).Ask(t.Context(), grafana.Target{Expr: "("}); err == nil || !strings.Contains(err.Error(), "(: parse error") {
		t.Error(err)
	}
}

// TestDraw draws a panel of each type, of answers that a hostile agent had a hand in, and reads the picture again.
func TestDraw(t *testing.T) {
	const hostile = `</text><script>alert("&")</script>`
	label, err := json.Marshal(hostile)
	if err != nil {
		t.Fatal(err)
	}
	values := `"values":[[1772366400,"1"],[1772366410,"+Inf"],[1772366420,"NaN"],[1772366460,"3"]]`
	v := answering(t, map[string]string{
		"/api/v1/query_range lines":     `{"result":[{"metric":{"agent":` + string(label) + `},` + values + `},{"metric":{"agent":"none"},"values":[[1772366400,"0"]]}]}`,
		"/api/v1/query_exemplars lines": `[{"exemplars":[{"labels":{"trace_id":"t"},"value":"2","timestamp":1772366430}]}]`,
		"/api/v1/query_range classic":   `{"result":[{"metric":{"le":"+Inf"},` + values + `},{"metric":{"le":"0.5"},` + values + `}]}`,
		"/api/v1/query_range native":    `{"result":[{"metric":{},"histograms":[[1772366400,{"count":"1","sum":"1","buckets":[[0,"0.5","0.6","1"]]}]]}]}`,
		"/api/v1/query one":             `{"result":[{"metric":{},"value":[1772366460,"0.5"]}]}`,
		"/api/v1/query edges":           `{"result":[{"metric":{"source":"a","target":` + string(label) + `},"value":[0,"2"]},{"metric":{"source":` + string(label) + `,"target":"a"},"value":[0,"1"]},{"metric":{"source":"b","target":"b"},"value":[0,"1"]}]}`,
		"/api/v1/query rows":            `{"result":[{"metric":{"agent":"x","tool":` + string(label) + `},"value":[0,"2"]}]}`,
	})
	limit := 2.0
	field := func(custom map[string]any) *grafana.FieldConfig {
		return &grafana.FieldConfig{Defaults: grafana.Field{Unit: "percentunit", Custom: custom, Thresholds: &grafana.Thresholds{Steps: []grafana.Step{{Color: "green"}, {Color: "red", Value: &limit}}}}}
	}
	ask := func(expr string) []grafana.Target {
		return []grafana.Target{{RefID: "A", Expr: expr, LegendFormat: "{{agent}}", Range: true, Exemplar: expr == "lines"}}
	}
	once := func(expr string) []grafana.Target { return []grafana.Target{{RefID: "A", Expr: expr, Instant: true}} }
	line := map[string]any{"thresholdsStyle": map[string]any{"mode": "line"}}
	columns := []grafana.Transformation{{ID: "organize", Options: map[string]any{
		"indexByName": map[string]any{"agent": 0.0, "tool": 1.0, "Value #A": 2.0}, "renameByName": map[string]any{"agent": "Agent", "tool": "Tool", "Value #A": "Calls"},
	}}}
	panels := []grafana.Panel{
		{Type: "row", Title: "A row"},
		{Type: "timeseries", Title: "lines", Targets: ask("lines"), FieldConfig: field(line)},
		{Type: "timeseries", Title: "bars", Targets: ask("lines"), FieldConfig: field(map[string]any{"drawStyle": "bars"})},
		{Type: "heatmap", Title: "classic", Targets: ask("classic"), FieldConfig: field(nil)},
		{Type: "heatmap", Title: "native", Targets: ask("native"), FieldConfig: field(nil)},
		{Type: "stat", Title: "stat", Targets: once("one"), FieldConfig: field(nil), Options: map[string]any{}},
		{Type: "nodeGraph", Title: "graph", Targets: once("edges"), FieldConfig: field(nil)},
		{Type: "table", Title: "table", Targets: once("rows"), FieldConfig: field(nil), Transformations: columns},
		{Type: "stat", Title: "nothing", Targets: once("nothing"), FieldConfig: field(nil)},
		{Type: "pie", Title: "another", Targets: once("one"), FieldConfig: field(nil)},
	}
	for i := range panels {
		panels[i].GridPos = grafana.GridPos{X: 0, Y: 8 * i, W: 12, H: 8}
	}
	var b strings.Builder
	if err := picture.Draw(t.Context(), &b, grafana.Dashboard{Title: "T<", Panels: panels}, v); err != nil {
		t.Fatal(err)
	}
	elements, words := parsed(t, b.String())
	if elements["script"] != 0 || !strings.Contains(words, hostile) {
		t.Errorf("%d scripts; the words are %s", elements["script"], words)
	}
	for _, want := range []string{"T<", "A row", "50%", "no data", "Calls", "200%", "pie are not drawn", "12:00:00"} {
		if !strings.Contains(words, want) {
			t.Errorf("the picture does not say %q: %s", want, words)
		}
	}
	if elements["circle"] != 3 || elements["path"] < 10 {
		t.Errorf("the picture has %v", elements)
	}
	for _, bad := range []string{"NaN", "Inf", "%!"} {
		if strings.Contains(strings.ReplaceAll(b.String(), hostile, ""), bad) {
			t.Errorf("the picture has %s in it", bad)
		}
	}
}

// TestGraphLabels has names of the graph that are too long for it, in a crowd and alone: none leaves its panel.
func TestGraphLabels(t *testing.T) {
	long := strings.Repeat("advanced_tender_analyst_", 30)
	var crowd []string
	for i := range 30 {
		crowd = append(crowd, fmt.Sprintf(`{"metric":{"source":"caller %[1]d %[2]s","target":"called %[1]d %[2]s"},"value":[0,"1"]}`, i, long))
	}
	v := answering(t, map[string]string{
		"/api/v1/query crowd": `{"result":[` + strings.Join(crowd, ",") + `]}`,
		"/api/v1/query alone": `{"result":[{"metric":{"source":"caller 0 ` + long + `","target":"called 0 ` + long + `"},"value":[0,"1"]}]}`,
	})
	for expr, want := range map[string]int{"crowd": 60, "alone": 2} {
		p := grafana.Panel{Type: "nodeGraph", Targets: []grafana.Target{{RefID: "A", Expr: expr, Instant: true}}, FieldConfig: &grafana.FieldConfig{}, GridPos: grafana.GridPos{X: 2, W: 16, H: 12}}
		var b strings.Builder
		if err := picture.Draw(t.Context(), &b, grafana.Dashboard{Panels: []grafana.Panel{p}}, v); err != nil {
			t.Fatal(err)
		}
		const low, high = 8 + 2*60, 2*60 + 16*60
		labels := label.FindAllStringSubmatch(b.String(), -1)
		for _, m := range labels {
			x, errX := strconv.ParseFloat(m[1], 64)
			size, errSize := strconv.ParseFloat(m[2], 64)
			if errX != nil || errSize != nil {
				t.Fatal(errX, errSize)
			}
			width := size * 0.58 * float64(len([]rune(m[4])))
			from := x - width*map[string]float64{"start": 0, "middle": 0.5, "end": 1}[m[3]]
			if from < low || from+width > high {
				t.Errorf("%s: %q is drawn from %g to %g, the panel from %d to %d", expr, m[4], from, from+width, low, high)
			}
		}
		if len(labels) != want {
			t.Errorf("%s: %d names are drawn, not %d", expr, len(labels), want)
		}
	}
}

var label = regexp.MustCompile(`<text x="([-.\d]+)" y="[-.\d]+" font-size="([.\d]+)" text-anchor="(\w+)"[^>]*>(call[^<]*)<`)

// parsed counts the elements of a document, and joins its words.
func parsed(t *testing.T, document string) (elements map[string]int, words string) {
	t.Helper()
	elements = map[string]int{}
	var all []string
	for d := xml.NewDecoder(strings.NewReader(document)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return elements, strings.Join(all, " ")
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			elements[token.Name.Local]++
		case xml.CharData:
			all = append(all, strings.TrimSpace(string(token)))
		}
	}
}
