package metrics

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
)

const (
	page         = "../../docs/reference/metrics.md"
	beginsTables = "<!-- The tables are written by: go test ./exporter/metrics -run TestDocumentation -update -->\n"
	endsTables   = "<!-- the end of the tables -->\n"
)

// TestDocumentation holds the tables of docs/reference/metrics.md against the metrics themselves.
func TestDocumentation(t *testing.T) {
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(content), beginsTables)
	_, after, ends := strings.Cut(rest, endsTables)
	if !begins || !ends {
		t.Fatalf("%s does not hold %q and %q", page, beginsTables, endsTables)
	}
	want := before + beginsTables + "\n" + tables(t) + endsTables + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(content)); diff != "" {
		t.Errorf("%s is out of date; rewrite it by -update (-want +got):\n%s", page, diff)
	}
}

// tables are those of the metrics, and that of the labels whose values are ours.
func tables(t *testing.T) string {
	t.Helper()
	kinds := map[string]dto.MetricType{}
	for _, f := range families(t) {
		kinds[f.GetName()] = f.GetType()
	}
	when := begins(t)
	var b strings.Builder
	for _, section := range append(table[:len(table):len(table)], newest()) {
		fmt.Fprintf(&b, "### %s\n\n| name | type, unit | labels | meaning | its series begin |\n|-|-|-|-|-|\n", section.title)
		for _, m := range section.metrics {
			what := strings.ToLower(kinds[m.name].String())
			if u := unitWords[unit(m.name)]; u != "" {
				what += ", " + u
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", m.name, what, quoted(m.labels), cell(m.help), when[m.name])
		}
		b.WriteString("\n")
	}
	b.WriteString("### Names over OTLP\n\n| scraped | sent | unit |\n|-|-|-|\n")
	for _, line := range sentLines() {
		b.WriteString(line)
	}
	b.WriteString("\n### Labels\n\n| label | of | values |\n|-|-|-|\n")
	for _, line := range labelLines() {
		b.WriteString(line)
	}
	b.WriteString("\n")
	return b.String()
}

var unitWords = map[string]string{"s": "seconds", "By": "bytes", "1": "0 to 1", "{token}": "tokens", "{inference_call}": "calls", "{tool_call}": "calls"}

// sentLines has a line for each metric and each label that the conventions name.
func sentLines() (lines []string) {
	attributes := map[string]bool{}
	for _, m := range append(released.all(), latest.all()...) {
		line := fmt.Sprintf("| `%s` | `%s` | %s |\n", m.name, m.sent, m.unit)
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
		for _, key := range m.attributes {
			attributes[fmt.Sprintf("| `%s` | `%s` | |\n", label(key), key)] = true
		}
	}
	return append(lines, slices.Sorted(maps.Keys(attributes))...)
}

// labelLines has a line for each list of values that a label has, with the metrics that have it.
func labelLines() []string {
	var lines []string
	of := map[string][]string{}
	for _, section := range append(table[:len(table):len(table)], newest()) {
		for _, m := range section.metrics {
			for _, label := range m.labels {
				line := fmt.Sprintf("| `%s` | %%s | %s |\n", label, valuesOf(m, label))
				if _, seen := of[line]; !seen {
					lines = append(lines, line)
				}
				of[line] = append(of[line], "`"+m.name+"`")
			}
		}
	}
	slices.Sort(lines)
	for i, line := range lines {
		metrics := strings.Join(of[line], ", ")
		if n := len(of[line]); n > 4 {
			metrics = fmt.Sprintf("%d metrics", n)
		}
		lines[i] = fmt.Sprintf(line, metrics)
	}
	return lines
}

// valuesOf says what a label can have.
func valuesOf(m metric, label string) string {
	switch class := fromWire[label]; class {
	case "":
	case "error":
		return quoted(exempt[label]) + "; capped: codes of errors, then `_other`"
	default:
		return "capped: names of " + class + "s, then `_other`"
	}
	if values := m.values(label); values != nil {
		return quoted(values)
	}
	switch label {
	case "source":
		return "a source's `name` in the configuration"
	case "dialect":
		return "a dialect's name, or `unknown`"
	}
	return "of this program"
}

func quoted(words []string) string {
	var out []string
	for _, w := range words {
		if w == "" {
			out = append(out, "nothing")
		} else {
			out = append(out, "`"+w+"`")
		}
	}
	return strings.Join(out, ", ")
}

// cell is text that stays in its cell.
func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }
