package dashboards_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

var (
	// chartKey matches a key of the chart: unlike keys of the configuration, these are in camel case.
	chartKey   = regexp.MustCompile("`([a-z]+[A-Z][A-Za-z]*(?:\\.[a-zA-Z]+)+)`")
	flagInText = regexp.MustCompile("`(?:delegraph [^`]*)?--([a-z][a-z.-]+)")
	step       = regexp.MustCompile(`(?m)^\d+\. `)
	// usable matches what makes a diagnosis step possible: a command, a query, an endpoint, a link or a panel.
	usable = regexp.MustCompile("```|\\]\\(|\\*[A-Z][^*]+\\*|`(?:kubectl|helm|curl|nats|delegraph) |`/api/|`[^`]*(?:delegraph_|up ==)[^`]*`")
)

// runbooks returns the runbooks by alert.
func runbooks(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for page, text := range guides(t) {
		if name := strings.TrimSuffix(filepath.Base(page), ".md"); strings.HasPrefix(name, "Delegraph") {
			all[name] = text
		}
	}
	return all
}

// TestRunbookValues checks that the values of the chart and the flags that runbooks name exist. TestDocs and
// TestDocsConfiguration check metrics and configuration keys.
func TestRunbookValues(t *testing.T) {
	values, err := os.ReadFile("../helm/delegraph/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var chart map[string]any
	if err := yaml.Unmarshal(values, &chart); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	note(known, "", chart)
	flags := defined(t)
	keys, named := 0, 0
	for alert, text := range runbooks(t) {
		for _, m := range chartKey.FindAllStringSubmatch(text, -1) {
			if keys++; !known[m[1]] {
				t.Errorf("%s: the chart has no value %s", alert, m[1])
			}
		}
		for _, m := range flagInText.FindAllStringSubmatch(text, -1) {
			if named++; !flags[m[1]] {
				t.Errorf("%s: there is no flag --%s", alert, m[1])
			}
		}
	}
	if keys < 1 || named < 4 {
		t.Errorf("%d values and %d flags were found in all runbooks", keys, named)
	}
}

// defined returns the flags that the program defines.
func defined(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("../internal/command/*.go")
	if err != nil {
		t.Fatal(err)
	}
	flags := map[string]bool{"web.config.file": true} // the exporter toolkit defines it
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\.Flag\("([a-z.-]+)"`).FindAllStringSubmatch(string(content), -1) {
			flags[m[1]] = true
		}
	}
	return flags
}

// TestRunbookSteps checks that each diagnosis step says how: it has a command, a query, a link or a panel.
func TestRunbookSteps(t *testing.T) {
	steps := 0
	for alert, text := range runbooks(t) {
		_, diagnosis, _ := strings.Cut(text, "## Diagnosis\n")
		diagnosis, _, _ = strings.Cut(diagnosis, "## Mitigation\n")
		for _, s := range step.Split(diagnosis, -1)[1:] {
			if steps++; !usable.MatchString(s) {
				t.Errorf("%s: this step has no command, link or panel: %s", alert, s)
			}
		}
	}
	if steps < 50 {
		t.Errorf("%d steps were found in all runbooks", steps)
	}
}

// TestRunbookVerbatim checks that a runbook that recommends relay: verbatim says what clients then see.
func TestRunbookVerbatim(t *testing.T) {
	found := 0
	for alert, text := range runbooks(t) {
		_, mitigation, _ := strings.Cut(text, "## Mitigation\n")
		for paragraph := range strings.SplitSeq(mitigation, "\n") {
			if !strings.Contains(paragraph, "relay: verbatim") {
				continue
			}
			if found++; !strings.Contains(paragraph, "internal events") {
				t.Errorf("%s recommends relay: verbatim without its effect: %s", alert, paragraph)
			}
		}
	}
	if found < 2 {
		t.Errorf("%d runbooks name relay: verbatim", found)
	}
}
