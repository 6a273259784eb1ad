package spans

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
)

const (
	page         = "../../docs/reference/attributes.md"
	beginsTables = "<!-- The tables are written by: go test ./exporter/spans -run TestAttributes -update -->\n"
	endsTables   = "<!-- the end of the tables -->\n"
)

// TestAttributes compares the spans' attributes with the tables in docs/reference/attributes.md.
func TestAttributes(t *testing.T) {
	documented, got := map[string]string{}, emitted(t)
	for _, section := range sections {
		for _, row := range section.rows {
			key := string(row.key)
			if _, twice := documented[key]; twice {
				t.Errorf("%s is documented twice", key)
			}
			documented[key] = row.kind.String() + " on " + strings.Join(row.places, ", ")
			if row.when == "" || !fits(row.example, row.kind) {
				t.Errorf("%s has the condition %q and the example %q", key, row.when, row.example)
			}
			if row.places[0] == onServer { // emitted by collector/source
				delete(documented, key)
			}
		}
	}
	if diff := cmp.Diff(documented, got); diff != "" {
		t.Errorf("attributes, of which everything in attributes_test.go must set each (-documented +emitted):\n%s", diff)
	}
	for _, name := range namesIn(t, "names.go") {
		if strings.HasPrefix(name, "delegraph.") && name != inputEvent && name != citationEvent && documented[name] == "" {
			t.Errorf("%s is in names.go, but not in sections of attributes_test.go: add a line", name)
		}
	}
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(content), beginsTables)
	_, after, ends := strings.Cut(rest, endsTables)
	if !begins || !ends {
		t.Fatalf("%s does not contain %q and %q", page, beginsTables, endsTables)
	}
	want := before + beginsTables + "\n" + tables() + endsTables + after
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

// fits reports whether an example is a value of a type.
func fits(example string, kind attribute.Type) bool {
	var err error
	switch kind {
	case attribute.INT64:
		_, err = strconv.ParseInt(example, 10, 64)
	case attribute.FLOAT64:
		_, err = strconv.ParseFloat(example, 64)
	case attribute.BOOL:
		_, err = strconv.ParseBool(example)
	case attribute.STRINGSLICE:
		var list []string
		err = json.Unmarshal([]byte(example), &list)
	}
	return example != "" && err == nil
}

// typeWords maps types to the conventions' names for them. Strings, the most frequent type, have none.
var typeWords = map[attribute.Type]string{
	attribute.INT64: " (int)", attribute.FLOAT64: " (double)", attribute.BOOL: " (boolean)", attribute.STRINGSLICE: " (string[])",
}

func tables() string {
	var b strings.Builder
	b.WriteString("## Spans\n\n")
	for _, s := range spanRows {
		fmt.Fprintf(&b, "- %s (%s): %s; parent: %s\n", s[0], s[1], s[2], s[3])
	}
	for _, section := range sections {
		of := strings.Join(quoted(section.rows[0].places), ", ")
		mixed := slices.ContainsFunc(section.rows, func(r row) bool { return !slices.Equal(r.places, section.rows[0].places) })
		fmt.Fprintf(&b, "\n## %s\n\n", section.title)
		about := section.about
		if !mixed {
			about = strings.TrimSpace(about + " Of " + of + ":")
		}
		if about != "" {
			b.WriteString(about + "\n\n")
		}
		for i, row := range section.rows {
			if i > 0 && alike(section.rows[i-1], row) {
				continue
			}
			keys := "`" + string(row.key) + "`"
			for _, next := range section.rows[i+1:] {
				if !alike(row, next) {
					break
				}
				keys += ", `" + string(next.key) + "`"
			}
			b.WriteString("- " + keys + typeWords[row.kind])
			if mixed {
				b.WriteString(" of " + strings.Join(quoted(row.places), ", "))
			}
			b.WriteString(": " + row.when)
			if showsExample(row) {
				fmt.Fprintf(&b, " (`%s`)", row.example)
			}
			b.WriteString("\n")
		}
	}
	b.WriteString("\n")
	return b.String()
}

// alike reports whether two rows differ only in their names and in examples that are not shown. They share a line.
func alike(a, b row) bool {
	return a.kind == b.kind && a.when == b.when && slices.Equal(a.places, b.places) && !showsExample(a) && !showsExample(b)
}

// showsExample reports whether the documentation shows the example, because the description does not say how the value looks.
func showsExample(r row) bool {
	return r.when == "always" || r.when == "as stated" || r.kind == attribute.STRINGSLICE || strings.HasPrefix(r.example, "[{")
}

// quoted returns places with the names among them as code. All operations together are "operations".
func quoted(places []string) (out []string) {
	if slices.Equal(places, onAll) {
		return []string{"operations"}
	}
	for _, p := range places {
		if slices.Contains([]string{onServer, onRun, onLink}, p) {
			out = append(out, p)
		} else {
			out = append(out, "`"+p+"`")
		}
	}
	return out
}
