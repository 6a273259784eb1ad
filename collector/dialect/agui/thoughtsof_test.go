package agui_test

import (
	"strings"
	"testing"
)

// TestThoughtsOfListedMessages checks that a list leaves without the thoughts of its internal messages, which do not name the agent.
//
// Source: adk_events_to_messages in ag_ui_adk/event_translator.py of ag-ui-adk 0.11, langchain_messages_to_agui in
// ag_ui_langgraph/utils.py of ag-ui-langgraph 0.0.47.
func TestThoughtsOfListedMessages(t *testing.T) {
	const (
		internal = `{"id":"e1","role":"assistant","kind":"internal_x","content":"CANARY"}`
		caller   = `{"id":"e1","role":"assistant","kind":"internal_x","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":"CANARY"}}]}`
		ordinary = `{"id":"e2","role":"assistant","name":"writer","content":"kept"}`
		question = `{"id":"u","role":"user","content":"asked"}`
	)
	thought := func(id, text string) string { return `{"id":"` + id + `","role":"reasoning","content":"` + text + `"}` }
	shown := strings.NewReplacer(`"m"`, `"s"`)
	for what, list := range map[string][]string{
		"before it":               {thought("e1-reasoning", "CANARY"), internal},
		"with an ID of its own":   {thought("rs_1", "CANARY"), internal},
		"several":                 {thought("rs_1", "CANARY"), thought("rs_2", "CANARY"), internal},
		"before its call":         {thought("rs_1", "CANARY"), caller},
		"after an ordinary":       {ordinary, thought("rs_1", "CANARY"), internal},
		"elsewhere":               {thought("e1-reasoning-0", "CANARY"), ordinary, internal},
		"at the end":              {internal, thought("rs_1", "CANARY")},
		"before a question":       {internal, thought("rs_1", "CANARY"), question, ordinary},
		"of an ordinary":          {thought("e2-reasoning", "kept"), ordinary, internal},
		"of an ordinary after it": {internal, thought("rs_1", "kept"), ordinary},
		"at an ordinary end":      {internal, ordinary, thought("rs_1", "kept")},
		"of a named agent":        {internal, `{"id":"rs_1","role":"reasoning","name":"writer","content":"kept"}`},
		"that left":               {thought("s", "kept"), internal},
		"of a similar ID":         {internal, thought("e1-1", "kept"), ordinary},
	} {
		sent := []string{run}
		for _, frame := range workFrames["a thought"] {
			sent = append(sent, shown.Replace(strings.Replace(frame, "%s", "kept", 1)))
		}
		got := last(filterFrames(t, allSettings[0], append(sent, `{"type":"MESSAGES_SNAPSHOT","messages":[`+strings.Join(list, ",")+`]}`)...))
		if want := strings.Count(strings.Join(list, ""), "kept"); got == withheld || strings.Contains(got, "CANARY") || strings.Count(got, "kept") != want {
			t.Errorf("%s: %s", what, got)
		}
	}
	list := `{"type":"MESSAGES_SNAPSHOT","messages":[` + thought("rs_1", "CANARY") + `,` + internal + `]}`
	got := last(filterFrames(t, allSettings[0], run, list, `{"type":"MESSAGES_SNAPSHOT","messages":[`+thought("rs_1", "CANARY")+`]}`))
	if strings.Contains(got, "CANARY") {
		t.Errorf("in a later list: %s", got)
	}
	nested := `{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":{"messages":[` + thought("e1-reasoning", "CANARY") + `]}}`
	if got := last(filterFrames(t, allSettings[0], run, list, nested)); strings.Contains(got, "CANARY") {
		t.Errorf("in a result: %s", got)
	}
}

// TestIDsOfInternalWork sends pieces of an internal message under the ID of another one. Only LangChain's event in the frame has its own
// ID. Snapshots leave without that message.
//
// Source: get_message_in_progress in ag_ui_langgraph/agent.py of ag-ui-langgraph 0.0.47.
func TestIDsOfInternalWork(t *testing.T) {
	event := func(node, part, id string) string {
		return `{"event":"on_chat_model_stream","data":{"` + part + `":{"id":"` + id + `"}},"metadata":{"langgraph_node":"` + node + `"}}`
	}
	say := func(node, part, id string) string {
		return `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x","rawEvent":` + event(node, part, id) + `}`
	}
	list := func(id string) []string {
		return []string{`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"u","role":"user","content":"q"},{"id":"` + id + `","role":"assistant","content":"TEXT"}]}`,
			`{"type":"STATE_SNAPSHOT","snapshot":{"messages":[{"id":"` + id + `","type":"ai","content":"TEXT"}]}}`}
	}
	for what, c := range map[string]struct {
		frame, id string
		leaves    bool
	}{
		"a piece":                  {say("internal_x", "chunk", "lc_run--1"), "lc_run--1", false},
		"an output":                {say("internal_x", "output", "lc_run--1"), "lc_run--1", false},
		"a RAW":                    {`{"type":"RAW","event":` + event("internal_x", "output", "lc_run--1") + `}`, "lc_run--1", false},
		"of an ordinary node":      {say("writer", "chunk", "lc_run--1"), "lc_run--1", true},
		"a RAW of an ordinary one": {`{"type":"RAW","event":` + event("writer", "output", "lc_run--1") + `}`, "lc_run--1", true},
		"a message that left":      {say("internal_x", "chunk", "m"), "m", true},
	} {
		for _, last := range list(c.id) {
			got := filterFrames(t, allSettings[0], run, begun[0], c.frame, last)
			if strings.Contains(got[3], "TEXT") != c.leaves {
				t.Errorf("%s: %s", what, got[3])
			}
		}
	}
}
