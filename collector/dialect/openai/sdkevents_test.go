package openai_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// sdkEvent is an event of a recording of the SDK for Python.
type sdkEvent struct {
	data, kind, item string // the line, the type of the event of a response, or the name of the item
	begins, result   bool   // it is an agent_updated_stream_event, or the result of a call
	agent, target    string // that it names, and to which control goes
	owner            string // the agent that has caused it
}

// recordedRun reads a recording, in which responses do not overlap.
func recordedRun(t *testing.T, path string) (all []sdkEvent) {
	t.Helper()
	recorded, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	type named struct{ Name string }
	var working []string // the current agent, and those that wait for it
	calls := map[string]bool{}
	for line := range strings.Lines(string(recorded)) {
		var v struct {
			Name string
			New  named `json:"new_agent"`
			Data struct{ Type string }
			Item struct {
				Agent  named
				Target named `json:"target_agent"`
			}
		}
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		e := sdkEvent{data: strings.TrimSpace(line), kind: strings.TrimPrefix(v.Data.Type, "response."), item: v.Name, begins: v.New.Name != "", result: v.Name == "tool_output", agent: v.New.Name + v.Item.Agent.Name, target: v.Item.Target.Name}
		switch {
		case e.begins:
			if len(working) > 0 && !calls[working[0]] { // it has handed over
				working = working[1:]
			}
			working = slices.Insert(working, 0, e.agent)
		case v.Name == "tool_called", e.result:
			working, calls[e.agent] = working[slices.Index(working, e.agent):], !e.result
		}
		if e.owner = working[0]; e.item != "" {
			e.owner = e.agent
		}
		all = append(all, e)
	}
	return all
}
