package replay_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// document004 has the examples of document 004 by section, each event as its type and its own members, or in full.
var document004 = []documentExample{
	{"Version 1 (Original)", []string{
		`{"type":"start","id":"event_1","ts":"2025-11-06T10:00:00.000Z","message_id":"m","chat_id":"c","status":"processing"}`,
		`{"type":"plan","id":"event_2","ts":"2025-11-06T10:00:01.000Z","items":[{"id":"todo_1","text":"Search","status":"completed"}]}`,
		`{"type":"tool_start","id":"event_3","ts":"2025-11-06T10:00:02.000Z","call_id":"tool_abc123","name":"search_tender_corpus","args_summary":"{\"query\": \"Bilag F...\"}"}`,
		`{"type":"tool_end","id":"event_4","ts":"2025-11-06T10:00:03.000Z","call_id":"tool_abc123","name":"search_tender_corpus","status":"ok","ms":1000}`,
		`{"type":"content","id":"event_5","ts":"2025-11-06T10:00:04.000Z","md":"Based on my analysis..."}`,
		`{"type":"end","id":"event_6","ts":"2025-11-06T10:00:05.000Z","status":"completed","ms_total":5000,"tool_calls":1}`}},
	{"Base Event Structure, each type of event", slices.Concat(deepBegin, []string{deepThinking, deepPlan, deepSearch, deepFound, `status "text":"Processing..."`}, deepAnswer, deepEnd("completed", 6500, 1))},
	{"Event Types, error", slices.Concat(deepBegin, []string{deepSearch, `error "error":"the model is gone"`})},
	{"Event Types, error and end", slices.Concat(deepBegin, []string{`error "error":"the model is gone"`}, deepEnd("error", 100, 0))},
	{"PLAN Events (Todo/Task Planning)", slices.Concat(deepBegin, []string{deepPlan}, deepEnd("completed", 1000, 0))},
	{"PLAN Events, Plan Updates", slices.Concat(deepBegin, []string{deepPlan, deepPlanUpdate, `plan "items":[{"id":"todo_4","text":"More","status":"cancelled"}]`}, deepEnd("completed", 1000, 0))},
	{"HITL (Human-in-the-Loop) Interrupts", slices.Concat(deepBegin, []string{deepAsks}, deepEnd("interrupted", 5000, 3))},
	{"HITL Interrupts, from request_human_input", slices.Concat(deepBegin,
		[]string{`tool_start "call_id":"tool_h1","name":"request_human_input"` + deepMain, deepAsks}, deepEnd("interrupted", 5000, 3))},
	{"HITL Interrupts Step 1, details that are no JSON", slices.Concat(deepBegin, []string{`status "text":"⏸️ Agent needs human input","md":"{...interrupt data...}"`}, deepEnd("interrupted", 5000, 3))},
	{"HITL Interrupts Step 3: Resume Agent", slices.Concat(deepBegin, []string{deepAsks}, deepEnd("interrupted", 5000, 3), deepResumed)},
	{"Example 1: Simple Query (No Sub-Agents)", slices.Concat(deepBegin,
		[]string{`thinking "text":"I'll search for all 7 service areas systematically..."` + deepMain, deepSearch, deepFound, `thinking "text":"Perfect! I now have all 7 service areas..."` + deepMain},
		deepTools("tool_start", "Searching for: Ydelsesområde"), deepTools("tool_end", ""), deepAnswer, deepEnd("completed", 6500, 4))},
	{"Example 2: Complex Query (With Sub-Agents)", deepDelegation},
	{"Example 3: Query with HITL Interrupt", slices.Concat(deepBegin,
		[]string{`thinking "text":"I'll generate a comprehensive compliance report..."` + deepMain, deepSearch, deepFound, `thinking "text":"I found multiple report formats. Need to ask the user..."` + deepMain, deepAsks},
		deepEnd("interrupted", 5000, 1), deepResumed)},
	{"Example Event JSON", []string{
		`{"v":2,"type":"start","id":"1729000000_0001_abc123","ts":"2025-10-14T10:30:00.000Z","message_id":"m","chat_id":"c","status":"processing"}`,
		`{"v":2,"type":"thinking","id":"1729000001_0002_def456","ts":"2025-10-14T10:30:01.000Z","agent_type":"main","agent_id":"main_xyz789","text":"I'll analyze all 7 service areas systematically..."}`,
		`{"v":2,"type":"tool_start","id":"1729000002_0003_ghi789","ts":"2025-10-14T10:30:02.000Z","call_id":"tool_abc123","name":"search_tender_corpus","args_summary":"{\"query\": \"Bilag F...\"}","args_display":"Searching for: Bilag F ydelsesområder 1-7","agent_type":"main","agent_id":"main_xyz789"}`,
		`{"v":2,"type":"subagent_start","id":"1729000010_0011_def890","ts":"2025-10-14T10:30:10.050Z","agent_type":"subagent","agent_id":"subagent_advanced_tender_analyst_xyz12345","parent_call_id":"task_xyz123","subagent_description":"Analyze penalties and breach terms..."}`,
		`{"v":2,"type":"content_start","id":"1729000020_0020_vwx678","ts":"2025-10-14T10:30:20.000Z","agent_type":"main","agent_id":"main_xyz789"}`}},
	{"Troubleshooting, args_display missing", slices.Concat(deepBegin, []string{`tool_start "call_id":"tool_abc123","name":"search_tender_corpus"` + deepMain, deepFound}, deepEnd("completed", 1000, 1))},
	{"Edge Cases, the stream is interrupted", slices.Concat(deepBegin, []string{deepSearch})},
}

