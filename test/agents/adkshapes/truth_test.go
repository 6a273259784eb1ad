package adkshapes

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func span(id, parent, name string, start, end int64) Span {
	return Span{ID: id, Parent: parent, Name: name, Start: start, End: end}
}

func TestTruth(t *testing.T) {
	for _, test := range []struct {
		name  string
		spans []Span
		want  string
	}{
		{
			"the spans of the HTTP server and merged responses are no operations",
			[]Span{
				span("3", "2", "invoke_workflow a", 3, 80), span("1", "", "POST /run_sse", 1, 99), span("2", "1", "fastapi.endpoint", 2, 98),
				span("4", "3", "invoke_agent a", 4, 70), span("5", "4", "execute_tool (merged)", 5, 6),
			},
			"workflow a (runner)\n  agent a\n",
		},
		{
			"what ADK 1 puts below a chat belongs to the agent",
			[]Span{
				span("1", "", "invocation", 1, 99), span("2", "1", "invoke_agent a", 2, 98), span("3", "2", "call_llm", 3, 97),
				span("4", "3", "generate_content m", 4, 96), span("5", "4", "execute_tool t", 10, 20), span("6", "4", "invoke_agent b", 30, 90),
			},
			"workflow (runner)\n  agent a\n    chat m\n    tool t\n    agent b\n",
		},
		{
			"a workflow of an author is none of the runner's",
			[]Span{span("1", "", "invoke_workflow w", 1, 99), span("2", "1", "invoke_node n", 2, 3), span("3", "1", "invoke_agent a", 4, 5)},
			"workflow w\n  node n\n  agent a\n",
		},
		{
			"a parent comes before its child of the same nanosecond",
			[]Span{span("2", "1", "invoke_agent a", 1, 2), span("1", "", "invoke_workflow w", 1, 2)},
			"workflow w\n  agent a\n",
		},
		{
			"spans without a common parent are a forest",
			[]Span{span("1", "gone", "invoke_agent a", 1, 2), span("2", "gone", "invoke_agent b", 3, 4)},
			"agent a\nagent b\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got strings.Builder
			tree(&got, Recording{Spans: test.spans}.Truth(), -1, "")
			if got.String() != test.want {
				t.Errorf("operations\n%s\nwant\n%s", got.String(), test.want)
			}
		})
	}
}

func TestTruthEndsAChatWhereItsChildrenStart(t *testing.T) {
	operations := Recording{Spans: []Span{
		span("1", "", "generate_content m", 1, 99), span("2", "1", "execute_tool b", 20, 30), span("3", "1", "execute_tool a", 10, 40),
	}}.Truth()
	if end := operations[0].End.UnixNano(); end != 10 {
		t.Errorf("the chat ends at %d, want 10", end)
	}
}

// TestTruthHoldsTogether checks what every recording must satisfy, whatever its shape.
func TestTruthHoldsTogether(t *testing.T) {
	for _, r := range Recordings(t) {
		operations := r.Truth()
		for i, o := range operations {
			if o.Parent >= i || o.Parent >= 0 && o.Start.Before(operations[o.Parent].Start) {
				t.Errorf("%s of ADK %s: %s starts before its parent", r.Name, r.Version, o.fact())
			}
			if o.End.Before(o.Start) {
				t.Errorf("%s of ADK %s: %s ends before it starts", r.Name, r.Version, o.fact())
			}
			if (o.Parent < 0) != (i == 0) {
				t.Errorf("%s of ADK %s: %s is a root", r.Name, r.Version, o.fact())
			}
			if o.Start.UnixNano() < r.Arrived {
				t.Errorf("%s of ADK %s: %s starts before its request", r.Name, r.Version, o.fact())
			}
		}
		if !slices.IsSortedFunc(r.Frames, func(a, b Frame) int { return int(a.At - b.At) }) {
			t.Errorf("%s of ADK %s: the frames are out of order", r.Name, r.Version)
		}
	}
}

// TestEventIDs checks that a model call that has not failed and its frame have the same id.
// Exceptions are calls inside an AgentTool, and shapes in which the model's answer was replaced or lost. With
// JavaScript every frame has an id of its own.
func TestEventIDs(t *testing.T) {
	silent := []string{"branch_fails", "branch_tool_fails", "after_model_raises", "workflow_branch_raises", "code_executed", "model_empty"}
	for _, r := range Recordings(t) {
		if r.Version == "js-2.0" {
			continue
		}
		frames := map[string]bool{}
		for _, f := range r.Frames {
			var e struct{ ID string }
			if json.Unmarshal([]byte(f.Data), &e) == nil {
				frames[e.ID] = true
			}
		}
		operations := r.Truth()
		for _, o := range operations {
			if o.Kind == Chat && !o.Failed && !o.inTool(operations) && !frames[o.EventID] && !slices.Contains(silent, r.Shape) {
				t.Errorf("%s of ADK %s: no frame has the id of %s", r.Name, r.Version, o.fact())
			}
		}
	}
}

func (o Operation) inTool(operations []Operation) bool {
	for i := o.Parent; i >= 0; i = operations[i].Parent {
		if operations[i].Kind == Tool {
			return true
		}
	}
	return false
}
