package a2a_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestInternalRecordings checks that nothing leaves of the internal events of real servers, nor of the copies that ADK made of them. Each
// frame of them has CANARY. All other frames leave. So do those with the results of calls that ran an internal agent, and those with a state,
// without what was copied. Of one that ends or pauses the task, the state may leave.
func TestInternalRecordings(t *testing.T) {
	files, _ := filepath.Glob("testdata/internal/*.sse")
	if len(files) == 0 {
		t.Fatal("no recordings")
	}
	for _, file := range files {
		recorded, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for name, spelled := range map[string]func(string) string{"ADK": strings.Clone, "kagent": asKagent.Replace} {
			frames := strings.SplitAfter(strings.TrimSpace(spelled(string(recorded))), "\r\n\r\n")
			for _, settings := range []filter.Settings{client, public} {
				for i, got := range filterStream(t, settings, strings.Join(frames, "")) {
					want := withoutResults(t, frames[i])
					isWithheld := strings.HasPrefix(got, withheld) || strings.Contains(want, "CANARY") && isState(t, got)
					if isWithheld != strings.Contains(want, "CANARY") || strings.Contains(got, "CANARY") {
						t.Errorf("%s, %s, frame %d, under %s: the output is %s", file, name, i+1, settings.Policy, got)
					}
					if settings.Policy == client.Policy && !isWithheld && withoutResults(t, got) != want {
						t.Errorf("%s, %s, frame %d: the output differs: %s", file, name, i+1, cmp.Diff(want, got))
					}
				}
			}
		}
	}
}

// isState reports whether a frame has only the state of a task that has ended or waits.
func isState(t *testing.T, frame string) bool {
	t.Helper()
	var v struct {
		Result struct {
			Status struct {
				State   string
				Message any
			}
			Metadata, Artifacts, History any
		}
	}
	if err := json.Unmarshal([]byte(strings.TrimPrefix(frame, "data: ")), &v); err != nil {
		return false // withheld
	}
	r := v.Result
	return r.Status.State != "" && r.Status.State != "working" && r.Status.Message == nil && r.Metadata == nil && r.Artifacts == nil && r.History == nil
}

// withoutResults returns a frame without the results of the agent auditor, which is internal, and without the state in its answer.
func withoutResults(t *testing.T, frame string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(strings.TrimPrefix(frame, "data: ")), &v); err != nil {
		return frame // withheld
	}
	removeResults(v)
	rest, _ := json.Marshal(v)
	return string(rest)
}

func removeResults(v any) {
	switch v := v.(type) {
	case map[string]any:
		if v["name"] == "auditor" {
			delete(v, "response")
		}
		if text, _ := v["ans"].(string); strings.Contains(text, "CANARY") {
			delete(v, "ans")
		}
		for _, member := range v {
			removeResults(member)
		}
	case []any:
		for _, element := range v {
			removeResults(element)
		}
	}
}
