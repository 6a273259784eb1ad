package replay_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/internal/command"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// TestBriefing replays the recorded fire briefing: four specialists in parallel, two follow-ups, the synthesis, and what each of
// them stated about its own answer.
func TestBriefing(t *testing.T) {
	var out, errs bytes.Buffer
	if err := command.Run(t.Context(), []string{"replay", "--format=json", "../../../internal/demo/recordings/fire-briefing.sse"}, &out, &errs); err != nil {
		t.Fatal(err)
	}
	line, rest, _ := strings.Cut(out.String(), "\n")
	var r tracker.Report
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Fatal(err)
	}
	if want := `{"summary":{"frames":5,"events":5,"parse_errors":{},"internal_events":0,"runs":1}}` + "\n"; rest != want {
		t.Errorf("after the run: %s", rest)
	}
	var operations []string
	for _, op := range r.Operations {
		operations = append(operations, string(op.Kind)+" "+harness.Text(op.Name)+" "+string(op.Status)+" "+op.Timing)
		if op.Parent != nil && *op.Parent != r.Operations[0].ID {
			t.Errorf("%s %s is not below the run", op.Kind, harness.Text(op.Name))
		}
	}
	if want := []string{
		"invoke_agent coordinator ok reported",
		"chat gemini-2.0-flash ok unknown",
		"execute_tool burn_analyst ok reported",
		"execute_tool trail_assessor ok reported",
		"execute_tool cruising_assistant ok reported",
		"execute_tool nepa_advisor ok reported",
		"chat gemini-2.0-flash ok reported",
		"execute_tool nepa_advisor ok reported",
		"execute_tool nepa_advisor ok reported",
		"chat gemini-2.0-flash ok reported",
	}; !slices.Equal(operations, want) {
		t.Errorf("operations\n%s", strings.Join(operations, "\n"))
	}
	said := map[string][]float64{}
	overall := 0
	for _, c := range r.Confidence {
		if c.Overall {
			overall++
			if harness.Text(c.Agent) != "coordinator" || *c.Value != 0.9 {
				t.Errorf("overall confidence %v of %s", *c.Value, harness.Text(c.Agent))
			}
			continue
		}
		said[harness.Text(c.Agent)] = append(said[harness.Text(c.Agent)], *c.Value)
	}
	for agent, want := range map[string][]float64{
		"burn_analyst": {0.92}, "trail_assessor": {0.9}, "cruising_assistant": {0.91}, "nepa_advisor": {0.9, 0.95},
		"coordinator": {0.92, 0.9, 0.91, 0.95, 0.9},
	} {
		if !slices.Equal(said[agent], want) {
			t.Errorf("%s said %v, not %v", agent, said[agent], want)
		}
	}
	if overall != 1 {
		t.Errorf("%d overall confidences", overall)
	}
	cited := map[string]string{}
	for _, c := range r.Citations {
		cited[c.Source] = harness.Text(c.Agent) + " " + harness.Text(c.Reference)
	}
	for source, want := range map[string]string{
		"MTBS, Imagery date: 2022-09-15":          "burn_analyst 2022-09-15",
		"Cedar Creek field assessment 2022-10-25": "trail_assessor 2022-10-25",
		"Regional market analysis 2025":           "cruising_assistant -",
		"36 CFR 220.6":                            "nepa_advisor -",
		"36 CFR 220.6(e)(13)":                     "nepa_advisor -",
	} {
		if cited[source] != want {
			t.Errorf("%q is cited by %q, not %q", source, cited[source], want)
		}
	}
}

// TestReplayIsDeterministic replays one capture twice.
func TestReplayIsDeterministic(t *testing.T) {
	for _, format := range []string{"json", "otlp"} {
		var first, second, errs bytes.Buffer
		for _, out := range []*bytes.Buffer{&first, &second} {
			if err := command.Run(t.Context(), []string{"replay", "--format=" + format, "../../../internal/demo/recordings/fire-briefing.sse"}, out, &errs); err != nil {
				t.Fatal(err)
			}
		}
		if first.Len() == 0 || !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("%s differs between two replays:\n%s\n%s", format, &first, &second)
		}
	}
}
