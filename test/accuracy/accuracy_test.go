package accuracy

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/test/agents/adkshapes"
)

// TestRecordedRuns plays every recording with the server's own clock, and holds names, tree, tools, model calls, tokens, status and times
// against ADK's own spans. What differs is in the table of what the stream cannot tell, and in no other field.
func TestRecordedRuns(t *testing.T) {
	wrong, spansLack, runs := 0, 0, 0
	all := adkshapes.Recordings(t)
	for _, run := range all {
		t.Run(run.Version+" "+run.Name, func(t *testing.T) {
			runs++
			if Check(t, run, reported(playSession(t, session(run, all)), run.Arrived), true) {
				wrong++
				if slices.ContainsFunc(fuller, func(d difference) bool { return d.isOf(run) }) {
					spansLack++
				}
			}
		})
	}
	t.Logf("%d of %d runs differ in a field: %d because ADK's spans leave out what the stream shows, %d because the stream does not tell", wrong, runs, spansLack, wrong-spansLack)
}

// TestLiveRuns does the same, but for times, with the runs of real servers.
func TestLiveRuns(t *testing.T) {
	for _, version := range adkshapes.Versions {
		t.Run(version, func(t *testing.T) {
			server := adkshapes.Start(t, version)
			for _, shape := range server.Shapes {
				for _, streaming := range []bool{false, true} {
					if streaming && !shape.Streamed {
						continue
					}
					played := server.Play(t, shape, streaming)
					for i, run := range played {
						t.Run(run.Name, func(t *testing.T) {
							Check(t, run, reported(playSession(t, played[:i+1]), run.Arrived), false)
						})
					}
				}
			}
		})
	}
}

// TestDocumentation checks that docs/design/accuracy.md has each reason, and no other.
func TestDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../docs/design/accuracy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, runs, _ := strings.Cut(string(page), "\n## Runs\n")
	runs, _, _ = strings.Cut(runs, "\n## ")
	var explained []string
	for line := range strings.Lines(runs) {
		if item, isItem := strings.CutPrefix(line, "- "); isItem {
			why, _, _ := strings.Cut(item, ": ")
			explained = append(explained, why)
		}
	}
	known := slices.Concat(silent, fuller)
	for _, d := range known {
		if !slices.Contains(explained, d.why) {
			t.Errorf("%q, because %s: not in docs/design/accuracy.md", d.runs, d.why)
		}
	}
	for _, why := range explained {
		if !slices.ContainsFunc(known, func(d difference) bool { return d.why == why }) {
			t.Errorf("docs/design/accuracy.md says that runs differ because %s: none does", why)
		}
	}
}
