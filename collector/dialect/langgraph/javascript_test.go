package langgraph

import (
	"strings"
	"testing"
)

// TestAgentInJavaScript has an agent call another one in a tool, as LangChain's createAgent does. The metadata has the caller's name, and only the
// response the agent's own one.
func TestAgentInJavaScript(t *testing.T) {
	within := startOf("|tools:T", "2", "model_request", "{}", "boss")
	answered := frame("tasks|tools:T", `{"id":"2","name":"model_request","error":null,"result":{"messages":[`+by("expert", "run-2", "x")+`]},"interrupts":[]}`)
	got := strings.Join(facts(nil, startOf("", "1", "model_request", "{}", "boss"), asksTwice, within, answered), "\n")
	if !strings.Contains(got, `2 tasks agent="boss"`) || !strings.Contains(got, `agent="expert" branch="tools:T"`) {
		t.Errorf("the agents are not named:\n%s", got)
	}
}

// TestCheckpointIDs has LangGraph.js send the ID of a checkpoint before each state. It is no state.
func TestCheckpointIDs(t *testing.T) {
	const answer = `,{"type":"ai","id":"run-c","content":"answer"}`
	saved := frame("checkpoints", `{"id":"k1","parent_id":"k0","step":1,"source":"loop"}`)
	state := func(messages string) string { return frame("values", `{"messages":[`+userAsks+messages+`]}`) }
	got := facts(nil, saved, state(""), saved, state(answer))
	if all := strings.Join(got, "\n"); strings.Count(all, `text "answer"`) != 1 || strings.Contains(all, "work left") || strings.Count(all, "checkpoints") != 2 {
		t.Errorf("facts are\n%s", all)
	}
}
