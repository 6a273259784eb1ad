package formats_test

import (
	"fmt"
	"testing"
)

// TestKindsOfDeepAgents checks the types of the guide in both versions. A frame is its own members.
func TestKindsOfDeepAgents(t *testing.T) {
	shapes := []kindShape{
		{"version 2", func(n int, frame string) string {
			return fmt.Sprintf("data: {\"v\":2,\"id\":\"1729000000_%04d_abc\",\"ts\":\"2025-10-14T10:30:%02d.000Z\",%s}\n\n", n, n, frame)
		}},
		{"version 1", func(n int, frame string) string {
			return fmt.Sprintf("data: {\"id\":\"1729000000_%04d_abc\",\"ts\":\"2025-10-14T10:30:%02d.000Z\",%s}\n\n", n, n, frame)
		}},
	}
	const (
		start  = `"type":"start","message_id":"m1","chat_id":"c1","status":"processing"`
		call   = `"type":"tool_start","name":"task","call_id":"t1","args_display":"secret","args_summary":"{\"q\":\"secret\"}"`
		sub    = `"agent_type":"subagent","agent_id":"subagent_analyst_a1b2","parent_call_id":"t1"`
		subs   = `"type":"subagent_start","subagent_description":"secret",` + sub
		human  = `"type":"tool_start","name":"request_human_input","call_id":"h1"`
		asks   = `"type":"status","text":"⏸️ Agent needs human input","md":"{\"interrupt\":true,\"tool\":\"request_human_input\",\"question\":\"secret\",\"thread_id\":\"secret\"}"`
		opened = `"type":"content_start"`
		text   = `"type":"content","md":"# Hi\n"`
	)
	begun := []string{start}
	called := []string{start, call}
	delegated := []string{start, call, subs}
	kindTable{"deepagents", shapes, []kindCase{
		{"start", nil, start},
		{"thinking", begun, `"type":"thinking","text":"secret"`},
		{"plan", begun, `"type":"plan","items":[{"id":"1","text":"secret","status":"pending"},{"id":"2","text":"secret","status":"in_progress"}]`},
		{"plan, merged", []string{start, `"type":"plan","items":[{"id":"1","status":"pending"}]`}, `"type":"plan","items":[{"id":"1","status":"completed"},{"id":"2","status":"secret"}]`},
		{"tool_start", begun, call},
		{"tool_end", called, `"type":"tool_end","name":"task","call_id":"t1","status":"ok","ms":12,"result":"secret"`},
		{"tool_end, failed", called, `"type":"tool_end","name":"task","call_id":"t1","status":"ValueError: secret","ms":12`},
		{"tool_end, canceled", called, `"type":"tool_end","name":"task","call_id":"t1","status":"cancelled"`},
		{"subagent_start", called, subs},
		{"subagent_end", delegated, `"type":"subagent_end","ms":40,` + sub},
		{"tool_start of a sub-agent", delegated, `"type":"tool_start","name":"read","call_id":"t2",` + sub},
		{"content_start", begun, opened},
		{"content", []string{start, opened}, text},
		{"content of a sub-agent", delegated, text + "," + sub},
		{"content_end", []string{start, opened, text}, `"type":"content_end"`},
		{"status", begun, `"type":"status","text":"Processing..."`},
		{"status with other words", begun, `"type":"status","text":"secret","md":"secret"`},
		{"status that asks", []string{start, human}, asks},
		{"status that asks, by its words alone", begun, `"type":"status","text":"Agent needs human input"`},
		{"tool_end that brings the answer", []string{start, human, asks}, `"type":"tool_end","name":"request_human_input","call_id":"h1","status":"ok"`},
		{"end", begun, `"type":"end","status":"completed","ms_total":6500,"tool_calls":4`},
		{"end, interrupted", begun, `"type":"end","status":"interrupted"`},
		{"end, canceled", begun, `"type":"end","status":"cancelled"`},
		{"end, failed", begun, `"type":"end","status":"error"`},
		{"end after an error", []string{start, `"type":"error","error":"secret"`}, `"type":"end","status":"completed"`},
		{"error", begun, `"type":"error","error":"secret"`},
		{"error before anything", nil, `"type":"error","error":{"message":"secret"}`},

		{"a type of tomorrow", begun, `"type":"surprise","md":"CANARY"`},
		{"our own word for a status", begun, `"type":"interrupt","md":"CANARY"`},
		{"an internal type", begun, `"type":"internal:thinking","text":"CANARY"`},
		{"an internal kind beside a type", begun, `"type":"content","kind":"internal:x","md":"CANARY"`},
		{"no type", begun, `"md":"CANARY"`},
		{"no text for a type", begun, `"type":["content"],"md":"CANARY"`},
	}}.test(t)
}
