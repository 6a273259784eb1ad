package dashboards_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

var (
	metricInText = regexp.MustCompile(`\b(?:delegraph|gen_ai)_[a-z_]+\b`)
	inItalics    = regexp.MustCompile(`(?:^|[^*\w])\*([A-Z][^*\n]+)\*(?:[^*\w]|$)`)
)

// TestDocs holds the metrics, dashboards and panels that runbooks and guides send people to against those that exist. Titles stand
// in italics there.
func TestDocs(t *testing.T) {
	known := existing(t)
	var titles []string
	for _, d := range boards(t) {
		titles = append(titles, d.Title)
		for _, p := range d.Panels {
			titles = append(titles, p.Title)
		}
	}
	pages, err := filepath.Glob("../docs/runbooks/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no runbooks: %v", err)
	}
	metrics, panels := map[string]bool{}, map[string]bool{}
	for _, page := range append(pages, "../docs/prometheus.md", "../docs/grafana.md", "../docs/jaeger.md") {
		content, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range metricInText.FindAllString(string(content), -1) {
			metrics[name] = true
			if _, ok := known[name]; !ok && !slices.ContainsFunc(slices.Collect(maps.Values(known)), func(labels []string) bool { return slices.Contains(labels, name) }) {
				t.Errorf("%s: there is no metric or label %s", page, name)
			}
		}
		for _, m := range inItalics.FindAllStringSubmatch(string(content), -1) {
			panels[m[1]] = true
			if !slices.Contains(titles, m[1]) {
				t.Errorf("%s: there is no dashboard, row or panel %q", page, m[1])
			}
		}
	}
	if len(metrics) < 15 || len(panels) < 15 {
		t.Errorf("%d metrics and %d titles were found in all pages", len(metrics), len(panels))
	}
}
