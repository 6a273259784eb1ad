package openai_test

import (
	"cmp"
	"encoding/json"
	"os"
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

// recordedRun reads a recording. Items name the agents of the responses that have them.
func recordedRun(t *testing.T, path string) (all []sdkEvent) {
	t.Helper()
	recorded, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	owners := map[string]string{} // of IDs
	for pass := range 3 {         // items come after their pieces, and responses after their items
		all = nil
		for line := range strings.Lines(string(recorded)) {
			e, ids := readEvent(t, strings.TrimSpace(line))
			for _, id := range ids {
				e.owner = cmp.Or(e.owner, owners[id])
			}
			if e.agent != "" {
				e.owner = e.agent
			}
			for _, id := range ids {
				owners[id] = cmp.Or(owners[id], e.owner)
			}
			if all = append(all, e); pass == 2 && e.owner == "" {
				t.Fatalf("%s: no agent has caused %s", path, line)
			}
		}
	}
	return all
}

// readEvent reads an event, and the IDs in it of a response, its items and their calls.
func readEvent(t *testing.T, line string) (e sdkEvent, ids []string) {
	t.Helper()
	type named struct{ Name string }
	type item struct {
		ID   string
		Call string `json:"call_id"`
	}
	var v struct {
		Name string
		New  named `json:"new_agent"`
		Data struct {
			Type     string
			Of       string `json:"item_id"`
			Item     item
			Response struct {
				ID     string
				Output []item
			}
		}
		Item struct {
			Agent  named
			Target named `json:"target_agent"`
			Raw    item  `json:"raw_item"`
		}
	}
	if err := json.Unmarshal([]byte(line), &v); err != nil {
		t.Fatal(err)
	}
	e = sdkEvent{data: line, kind: strings.TrimPrefix(v.Data.Type, "response."), item: v.Name, begins: v.New.Name != "", result: v.Name == "tool_output", agent: v.New.Name + v.Item.Agent.Name, target: v.Item.Target.Name}
	for _, one := range append(v.Data.Response.Output, v.Data.Item, v.Item.Raw, item{ID: v.Data.Response.ID}, item{ID: v.Data.Of}) {
		for _, id := range []string{one.ID, one.Call} {
			if id != "" {
				ids = append(ids, id)
			}
		}
	}
	return e, ids
}