const (
	deepMain     = `,"agent_type":"main","agent_id":"main_xyz789"`
	deepThinking = `thinking "text":"I'll analyze all 7 service areas systematically..."` + deepMain
	deepPlan     = `plan "items":[{"id":"todo_1","text":"Search for backup requirements","status":"in_progress"},{"id":"todo_2","text":"Search for CSR requirements","status":"pending"},{"id":"todo_3","text":"Analyze findings","status":"pending"}]`
	deepSearch   = `tool_start "call_id":"tool_abc123","name":"search_tender_corpus","args_summary":"{\"query\": \"Bilag F...\"}","args_display":"Searching for: Bilag F ydelsesområder 1-7"` + deepMain
	deepFound    = `tool_end "call_id":"tool_abc123","name":"search_tender_corpus","status":"ok","ms":1823` + deepMain
	deepAsks     = `status "text":"⏸️ Agent needs human input","md":"{\"interrupt\":true,\"tool\":\"request_human_input\",\"question\":\"Which document format do you prefer?\",\"context\":\"Multiple format options available\",\"thread_id\":\"thread_abc123\",\"instructions\":\"Human input required. Use resume endpoint to continue.\"}"`

	deepPlanUpdate = `plan "items":[{"id":"todo_1","text":"Search for backup requirements","status":"completed"}]`
)

var (
	deepBegin  = []string{`start "message_id":"m","chat_id":"c","status":"processing"`}
	deepAnswer = []string{
		`content_start ` + deepMain[1:], `content "md":"Based on my "` + deepMain, `content "md":"analysis... Confidence: 92%"` + deepMain, `content_end ` + deepMain[1:]}
	deepResumed = slices.Concat([]string{`start "message_id":"m2","chat_id":"c","status":"processing"`,
		`thinking "text":"User requested PDF format. Continuing..."` + deepMain}, deepAnswer, deepEnd("completed", 8000, 2))

	// deepDelegation has three parallel sub-agents, of which the document shows the first, with the durations of "Recommended UI
	// Layout".
	deepDelegation = slices.Concat(deepBegin, []string{`thinking "text":"I'll delegate to 3 specialist sub-agents..."` + deepMain,
		`plan "items":[{"id":"1","text":"Search for penalties","status":"in_progress"},{"id":"2","text":"Search for CSR requirements","status":"pending"},{"id":"3","text":"Search for auditing rules","status":"pending"}]`},
		deepTask("tool_start", "task_xyz123", 5*time.Second), deepTask("tool_start", "task_csr", 5*time.Second), deepTask("tool_start", "task_audit", 5*time.Second),
		deepWorks("subagent_analyst_1", "task_xyz123", 34800*time.Millisecond), deepWorks("subagent_analyst_2", "task_csr", 38200*time.Millisecond),
		deepWorks("subagent_analyst_3", "task_audit", 50100*time.Millisecond),
		[]string{deepAt(56*time.Second, `thinking "text":"Based on all findings, here's the analysis..."`+deepMain),
			deepAt(60*time.Second, deepAnswer[0]), deepAt(60*time.Second, deepAnswer[1]), deepAt(100*time.Second, deepAnswer[2]), deepAt(104*time.Second, deepAnswer[3]),
			deepAt(104700*time.Millisecond, deepEnd("completed", 104700, 12)[0])})
)

