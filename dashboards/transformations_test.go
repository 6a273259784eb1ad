package dashboards_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/dashboards/grafana"
)

// These model what Grafana's Prometheus data source makes of a table query: the time, a field for each label, and the value.
type (
	frame struct {
		RefID  string  `json:"refId"`
		Fields []field `json:"fields"`
	}
	field struct {
		Name   string         `json:"name"`
		Type   string         `json:"type"`
		Config map[string]any `json:"config"`
		Values []any          `json:"values"`
	}
)

func column(name, kind string, values ...any) field {
	return field{Name: name, Type: kind, Config: map[string]any{}, Values: values}
}

// shownField is a field that a panel gets.
type shownField struct {
	Name   string // the name that the panel uses
	Shown  string // the header of its column
	Values []any
}

// TestTransformations runs the panels' transformations with Grafana's own code.
func TestTransformations(t *testing.T) {
	edges := []frame{{RefID: "A", Fields: []field{
		column("Time", "time", 1, 1), column("id", "string", "a → b", "b → c"), column("source", "string", "a", "b"),
		column("target", "string", "b", "c"), column("Value", "number", 3, 1),
	}}}
	tools := []frame{
		{RefID: "A", Fields: []field{column("Time", "time", 1, 1), column("agent", "string", "x", "y"), column("tool", "string", "search", "search"), column("Value #A", "number", 4, 2)}},
		{RefID: "B", Fields: []field{column("Time", "time", 1), column("agent", "string", "x"), column("tool", "string", "search"), column("Value #B", "number", 0.5)}},
		{RefID: "C", Fields: []field{column("Time", "time", 1), column("agent", "string", "y"), column("tool", "string", "search"), column("Value #C", "number", 1.25)}},
	}
	for _, test := range []struct {
		panel  string
		frames []frame
		want   []shownField
	}{
		{"Who delegates to whom", edges, []shownField{
			{"id", "id", []any{"a → b", "b → c"}}, {"source", "source", []any{"a", "b"}}, {"target", "target", []any{"b", "c"}},
			{"mainstat", "mainstat", []any{3.0, 1.0}},
		}},
		{"Tools by agent", tools, []shownField{
			{"agent", "Agent", []any{"x", "y"}}, {"tool", "Tool", []any{"search", "search"}},
			{"Value #A", "Calls", []any{4.0, 2.0}}, {"Value #B", "Failed", []any{0.5, nil}}, {"Value #C", "Duration, p95", []any{nil, 1.25}},
		}},
	} {
		got := transform(t, panelOf(t, test.panel), test.frames)
		if diff := cmp.Diff([][]shownField{test.want}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.panel, diff)
		}
	}
}

func panelOf(t *testing.T, title string) grafana.Panel {
	t.Helper()
	for _, d := range boards(t) {
		for _, p := range d.AllPanels() {
			if p.Title == title {
				return p
			}
		}
	}
	t.Fatalf("there is no panel %q", title)
	return grafana.Panel{}
}

// transform returns the frames after Grafana's transformations.
func transform(t *testing.T, p grafana.Panel, frames []frame) (out [][]shownField) {
	t.Helper()
	packages := npm(t, "@grafana/data")
	script, err := os.ReadFile("testdata/schema/transform.cjs")
	if err != nil {
		t.Fatal(err)
	}
	asked, err := json.Marshal([]any{map[string]any{"transformations": p.Transformations, "frames": frames}})
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.Symlink(packages, filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "transform.cjs"), script, 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "node", "--preserve-symlinks-main", filepath.Join(folder, "transform.cjs"))
	command.Stdin = bytes.NewReader(asked)
	var complaints bytes.Buffer
	command.Stderr = &complaints
	said, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, complaints.String())
	}
	var all [][][]shownField
	if err := json.Unmarshal(said, &all); err != nil || len(all) != 1 {
		t.Fatalf("%v: %s", err, said)
	}
	return all[0]
}
