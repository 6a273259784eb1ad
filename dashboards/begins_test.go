package dashboards_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/delegraph/delegraph/exporter/conventions"
	"github.com/delegraph/delegraph/exporter/metrics"
	"github.com/delegraph/delegraph/exporter/spans"
)

// fromWire lists the labels whose values come from agents, so that no series can exist before them.
var fromWire = []string{"agent", "tool", "from_agent", "to_agent"}

var (
	// ratio matches a division by series, not by a number.
	ratio = regexp.MustCompile(`/\s+[^\s\d]`)
	// newborn matches the term that adds the first value of new series, which rates and increases miss.
	newborn = regexp.MustCompile(`(\w+)(?:\{[^}]*\})? unless \w+(?:\{[^}]*\})? offset `)
)

// needed returns the counters that must start at zero for an expression: it takes their rate without adding their first value.
func needed(expr string) (found []string) {
	var added []string
	for _, m := range newborn.FindAllStringSubmatch(expr, -1) {
		added = append(added, m[1])
	}
	for _, s := range namesIn(expr).selectors {
		rate := slices.Contains([]string{"rate", "increase", "changes"}, s.function)
		if rate && strings.HasSuffix(s.metric, "_total") && !slices.Contains(added, s.metric) {
			found = append(found, s.metric)
		}
	}
	return found
}

// begin returns the counters that have series at zero before anything happens, and all counters that could.
func begin(t *testing.T) (begun, all map[string]bool) {
	t.Helper()
	reg := prometheus.NewRegistry()
	m := metrics.New(reg, metrics.Settings{Names: conventions.Released(), MaxLabelValues: 100, MaxLabelSets: 1000})
	m.ObserveSpans(func() (uint64, int, map[string]uint64) { return 0, 0, nil }, spans.DropReasons())
	m.Store(m.Stream())
	m.InitSource("s", []string{"adk"}, nil)
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	begun, all = map[string]bool{}, map[string]bool{}
	for _, f := range families {
		if f.GetType() == dto.MetricType_COUNTER && len(f.Metric[0].Label) > 0 {
			begun[f.GetName()] = true
		}
	}
	for name, labels := range existing(t) {
		known := !slices.ContainsFunc(labels, func(l string) bool { return slices.Contains(fromWire, l) })
		if strings.HasPrefix(name, "delegraph_") && strings.HasSuffix(name, "_total") && len(labels) > 0 && known {
			all[name] = true
		}
	}
	return begun, all
}

// TestBegin checks that exactly those counters start at zero of which an alert, a recording rule or
// a ratio in a panel takes the rate. A rate misses the first increase of other counters. Counters
// without labels always start at zero, histograms never do.
func TestBegin(t *testing.T) {
	wanted := map[string]bool{}
	for _, r := range rules(t) {
		for _, name := range needed(r.Expr) {
			wanted[name] = true
		}
	}
	for _, d := range boards(t) {
		for _, p := range d.AllPanels() {
			for _, target := range p.Targets {
				if ratio.MatchString(target.Expr) {
					for _, name := range needed(target.Expr) {
						wanted[name] = true
					}
				}
			}
		}
	}
	begun, all := begin(t)
	maps.DeleteFunc(wanted, func(name string, _ bool) bool { return !all[name] })
	if diff := cmp.Diff(wanted, begun); diff != "" {
		t.Errorf("counters that begin at zero (-needed +begun):\n%s", diff)
	}
	if len(begun) < 8 || len(all)-len(begun) < 15 {
		t.Errorf("%d of %d counters begin at zero", len(begun), len(all))
	}
}

// TestFirstValues checks that rules add the first values of counters with names from agents, which cannot start at zero.
func TestFirstValues(t *testing.T) {
	known, records := existing(t), 0
	for _, r := range rules(t) {
		for _, name := range needed(r.Expr) {
			if slices.ContainsFunc(known[name], func(label string) bool { return slices.Contains(fromWire, label) }) {
				t.Errorf("%s%s lacks the first value of %s", r.Alert, r.Record, name)
			}
		}
		records += len(newborn.FindAllString(r.Expr, -1))
	}
	if records < 9 {
		t.Errorf("only %d rules add first values", records)
	}
}

// TestBars checks that bars of a counter that does not start at zero include its first value.
func TestBars(t *testing.T) {
	begun, all := begin(t)
	for _, d := range boards(t) {
		for _, p := range d.AllPanels() {
			if p.FieldConfig == nil || p.FieldConfig.Defaults.Custom["drawStyle"] != "bars" || p.FieldConfig.Defaults.Unit != "short" {
				continue
			}
			for _, target := range p.Targets {
				for _, name := range needed(target.Expr) {
					if all[name] && !begun[name] {
						t.Errorf("%s: the bars lack the first value of %s", p.Title, name)
					}
				}
			}
		}
	}
}

// TestNeeded checks which counters an expression needs to start at zero.
func TestNeeded(t *testing.T) {
	for expr, want := range map[string][]string{
		`sum(rate(a_total{x="1"}[5m])) / sum(increase(b_total[5m]))`:                                                         {"a_total", "b_total"},
		`changes(a_total[15m]) >= 2 and b_total`:                                                                             {"a_total"},
		`increase(a_total[30m]) > 0 unless sum(a_total unless a_total offset 30m)`:                                           nil,
		`sum by (x) (a_total{y=~"$y"} unless a_total{y=~"$y"} offset $__interval or rate(a_total{y=~"$y"}[5m]) * 60 / 1000)`: nil,
		`rate(a_seconds_count[5m])`:                                                                                          nil,
	} {
		if diff := cmp.Diff(want, needed(expr)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", expr, diff)
		}
	}
	for expr, want := range map[string]bool{`a / (b > 0)`: true, "a\n  / b": true, `a * 60 / 1000`: false, `a / sum(b) / 0.001`: true} {
		if ratio.MatchString(expr) != want {
			t.Errorf("%s is a ratio: %t", expr, !want)
		}
	}
}
