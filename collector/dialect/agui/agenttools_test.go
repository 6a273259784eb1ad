package agui_test

import (
	"strings"
	"testing"
)

// TestAgentTools checks that the answer of an internal agent of Mastra, which runs agents as tools, does not leave.
func TestAgentTools(t *testing.T) {
	for tool, leaves := range map[string]bool{"agent-internalAuditor": false, "agent-Internal_auditor": false, "agent-writer": true, "agents-internal": true} {
		listed := `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a","role":"assistant","content":"x","toolCalls":[{"id":"c","type":"function","function":{"name":"` + tool + `","arguments":"{}"}}]},{"id":"rc","role":"tool","toolCallId":"c","content":"CANARY"}]}`
		state := `{"type":"STATE_SNAPSHOT","snapshot":{"messages":[{"id":"a","role":"assistant","content":"x","toolCalls":[{"id":"c","name":"` + tool + `","args":{}}]},{"id":"rc","role":"tool","toolCallId":"c","content":"CANARY"}]}}`
		for what, sent := range map[string][]string{
			"a call": toolCall("c", tool, `{"prompt":"x"}`, "CANARY"),
			"chunks": {`{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"` + tool + `","delta":"{}"}`, toolCall("c", tool, "", "CANARY")[3]},
			"a list": {listed}, "a state": {state},
		} {
			got := filterFrames(t, allSettings[0], append([]string{run}, sent...)...)
			if strings.Contains(last(got), "CANARY") != leaves || strings.Join(got[1:len(got)-1], "\n") != strings.Join(sent[:len(sent)-1], "\n") || last(got) == withheld {
				t.Errorf("%s of %s: %q", what, tool, got[1:])
			}
		}
	}
}

// TestAgentsWithinTools checks that the result of a tool does not leave if an internal agent of LangChain worked within it.
//
// Source: recordings of ag-ui-langgraph 0.0.47 and @ag-ui/langgraph 0.0.43, with a tool that calls create_agent(name="internal_x").
func TestAgentsWithinTools(t *testing.T) {
	model := func(agent, within string) string {
		return `{"type":"RAW","event":{"event":"on_chain_start","name":"model","metadata":{"lc_agent_name":"` + agent + `","langgraph_checkpoint_ns":"` + within + `|model:7"}}}`
	}
	ended := func(event, output string) string {
		return `{"event":"` + event + `","data":{"output":` + output + `},"name":"ask","metadata":{"lc_agent_name":"lead","langgraph_checkpoint_ns":"tools:2"}}`
	}
	const message = `{"type":"tool","name":"ask","tool_call_id":"c","content":"CANARY"}`
	raw := func(event string) string { return `{"type":"RAW","event":` + event + `}` }
	call := toolCall("c", "ask", "{}", "CANARY")
	for what, c := range map[string]struct {
		work, result []string
		leaves       bool
	}{
		"before the result":   {[]string{model("internal_x", "tools:2"), raw(ended("on_tool_end", message))}, call[3:], false},
		"with the result":     {[]string{model("internal_x", "tools:2")}, []string{with(`"rawEvent":` + ended("on_tool_end", message))(call[3])}, false},
		"in a command":        {[]string{model("internal_x", "tools:2"), raw(ended("on_tool_end", `{"update":{"messages":[`+message+`]}}`))}, call[3:], false},
		"of an ordinary":      {[]string{model("writer", "tools:2"), raw(ended("on_tool_end", message))}, call[3:], true},
		"within another tool": {[]string{model("internal_x", "tools:3"), raw(ended("on_tool_end", message))}, call[3:], true},
		"of an agent around":  {[]string{strings.Replace(model("internal_x", "tools:2"), `"name":"model"`, `"name":"internal_x"`, 1), raw(ended("on_tool_end", message))}, call[3:], true},
		"another event":       {[]string{model("internal_x", "tools:2"), raw(ended("on_chain_end", message))}, call[3:], true},
	} {
		sent := append(append(append([]string{run}, call[:3]...), c.work...), c.result...)
		if got := last(filterFrames(t, allSettings[0], sent...)); strings.Contains(got, "CANARY") != c.leaves || got == withheld {
			t.Errorf("%s: %s", what, got)
		}
	}
}
