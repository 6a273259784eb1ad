package metrics

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
)

// TestEveryMetric drives each metric alone and compares all its series with the table.
func TestEveryMetric(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(driven)) {
		t.Run(name, func(t *testing.T) {
			m, reg := newTest(10, 100)
			driven[name].drive(m)
			if diff := cmp.Diff(driven[name].want, series(t, reg, name)); diff != "" {
				t.Errorf("series (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEveryMetricIsDriven compares the names in names.go and in the conventions' table with the tables of these tests, so that no
// metric is added untested.
func TestEveryMetricIsDriven(t *testing.T) {
	parsed, err := parser.ParseFile(token.NewFileSet(), "names.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		literal, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		if kind, ok := literal.Type.(*ast.Ident); ok && kind.Name == "metric" {
			name, err := strconv.Unquote(literal.Elts[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
		}
		return true
	})
	for _, m := range released.all() {
		names = append(names, m.name)
	}
	slices.Sort(names)
	tables := append(slices.Collect(maps.Keys(driven)), slices.Collect(maps.Keys(drivenStream))...)
	slices.Sort(tables)
	if diff := cmp.Diff(tables, names); diff != "" {
		t.Errorf("names (-driven +names.go):\n%s", diff)
	}
}

// all sends everything that any metric counts.
func all(t *testing.T) *prometheus.Registry {
	t.Helper()
	m, reg := newTest(100, 1000)
	observed := map[string]bool{}
	for name, d := range driven {
		for _, prefix := range []string{"delegraph_spans_", "delegraph_memory_"} {
			if strings.HasPrefix(name, prefix) {
				name = prefix // three metrics that are registered together
			}
		}
		if !observed[name] {
			d.drive(m)
		}
		observed[name] = true
	}
	driveStream(m)
	return reg
}

// TestLint checks names, HELP texts and units by Prometheus's rules.
func TestLint(t *testing.T) {
	reg := all(t)
	problems, err := testutil.GatherAndLint(reg)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if most := len(driven) + len(drivenStream); len(families) != most {
		t.Errorf("the tables in driven_test.go have %d metrics, the registry has %d: add a line for a new metric", most, len(families))
	}
}

// series returns the series of a metric: the labels and the value, or the count and the sum.
func series(t *testing.T, reg prometheus.Gatherer, name string) (out []string) {
	t.Helper()
	for _, s := range gathered(t, reg, name) {
		var labels []string
		for _, l := range s.Label {
			labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
		}
		value := fmt.Sprint(s.GetCounter().GetValue() + s.GetGauge().GetValue())
		if h := s.Histogram; h != nil {
			value = fmt.Sprint(h.GetSampleCount(), " of ", h.GetSampleSum())
		}
		out = append(out, strings.Join(labels, ",")+" "+value)
	}
	return out
}

// gathered returns the series of one metric as a scrape would.
func gathered(t *testing.T, reg prometheus.Gatherer, name string) []*dto.Metric {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.Metric
		}
	}
	return nil
}
