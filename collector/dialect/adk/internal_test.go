package adk_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestInternalRecordings checks that the events which agents of real servers marked as internal do not leave, nor the results of calls in
// them. All other frames leave unchanged.
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
		frames := strings.Split(strings.TrimPrefix(strings.TrimSpace(string(recorded)), "data: "), "\n\ndata: ")
		public := leavesOf(t, event.PolicyPublic, frames...)
		var hidden []string // calls
		for i, got := range leavesOf(t, event.PolicyClient, frames...) {
			calls, results := idsIn(t, frames[i])
			want := frames[i]
			switch {
			case strings.Contains(want, `"kind":"internal:`):
				hidden, want = append(hidden, calls...), withheld
			case slices.ContainsFunc(results, func(id string) bool { return slices.Contains(hidden, id) }):
				want = withheld
			}
			if got != want || (public[i] == withheld) != (want == withheld) {
				t.Errorf("%s, frame %d: under client, the output is %s, and under public %s, want %s", file, i+1, got, public[i], want)
			}
		}
	}
}

// idsIn returns the IDs of the calls and of the results in an event.
func idsIn(t *testing.T, frame string) (calls, results []string) {
	t.Helper()
	type named struct{ ID string }
	var e struct {
		Content struct {
			Parts []struct{ FunctionCall, FunctionResponse named }
		}
	}
	if err := json.Unmarshal([]byte(frame), &e); err != nil {
		t.Fatal(err)
	}
	for _, part := range e.Content.Parts {
		calls, results = append(calls, part.FunctionCall.ID), append(results, part.FunctionResponse.ID)
	}
	none := func(id string) bool { return id == "" }
	return slices.DeleteFunc(calls, none), slices.DeleteFunc(results, none)
}
