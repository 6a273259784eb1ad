package langgraph

import (
	"strings"
	"testing"
)

// TestParallelAgents has one agent work twice, at the same time or one after the other.
func TestParallelAgents(t *testing.T) {
	within := func(n string) string {
		return frame("updates|w:"+n, `{"model":{"messages":[`+by("w", "run-"+n, "x")+`]}}`)
	}
	task := func(n, more string) string {
		return frame("tasks", `{"id":"`+n+`","name":"w",`+more+`,"interrupts":[]}`)
	}
	returns, attempt := frame("updates", `{"w":{"r":1}}`), frame("metadata", `{"run_id":`+runID+`,"attempt":2}`)
	starts, ends := `"input":{},"triggers":[]`, `"result":{"r":1}`
	for _, c := range []struct {
		name       string
		frames     []string
		isParallel bool
	}{
		{"at the same time", []string{within("1"), within("2"), returns, returns}, true},
		{"tasks at the same time", []string{task("1", starts), task("2", starts), within("1"), within("2"), task("1", ends), task("2", ends)}, true},
		{"one after the other", []string{within("1"), returns, within("2"), returns}, false},
		{"one task after the other", []string{task("1", starts), within("1"), task("1", ends), task("2", starts), within("2"), task("2", ends)}, false},
		{"in another attempt", []string{within("1"), attempt, within("2")}, false},
		{"after an unreadable update", []string{within("1"), "event: updates\ndata: {\n\n", within("2")}, false},
	} {
		if got := strings.Contains(strings.Join(facts(nil, c.frames...), "\n"), " parallel"); got != c.isParallel {
			t.Errorf("%s: parallel is %v", c.name, got)
		}
	}
}

// TestParallelResponses has two nodes of a graph answer, piece by piece.
func TestParallelResponses(t *testing.T) {
	piece := func(id, step, task, more string) string {
		return frame("messages", `[{"type":"AIMessageChunk","id":"lc_run--`+id+`","content":"x"`+more+`},{"langgraph_step":`+step+`,"langgraph_checkpoint_ns":"`+task+`"}]`)
	}
	announced := func(id, task string) string {
		return frame("messages/metadata", `{"lc_run--`+id+`":{"metadata":{"langgraph_step":1,"langgraph_checkpoint_ns":"`+task+`"}}}`)
	}
	partial := func(id string) string {
		return frame("messages/partial", `[{"type":"ai","id":"lc_run--`+id+`","content":"x"}]`)
	}
	const last = `,"chunk_position":"last"`
	for _, c := range []struct {
		name       string
		frames     []string
		isParallel bool
	}{
		{"two nodes", []string{piece("1", "1", "a:1", ""), piece("2", "1", "b:2", "")}, true},
		{"one node twice", []string{piece("1", "1", "a:1", ""), piece("2", "1", "a:2", "")}, true},
		{"two nodes, announced", []string{announced("1", "a:1"), partial("1"), announced("2", "b:2"), partial("2")}, true},
		{"one after the other", []string{piece("1", "1", "a:1", last), piece("2", "1", "b:2", "")}, false},
		{"after one that broke off in an earlier step", []string{piece("1", "1", "a:1", ""), piece("2", "2", "b:2", "")}, true},
		{"after one that broke off in the same task", []string{piece("1", "1", "a:1", ""), piece("2", "1", "a:1", "")}, true},
		{"after one that broke off in an earlier attempt", []string{piece("1", "1", "a:1", ""), frame("metadata", `{"run_id":`+runID+`,"attempt":1}`), frame("metadata", `{"run_id":`+runID+`,"attempt":2}`), piece("2", "1", "a:1", "")}, false},
	} {
		if got := strings.Contains(strings.Join(facts(nil, c.frames...), "\n"), " response="); got != c.isParallel {
			t.Errorf("%s: parallel is %v", c.name, got)
		}
	}
}
