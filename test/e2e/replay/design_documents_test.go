package replay_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/internal/command"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// designDocument is a design document with its examples. docs/design/documents.md says where results depart from it.
type designDocument struct {
	number   string
	examples []documentExample
	wire     func(second int, event string) string // writes an event as the document's server does
	withheld []string                              // must not be published under any policy
	secret   []string                              // must not be published under the policy public
}

// documentExample is an example of a document: its events in the order in which the document has them.
type documentExample struct {
	section string
	events  []string
}

// documentStart is the time of an example's first event if the document has no time. Each further event is a second later.
var documentStart = time.Date(2025, 11, 6, 10, 0, 0, 0, time.UTC)

// replay replays every example and compares the results with the golden file.
func (d designDocument) replay(t *testing.T) {
	var got strings.Builder
	for _, e := range d.examples {
		t.Run(e.section, func(t *testing.T) {
			var wire strings.Builder
			for i, event := range e.events {
				wire.WriteString(d.wire(i, event))
			}
			file := filepath.Join(t.TempDir(), "document.sse")
			if err := os.WriteFile(file, []byte(wire.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&got, "== %s\n", e.section)
			d.outline(t, &got, file)
			harness.CheckRunEnds(t, e.section, file)
		})
	}
	expectGolden(t, filepath.Join("testdata", "document"+d.number+".golden"), got.String())
}

// outline writes the result of an example.
func (d designDocument) outline(t *testing.T, got *strings.Builder, file string) {
	t.Helper()
	for _, r := range harness.Replay(t, file) {
		got.WriteString(outline(r))
		outlineDetails(got, r)
	}
	samples := harness.ParseSamples(t, replayAs(t, file, "--format=metrics"))
	for _, series := range []string{"delegraph_internal_events_total", "delegraph_late_frames_total", "delegraph_unknown_events_total", "delegraph_parse_errors_total"} {
		outlineSamples(got, series, samples)
	}
	for _, as := range []string{"native", "normalized", "a2a", "agui"} {
		for _, policy := range harness.Policies {
			left := harness.ReplayAs(t, policy, as, file)
			withheld := d.withheld
			if policy == "public" {
				withheld = slices.Concat(withheld, d.secret)
			}
			for _, text := range withheld {
				if bytes.Contains(left, []byte(text)) {
					t.Errorf("%q is published as %s under %s", text, as, policy)
				}
			}
			if policy == "client" {
				fmt.Fprintf(got, "  %s: %s\n", as, strings.Join(namesLeft(t, left), " "))
			}
		}
	}
}

// expectGolden compares a text with a file, line by line.
func expectGolden(t *testing.T, golden, got string) {
	t.Helper()
	if *harness.Update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Error(diff)
	}
}

// outlineDetails writes the facts of a run's JSON that its outline lacks.
func outlineDetails(b *strings.Builder, r tracker.Report) {
	for _, c := range r.Confidence {
		if c.Value != nil {
			about := cmp.Or(c.Topic, c.Scope)
			if about != "" {
				about = " of " + about
			}
			fmt.Fprintf(b, "  %s is %v sure%s (%s)\n", harness.Text(c.Agent), *c.Value, about, c.Origin)
		}
	}
	for _, c := range r.Citations {
		if c.Reference != nil || c.URI != nil {
			fmt.Fprintf(b, "  %s refers to %s, %s\n", harness.Text(c.Agent), harness.Text(c.Reference), harness.Text(c.URI))
		}
	}
	for _, reasoning := range r.Reasoning {
		fmt.Fprintf(b, "  %s reasons in %d steps\n", harness.Text(reasoning.Agent), reasoning.Steps)
	}
	for _, thought := range r.Thoughts {
		fmt.Fprintf(b, "  %s thinks: %s %d\n", harness.Text(thought.Agent), thought.Type, thought.Count)
	}
	if r.Plan != nil {
		fmt.Fprintf(b, "  plan: %d pending, %d in progress, %d completed, %d canceled\n", r.Plan.Pending, r.Plan.InProgress, r.Plan.Completed, r.Plan.Canceled)
	}
	for _, state := range r.State {
		fmt.Fprintf(b, "  state of %s: %s\n", harness.Text(state.Agent), strings.Join(state.Keys, ", "))
	}
	for _, link := range r.Links {
		fmt.Fprintf(b, "  %s %s\n", link.Kind, harness.Text(link.Run))
	}
	for _, op := range r.Operations {
		span := fmt.Sprintf("%s %s %s to %s", op.Kind, harness.Text(op.Name), timeOfDay(op.Started), timeOfDay(op.Ended))
		span += statedCount("iteration", op.Iteration) + statedCount("messages", op.Messages) + statedCount("tools", op.Tools) + statedCount("reported iterations", op.Iterations)
		if op.Progress != nil {
			span += fmt.Sprintf(", progress %v", *op.Progress)
		}
		if op.Seconds != nil && op.DurationTiming == "reported" && op.Timing != "reported" {
			span += fmt.Sprintf(", reported to last %v s", *op.Seconds)
		}
		fmt.Fprintf(b, "  %s\n", span)
	}
}

func statedCount(name string, n *int64) string {
	if n == nil {
		return ""
	}
	return fmt.Sprintf(", %s %d", name, *n)
}

func timeOfDay(at *string) string {
	if at == nil {
		return "?"
	}
	_, clock, _ := strings.Cut(strings.TrimSuffix(*at, "Z"), "T")
	return strings.TrimPrefix(clock, "10:00:")
}

func outlineSamples(b *strings.Builder, name string, samples map[string]float64) {
	var found []string
	for series, n := range samples {
		if strings.HasPrefix(series, name+"{") && n > 0 {
			found = append(found, fmt.Sprintf("  %s %v\n", series, n))
		}
	}
	slices.Sort(found)
	b.WriteString(strings.Join(found, ""))
}

// replayAs replays a file with a flag.
func replayAs(t *testing.T, file string, flags ...string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	if err := command.Run(t.Context(), append(append([]string{"replay"}, flags...), file), &out, &errs); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// namesLeft returns the event names and types of the frames of a stream in any format.
func namesLeft(t *testing.T, stream []byte) (all []string) {
	t.Helper()
	for _, f := range harness.Frames(t, stream) {
		if name := nameLeft(f); name != "" {
			all = append(all, name)
		}
	}
	return all
}

func nameLeft(f sse.Frame) string {
	var v struct {
		Kind, Type string
		Result     struct {
			Task, ArtifactUpdate *struct{}
			StatusUpdate         *struct{ Status struct{ State string } }
		}
		Author  string
		Content any
	}
	if json.Unmarshal(f.Data, &v) != nil {
		return string(f.Event) // its data is text
	}
	switch {
	case v.Result.Task != nil:
		return "task"
	case v.Result.ArtifactUpdate != nil:
		return "artifactUpdate"
	case v.Result.StatusUpdate != nil:
		return strings.ToLower(strings.TrimPrefix(v.Result.StatusUpdate.Status.State, "TASK_STATE_"))
	case v.Author != "":
		return strings.Join(append([]string{v.Author}, partsOf(v.Content)...), ":")
	}
	return cmp.Or(v.Kind+v.Type, string(f.Event))
}

// partsOf returns the members of the parts of an ADK event's content.
func partsOf(content any) (names []string) {
	object, _ := content.(map[string]any)
	parts, _ := object["parts"].([]any)
	for _, part := range parts {
		members, _ := part.(map[string]any)
		names = append(names, slices.Sorted(maps.Keys(members))...)
	}
	return names
}
