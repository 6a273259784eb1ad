package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/tracker"
)

// TestFormatsSayHowRunsEnded compares what agui and a2a say of how the runs of each capture ended with every other account of ours.
func TestFormatsSayHowRunsEnded(t *testing.T) {
	everyCapture(t, func(name, file string) { sayHowRunsEnded(t, name, file) })
}

func sayHowRunsEnded(t *testing.T, name, file string) {
	t.Helper()
	var asAGUI, asA2A []string
	for _, r := range replayed(t, file) {
		asAGUI, asA2A = append(asAGUI, string(r.Status)), append(asA2A, stateOf(r))
	}
	for _, policy := range policies {
		for as, want := range map[string][]string{"agui": asAGUI, "a2a": asA2A} {
			got := endsIn(t, formatted(t, policy, as, file))
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %s under %s says %q, want %q", name, as, policy, got, want)
			}
		}
	}
}

// stateOf returns the state of a task that ended as a run.
func stateOf(r tracker.Report) string {
	switch r.Status {
	case tracker.Interrupted:
		for _, in := range r.Inputs {
			if in.Status == tracker.InputOpen {
				return map[bool]string{true: "auth_required", false: "input_required"}[in.Kind == "credential"]
			}
		}
	case tracker.Incomplete:
		return string(tracker.Failed) // the protocol has no word for it
	}
	return string(r.Status)
}

// endsIn returns how the runs of a stream ended, by the last word on each.
func endsIn(t *testing.T, stream []byte) (ends []string) {
	t.Helper()
	last, turn := map[string]string{}, ""
	for _, f := range framesOf(t, stream) {
		var v struct {
			Type, RunID, Code string
			Result            struct {
				Status       any
				StatusUpdate *struct {
					TaskID string
					Status struct{ State string }
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
