package proof

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestShapes checks that each shape reads its example and that no shape reads its counterexample.
func TestShapes(t *testing.T) {
	for _, s := range shapes() {
		if by := shapesOf(s.example); len(by) == 0 || by[0] != s.name {
			t.Errorf("%s: the example %q is read by %q", s.name, s.example, by)
		}
		if got := Text([]byte(s.example), roomy).Confidences; len(got) == 0 {
			t.Errorf("%s: the example %q has no confidence", s.name, s.example)
		}
		if got := Text([]byte(s.counterExample), roomy).Confidences; got != nil {
			t.Errorf("%s: the counterexample %q has the confidences %+v", s.name, s.counterExample, got)
		}
	}
}

// shapesOf returns the names of the shapes that read a line.
func shapesOf(text string) (names []string) {
	r := reader{remaining: roomy.MaxFindings}
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

// TestValues checks the example and the counterexample of each value shape.
func TestValues(t *testing.T) {
	for _, v := range valueShapes() {
		if low := lowerCase(v.example); !v.re.MatchString(low) || !v.mayBegin(low) {
			t.Errorf("%s does not match its example %q", v.name, v.example)
		}
		if got := Text([]byte("Confidence: "+v.example), roomy).Confidences; len(got) != 1 {
			t.Errorf("%s: the example %q has the confidences %+v, want one", v.name, v.example, got)
		}
		if got := Text([]byte("Confidence: "+v.counterExample), roomy).Confidences; got != nil {
			t.Errorf("%s: the counterexample %q has the confidences %+v", v.name, v.counterExample, got)
		}
	}
}

const (
	referencePage  = "../../docs/reference/confidence.md"
	referenceStart = "<!-- The lists are written by: go test ./collector/proof -run TestReference -update -->\n"
	referenceEnd   = "<!-- the end of the lists -->\n"
)

// TestReference compares the lists of docs/reference/confidence.md with the shapes.
func TestReference(t *testing.T) {
	checkSection(t, referencePage, referenceStart, referenceEnd, referenceLists())
}

// checkSection compares the part of a page between two marks with want. The flag -update replaces it.
func checkSection(t *testing.T, page, start, end, want string) {
	t.Helper()
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, hasStart := strings.Cut(string(content), start)
	_, after, hasEnd := strings.Cut(rest, end)
	if !hasStart || !hasEnd {
		t.Fatalf("%s does not contain %q and %q", page, start, end)
	}
	all := before + start + "\n" + want + "\n" + end + after
	if *update {
		if err := os.WriteFile(page, []byte(all), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(all, string(content)); diff != "" {
		t.Errorf("%s is out of date; run go test with -update (-want +got):\n%s", page, diff)
	}
}

// similar are shapes whose examples differ little from others in the reference.
var similar = []string{
	"label with a remark, other languages", "label without a sign", "value and colon", "rated confidence", "I am sure, in brackets", "I am very sure",
	"I have confidence", "attribute", "in brackets", "has a confidence",
}

func referenceLists() string {
	var b strings.Builder
	b.WriteString("## Statements\n\nExamples, and what is read:\n\n")
	var languages []string // with sentences of their own
	for _, s := range shapes() {
		language, kind, _ := strings.Cut(s.name, " ")
		if strings.HasPrefix(kind, "sentence") || kind == "phrase" {
			if !slices.Contains(languages, language) {
				languages = append(languages, language)
			}
			continue
		}
		if slices.Contains(similar, s.name) {
			continue
		}
		fmt.Fprintf(&b, "- %s: %s\n", code(s.example), readAs(s.example))
	}
	fmt.Fprintf(&b, "\nSentences such as %s are also read in %s and %s.\n", code("I'm 90% sure"), strings.Join(languages[:len(languages)-1], ", "), languages[len(languages)-1])
	b.WriteString("\n## Values\n\nWhat may follow `Confidence: `, and what is read:\n\n")
	for _, v := range valueShapes() {
		fmt.Fprintf(&b, "- %s: %s, %s\n", code(v.example), readAs("Confidence: "+v.example), v.reading)
	}
	return b.String()
}

// code formats text as code in a cell of a table.
func code(text string) string { return "`" + text + "`" }

func readAs(text string) string {
	var all []string
	for _, c := range Text([]byte(text), roomy).Confidences {
		words := describe(c)
		if c.Scope != "" {
			words += " (" + c.Scope + ")"
		}
		all = append(all, words)
	}
	return code(strings.Join(all, "; "))
}
