package formats_test

import (
	"strings"
	"testing"
)

// TestKindsOfADKStudio checks the events of schema 2, of the schema before, and those that the server passes on. A frame is an
// event name with its data.
func TestKindsOfADKStudio(t *testing.T) {
	shape := kindShape{"name", func(_ int, frame string) string {
		name, data, _ := strings.Cut(frame, " ")
		return "event: " + name + "\ndata: " + strings.ReplaceAll(data, "\n", "\ndata: ") + "\n\n"
	}}
	const (
		session = "session secret-1"
		begun   = `trace {"type":"node_start","node":"writer","step":1,"state_snapshot":{"input":{"q":"secret"},"output":{}}}`
		called  = `tool_call {"name":"search","args":"{\"q\":\"secret\"}"}`
		asked   = `interrupt {"type":"interrupt","node_id":"writer","message":"Go on?","data":{"plan":"secret"},"thread_id":"secret","checkpoint_id":"secret","timestamp":1706400000000}`
	)
	working := []string{session, begun}
	calling := []string{session, begun, called}
	waiting := []string{session, begun, asked}
	kindTable{"adkstudio", []kindShape{shape}, []kindCase{
		{"session", nil, session},
		{"trace node_start", []string{session}, begun},
		{"trace node_start, of a loop", working, strings.Replace(begun, `"step":1`, `"step":2`, 1)},
		{"trace node_end", working, `trace {"type":"node_end","node":"writer","step":1,"duration_ms":5,"state_snapshot":{"input":{"q":"secret"},"output":{"secret":1}},"state_keys":["secret"]}`},
		{"trace state", working, `trace {"type":"state","state_snapshot":{"input":{},"output":{"secret":1}},"state":{"secret":1}}`},
		{"trace done", working, `trace {"type":"done","total_steps":1,"state_snapshot":{"input":{},"output":{"secret":1}}}`},
		{"chunk", working, "chunk Hello\n  world"},
		{"chunk that looks like JSON", working, `chunk {"confidence":1}`},
		{"chunk with all so far", []string{session, begun, "chunk Hello"}, "chunk Hello world"},
		{"tool_call", working, called},
		{"tool_call with an object", working, `tool_call {"name":"search","args":{"q":"secret"}}`},
		{"tool_result", calling, `tool_result {"name":"search","result":"secret"}`},
		{"tool_result, failed", calling, `tool_result {"name":"search","result":"{\"error\":\"secret\"}"}`},
		{"tool_result of no call", working, `tool_result {"name":"search","result":"secret"}`},
		{"thinking", working, `thinking {"content":"secret","agent":"writer"}`},
		{"interrupt", working, asked},
		{"resume", waiting, `resume {"type":"resume","node_id":"writer","timestamp":1706400000001,"response":"secret"}`},
		{"log", working, `log {"message":"Calling secret (tools: 2)"}`},
		{"error", working, "error secret at https://example.org/?key=secret"},
		{"error Timeout", working, "error Timeout"},
		{"error before anything", nil, "error secret"},
		{"end", []string{session, begun, "chunk Hello", `trace {"type":"done","total_steps":1}`}, "end "},
		{"end after an error", []string{session, begun, "error secret"}, "end "},
		{"agent of version 1", []string{session}, "agent writer"},

		{"debug", working, `debug {"level":"debug","category":"response","agent":"system","summary":"CANARY","detail":{"response":"CANARY"},"timestamp":1706400000000}`},
		{"debug of a tool that failed", calling, `debug {"level":"debug","category":"log","agent":"writer","summary":"CANARY","detail":{"fields":{"message":"tool_error","tool.name":"search"}},"timestamp":1706400000000}`},
		{"trace of the graph: updates", working, `trace {"type":"updates","node":"writer","updates":{"x":"CANARY"}}`},
		{"trace of the graph: message", working, `trace {"type":"message","node":"writer","content":"CANARY"}`},
		{"trace of the graph: custom", working, `trace {"type":"custom","node":"writer","data":{"x":"CANARY"}}`},
		{"trace of the graph: interrupted", working, `trace {"type":"interrupted","node":"writer","message":"CANARY"}`},
		{"trace of the graph: resumed", waiting, `trace {"type":"resumed","node":"writer","x":"CANARY"}`},
		{"trace of the graph: error", working, `trace {"type":"error","node":"writer","message":"CANARY"}`},
		{"trace without a type", working, `trace {"node":"CANARY"}`},
		{"a name of tomorrow", working, `whatever {"x":"CANARY"}`},
		{"an internal name", working, `internal:trace {"type":"node_start","node":"CANARY"}`},
		{"an internal type", working, `tool_call {"name":"f","type":"internal:x","args":"CANARY"}`},
		{"an object that is none", working, `tool_call {"name":"CANARY"`},
	}}.test(t)
}
