package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"
)

// mistakes lists configurations of Delegraph's own tests whose mistakes the chart cannot find: overflowing sizes, and the inside
// of a glob.
var mistakes = sets.New("invalid-size-overflow.yml", "invalid-path-glob.yml")

// TestMistakes checks that the chart refuses every configuration that Delegraph would refuse, because a sidecar that does not
// start keeps its agent from starting.
func TestMistakes(t *testing.T) {
	program := filepath.Join(t.TempDir(), "delegraph")
	build(t, program, "/", "dev")
	files, err := filepath.Glob("../../config/testdata/invalid-*.yml")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			values, written := filepath.Join(t.TempDir(), "values.yaml"), filepath.Join(t.TempDir(), "delegraph.yml")
			write(t, values, "mode: library\nconfig:\n  "+strings.ReplaceAll(string(text), "\n", "\n  "))
			rendered, _, err := run(t, tool(t, "helm"), "template", "demo", chart, "--values", values, "--show-only", "templates/configmap.yaml")
			if err != nil {
				return
			}
			// A mistake in YAML syntax may disappear when Helm reads the file.
			write(t, written, configuration(t, rendered))
			if _, problems, err := run(t, program, "check", "--config.file="+written); err != nil && !mistakes.Has(filepath.Base(file)) {
				t.Errorf("the chart accepts it, but Delegraph says: %s", problems)
			}
		})
	}
}

// TestWords checks that the schema allows the same words as Delegraph, which lists them if it gets another one.
func TestWords(t *testing.T) {
	program, file := filepath.Join(t.TempDir(), "delegraph"), filepath.Join(t.TempDir(), "delegraph.yml")
	build(t, program, "/", "dev")
	write(t, file, "sources: [{name: a, dialect: '0000000000', proxy: {listen: ':1', upstream: 'http://b'}}]\nstream: {kinds: {in: ['0000000000']}}\n")
	_, problems, err := run(t, program, "check", "--config.file="+file)
	if err == nil {
		t.Fatal("Delegraph accepts the wrong word")
	}
	root := readSchema(t)
	for _, c := range []struct {
		key   string
		words []any
	}{{"dialect", root.Defs["source"].Properties["dialect"].Enum}, {"kinds", root.Defs["kinds"].Items.Enum}} {
		var known []any
		for line := range strings.Lines(problems) {
			if _, list, found := strings.Cut(line, "use one of "); found && strings.Contains(line, c.key) {
				for word := range strings.SplitSeq(strings.TrimSpace(list), ", ") {
					known = append(known, word)
				}
			}
		}
		same(t, known, c.words)
	}
}
