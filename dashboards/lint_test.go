package dashboards_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/dashboards/grafana"
)

// boards returns the dashboards by file name.
func boards(t *testing.T) map[string]grafana.Dashboard {
	t.Helper()
	found, err := filepath.Glob("*.json")
	if err != nil || len(found) == 0 {
		t.Fatalf("no dashboards here: %v", err)
	}
	all := map[string]grafana.Dashboard{}
	for _, name := range found {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if all[name], err = grafana.Decode(content); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return all
}

// exempt lists rules that a dashboard need not follow, with the reason.
var exempt = map[string]map[string]string{
	"delegraph-agents": {"instance": "agents are looked at over all of their instances, which come and go with pods"},
}

// units lists Grafana's units that our dashboards use.
var units = []string{"short", "none", "percentunit", "s", "bytes", "Bps", "cps", "cpm", "bool_yes_no"}

// lint checks a dashboard against the rules of Grafana's dashboard-linter, by their names, and against some rules of our own.
func lint(d grafana.Dashboard) (found []string) {
	report := func(rule, format string, args ...any) { found = append(found, rule+": "+fmt.Sprintf(format, args...)) }
	if d.Editable {
		report("uneditable-dashboard", "what somebody changes in place is lost at the next upgrade")
	}
	lintVariables(d, report)
	lintRows(d, report)
	if !slices.ContainsFunc(d.Annotations.List, func(a grafana.Annotation) bool {
		return a.Enable && a.Datasource.UID == "${datasource}" && strings.HasPrefix(a.Expr, `ALERTS{`) && strings.Contains(a.Expr, `source=~"$source|"`)
	}) {
		report("annotations-alerts", "no alerts are marked")
	}
	ids := map[int]bool{}
	for _, p := range d.AllPanels() {
		if ids[p.ID] {
			report("panel-id", "%d is of two panels", p.ID)
		}
		ids[p.ID] = true
		if p.Type != "row" {
			lintPanel(d, p, report)
		}
	}
	return slices.Compact(found)
}

// lintRows checks that only the first row is open, and that no panels overlap.
func lintRows(d grafana.Dashboard, report reporter) {
	lintPlaces(d.Panels, report)
	for i, p := range d.Panels {
		if p.Type != "row" {
			continue
		}
		if p.Collapsed == nil || p.Panels == nil || *p.Collapsed != (i > 0) || len(*p.Panels) > 0 != (i > 0) {
			report("row-collapsed", "%s is open and not the first row, or the reverse", p.Title)
			continue
		}
		lintPlaces(*p.Panels, report)
	}
}

func lintPlaces(panels []grafana.Panel, report reporter) {
	taken := map[[2]int]string{}
	for _, p := range panels {
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" || x >= 24 {
					report("panel-place", "%s is over %q, or beyond the edge", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
	}
}

type reporter func(rule, format string, args ...any)

func lintVariables(d grafana.Dashboard, report reporter) {
	var datasources, named []string
	for _, v := range d.Templating.List {
		named = append(named, v.Name)
		if v.Type == "datasource" {
			datasources = append(datasources, v.Name+" "+v.Label+" "+v.Query)
			continue
		}
		if v.Type == "textbox" {
			if v.Current == nil || v.Current.Value != v.Query || v.Query == "" {
				report("template-textbox", "%s has no value at first", v.Name)
			}
			continue
		}
		if v.Refresh != 2 {
			report("template-on-time-change-reload", "%s is not asked for again when the period changes", v.Name)
		}
		if v.Datasource == nil || v.Datasource.UID != "${datasource}" {
			report("template-"+v.Name, "it does not use the data source variable")
		}
		if !v.Multi || !v.IncludeAll || v.AllValue != ".+" && v.AllValue != ".*" || !strings.EqualFold(v.Label, v.Name) || v.Type != "query" {
			report("template-"+v.Name, "it is not a labelled query of several values, all of them by pattern")
		}
		if !labelValues.MatchString(v.Query) {
			report("template-label-promql", "%s asks %s", v.Name, v.Query)
		}
	}
	if !slices.Equal(datasources, []string{"datasource Data source prometheus"}) {
		report("template-datasource", "the data source variables are %q", datasources)
	}
	for _, name := range []string{"namespace", "job", "instance"} {
		if !slices.Contains(named, name) && exempt[d.UID][name] == "" {
			report("template-"+name, "there is no such variable")
		}
	}
}

var (
	labelValues = regexp.MustCompile(`^label_values\((\w+|\w*\{[^}]+\}), \w+\)$`)
	inLegend    = regexp.MustCompile(`\{\{(\w+)\}\}`)
)

func lintPanel(d grafana.Dashboard, p grafana.Panel, report reporter) {
	if p.Title == "" || !strings.HasSuffix(p.Description, ".") {
		report("panel-title-description", "%q says %q", p.Title, p.Description)
	}
	if !slices.Contains(units, p.FieldConfig.Defaults.Unit) {
		report("panel-units", "%s has the unit %q", p.Title, p.FieldConfig.Defaults.Unit)
	}
	if p.Datasource == nil || p.Datasource.UID != "${datasource}" {
		report("panel-datasource", "%s does not use the variable", p.Title)
	}
	if len(p.Targets) == 0 {
		report("panel-no-targets", "%s asks nothing", p.Title)
	}
	if p.FieldConfig.Defaults.NoValue == "" {
		report("panel-no-value", "%s does not say why it is empty", p.Title)
	}
	if p.Type == "table" {
		options, _ := p.Options.(map[string]any)
		if sorted, _ := json.Marshal(options["sortBy"]); string(sorted) != `[{"desc":true,"displayName":"Failed"}]` {
			report("table-sorted", "%s is sorted by %s, not by what failed", p.Title, sorted)
		}
	}
	if p.Type == "nodeGraph" {
		options, _ := p.Options.(map[string]any)
		if !strings.HasPrefix(p.Targets[0].Expr, "topk(50, ") || p.GridPos.W < 24 || options["layoutAlgorithm"] != "force" {
			report("graph-readable", "%s is too small, or has too many edges or an unsuitable layout", p.Title)
		}
	}
	lintLinks(p, report)
	if p.FieldConfig.Defaults.Custom["drawStyle"] == "bars" && p.Interval != "1m" {
		report("panel-interval", "%s has bars of %q", p.Title, p.Interval)
	}
	for i, target := range p.Targets {
		if target.RefID != string(rune('A'+i)) || target.Datasource.UID != "${datasource}" {
			report("target-datasource", "%s: the query %s of %s", p.Title, target.RefID, target.Datasource.UID)
		}
		lintTarget(d, p, target, report)
	}
}

// lintLinks checks the links to Delegraph's page: panels of runs and of single sources have one, with the labels of their series.
func lintLinks(p grafana.Panel, report reporter) {
	ofRuns := false
	labels := map[string]bool{}
	for _, target := range p.Targets {
		for _, s := range namesIn(target.Expr).selectors {
			ofRuns = ofRuns || strings.HasPrefix(s.metric, "delegraph_run_duration") || strings.HasPrefix(s.metric, "delegraph_runs_ended")
		}
		for _, m := range inLegend.FindAllStringSubmatch(target.LegendFormat, -1) {
			labels[m[1]] = true
		}
	}
	if !ofRuns && !labels["source"] {
		return
	}
	if len(p.FieldConfig.Defaults.Links) != 1 || !strings.HasPrefix(p.FieldConfig.Defaults.Links[0].URL, "${delegraph:raw}/") {
		report("panel-links", "%s does not link to the runs", p.Title)
		return
	}
	for _, label := range []string{"source", "agent", "status"} {
		filter := label + "=${__field.labels." + label + ":percentencode}"
		if labels[label] != strings.Contains(p.FieldConfig.Defaults.Links[0].URL, filter) {
			report("panel-links", "%s links to %s", p.Title, p.FieldConfig.Defaults.Links[0].URL)
		}
	}
	if strings.HasPrefix(p.Title, "Duration of") && !p.Targets[0].Exemplar {
		report("panel-links", "%s does not link to traces", p.Title)
	}
}

// begun matches the terms that add the first values of new series to an increase over the period or to a rate. They select by
// joining with series that have the matchers.
var begun = regexp.MustCompile(strings.ReplaceAll(`C unless C offset (?:`+
	begunWithin(`\$__range`, `\$__range_s`, `increase\(C\[\$__range\]\)`)+`|`+
	begunWithin(`\$__interval`, `\$__interval_ms / 1000 - 300`, `rate\(C\[\$__rate_interval\]\) \* \$__interval_ms / 1000`)+`) or `, `C`, `\w+\{[^}]*\}`))

func begunWithin(window, age, growth string) string {
	return window + ` and on \(namespace, job, instance\) \(delegraph_build_info offset ` + window + ` or process_start_time_seconds > time\(\) - ` + age + `\) unless C < ` + growth
}

func lintTarget(d grafana.Dashboard, p grafana.Panel, target grafana.Target, report reporter) {
	n := namesIn(begun.ReplaceAllString(target.Expr, ""))
	if len(n.selectors) == 0 {
		report("target-promql", "%s asks for no metric", p.Title)
	}
	for _, s := range n.selectors {
		counts := s.function == "rate" || s.function == "increase"
		if strings.HasSuffix(s.metric, "_total") && !counts {
			report("target-counter-agg", "%s looks at the counter %s as it stands", p.Title, s.metric)
		}
		window := map[string]string{"rate": "$__rate_interval", "increase": "$__range"}[s.function]
		if p.Type == "heatmap" { // which nobody sums
			window = "$__rate_interval"
		}
		if counts && s.window != window {
			report("target-rate-interval", "%s has its %s over [%s]", p.Title, s.function, s.window)
		}
		for _, label := range []string{"namespace", "job"} {
			if !slices.Contains(s.labels, label) {
				report("target-"+label, "%s asks for %s of every %s", p.Title, s.metric, label)
			}
		}
		recorded := strings.Contains(s.metric, ":")
		if !slices.Contains(s.labels, "instance") && exempt[d.UID]["instance"] == "" && !recorded {
			report("target-instance", "%s asks for %s of every instance", p.Title, s.metric)
		}
	}
	for _, m := range inLegend.FindAllStringSubmatch(target.LegendFormat, -1) {
		if !slices.Contains(n.groupings, m[1]) {
			report("target-legend", "%s names the label %s, by which it does not group", p.Title, m[1])
		}
	}
	if (target.Range == target.Instant) || p.Type == "timeseries" && target.Instant {
		report("target-range", "%s is asked for at a moment and over a period, or neither", p.Title)
	}
	if strings.Contains(target.Expr, "$__range") && target.Range {
		report("target-range", "%s asks at each moment for what was in the whole period", p.Title)
	}
}

func TestLint(t *testing.T) {
	uids := map[string]bool{}
	for name, d := range boards(t) {
		for _, problem := range lint(d) {
			t.Errorf("%s: %s", name, problem)
		}
		if uids[d.UID] || d.UID == "" {
			t.Errorf("%s: the uid %q is used by another dashboard", name, d.UID)
		}
		uids[d.UID] = true
	}
}

// TestLintReports breaks each rule and checks that lint reports it.
func TestLintReports(t *testing.T) {
	for rule, breaks := range map[string]func(*grafana.Dashboard){
		"uneditable-dashboard":           func(d *grafana.Dashboard) { d.Editable = true },
		"template-datasource":            func(d *grafana.Dashboard) { d.Templating.List = d.Templating.List[1:] },
		"template-job":                   func(d *grafana.Dashboard) { d.Templating.List[2].Multi = false },
		"template-instance":              func(d *grafana.Dashboard) { d.Templating.List[3].Name = "pod"; d.Templating.List[3].Label = "pod" },
		"template-namespace":             func(d *grafana.Dashboard) { d.Templating.List[1].AllValue = "" },
		"template-on-time-change-reload": func(d *grafana.Dashboard) { d.Templating.List[1].Refresh = 1 },
		"template-label-promql":          func(d *grafana.Dashboard) { d.Templating.List[1].Query = "label_values(job)" },
		"panel-id":                       func(d *grafana.Dashboard) { d.Panels[1].ID = d.Panels[2].ID },
		"panel-place":                    func(d *grafana.Dashboard) { d.Panels[1].GridPos.X++ },
		"panel-title-description":        func(d *grafana.Dashboard) { d.Panels[1].Description = "" },
		"panel-units":                    func(d *grafana.Dashboard) { d.Panels[1].FieldConfig.Defaults.Unit = "parsecs" },
		"panel-datasource":               func(d *grafana.Dashboard) { d.Panels[1].Datasource = nil },
		"panel-no-targets":               func(d *grafana.Dashboard) { d.Panels[1].Targets = nil },
		"target-datasource":              func(d *grafana.Dashboard) { d.Panels[1].Targets[0].RefID = "B" },
		"target-promql":                  func(d *grafana.Dashboard) { d.Panels[1].Targets[0].Expr = "1" },
		"panel-interval":                 func(d *grafana.Dashboard) { bars(d).Interval = "" },
		"target-counter-agg":             asks(`sum(a_total{namespace="", job="", instance=""})`),
		"target-rate-interval":           asks(`increase(a_total{namespace="", job="", instance=""}[$__rate_interval])`),
		"target-namespace":               asks(`sum(a{job="", instance=""})`),
		"target-job":                     asks(`sum(a{namespace="", instance=""})`),
		"target-instance":                asks(`sum(a{namespace="", job=""})`),
		"target-legend":                  func(d *grafana.Dashboard) { d.Panels[1].Targets[0].LegendFormat = "{{a}}" },
		"template-textbox":               func(d *grafana.Dashboard) { d.Templating.List[len(d.Templating.List)-1].Current = nil },
		"annotations-alerts":             func(d *grafana.Dashboard) { d.Annotations.List[0].Enable = false },
		"row-collapsed":                  func(d *grafana.Dashboard) { *secondRow(d).Collapsed = false },
		"panel-no-value":                 func(d *grafana.Dashboard) { d.Panels[1].FieldConfig.Defaults.NoValue = "" },
		"panel-links":                    func(d *grafana.Dashboard) { (*secondRow(d).Panels)[0].FieldConfig.Defaults.Links = nil },
		"table-sorted":                   func(d *grafana.Dashboard) { d.Panels[1].Type = "table" },
		"graph-readable":                 func(d *grafana.Dashboard) { d.Panels[1].Type = "nodeGraph" },
		"target-range":                   func(d *grafana.Dashboard) { d.Panels[1].Targets[0].Range = true },
	} {
		d := boards(t)["delegraph.json"]
		breaks(&d)
		found := lint(d)
		if len(found) == 0 || slices.ContainsFunc(found, func(f string) bool { return !strings.HasPrefix(f, rule+": ") }) {
			t.Errorf("%s: %q", rule, found)
		}
	}
}

// secondRow returns the first row that is collapsed.
func secondRow(d *grafana.Dashboard) *grafana.Panel {
	return &d.Panels[1+slices.IndexFunc(d.Panels[1:], func(p grafana.Panel) bool { return p.Type == "row" })]
}

// bars returns a panel with bars, of the second row.
func bars(d *grafana.Dashboard) *grafana.Panel {
	panels := *secondRow(d).Panels
	return &panels[slices.IndexFunc(panels, func(p grafana.Panel) bool { return p.FieldConfig.Defaults.Custom["drawStyle"] == "bars" })]
}

func asks(expr string) func(*grafana.Dashboard) {
	return func(d *grafana.Dashboard) { d.Panels[1].Targets[0].Expr = expr }
}
