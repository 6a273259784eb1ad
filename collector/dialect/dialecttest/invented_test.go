package dialecttest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// knownInventions are the beginnings of statements that only the filtered recordings of a dialect make.
var knownInventions = map[string][]string{
	"a2a": {
		"tool_ended", // the result that shows the failure does not leave
	},
	"adk": {
		"input_requested",         // the schema of a question does not leave, so it is a clarification
		"model_ended model_error", // JavaScript: the error of the response before, which a frame repeats with the usage
		"tool_ended",              // as in A2A
	},
	"adkstudio": {
		"tool_ended", // as in A2A
	},
	"agui":       {"tool_paused"},                       // results that only a MESSAGES_SNAPSHOT has do not leave
	"deepagents": {"input_requested", "input_answered"}, // the thread whose ID a question has does not leave
}

// recordings returns the files with a dialect's recordings.
func recordings(t *testing.T, d dialect.Dialect) (all []string) {
	folders := []string{folder(d)}
	if d.Name() == "adk" {
		folders = append(folders, "../adk/adkserver/testdata/captures/*", "../../../test/agents/adk-go")
	}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*.sse"))
		if err != nil || len(files) == 0 {
			t.Fatal(folder, err)
		}
		all = append(all, files...)
	}
	return all
}

// TestFilteredStreamsInventNothing checks that a reader of a filtered stream decodes no run, call, answer, question or failure
// that the agent's stream does not state.
func TestFilteredStreamsInventNothing(t *testing.T) {
	for _, d := range collector.Dialects() {
		found := map[string]bool{}
		for _, file := range recordings(t, d) {
			stream, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
				f := filter.New(filter.Settings{Policy: policy, Thoughts: event.ThoughtsDetailed})
				for _, invention := range Invented(d, string(stream), func(b *event.Batch) (string, []byte, bool) {
					frame, why := f.Apply(b)
					return frame.Name, frame.Data, why == filter.Passed
				}) {
					isKnown := func(beginning string) bool { return strings.HasPrefix(invention, beginning) }
					at := slices.IndexFunc(knownInventions[d.Name()], isKnown)
					if at < 0 {
						t.Errorf("%s under the policy %v: %s", file, policy, invention)
						continue
					}
					found[knownInventions[d.Name()][at]] = true
				}
			}
		}
		for _, known := range knownInventions[d.Name()] {
			if !found[known] {
				t.Errorf("%s: no recording shows the known invention %q any more", d.Name(), known)
			}
		}
	}
}
