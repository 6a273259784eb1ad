package proof

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestShapes reads the example and the counter-example of every shape: the one by this shape, the other by none.
func TestShapes(t *testing.T) {
	for _, s := range shapes {
		if by := shapesOf(s.example); len(by) == 0 || by[0] != s.name {
			t.Errorf("%s: %q is read by %q", s.name, s.example, by)
		}
		if got := Text([]byte(s.example), roomy).Confidences; len(got) == 0 {
			t.Errorf("%s: %q states nothing", s.name, s.example)
		}
		if got := Text([]byte(s.counter), roomy).Confidences; got != nil {
			t.Errorf("%s: %q states %+v", s.name, s.counter, got)
		}
	}
}

// shapesOf names the shapes by which a line is read.
func shapesOf(text string) (names []string) {
	r := reader{room: roomy.Findings}
	l := newLine(text)
	r.hits = appendHits(nil, l.lower)
	for i, h := range r.hits {
		for f := range l.candidates(h) {
			if _, ok := r.readShape(l, f, i, nil); ok {
				names = append(names, f.shape.name)
				break
			}
		}
	}
	return names
}

// TestValues reads the example and the counter-example of every way to write a value.
func TestValues(t *testing.T) {
	for _, v := range valueShapes {
		if low := lowered(v.example); !v.re.MatchString(low) || !v.mayBegin(low) {
			t.Errorf("%s does not fit %q", v.name, v.example)
		}
		if got := Text([]byte("Confidence: "+v.example), roomy).Confidences; len(got) != 1 {
			t.Errorf("%s: %q states %+v", v.name, v.example, got)
		}
		if got := Text([]byte("Confidence: "+v.counter), roomy).Confidences; got != nil {
			t.Errorf("%s: %q states %+v", v.name, v.counter, got)
		}
	}
}

const (
	referencePage   = "../../docs/reference/confidence.md"
	beginsReference = "<!-- The tables are written by: go test ./collector/proof -run TestReference -update -->\n"
	endsReference   = "<!-- the end of the tables -->\n"
)

// TestReference holds docs/reference/confidence.md against the tables of expressions.
func TestReference(t *testing.T) {
	rewrite(t, referencePage, beginsReference, endsReference, referenceTables())
}

// rewrite compares what stands between two marks of a page with what is wanted there, and replaces it under -update.
func rewrite(t *testing.T, page, begins, ends, want string) {
	t.Helper()
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begun := strings.Cut(string(content), begins)
	_, after, ended := strings.Cut(rest, ends)
	if !begun || !ended {
		t.Fatalf("%s does not hold %q and %q", page, begins, ends)
	}
	all := before + begins + "\n" + want + "\n" + ends + after
	if *update {
		if err := os.WriteFile(page, []byte(all), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(all, string(content)); diff != "" {
		t.Errorf("%s is out of date; rewrite it by -update (-want +got):\n%s", page, diff)
	}
}

func referenceTables() string {
	var b strings.Builder
	b.WriteString("## Statements\n\n| shape | read is | example | read as | not read |\n|-|-|-|-|-|\n")
	for _, s := range shapes {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", s.name, readings[s.reading], code(s.example), readAs(s.example), code(s.counter))
	}
	b.WriteString("\n## Values\n\nThe examples stand behind `Confidence: `.\n\n| value | read is | example | read as | not read |\n|-|-|-|-|-|\n")
	for _, v := range valueShapes {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", v.name, v.reading, code(v.example), readAs("Confidence: "+v.example), code(v.counter))
	}
	b.WriteString("\n## Expressions\n\nThey are matched against a line in lower case. `‸` marks where the word stands that a shape is looked for by. Names in `⟨⟩` stand for the expressions below.\n\n| shape or value | expression |\n|-|-|\n")
	for _, s := range shapes {
		fmt.Fprintf(&b, "| %s | %s |\n", s.name, code(s.expression))
	}
	for _, v := range valueShapes {
		fmt.Fprintf(&b, "| %s | %s |\n", v.name, code(v.expression))
	}
	b.WriteString("\n## Words\n\n| name | expression or words |\n|-|-|\n")
	for _, row := range rows("words") {
		if name, _, ok := strings.Cut(row, " = "); ok {
			fmt.Fprintf(&b, "| ⟨%s⟩ | %s |\n", name, code(parts[name]))
		} else {
			name, _, _ := strings.Cut(row, ": ")
			fmt.Fprintf(&b, "| %s | %s |\n", name, code(strings.Join(words(name), ", ")))
		}
	}
	return b.String()
}

// readings are the ways to read a shape, as the reference describes them.
var readings = map[string]string{
	"statements": "all statements that follow, each with its scope", "value": "the value", "whole": "the value, with nothing behind it",
	"words": "the words as they stand",
}

// code is text in a cell of a table.
func code(text string) string { return "`" + strings.ReplaceAll(text, "|", `\|`) + "`" }

func readAs(text string) string {
	var all []string
	for _, c := range Text([]byte(text), roomy).Confidences {
		words := written(c)
		if c.Scope != "" {
			words += " (" + c.Scope + ")"
		}
		all = append(all, words)
	}
	return code(strings.Join(all, "; "))
}
