package dashboards_test

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

var (
	metricInText = regexp.MustCompile(`\b(?:delegraph|gen_ai)_[a-z_]+\b`)
	inItalics    = regexp.MustCompile(`(?:^|[^*\w])\*([A-Z][^*\n]+)\*(?:[^*\w]|$)`)
)

// TestDocs checks that the metrics, dashboards and panels that the runbooks and guides name exist.
// Titles are in italics there.
func TestDocs(t *testing.T) {
	known := existing(t)
	var titles []string
	for _, d := range boards(t) {
		titles = append(titles, d.Title)
		for _, p := range d.AllPanels() {
			titles = append(titles, p.Title)
		}
	}
	metrics, panels := map[string]bool{}, map[string]bool{}
	for page, text := range guides(t) {
		for _, name := range metricInText.FindAllString(text, -1) {
			metrics[name] = true
			if _, ok := known[name]; !ok && !slices.ContainsFunc(slices.Collect(maps.Values(known)), func(labels []string) bool { return slices.Contains(labels, name) }) {
				t.Errorf("%s: there is no metric or label %s", page, name)
			}
		}
		for _, m := range inItalics.FindAllStringSubmatch(text, -1) {
			panels[m[1]] = true
			if !slices.Contains(titles, m[1]) {
				t.Errorf("%s: there is no dashboard, row or panel %q", page, m[1])
			}
		}
	}
	if len(metrics) < 8 || len(panels) < 5 {
		t.Errorf("%d metrics and %d titles were found in all pages", len(metrics), len(panels))
	}
}

// guides returns the pages about dashboards and alerts.
func guides(t *testing.T) map[string]string {
	t.Helper()
	pages, err := filepath.Glob("../docs/runbooks/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no runbooks: %v", err)
	}
	all := map[string]string{}
	for _, page := range append(pages, "../docs/how-to/prometheus.md", "../docs/how-to/grafana.md", "../docs/how-to/jaeger.md", "../docs/how-to/opentelemetry-collector.md") {
		content, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		all[page] = string(content)
	}
	return all
}

var keyInText = regexp.MustCompile("`((?:runs|traces|metrics|limits|stream|web|proxy|tail)(?:\\.[a-z_]+)+)(?:: [^`]+)?`")

// TestDocsConfiguration checks that the configuration keys that the runbooks name exist.
func TestDocsConfiguration(t *testing.T) {
	content, err := os.ReadFile("../config/example.yml")
	if err != nil {
		t.Fatal(err)
	}
	var example map[string]any
	if err := yaml.Unmarshal(content, &example); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	note(known, "", example)
	found := 0
	for page, text := range guides(t) {
		for _, m := range keyInText.FindAllStringSubmatch(text, -1) {
			found++
			if !known[m[1]] {
				t.Errorf("%s: there is no key %s", page, m[1])
			}
		}
	}
	if found < 15 || !known["proxy.upstream"] || known["proxy.upstreams"] {
		t.Errorf("%d keys were found in all pages, of %d", found, len(known))
	}
}

// note collects the keys of a configuration with their paths. The members of a list have the path of the list.
func note(known map[string]bool, above string, value any) {
	switch value := value.(type) {
	case []any:
		for _, v := range value {
			note(known, "", v)
		}
	case map[string]any:
		for key, v := range value {
			path := strings.TrimPrefix(above+"."+key, ".")
			known[path] = true
			note(known, path, v)
		}
	}
}

// TestRunbookReasons checks that a runbook explains each reason of its metric.
func TestRunbookReasons(t *testing.T) {
	content, err := os.ReadFile("../docs/reference/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	pages := guides(t)
	for page, metric := range map[string]string{
		"DelegraphParseErrorBudgetBurn": "delegraph_parse_errors_total", "DelegraphSpansDropped": "delegraph_spans_dropped_total",
	} {
		row := regexp.MustCompile("(?m)^- `" + metric + "{.* `reason`: (.*)[.]$").FindSubmatch(content)
		if row == nil {
			t.Fatalf("metrics.md has no reasons of %s", metric)
		}
		for _, reason := range strings.Split(string(row[1]), ", ") {
			if !strings.Contains(pages["../docs/runbooks/"+page+".md"], reason) {
				t.Errorf("the runbook %s does not explain %s", page, reason)
			}
		}
	}
}

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// TestDocsPrometheus checks the example configuration with promtool.
func TestDocsPrometheus(t *testing.T) {
	promtool := component(t, "prometheus", "promtool")
	rules, err := filepath.Abs("rules")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range yamlBlock.FindAllStringSubmatch(guides(t)["../docs/how-to/prometheus.md"], -1) {
		if !strings.Contains(block[1], "scrape_configs:") {
			continue
		}
		folder := t.TempDir()
		if err := errors.Join(os.Mkdir(filepath.Join(folder, "dashboards"), 0o700), os.Symlink(rules, filepath.Join(folder, "dashboards", "rules")),
			os.WriteFile(filepath.Join(folder, "prometheus.yml"), []byte(block[1]), 0o600)); err != nil {
			t.Fatal(err)
		}
		if said, err := exec.CommandContext(t.Context(), promtool, "check", "config", filepath.Join(folder, "prometheus.yml")).CombinedOutput(); err != nil || !strings.Contains(string(said), "rules found") {
			t.Errorf("%v: %s", err, said)
		}
		return
	}
	t.Error("prometheus.md has no configuration of Prometheus")
}

// collector is the configuration of an OpenTelemetry Collector, with the parts that refer to each other.
type collector struct {
	Receivers, Processors, Exporters, Connectors map[string]any
	Service                                      struct {
		Pipelines map[string]struct{ Receivers, Processors, Exporters []string }
	}
}

// unconnected returns the parts that no pipeline uses, and those that a pipeline uses but that are not defined. A connector ends
// one pipeline and starts another.
func (c collector) unconnected() (found []string) {
	sources, sinks, steps := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, p := range c.Service.Pipelines {
		for used, names := range map[*map[string]bool][]string{&sources: p.Receivers, &sinks: p.Exporters, &steps: p.Processors} {
			for _, name := range names {
				(*used)[name] = true
			}
		}
	}
	for kind, both := range map[string][2]map[string]bool{
		"receiver": {keys(c.Receivers, c.Connectors), sources}, "exporter": {keys(c.Exporters, c.Connectors), sinks}, "processor": {keys(c.Processors), steps},
	} {
		for name := range both[0] {
			if !both[1][name] {
				found = append(found, kind+" "+name+" is in no pipeline")
			}
		}
		for name := range both[1] {
			if !both[0][name] {
				found = append(found, kind+" "+name+" is defined nowhere")
			}
		}
	}
	return found
}

func keys(all ...map[string]any) map[string]bool {
	set := map[string]bool{}
	for _, m := range all {
		for name := range m {
			set[name] = true
		}
	}
	return set
}

// TestDocsCollectors checks that the parts of the example collector configurations are connected.
func TestDocsCollectors(t *testing.T) {
	for _, file := range []string{"router.yml", "sampler.yml"} {
		content, err := os.ReadFile("../examples/tail-sampling/" + file)
		if err != nil {
			t.Fatal(err)
		}
		var c collector
		if err := yaml.Unmarshal(content, &c); err != nil {
			t.Fatal(err)
		}
		if problems := c.unconnected(); len(problems) > 0 || len(c.Service.Pipelines) == 0 {
			t.Errorf("%d pipelines: %q", len(c.Service.Pipelines), problems)
		}
		c.Receivers["another"] = nil
		if problems := c.unconnected(); len(problems) != 1 {
			t.Errorf("unused parts are not found: %q", problems)
		}
	}
}
