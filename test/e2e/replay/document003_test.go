package replay_test

import (
	"fmt"
	"strings"
	"testing"
)

// document003 has the examples of document 003 by section, each event as its SSE event name and its data.
var document003 = []documentExample{
	{"v2.0 Enhanced Trace Events", []string{
		`trace {"type":"node_start","node":"researcher"}`, `trace {"type":"node_end","node":"researcher"}`, `trace {"type":"done"}`}},
	{"node_start Event", []string{studioStart}},
	{"node_end Event", []string{studioStart, studioEnd}},
	{"node_end Event, alone", []string{studioEnd}},
	{"state Event", []string{studioStart, studioState, studioEnd}},
	{"done Event", []string{studioDone}},
	{"State Snapshot Capture Rules, the output without state_keys", []string{
		strings.Replace(studioStart, `,"state_keys":["query","context"]`, "", 1),
		strings.Replace(studioEnd, `,"state_keys":["query","context","research_results"]`, "", 1)}},
	{"State Snapshot Capture Rules, state_keys without a snapshot", []string{
		`trace {"type":"node_start","node":"researcher","step":1,"state_keys":["query"]}`,
		`trace {"type":"node_end","node":"researcher","step":1,"duration_ms":1234,"state_keys":["query","research_results"]}`}},
	{"useSSE Hook Updates, an error", []string{studioStart, `error model unavailable`, `end `}},
	{"Backward Compatibility, v1.0", []string{
		`session abc123`, `trace {"type":"node_start","node":"researcher","step":1}`, `chunk Based on my research...`,
		`trace {"type":"node_end","node":"researcher","step":1,"duration_ms":1500}`, `trace {"type":"done","total_steps":1}`, `end `}},
	{"Example Full Event Stream", []string{
		`session abc123`,
		`trace {"type":"node_start","node":"researcher","step":1,"state_snapshot":{"input":{"query":"test"},"output":{}},"state_keys":["query"]}`,
		`log {"message":"Calling gemini-2.5-flash (tools: 2)"}`,
		`tool_call {"name":"search","args":{"query":"test"}}`,
		`tool_result {"name":"search","result":"..."}`,
		`chunk Based on my research...`,
		`trace {"type":"node_end","node":"researcher","step":1,"duration_ms":1500,"state_snapshot":{"input":{"query":"test"},"output":{"query":"test","results":"..."}},"state_keys":["query","results"]}`,
		`trace {"type":"done","total_steps":1,"state_snapshot":{"input":{"query":"test"},"output":{"query":"test","results":"...","response":"..."}},"state_keys":["query","results","response"]}`,
		`end `}},
}

const (
	studioStart = `trace {"type":"node_start","node":"researcher","step":1,"state_snapshot":{"input":{"query":"What is ADK?","context":[]},"output":{}},"state_keys":["query","context"]}`
	studioEnd   = `trace {"type":"node_end","node":"researcher","step":1,"duration_ms":1234,"state_snapshot":{"input":{"query":"What is ADK?","context":[]},"output":{"query":"What is ADK?","context":[],"research_results":"ADK is..."}},"state_keys":["query","context","research_results"]}`
	studioState = `trace {"type":"state","state_snapshot":{"input":{},"output":{"response":"Processing..."}},"state_keys":["response"]}`
	studioDone  = `trace {"type":"done","total_steps":5,"state_snapshot":{"input":{"query":"What is ADK?"},"output":{"query":"What is ADK?","response":"ADK is the Agent Development Kit..."}},"state_keys":["query","response"]}`
)

// wire003 writes an event as the document's server does, without a time.
func wire003(_ int, event string) string {
	name, data, _ := strings.Cut(event, " ")
	return fmt.Sprintf("event: %s\ndata: %s\n\n", name, data)
}

// TestDocument003 replays every example of the document, ADK Studio's SSE schema 2. No value of the state reaches the public.
func TestDocument003(t *testing.T) {
	designDocument{number: "003", examples: document003, wire: wire003, secret: []string{"What is ADK?", "ADK is", "Processing", `"test"`, "gemini"}}.replay(t)
}