func deepEnd(status string, ms, calls int) []string {
	return []string{fmt.Sprintf(`end "status":%q,"ms_total":%d,"tool_calls":%d`, status, ms, calls)}
}

// deepTools begins or ends three parallel calls.
func deepTools(kind, display string) (events []string) {
	for _, n := range []string{"1", "2", "3"} {
		members := `"status":"ok","ms":1500`
		if kind == "tool_start" {
			members = fmt.Sprintf(`"args_display":%q`, display+" "+n+"...")
		}
		events = append(events, fmt.Sprintf(`%s "call_id":"tool_%s","name":"search_tender_corpus",%s%s`, kind, n, members, deepMain))
	}
	return events
}

// deepAt sets the time of an event, relative to the start.
func deepAt(after time.Duration, event string) string {
	return event + fmt.Sprintf(`,"ts":%q`, documentStart.Add(after).Format(time.RFC3339Nano))
}

// deepTask begins or ends a call that spawns a sub-agent.
func deepTask(kind, call string, after time.Duration) []string {
	members := fmt.Sprintf(`"status":"ok","ms":%d`, (after - 5*time.Second).Milliseconds())
	if kind == "tool_start" {
		members = `"args_display":"Sub-agent task: Analyze penalties..."`
	}
	return []string{deepAt(after, fmt.Sprintf(`%s "call_id":%q,"name":"task",%s%s`, kind, call, members, deepMain))}
}

// deepWorks returns the events of a sub-agent that thinks and searches, and the ends of the sub-agent and its call.
func deepWorks(agent, call string, took time.Duration) (events []string) {
	const begun = 5005 * time.Millisecond
	for _, event := range []struct {
		after time.Duration
		said  string
	}{
		{begun, `subagent_start "subagent_description":"Analyze penalties..."`},
		{begun + time.Second, `thinking "text":"Let me search for penalty terms..."`},
		{begun + 2*time.Second, `tool_start "call_id":"` + call + `_search","name":"search_tender_corpus","args_display":"Searching for: penalties breach termination"`},
		{begun + 3456*time.Millisecond, `tool_end "call_id":"` + call + `_search","name":"search_tender_corpus","status":"ok","ms":1456`},
		{begun + took, fmt.Sprintf(`subagent_end "ms":%d`, took.Milliseconds())},
	} {
		events = append(events, deepAt(event.after, fmt.Sprintf(`%s,"agent_type":"subagent","agent_id":%q,"parent_call_id":%q`, event.said, agent, call)))
	}
	return append(events, deepTask("tool_end", call, begun+took)...)
}

// wire004 writes an event as the document's server does, with the members that all events have.
func wire004(second int, event string) string {
	if kind, members, _ := strings.Cut(event, " "); !strings.HasPrefix(event, "{") {
		if !strings.Contains(members, `"ts":`) {
			members = deepAt(time.Duration(second)*time.Second, members)
		}
		event = fmt.Sprintf(`{"v":2,"type":%q,"id":"event_%d",%s}`, kind, second, members)
	}
	return "data: " + event + "\n\n"
}

// TestDocument004 replays every example of the document, the DeepAgents streaming API. Arguments, plans, questions and thread ids
// do not reach the public.
func TestDocument004(t *testing.T) {
	designDocument{number: "004", examples: document004, wire: wire004,
		secret: []string{"Bilag F", "Ydelses", "Search for", "Which document", "thread_abc123", "Multiple format", "Analyze penalties", "the model is gone"}}.replay(t)
}
