package otlp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// agentSpan is one of the agent's own spans, as its server exported them next to the streams.
type agentSpan struct {
	Name   string
	Trace  string
	Status string
	Attrs  map[string]any
}

// account holds what both sides can report about a run.
type account struct {
	Tools         []string
	Agents        []string // the invoked agents
	Transfers     int
	Input, Output int64
	Chats         int
	Failed        bool
}

// differs lists the captures for which the two cannot agree, with the reason.
var differs = map[string]string{
	"agent_tool":           "the tokens of an agent used as a tool never stand in the stream",
	"nostream_agent_tool":  "the tokens of an agent used as a tool never stand in the stream",
	"confirmation":         "a call that waits for a human is interrupted; the agent calls it an error",
	"hitl_1_confirmation":  "a call that waits for a human is interrupted; the agent calls it an error",
	"direct":               "the frame has neither usage nor finish reason, so it shows no model response",
	"llm_error_response":   "a run that ends in an error code has failed; the agent leaves its span unset",
	"prompt_blocked":       "a run that ends in an error code has failed; the agent leaves its span unset",
	"safety":               "a run that ends in an error code has failed; the agent leaves its span unset",
	"model_429":            "an error frame alone does not name its run",
	"model_error":          "an error frame alone does not name its run",
	"nostream_model_error": "an error frame alone does not name its run",
	"wf_par_fail":          "an error frame alone does not name its run",
}

// TestAgainstTheAgentsOwnSpans compares our report of each capture with the agent's own spans of the same run.
func TestAgainstTheAgentsOwnSpans(t *testing.T) {
	traces, runs := readAgentSpans(t)
	for _, file := range recorded.Files(t, recorded.Captures["adk-go"]) {
		name := strings.TrimSuffix(filepath.Base(file), ".sse")
		if name == "no_session" {
			continue // an error body instead of a stream
		}
		t.Run(name, func(t *testing.T) {
			reports := harness.Replay(t, file)
			if len(reports) != 1 {
				t.Fatalf("%d runs", len(reports))
			}
			ours := ourAccount(reports[0])
			equal := slices.ContainsFunc(runs[harness.Text(reports[0].Run)], func(trace string) bool {
				return fmt.Sprint(agentAccount(traces[trace])) == fmt.Sprint(ours)
			})
			why, expected := differs[name]
			if equal && expected {
				t.Errorf("agrees although it should not: %s", why)
			}
			if !equal && !expected {
				t.Errorf("ours %+v, the agent's:", ours)
				for _, trace := range runs[harness.Text(reports[0].Run)] {
					t.Errorf("%+v", agentAccount(traces[trace]))
				}
			}
		})
	}
}

// TestCutCaptures cuts every capture after every frame, and checks that every run and every operation ends.
func TestCutCaptures(t *testing.T) {
	for _, file := range recorded.Files(t, recorded.Captures["adk-go"]) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		frames := bytes.SplitAfter(content, []byte("\n\n"))
		for n := 1; n < len(frames); n++ {
			cut := filepath.Join(t.TempDir(), "cut.sse")
			if err := os.WriteFile(cut, bytes.Join(frames[:n], nil), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, r := range harness.Replay(t, cut) {
				if r.Status == tracker.Running {
					t.Errorf("%s cut after %d frames: the run never ended", file, n)
				}
				seen := map[string]bool{}
				for i, op := range r.Operations {
					if op.Status == "" || op.ID == "" || i > 0 && (op.Parent == nil || !seen[r.Operations[0].ID]) || seen[op.ID] {
						t.Errorf("%s cut after %d frames: %+v", file, n, op)
					}
					seen[op.ID] = true
				}
			}
		}
	}
}

func ourAccount(r tracker.Report) (a account) {
	for _, op := range r.Operations {
		switch op.Kind {
		case tracker.ExecuteTool:
			a.Tools = append(a.Tools, harness.Text(op.Name)+" "+string(op.Status))
		case tracker.InvokeAgent:
			if !isContainer(harness.Text(op.Name)) {
				a.Agents = append(a.Agents, harness.Text(op.Name))
			}
		case tracker.Chat:
			a.Chats++
		}
	}
	slices.Sort(a.Tools)
	slices.Sort(a.Agents)
	a.Transfers = len(r.Transfers)
	if r.Usage.Input != nil {
		a.Input = *r.Usage.Input
	}
	if r.Usage.Output != nil {
		a.Output = *r.Usage.Output
	}
	a.Failed = r.Status == tracker.Failed
	return a
}

// isContainer reports whether an agent of the recordings only runs others. The stream does not mention such an agent unless a
// branch names it.
func isContainer(agent string) bool {
	return strings.HasPrefix(agent, "pipeline_") || agent == "inner_par"
}

func agentAccount(spans []agentSpan) (a account) {
	for _, s := range spans {
		failed := s.Status == "Error"
		switch s.Attrs["gen_ai.operation.name"] {
		case "execute_tool":
			if s.Name == "execute_tool (merged)" {
				continue // an extra span for parallel calls together
			}
			status := "ok"
			if failed {
				status = "error"
			}
			a.Tools = append(a.Tools, fmt.Sprint(s.Attrs["gen_ai.tool.name"])+" "+status)
			if s.Attrs["gen_ai.tool.name"] == "transfer_to_agent" && !failed {
				a.Transfers++
			}
		case "generate_content":
			a.Chats++
			input, _ := s.Attrs["gen_ai.usage.input_tokens"].(float64)
			output, _ := s.Attrs["gen_ai.usage.output_tokens"].(float64)
			a.Input += int64(input)
			a.Output += int64(output)
		case "invoke_agent":
			a.Failed = a.Failed || failed
			if agent := fmt.Sprint(s.Attrs["gen_ai.agent.name"]); !isContainer(agent) {
				a.Agents = append(a.Agents, agent)
			}
		}
	}
	slices.Sort(a.Tools)
	slices.Sort(a.Agents)
	return a
}

// readAgentSpans returns the agent's spans by trace, and the traces by run.
func readAgentSpans(t *testing.T) (traces map[string][]agentSpan, runs map[string][]string) {
	t.Helper()
	content, err := os.ReadFile("../../../test/agents/adk-go/spans.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	traces, runs = map[string][]agentSpan{}, map[string][]string{}
	for line := range bytes.Lines(content) {
		var s agentSpan
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatal(err)
		}
		traces[s.Trace] = append(traces[s.Trace], s)
		if run, ok := s.Attrs["gcp.vertex.agent.invocation_id"].(string); ok && !slices.Contains(runs[run], s.Trace) {
			runs[run] = append(runs[run], s.Trace)
		}
	}
	return traces, runs
}
