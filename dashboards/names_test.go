package dashboards_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.yaml.in/yaml/v3"

	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/exporter/conventions"
	"github.com/delegraph/delegraph/exporter/metrics"
)

// ofTargets lists the labels that scraping adds to every series: two by Prometheus, the third by the usual configuration for
// Kubernetes.
var ofTargets = []string{"job", "instance", "namespace"}

// existing returns the labels of all series by name: those that a scrape of Delegraph returns and those that the rules record.
func existing(t *testing.T) map[string][]string {
	t.Helper()
	all := register{"up": nil, "ALERTS": {"alertname", "alertstate", "severity"}} // which Prometheus makes itself
	metrics.New(all, metrics.Settings{Names: conventions.Latest(), MaxLabelValues: 1, MaxLabelSets: 1})
	m := metrics.New(all, metrics.Settings{Names: conventions.Released(), MaxLabelValues: 1, MaxLabelSets: 1})
	m.ObserveSpans(nil, []string{"a reason"})
	m.ObserveLog(nil)
	memory := budget.New(1)
	memory.Account("a buffer", 1, 1)
	m.ObserveMemory(memory)
	s := m.Stream()
	s.Observe(nil, nil)
	m.Store(s).Observe(nil)
	all.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if len(all) < 100 {
		t.Fatalf("only %d series have registered", len(all))
	}
	for _, r := range rules(t) {
		if r.Record != "" {
			all[r.Record] = strings.Split(before(r.Record, ":"), "_")
		}
	}
	return all
}

// register collects the names and labels of the series that are registered.
type register map[string][]string

func (r register) MustRegister(cs ...prometheus.Collector) {
	for _, c := range cs {
		_ = r.Register(c)
	}
}

func (r register) Register(c prometheus.Collector) error {
	described := make(chan *prometheus.Desc)
	go func() {
		defer close(described)
		c.Describe(described)
	}()
	for d := range described {
		m := inDescription.FindStringSubmatch(d.String())
		labels := labelName.FindAllString(constantValue.ReplaceAllString(m[2], "")+" "+m[3], -1)
		r[m[1]] = labels
		if _, ok := c.(*prometheus.HistogramVec); ok {
			r[m[1]+"_bucket"] = append(slices.Clone(labels), "le")
			r[m[1]+"_sum"], r[m[1]+"_count"] = labels, labels
		}
	}
	return nil
}

func (register) Unregister(prometheus.Collector) bool { return false }

// These parse the text of a description, whose fields are not exported.
var (
	inDescription = regexp.MustCompile(`^Desc\{fqName: "([^"]+)", help: .*, constLabels: \{(.*)\}, variableLabels: \{(.*)\}`)
	constantValue = regexp.MustCompile(`="[^"]*"`)
	labelName     = regexp.MustCompile(`\w+`)
)

func before(text, mark string) string {
	text, _, _ = strings.Cut(text, mark)
	return text
}

// rule is a rule of the rules file.
type rule struct {
	Alert, Record, Expr, For string
	Labels, Annotations      map[string]string
}

func rules(t *testing.T) (all []rule) {
	t.Helper()
	content, err := os.ReadFile("rules/delegraph.yml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Name  string
			Rules []rule
		}
	}
	if err := yaml.Unmarshal(content, &file); err != nil {
		t.Fatal(err)
	}
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

// unknown returns the metrics and labels of an expression that do not exist.
func unknown(expr string, known map[string][]string) (found []string) {
	n := namesIn(expr)
	labels := slices.Concat(ofTargets, n.made)
	for _, s := range n.selectors {
		has, ok := known[s.metric]
		if !ok {
			found = append(found, "metric "+s.metric)
		}
		labels = append(labels, has...)
		for _, l := range s.labels {
			if !slices.Contains(has, l) && !slices.Contains(ofTargets, l) {
				found = append(found, "label "+l+" of "+s.metric)
			}
		}
	}
	for _, l := range n.groupings {
		if !slices.Contains(labels, l) {
			found = append(found, "label "+l)
		}
	}
	return found
}

// valuesOf matches the query of a variable: the metric, its matchers and the label. The name of a histogram is in a pattern
// because its series have one of two names.
var valuesOf = regexp.MustCompile(`^label_values\((?:\{__name__=~")?(\w+)(?:\(_count\)\?",)?\{?([^}]*)\}?, (\w+)\)$`)

