package harness

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/tracker"
)

// CheckRunEnds checks that AG-UI and A2A report the ends of the runs of a capture as the tracker does.
func CheckRunEnds(t *testing.T, name, file string) {
	t.Helper()
	var asAGUI, asA2A []string
	for _, r := range Replay(t, file) {
		asAGUI, asA2A = append(asAGUI, string(r.Status)), append(asA2A, stateOf(r))
	}
	for _, policy := range Policies {
		for as, want := range map[string][]string{"agui": asAGUI, "a2a": asA2A} {
			got := endsIn(t, ReplayAs(t, policy, as, file))
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s: runs in format %s, policy %s, end %q, want %q", name, as, policy, got, want)
			}
		}
	}
}

// stateOf returns the state of an A2A task for the status of a run.
func stateOf(r tracker.Report) string {
	switch r.Status {
	case tracker.Interrupted:
		for _, in := range r.Inputs {
			if in.Status == tracker.InputOpen {
				return map[bool]string{true: "auth_required", false: "input_required"}[in.Kind == "credential"]
			}
		}
	}
	return string(r.Status)
}

// runMetadata holds the status of a run that ended although its task is still working.
type runMetadata struct {
	Status string `json:"delegraph_run_status"`
}

// endsIn returns the last status that a stream reports for each run.
func endsIn(t *testing.T, stream []byte) (ends []string) {
	t.Helper()
	last, turn := map[string]string{}, ""
	for _, f := range Frames(t, stream) {
		var v struct {
			Type, RunID, Code string
			Result            struct {
				Status       any
				StatusUpdate *struct {
					TaskID string
					Status struct {
						State   string
						Message struct {
							Parts []struct{ Metadata runMetadata }
						}
					}
				}
			}
		}
		if err := json.Unmarshal(f.Data, &v); err != nil {
			t.Fatal(err)
		}
		status, _ := v.Result.Status.(string)
		switch update := v.Result.StatusUpdate; {
		case update != nil:
			last[update.TaskID] = strings.ToLower(strings.TrimPrefix(update.Status.State, "TASK_STATE_"))
			if parts := update.Status.Message.Parts; last[update.TaskID] == "working" && len(parts) == 1 {
				last[update.TaskID] = parts[0].Metadata.Status
			}
		case v.Type == "RUN_STARTED":
			turn = v.RunID
		case v.Type == "RUN_FINISHED":
			last[turn] = status
		case v.Type == "RUN_ERROR" && v.Code == string(tracker.Incomplete):
			last[turn] = v.Code
		case v.Type == "RUN_ERROR":
			last[turn] = string(tracker.Failed)
		}
	}
	for _, status := range last {
		ends = append(ends, status)
	}
	return ends
}
