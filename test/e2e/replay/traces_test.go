package replay_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/internal/command"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// TestTraces replays every capture as OTLP and compares its whole trace with the golden file of its family. A second replay must
// give the same bytes.
func TestTraces(t *testing.T) {
	for family, folder := range recorded.Captures {
		t.Run(family, func(t *testing.T) {
			var got strings.Builder
			for _, file := range recorded.Files(t, folder) {
				fmt.Fprintf(&got, "== %s\n", filepath.Base(file))
				all := replayedTraces(t, file)
				for _, fault := range faultsOf(all) {
					t.Errorf("%s: %s", file, fault)
				}
				all.Print(&got)
			}
			golden := filepath.Join("testdata", family+".traces.golden")
			if *harness.Update {
				if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
				t.Errorf("%s is out of date; rewrite it by -update (-want +got):\n%s", golden, diff)
			}
		})
	}
}

// replayedTraces returns the spans of a replay and compares them with those of a second one.
func replayedTraces(t *testing.T, file string) (all harness.SpanLines) {
	t.Helper()
	for _, format := range []string{"otlp", "json"} {
		var first, second bytes.Buffer
		for _, out := range []*bytes.Buffer{&first, &second} {
			if err := command.Run(t.Context(), []string{"replay", "--format=" + format, file}, out, io.Discard); err != nil && format == "json" {
				t.Logf("%s: %v", file, err) // a capture may hold no frame
			}
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("%s: two replays as %s differ", file, format)
		}
		if format == "otlp" {
			all = harness.ParseSpans(t, first.Bytes())
		}
	}
	return all
}

// faultsOf returns what makes a trace hard to read in Jaeger:
//   - spans without their parent, or outside its times
//   - spans of negative length
//   - several roots
//   - ids that are used twice
func faultsOf(all harness.SpanLines) (faults []string) {
	known, roots := map[string]harness.SpanLine{}, map[string]int{}
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