// TestNames checks that the metrics and labels in dashboards and rules exist.
func TestNames(t *testing.T) {
	known := existing(t)
	for name, d := range boards(t) {
		for _, v := range d.Templating.List {
			if v.Type != "query" {
				continue
			}
			asked := valuesOf.FindStringSubmatch(v.Query)
			for _, u := range unknown("sum by ("+asked[3]+") ("+asked[1]+"{"+asked[2]+"})", known) {
				t.Errorf("%s: the variable %s: %s does not exist", name, v.Name, u)
			}
		}
		for _, p := range d.AllPanels() {
			for _, target := range p.Targets {
				for _, u := range unknown(target.Expr, known) {
					t.Errorf("%s: %s: %s does not exist", name, p.Title, u)
				}
			}
		}
	}
	for _, r := range rules(t) {
		for _, u := range unknown(r.Expr, known) {
			t.Errorf("rule %s%s: %s does not exist", r.Alert, r.Record, u)
		}
	}
}

// TestSourceFilter checks that the variable source selects in every query whose metric has that label.
func TestSourceFilter(t *testing.T) {
	known := existing(t)
	for name, d := range boards(t) {
		for _, p := range d.AllPanels() {
			for _, target := range p.Targets {
				for _, metric := range unfiltered(target.Expr, known) {
					t.Errorf("%s: %s: %s is of every source", name, p.Title, metric)
				}
			}
		}
	}
	if found := unfiltered(`a{job="x"} / b + c{source=~"$source"}`, map[string][]string{"a": {"source"}, "b": nil, "c": {"source"}}); !slices.Equal(found, []string{"a"}) {
		t.Errorf("without a filter are %q", found)
	}
}

// unfiltered returns the metrics with the label source that an expression does not filter by it.
func unfiltered(expr string, known map[string][]string) (found []string) {
	for _, s := range namesIn(expr).selectors {
		if slices.Contains(known[s.metric], "source") && !slices.Contains(s.labels, "source") {
			found = append(found, s.metric)
		}
	}
	return found
}

// TestUnknown checks that unknown metrics and labels are found.
func TestUnknown(t *testing.T) {
	known := map[string][]string{"a": {"x"}, "b_total": {"y"}}
	for expr, want := range map[string][]string{
		`sum by (x, job) (a{x="1"}) / b_total`: nil,
		`sum(c)`:                               {"metric c"},
		`a{y="1"}`:                             {"label y of a"},
		`sum by (y) (a)`:                       {"label y"},
		`a and on (x, z) b_total`:              {"label z"},
		`label_replace(a, "z", "$1", "x", "")`: nil,
	} {
		if got := unknown(expr, known); !slices.Equal(got, want) {
			t.Errorf("%s: %q, not %q", expr, got, want)
		}
	}
}

// unshown lists the metrics that no panel and no rule uses, with the reason.
var unshown = map[string]string{
	"delegraph_config_last_reload_success_timestamp_seconds": "when it was is asked once it has failed, which a panel shows",

	"gen_ai_invoke_workflow_duration_seconds": "equal to the duration of the whole run, which a panel shows",

	"gen_ai_client_inference_usage_cache_read_input_tokens_total": "a part of the input tokens, which a panel shows",
	"gen_ai_client_inference_usage_reasoning_output_tokens_total": "a part of the output tokens, which a panel shows",
	"gen_ai_client_inference_operation_input_tokens":              "how the tokens that a panel shows are distributed",
	"gen_ai_client_inference_operation_output_tokens":             "how the tokens that a panel shows are distributed",
}

// TestEveryMetricIsShown checks that each metric is in a panel or a rule.
func TestEveryMetricIsShown(t *testing.T) {
	asked := map[string]bool{}
	note := func(expr string) {
		for _, s := range namesIn(expr).selectors {
			asked[s.metric] = true
		}
	}
	for _, d := range boards(t) {
		for _, p := range d.AllPanels() {
			for _, target := range p.Targets {
				note(target.Expr)
			}
		}
	}
	for _, r := range rules(t) {
		note(r.Expr)
	}
	known := existing(t)
	for _, name := range slices.Sorted(maps.Keys(known)) {
		ours := strings.HasPrefix(name, "delegraph_") || strings.HasPrefix(name, "gen_ai_")
		of := parts.ReplaceAllString(name, "")
		if _, ok := known[of]; ok && of != name {
			continue // the histogram itself must be shown
		}
		switch why := unshown[name]; {
		case ours && !asked[name] && why == "":
			t.Errorf("%s is in no panel and no rule: add a panel in dashboards/generate, then go run ./dashboards/generate -out dashboards", name)
		case ours && asked[name] && why != "":
			t.Errorf("%s is shown, but unshown leaves it out: %s", name, why)
		}
	}
}

var parts = regexp.MustCompile(`_(bucket|sum|count)$`)
