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
	// usable matches what makes a step possible: a command, a query or a link.
	usable   = regexp.MustCompile("```|\\]\\(|`(?:kubectl|helm|curl|nats|delegraph) [^`]+`|Query `[^`]+`")
	asked    = regexp.MustCompile("Query `([^`]+)`")
	endpoint = regexp.MustCompile(`127\.0\.0\.1:10477(/[^?' ]*)`)
	keyLink  = regexp.MustCompile(`\[(` + "`[^]]+`" + `)\]\(\.\./\.\./(config/example\.yml|helm/delegraph/README\.md#values)\)`)
	keyName  = regexp.MustCompile("`([a-zA-Z_.]+)(?:: [^`]+)?`")
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

// TestRunbookValues checks that the keys of the chart and of the configuration and the flags that runbooks name exist. TestDocs
// checks metrics, and TestDocsConfiguration checks keys in other text.
func TestRunbookValues(t *testing.T) {
	files := map[string]string{"helm/delegraph/README.md#values": "helm/delegraph/values.yaml", "config/example.yml": "config/example.yml"}
	known := map[string]map[string]bool{}
	for page, file := range files {
		known[page] = keysOf(t, "../"+file)
	}
	flags := defined(t)
	keys, linked, named := 0, 0, 0
	for alert, text := range runbooks(t) {
		for _, m := range chartKey.FindAllStringSubmatch(text, -1) {
			if keys++; !known["helm/delegraph/README.md#values"][m[1]] {
				t.Errorf("%s: the chart has no value %s", alert, m[1])
			}
		}
		for _, link := range keyLink.FindAllStringSubmatch(text, -1) {
			for _, m := range keyName.FindAllStringSubmatch(link[1], -1) {
				if linked++; !known[link[2]][m[1]] {
					t.Errorf("%s: %s has no key %s", alert, files[link[2]], m[1])
				}
			}
		}
		for _, m := range flagInText.FindAllStringSubmatch(text, -1) {
			if named++; !flags[m[1]] {
				t.Errorf("%s: there is no flag --%s", alert, m[1])
			}
		}
	}
	if keys < 1 || linked < 20 || named < 4 {
		t.Errorf("%d values, %d links to keys and %d flags were found in all runbooks", keys, linked, named)
	}
}

// keysOf returns the keys of a YAML file with their paths.
func keysOf(t *testing.T, file string) map[string]bool {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var values map[string]any
	if err := yaml.Unmarshal(content, &values); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	note(known, "", values)
	return known
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

// TestRunbookSteps checks that diagnosis and mitigation are numbered steps, and that each has a command, a query or a link.
func TestRunbookSteps(t *testing.T) {
	steps := 0
	for alert, text := range runbooks(t) {
		_, todo, _ := strings.Cut(text, "## Diagnosis\n")
		for section := range strings.SplitSeq(todo, "## Mitigation\n") {
			parts := step.Split(section, -1)
			if strings.TrimSpace(parts[0]) != "" || len(parts) < 2 {
				t.Errorf("%s: this is in no numbered step: %s", alert, parts[0])
			}
			for _, s := range parts[1:] {
				if steps++; !usable.MatchString(s) {
					t.Errorf("%s: this step has no command and no link: %s", alert, s)
				}
			}
		}
	}
	if steps < 60 {
		t.Errorf("%d steps were found in all runbooks", steps)
	}
	for _, s := range []string{"Look at *CPU*.", "`up == 0`: restart it.", "Use `kubectl`.", "Run `curl`"} {
		if usable.MatchString(s) {
			t.Errorf("%q counts as a command", s)
		}
	}
}

// TestRunbookQueries checks that each query is an expression, and that Delegraph or its rules make each of its series.
func TestRunbookQueries(t *testing.T) {
	known := existing(t)
	var queries []string
	for alert, text := range runbooks(t) {
		for _, m := range asked.FindAllStringSubmatch(text, -1) {
			queries = append(queries, m[1])
			for _, s := range namesIn(m[1]).selectors {
				if _, ok := known[s.metric]; !ok && !strings.HasPrefix(s.metric, "container_") { // of the kubelet
					t.Errorf("%s: there is no series %s in %s", alert, s.metric, m[1])
				}
			}
		}
	}
	if len(queries) < 8 {
		t.Errorf("%d queries were found in all runbooks", len(queries))
	}
	checkExpressions(t, queries)
}

// TestRunbookEndpoints checks that the admin server has each path that a runbook asks for.
func TestRunbookEndpoints(t *testing.T) {
	content, err := os.ReadFile("../docs/reference/api.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for alert, text := range runbooks(t) {
		for _, m := range endpoint.FindAllStringSubmatch(text, -1) {
			path := strings.Replace(m[1], "/ID", "/{id}", 1)
			if found++; !strings.Contains(string(content), "`"+path+"`") && !strings.Contains(string(content), "`GET "+path+"`") {
				t.Errorf("%s: api.md has no %s", alert, m[1])
			}
		}
	}
	if found < 3 {
		t.Errorf("%d paths were found in all runbooks", found)
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
	if found < 1 {
		t.Errorf("%d runbooks name relay: verbatim", found)
	}
}
