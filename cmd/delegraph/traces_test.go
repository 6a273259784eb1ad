package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// TestTraces replays every capture as OTLP and holds its whole trace, every span with all that is in it, against the golden file
// of its family. A second replay gives the same bytes.
func TestTraces(t *testing.T) {
	for family, folder := range captures {
		t.Run(family, func(t *testing.T) {
			var got strings.Builder
			for _, file := range sseFiles(t, folder) {
				fmt.Fprintf(&got, "== %s\n", filepath.Base(file))
				all := replayedTraces(t, file)
				for _, fault := range faultsOf(all) {
					t.Errorf("%s: %s", file, fault)
				}
				all.print(&got)
			}
			golden := filepath.Join("testdata", family+".traces.golden")
			if *update {
				if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// replayedTraces reads what a replay prints, and holds it against that of a second one.
func replayedTraces(t *testing.T, file string) (all spanLines) {
	t.Helper()
	for _, format := range []string{"otlp", "json"} {
		var first, second bytes.Buffer
		for _, out := range []*bytes.Buffer{&first, &second} {
			if err := run(t.Context(), []string{"replay", "--format=" + format, file}, out, io.Discard); err != nil && format == "json" {
				t.Logf("%s: %v", file, err) // a capture may hold no frame
			}
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("%s: two replays as %s differ", file, format)
		}
		if format == "otlp" {
			all = parseSpans(t, first.Bytes())
		}
	}
	return all
}

// spanLine is a span in OTLP/JSON, as far as a replay fills it.
type spanLine struct {
	TraceID, SpanID, ParentSpanID string
	Name                          string
	Kind                          int
	StartTimeUnixNano             int64 `json:",string"`
	EndTimeUnixNano               int64 `json:",string"`
	Attributes                    []attributeLine
	Events                        []struct {
		TimeUnixNano int64 `json:",string"`
		Name         string
		Attributes   []attributeLine
	}
	Links []struct {
		TraceID, SpanID string
		Attributes      []attributeLine
	}
	Status struct {
		Code    int
		Message string
	}
}

type attributeLine struct {
	Key   string
	Value json.RawMessage
}

func (a attributeLine) String() string {
	var value map[string]json.RawMessage
	if json.Unmarshal(a.Value, &value) != nil || len(value) != 1 {
		return a.Key + "=?"
	}
	for kind, content := range value {
		if kind == "intValue" { // a string in OTLP/JSON
			content = bytes.Trim(content, `"`)
		}
		return a.Key + "=" + string(content)
	}
	return ""
}

type spanLines []spanLine

func parseSpans(t *testing.T, lines []byte) (all spanLines) {
	t.Helper()
	for line := range bytes.Lines(lines) {
		var data struct {
			ResourceSpans []struct{ ScopeSpans []struct{ Spans spanLines } }
		}
		if err := json.Unmarshal(line, &data); err != nil {
			t.Fatal(err)
		}
		for _, resource := range data.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				all = append(all, scope.Spans...)
			}
		}
	}
	return all
}

// faultsOf are what makes a trace hard to read in Jaeger: spans without their parent, outside its times or of negative length,
// several roots, ids used twice.
func faultsOf(all spanLines) (faults []string) {
	known, roots := map[string]spanLine{}, map[string]int{}
	for _, s := range all {
		if _, twice := known[s.TraceID+s.SpanID]; twice {
			faults = append(faults, s.Name+": its id is there twice")
		}
		known[s.TraceID+s.SpanID] = s
	}
	for _, s := range all {
		if s.EndTimeUnixNano < s.StartTimeUnixNano {
			faults = append(faults, s.Name+" ends before it begins")
		}
		if s.ParentSpanID == "" {
			roots[s.TraceID]++
			continue
		}
		switch parent, found := known[s.TraceID+s.ParentSpanID]; {
		case !found:
			faults = append(faults, s.Name+" has a parent that nobody knows")
		case s.StartTimeUnixNano < parent.StartTimeUnixNano || s.EndTimeUnixNano > parent.EndTimeUnixNano:
			faults = append(faults, s.Name+" is not within its parent "+parent.Name)
		}
	}
	for trace, n := range roots {
		if n != 1 {
			faults = append(faults, fmt.Sprintf("trace %s has %d roots", trace, n))
		}
	}
	return faults
}

// print writes each trace as a tree. Times are milliseconds from the trace's beginning.
func (all spanLines) print(w *strings.Builder) {
	below, names := map[string]spanLines{}, map[string]string{}
	for _, s := range all {
		below[s.ParentSpanID] = append(below[s.ParentSpanID], s)
		names[s.SpanID] = s.Name
	}
	for _, root := range below[""] {
		fmt.Fprintf(w, "trace %s from %s ns\n", root.TraceID, strconv.FormatInt(root.StartTimeUnixNano, 10))
		spanLines{root}.printBelow(w, below, names, root.StartTimeUnixNano, "  ")
	}
}

func (all spanLines) printBelow(w *strings.Builder, below map[string]spanLines, names map[string]string, zero int64, indent string) {
	slices.SortStableFunc(all, func(a, b spanLine) int {
		return cmp.Or(cmp.Compare(a.StartTimeUnixNano, b.StartTimeUnixNano), cmp.Compare(a.EndTimeUnixNano, b.EndTimeUnixNano), cmp.Compare(a.SpanID, b.SpanID))
	})
	for _, s := range all {
		fmt.Fprintf(w, "%s%s %s, %s, %g to %g ms", indent, s.Name, s.SpanID, spanKinds[s.Kind],
			float64(s.StartTimeUnixNano-zero)/1e6, float64(s.EndTimeUnixNano-zero)/1e6)
		if s.Status.Code != 0 || s.Status.Message != "" {
			fmt.Fprintf(w, ", status %d %s", s.Status.Code, s.Status.Message)
		}
		w.WriteString("\n")
		printAttributes(w, indent+"  | ", s.Attributes)
		for _, e := range s.Events {
			fmt.Fprintf(w, "%s  | event %s at %g ms\n", indent, e.Name, float64(e.TimeUnixNano-zero)/1e6)
			printAttributes(w, indent+"  |   ", e.Attributes)
		}
		for _, l := range s.Links {
			fmt.Fprintf(w, "%s  | link to %s %s\n", indent, names[l.SpanID], l.SpanID)
			printAttributes(w, indent+"  |   ", l.Attributes)
		}
		below[s.SpanID].printBelow(w, below, names, zero, indent+"  ")
	}
}

var spanKinds = map[int]string{1: "internal", 2: "server", 3: "client"}

func printAttributes(w *strings.Builder, indent string, attributes []attributeLine) {
	if len(attributes) == 0 {
		return
	}
	w.WriteString(indent)
	for i, a := range attributes {
		if i > 0 {
			w.WriteString(" ")
		}
		w.WriteString(a.String())
	}
	w.WriteString("\n")
}
