package dashboards_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/dashboards/grafana"
)

// boards reads the dashboards by the names of their files.
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

// exempt are the rules that a dashboard need not keep, with the reason.
var exempt = map[string]map[string]string{
	"delegraph-agents": {"instance": "agents are looked at over all of their instances, which come and go with pods"},
}

// units are those of Grafana that ours use.
var units = []string{"short", "none", "percentunit", "s", "bytes", "Bps", "cps", "cpm", "bool_yes_no"}

// lint holds a dashboard against the rules of Grafana's dashboard-linter, under their names, and against some of our own.
func lint(d grafana.Dashboard) (found []string) {
	report := func(rule, format string, args ...any) { found = append(found, rule+": "+fmt.Sprintf(format, args...)) }
	if d.Editable {
		report("uneditable-dashboard", "what somebody changes in place is lost at the next upgrade")
	}
	lintVariables(d, report)
	ids, taken := map[int]bool{}, map[[2]int]string{}
	for _, p := range d.Panels {
		if ids[p.ID] {
			report("panel-id", "%d is of two panels", p.ID)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" || x >= 24 {
					report("panel-place", "%s is over %q, or beyond the edge", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.Type != "row" {
			lintPanel(d, p, report)
		}
	}
	return slices.Compact(found)
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

// begun is what series began with, in front of their increase over the period or of their rate.
var begun = regexp.MustCompile(`\w+\{[^}]*\} unless \w+\{[^}]*\} offset (?:\$__range or (increase)|\$__interval or (rate))\(`)

func lintTarget(d grafana.Dashboard, p grafana.Panel, target grafana.Target, report reporter) {
	n := namesIn(begun.ReplaceAllString(target.Expr, "${1}${2}("))
	if len(n.selectors) == 0 {
		report("target-promql", "%s asks for no metric", p.Title)
	}
	for _, s := range n.selectors {
		counts := s.function == "rate" || s.function == "increase"
		if strings.HasSuffix(s.metric, "_total") && !counts {
			report("target-counter-agg", "%s looks at the counter %s as it stands", p.Title, s.metric)
		}
		window := map[string]string{"rate": "$__rate_interval", "increase": "$__range"}[s.function]
		if p.Type == "heatmap" { // of which nobody adds anything up
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
			t.Errorf("%s: the uid %q is not its own", name, d.UID)
		}
		uids[d.UID] = true
	}
}

// TestLintReports breaks each rule.
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

// bars is a panel of a dashboard that has bars.
func bars(d *grafana.Dashboard) *grafana.Panel {
	return &d.Panels[slices.IndexFunc(d.Panels, func(p grafana.Panel) bool {
		return p.FieldConfig != nil && p.FieldConfig.Defaults.Custom["drawStyle"] == "bars"
	})]
}

func asks(expr string) func(*grafana.Dashboard) {
	return func(d *grafana.Dashboard) { d.Panels[1].Targets[0].Expr = expr }
}
