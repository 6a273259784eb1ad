package metrics

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
)

const (
	page        = "../../docs/reference/metrics.md"
	beginsLists = "<!-- The lists are written by: go test ./exporter/metrics -run TestDocumentation -update -->\n"
	endsLists   = "<!-- the end of the lists -->\n"
)

// TestDocumentation compares the metrics with the lists in docs/reference/metrics.md.
func TestDocumentation(t *testing.T) {
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(content), beginsLists)
	_, after, ends := strings.Cut(rest, endsLists)
	if !begins || !ends {
		t.Fatalf("%s does not contain %q and %q", page, beginsLists, endsLists)
	}
	want := before + beginsLists + "\n" + lists(t) + endsLists + after
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

// lists returns the lists of the metrics and of their labels, without those of the newest conventions.
func lists(t *testing.T) string {
	t.Helper()
	kinds := map[string]dto.MetricType{}
	for _, f := range families(t) {
		kinds[f.GetName()] = f.GetType()
	}
	var b strings.Builder
	used := labelUses()
	for _, section := range table {
		fmt.Fprintf(&b, "### %s\n\n", section.title)
		for _, m := range section.metrics {
			labels, kind := "", ""
			if len(m.labels) > 0 {
				labels = "{" + strings.Join(m.labels, ",") + "}"
			}
			switch kinds[m.name] {
			case dto.MetricType_COUNTER:
				if !strings.HasSuffix(m.name, "_total") {
					t.Errorf("%s is a counter, which its name does not say", m.name)
				}
			case dto.MetricType_GAUGE:
			default:
				kind = " (" + strings.ToLower(kinds[m.name].String()) + ")"
			}
			fmt.Fprintf(&b, "- `%s%s`%s: %s", m.name, labels, kind, m.help)
			for _, label := range m.labels {
				if values := valuesOf(m, label); used[values].isOwn() && !isLong(values) {
					fmt.Fprintf(&b, " `%s`: %s.", label, values)
				}
			}
			b.WriteString("\n")
		}
		b.WriteString("\n")
	}
	b.WriteString("### Labels\n\nShared by metrics, or with open values; without lists of more than 12:\n\n")
	for _, line := range labelLines() {
		b.WriteString(line)
	}
	b.WriteString("\n")
	return b.String()
}

// ofProgram describes labels with the program's version.
const ofProgram = "of this program"

// isLong reports whether a list of label values is too long for the page. Such values speak for themselves where they are shown.
func isLong(values string) bool { return strings.Count(values, ", ") >= 12 }

// labelUse is the use of a list of label values: the labels and the metrics that have it.
type labelUse struct{ labels, metrics []string }

// isOwn reports whether the list is closed and belongs to one label of one metric. Such a list stands beside its metric.
func (u labelUse) isOwn() bool {
	if len(u.labels) > 1 || len(u.metrics) > 1 {
		return false
	}
	return closedValues[u.labels[0]] != nil || closedValues[u.metrics[0]+" "+u.labels[0]] != nil
}

// labelUses returns the use of each list of label values, as valuesOf describes it.
func labelUses() map[string]labelUse {
	all := map[string]labelUse{}
	for _, section := range table {
		for _, m := range section.metrics {
			for _, label := range m.labels {
				values := valuesOf(m, label)
				u := all[values]
				if !slices.Contains(u.labels, label) {
					u.labels = append(u.labels, label)
				}
				if !slices.Contains(u.metrics, m.name) {
					u.metrics = append(u.metrics, m.name)
				}
				all[values] = u
			}
		}
	}
	return all
}

// labelLines returns a line for each list of label values that no metric has for itself, with the labels that have it. If a label has
// several lists, its lines name the metrics.
func labelLines() (lines []string) {
	uses, lists := labelUses(), map[string]int{}
	for _, u := range uses {
		for _, label := range u.labels {
			lists[label]++
		}
	}
	for values, u := range uses {
		if u.isOwn() || isLong(values) || values == ofProgram {
			continue
		}
		names := ""
		if lists[u.labels[0]] > 1 {
			names = " of " + quoted(u.metrics)
			if len(u.metrics) > 4 {
				names = " of the others"
			}
		}
		lines = append(lines, fmt.Sprintf("- %s%s: %s\n", quoted(u.labels), names, values))
	}
	slices.Sort(lines)
	return lines
}

// valuesOf describes the values that a label can have.
func valuesOf(m metric, label string) string {
	switch fromWire[label] {
	case "":
	case "error":
		return quoted(alwaysAdmitted[label]) + ", or a code of an error, capped"
	default:
		return "names, capped"
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
	return ofProgram
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
