package dashboards_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestPromtool checks the rules with promtool and runs their tests.
func TestPromtool(t *testing.T) {
	promtool := component(t, "prometheus", "promtool")
	if said, err := exec.CommandContext(t.Context(), promtool, "check", "rules", "--lint=all", "--lint-fatal", "rules/delegraph.yml").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, said)
	}
	for _, file := range testFiles(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yml"), func(t *testing.T) {
			if said, err := exec.CommandContext(t.Context(), promtool, "test", "rules", file).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, said)
			}
		})
	}
}

// least matches the minimum count of an alert, which keeps it from firing at low traffic.
var least = regexp.MustCompile(`(?m)^ +and .*>= \d+$`)

// TestQuietNight removes the minimum counts from the alerts and checks that all of these then fire
// at low traffic.
func TestQuietNight(t *testing.T) {
	promtool := component(t, "prometheus", "promtool")
	content, err := os.ReadFile("rules/delegraph.yml")
	if err != nil {
		t.Fatal(err)
	}
	quiet, err := os.ReadFile("rules/tests/quiet.yml")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	test := filepath.Join(folder, "tests", "quiet.yml")
	if err := errors.Join(os.Mkdir(filepath.Dir(test), 0o700), os.WriteFile(test, quiet, 0o600),
		os.WriteFile(filepath.Join(folder, "delegraph.yml"), least.ReplaceAll(content, nil), 0o600)); err != nil {
		t.Fatal(err)
	}
	said, err := exec.CommandContext(t.Context(), promtool, "test", "rules", test).CombinedOutput()
	if err == nil {
		t.Error("no alert fires")
	}
	guarded := 0
	for _, r := range rules(t) {
		if r.Alert == "" || !least.MatchString("  "+r.Expr) {
			continue
		}
		guarded++
		fires := `alertname="` + r.Alert + `"`
		if long := r.Labels["long"]; long != "" {
			fires += `[^}]*long="` + long + `"`
		}
		if !regexp.MustCompile(fires).Match(said) {
			t.Errorf("%s %s does not fire: %s", r.Alert, r.Labels["long"], said)
		}
	}
	if guarded < 15 {
		t.Errorf("only %d alerts have a minimum count", guarded)
	}
}

// TestPanelsAreExpressions checks every query of the dashboards with promtool.
func TestPanelsAreExpressions(t *testing.T) {
	windows := strings.NewReplacer("$__rate_interval", "5m", "$__interval_ms", "60000", "$__interval", "1m", "$__range_s", "10800", "$__range", "3h")
	var queries []string
	for _, d := range boards(t) {
		for _, p := range d.AllPanels() {
			for _, target := range p.Targets {
				queries = append(queries, windows.Replace(target.Expr))
			}
		}
	}
	if len(queries) < 50 {
		t.Errorf("there are %d queries", len(queries))
	}
	checkExpressions(t, queries)
}

// checkExpressions has promtool check queries, each as a recording rule.
func checkExpressions(t *testing.T, queries []string) {
	t.Helper()
	promtool := component(t, "prometheus", "promtool")
	check := func(queries ...string) (string, error) {
		var records []any
		for i, q := range queries {
			records = append(records, map[string]string{"record": fmt.Sprintf("query:%d", i), "expr": q})
		}
		content, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "queries", "rules": records}}})
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "queries.yml")
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		said, err := exec.CommandContext(t.Context(), promtool, "check", "rules", file).CombinedOutput()
		return string(said), err
	}
	if said, err := check(queries...); err != nil {
		t.Errorf("%v: %s", err, said)
	}
	if _, err := check("sum(rate(a))"); err == nil {
		t.Error("promtool accepts an invalid expression")
	}
}

// TestAlerts checks each alert's labels, annotations, runbook and test.
func TestAlerts(t *testing.T) {
	const pages = "https://github.com/delegraph/delegraph/blob/main/docs/runbooks/"
	var alerts []string
	for _, r := range rules(t) {
		if r.Alert == "" {
			continue
		}
		alerts = append(alerts, r.Alert)
		if s := r.Labels["severity"]; s != "critical" && s != "warning" {
			t.Errorf("%s has the severity %q", r.Alert, s)
		}
		for _, a := range []string{"summary", "description"} {
			if !strings.HasSuffix(r.Annotations[a], ".") {
				t.Errorf("%s has the %s %q", r.Alert, a, r.Annotations[a])
			}
		}
		if r.For == "" || r.Annotations["runbook_url"] != pages+r.Alert+".md" {
			t.Errorf("%s has the duration %q and the runbook %s", r.Alert, r.For, r.Annotations["runbook_url"])
		}
		checkDashboard(t, r)
		page, err := os.ReadFile("../docs/runbooks/" + r.Alert + ".md")
		if err != nil {
			t.Error(err)
		}
		for _, heading := range []string{"# " + r.Alert, "## Diagnosis", "## Mitigation"} {
			if !strings.Contains(string(page), heading+"\n") {
				t.Errorf("the runbook of %s lacks %q", r.Alert, heading)
			}
		}
		if strings.Contains(string(page), "# "+r.Alert+"\n\n#") {
			t.Errorf("the runbook of %s does not say what the alert means", r.Alert)
		}
	}
	alerts = slices.Compact(alerts)
	if len(alerts) < 12 {
		t.Errorf("there are %d alerts", len(alerts))
	}
	for _, alert := range alerts {
		if fires, silent := tested(t, alert); fires == 0 || silent == 0 {
			t.Errorf("%s: its test expects it %d times, and checks all alerts %d times; want both", alert, fires, silent)
		}
	}
	orphans, err := filepath.Glob("../docs/runbooks/*.md")
	if err != nil || len(orphans) != len(alerts)+1 { // and an index
		t.Errorf("%d runbooks for %d alerts (%v)", len(orphans), len(alerts), err)
	}
}

var (
	dashboardURL = regexp.MustCompile(`^/d/([\w-]+)(?:\?(.+))?$`)
	urlVariable  = regexp.MustCompile(`^var-(\w+)=\{\{ \$labels\.(\w+) \| urlquery \}\}$`)
)

// checkDashboard checks that an alert's dashboard exists and has the variables that the link sets.
func checkDashboard(t *testing.T, r rule) {
	t.Helper()
	link := dashboardURL.FindStringSubmatch(r.Annotations["dashboard_url"])
	if link == nil {
		t.Errorf("%s has the dashboard %q", r.Alert, r.Annotations["dashboard_url"])
		return
	}
	var variables []string
	for _, d := range boards(t) {
		if d.UID == link[1] {
			for _, v := range d.Templating.List {
				variables = append(variables, v.Name)
			}
		}
	}
	if len(variables) == 0 {
		t.Errorf("%s: there is no dashboard %s", r.Alert, link[1])
	}
	for part := range strings.SplitSeq(link[2], "&") {
		m := urlVariable.FindStringSubmatch(part)
		if part != "" && (m == nil || m[1] != m[2] || !slices.Contains(variables, m[1])) {
			t.Errorf("%s: the dashboard %s has no variable for %q", r.Alert, link[1], part)
		}
	}
}

// tested counts the times at which an alert's own test expects it, and those at which the test checks all firing alerts.
func tested(t *testing.T, alert string) (fires, all int) {
	t.Helper()
	content, err := os.ReadFile("rules/tests/" + alert + ".yml")
	if err != nil {
		t.Error(err)
		return 0, 0
	}
	var file struct {
		Tests []struct {
			Alerts []struct {
				Name string `yaml:"alertname"`
				Want []any  `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
			Exprs []struct{ Expr string } `yaml:"promql_expr_test"`
		}
	}
	if err := yaml.Unmarshal(content, &file); err != nil {
		t.Fatal(err)
	}
	for _, test := range file.Tests {
		for _, a := range test.Alerts {
			if a.Name == alert && len(a.Want) > 0 {
				fires++
			}
		}
		for _, e := range test.Exprs {
			if strings.Contains(e.Expr, "ALERTS") {
				all++
			}
		}
	}
	return fires, all
}

func testFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("rules/tests/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests of the rules: %v", err)
	}
	for _, file := range files {
		// The test cache notices only files that the test itself reads, not those that promtool reads.
		if _, err := os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// component returns the path of a binary that .ci/install/<installer> installs.
func component(t *testing.T, installer, name string) string {
	t.Helper()
	if found, err := exec.LookPath(name); err == nil {
		return found
	}
	folder := installed(t, installer)
	binary := filepath.Join(folder, "bin", name)
	if _, err := os.Stat(binary); err != nil {
		missing(t, fmt.Sprintf("%s is neither on the PATH nor in %s: run .ci/install/%s", name, folder, installer))
	}
	return binary
}

// installed returns the folder of an installer.
func installed(t *testing.T, installer string) string {
	t.Helper()
	if folder := os.Getenv("DELEGRAPH_" + strings.ToUpper(installer)); folder != "" {
		return folder
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(cache, "delegraph", installer)
}

func missing(t *testing.T, sentence string) {
	t.Helper()
	if os.Getenv("DELEGRAPH_REQUIRE") == "all" {
		t.Fatal(sentence)
	}
	t.Skip(sentence)
}
