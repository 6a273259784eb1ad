package formats_test

import (
	"fmt"
	"strings"
	"testing"
)

// aguiShapes has events with the optional members of every event, as most integrations send them, and with null for absent
// members. A frame is an event's type and members. If it begins with a brace, it is the whole event or the middleware's error.
var aguiShapes = []kindShape{
	{"with times", func(n int, frame string) string {
		return aguiData(frame, fmt.Sprintf(`,"timestamp":%d,"rawEvent":{"x":"secret"},"metadata":{"x":"secret"}`, 1767081390000+1000*n))
	}},
	{"without times", func(_ int, frame string) string { return aguiData(frame, "") }},
	{"with nulls", func(_ int, frame string) string {
		nulls := ""
		for _, name := range []string{
			"timestamp", "rawEvent", "metadata", "subagentRunId", "parentSubagentRunId", "parentToolCallId", "parentMessageId", "parentRunId",
			"outcome", "usage", "result", "messageId", "toolCallId", "role", "name", "delta", "error",
		} {
			if member := fmt.Sprintf("%q:", name); !strings.Contains(frame, member) {
				nulls += "," + member + "null"
			}
		}
		return aguiData(frame, nulls)
	}},
}

func aguiData(frame, more string) string {
	if data, named := strings.CutPrefix(frame, "error "); named {
		return "event: error\ndata: " + data + "\n\n"
	}
	if !strings.HasPrefix(frame, "{") {
		name, members, _ := strings.Cut(frame, " ")
		if members != "" {
			members = "," + members
		}
		frame = fmt.Sprintf(`{"type":%q%s%s}`, name, members, more)
	}
	return "data: " + frame + "\n\n"
}

// TestKindsOfAGUI checks each type of event.
func TestKindsOfAGUI(t *testing.T) { aguiKinds().test(t) }

// aguiKinds has the types of version 1.0, those of subagents, and the older names.
func aguiKinds() kindTable {
	const (
		run       = `RUN_STARTED "threadId":"s1","runId":"r1","input":{"threadId":"s1","runId":"r1","state":{},"messages":[{"id":"u1","role":"user","content":"secret"}],"tools":[],"context":[],"forwardedProps":{}}`
		done      = `RUN_FINISHED "threadId":"s1","runId":"r1"`
		step      = `STEP_STARTED "stepName":"writer"`
		sub       = `SUBAGENT_STARTED "subagentRunId":"a1","name":"analyst","parentToolCallId":"c1"`
		text      = `TEXT_MESSAGE_START "messageId":"m1","role":"assistant"`
		piece     = `TEXT_MESSAGE_CONTENT "messageId":"m1","delta":"Hi. "`
		textEnd   = `TEXT_MESSAGE_END "messageId":"m1"`
		chunk     = `TEXT_MESSAGE_CHUNK "messageId":"m1","role":"assistant","delta":"Hi. "`
		call      = `TOOL_CALL_START "toolCallId":"c1","toolCallName":"look","parentMessageId":"m1"`
		args      = `TOOL_CALL_ARGS "toolCallId":"c1","delta":"{\"q\":\"secret\"}"`
		result    = `TOOL_CALL_RESULT "messageId":"m2","toolCallId":"c1","role":"tool","content":"{\"x\":\"secret\"}"`
		activity  = `ACTIVITY_SNAPSHOT "messageId":"p1","activityType":"PLAN","content":{"x":"secret"}`
		asking    = `CUSTOM "name":"on_interrupt","value":"{\"x\":\"secret\"}"`
		reasoning = `REASONING_START "messageId":"t1"`
		thought   = `REASONING_MESSAGE_START "messageId":"t1","role":"reasoning"`
		thinking  = `THINKING_START "title":"secret"`
	)
	begun := []string{run}
	said := []string{run, text, piece}
	called := []string{run, call}
	delegated := []string{run, call, sub}
	return kindTable{"agui", aguiShapes, []kindCase{
		{"RUN_STARTED", nil, run},
		{"RUN_STARTED with a prompt in its request", nil, strings.Replace(run, `{"id":"u1"`, `{"id":"p1","role":"system","content":"CANARY"},{"id":"u1"`, 1)},
		{"RUN_STARTED with reasoning in its request", nil, strings.Replace(run, `{"id":"u1"`, `{"id":"p1","role":"reasoning","content":"CANARY"},{"id":"u1"`, 1)},
		{"RUN_STARTED of a branch of the conversation", nil, run + `,"parentRunId":"r0","protocolVersion":"1.0"`},
		{"RUN_STARTED within the run", begun, `RUN_STARTED "threadId":"s1","runId":"r2","parentRunId":"r1"`},
		{"RUN_STARTED after the run", []string{run, done}, `RUN_STARTED "threadId":"s1","runId":"r2"`},
		{"RUN_FINISHED that asks about a withheld call", []string{run, `TOOL_CALL_START "toolCallId":"c1","toolCallName":"look","kind":"internal:x"`},
			done + `,"outcome":{"type":"interrupt","interrupts":[{"id":"i1","reason":"tool_call","toolCallId":"c1","message":"CANARY"}]}`},
		{"RUN_FINISHED", begun, done},
		{"RUN_FINISHED with a result and usage", begun, done + `,"result":{"x":"secret"},"outcome":{"type":"success"},"usage":[{"provider":"secret","model":"m-secret","inputTokens":7,"outputTokens":3,"cachedInputTokens":2,"reasoningTokens":1}]`},
		{"RUN_FINISHED of two models", begun, done + `,"usage":[{"model":"m1","inputTokens":7,"outputTokens":3},{"model":"m2","inputTokens":1,"totalTokens":3}]`},
		{"RUN_FINISHED, cancelled", begun, done + `,"outcome":{"type":"cancelled"}`},
		{"RUN_FINISHED, interrupt", called, done + `,"outcome":{"type":"interrupt","interrupts":[{"id":"i1","reason":"tool_call","message":"Really?","toolCallId":"c1","expiresAt":"2025-12-30T07:57:12Z","metadata":{"x":"secret"}}]}`},
		{"RUN_FINISHED, interrupt for words", begun, done + `,"outcome":{"type":"interrupt","interrupts":[{"id":"i1","reason":"langgraph:interrupt","message":"Where to?"}]}`},
		{"RUN_FINISHED, interrupt for data", begun, done + `,"outcome":{"type":"interrupt","interrupts":[{"id":"i1","reason":"input_required","message":"Where to?","responseSchema":{"type":"object"}}]}`},
		{"RUN_FINISHED, interrupt without a question", begun, done + `,"outcome":{"type":"interrupt","interrupts":[]}`},
		{"RUN_FINISHED with a call for the client", called, done + `,"outcome":{"type":"success","pendingToolCallIds":["c1"]}`},
		{"RUN_FINISHED with a call that has no result", called, done},
		{"RUN_FINISHED after CUSTOM on_interrupt", []string{run, asking}, done},
		{"RUN_FINISHED within the run", []string{run, `RUN_STARTED "threadId":"s1","runId":"r2","parentRunId":"r1"`}, `RUN_FINISHED "threadId":"s1","runId":"r2"`},
		{"RUN_FINISHED after chunks", []string{run, chunk}, done},
		{"RUN_ERROR", begun, `RUN_ERROR "message":"secret","code":"secret"`},
		{"RUN_ERROR before anything", nil, `RUN_ERROR "message":"secret"`},
		{"RUN_ERROR after the end", []string{run, done}, `RUN_ERROR "message":"secret"`},
		{"STEP_STARTED", begun, step},
		{"STEP_STARTED within a step, of CrewAI's", []string{run, `{"type":"STEP_STARTED","stepName":"flow","rawEvent":{"attribution":{"step_id":"1"}}}`}, `{"type":"STEP_STARTED","stepName":"writer","rawEvent":{"attribution":{"step_id":"2","parent_step_id":"1","x":"secret"}}}`},
		{"STEP_FINISHED", []string{run, step}, `STEP_FINISHED "stepName":"writer"`},
		{"STEP_STARTED of the same name", []string{run, step}, step},
		{"STEP_FINISHED of the inner of two of a name", []string{run, step, step}, `STEP_FINISHED "stepName":"writer"`},
		{"STEP_FINISHED of the outer of two of a name", []string{run, step, step, `STEP_FINISHED "stepName":"writer"`}, `STEP_FINISHED "stepName":"writer"`},
		{"STEP_STARTED again", []string{run, step, `STEP_FINISHED "stepName":"writer"`}, step},

		{"SUBAGENT_STARTED", called, sub},
		{"SUBAGENT_STARTED for a subagent", delegated, `SUBAGENT_STARTED "subagentRunId":"a2","name":"reader","parentSubagentRunId":"a1"`},
		{"SUBAGENT_FINISHED", delegated, `SUBAGENT_FINISHED "subagentRunId":"a1","result":"secret"`},
		{"SUBAGENT_FINISHED, suspended", delegated, `SUBAGENT_FINISHED "subagentRunId":"a1","outcome":{"type":"suspended","interruptIds":["i1"]}`},
		{"SUBAGENT_ERROR", delegated, `SUBAGENT_ERROR "subagentRunId":"a1","message":"secret","code":"secret"`},
		{"TEXT_MESSAGE_START of a subagent", delegated, `TEXT_MESSAGE_START "messageId":"m3","role":"assistant","subagentRunId":"a1"`},
		{"TOOL_CALL_START of a subagent", delegated, `TOOL_CALL_START "toolCallId":"c2","toolCallName":"read","subagentRunId":"a1"`},
		{"TEXT_MESSAGE_CHUNK of a subagent that nobody started", begun, chunk + `,"subagentRunId":"a9"`},

		{"TEXT_MESSAGE_START", begun, text},
		{"TEXT_MESSAGE_START with a name", begun, text + `,"name":"helper"`},
		{"TEXT_MESSAGE_START in a step", []string{run, step}, text},
		{"TEXT_MESSAGE_CONTENT", []string{run, text}, piece},
		{"TEXT_MESSAGE_CONTENT in a step", []string{run, step, text}, piece},
		{"TEXT_MESSAGE_END", said, textEnd},
		{"TEXT_MESSAGE_END with a confidence and a source", []string{run, text, `TEXT_MESSAGE_CONTENT "messageId":"m1","delta":"Confidence: 90%\nSource: "`, `TEXT_MESSAGE_CONTENT "messageId":"m1","delta":"MTBS"`}, textEnd},
		{"TEXT_MESSAGE_CHUNK", begun, chunk},
		{"TEXT_MESSAGE_CHUNK without an id", []string{run, chunk}, `TEXT_MESSAGE_CHUNK "delta":"There."`},
		{"TEXT_MESSAGE_START of the user", begun, `TEXT_MESSAGE_START "messageId":"u1","role":"user"`},
		{"TEXT_MESSAGE_CONTENT of the user", []string{run, `TEXT_MESSAGE_START "messageId":"u1","role":"user"`}, `TEXT_MESSAGE_CONTENT "messageId":"u1","delta":"secret"`},
		{"TEXT_MESSAGE_END of the user", []string{run, `TEXT_MESSAGE_START "messageId":"u1","role":"user"`}, `TEXT_MESSAGE_END "messageId":"u1"`},

		{"TEXT_MESSAGE_START of reasoning", begun, `TEXT_MESSAGE_START "messageId":"t1","role":"reasoning"`},
		{"TEXT_MESSAGE_CHUNK of reasoning", begun, `TEXT_MESSAGE_CHUNK "messageId":"t1","role":"reasoning","delta":"secret"`},
		{"MESSAGES_SNAPSHOT with reasoning", begun, `MESSAGES_SNAPSHOT "messages":[{"id":"t0","role":"reasoning","content":"secret"}]`},

		{"TOOL_CALL_START", said, call},
		{"TOOL_CALL_START in a step", []string{run, step}, call},
		{"TOOL_CALL_ARGS", called, args},
		{"TOOL_CALL_END", []string{run, call, args}, `TOOL_CALL_END "toolCallId":"c1"`},
		{"TOOL_CALL_CHUNK", begun, `TOOL_CALL_CHUNK "toolCallId":"c1","toolCallName":"look","delta":"{\"q\":\"secret\"}"`},
		{"TOOL_CALL_CHUNK, the next", []string{run, `TOOL_CALL_CHUNK "toolCallId":"c1","toolCallName":"look"`}, `TOOL_CALL_CHUNK "toolCallId":"c1","delta":"secret"`},
		{"TOOL_CALL_RESULT", called, result},
		{"TOOL_CALL_RESULT with an error", called, `TOOL_CALL_RESULT "messageId":"m2","toolCallId":"c1","content":"{\"error\":\"secret\"}"`},
		{"TOOL_CALL_RESULT of no call", begun, result},

		{"REASONING_START", begun, reasoning},
		{"REASONING_MESSAGE_START", []string{run, reasoning}, thought},
		{"REASONING_MESSAGE_CONTENT", []string{run, reasoning, thought}, `REASONING_MESSAGE_CONTENT "messageId":"t1","delta":"secret"`},
		{"REASONING_MESSAGE_END", []string{run, reasoning, thought}, `REASONING_MESSAGE_END "messageId":"t1"`},
		{"REASONING_MESSAGE_CHUNK", []string{run, reasoning}, `REASONING_MESSAGE_CHUNK "messageId":"t1","delta":"secret"`},
		{"REASONING_END", []string{run, reasoning}, `REASONING_END "messageId":"t1"`},
		{"REASONING_ENCRYPTED_VALUE", begun, `REASONING_ENCRYPTED_VALUE "subtype":"message","entityId":"t1","encryptedValue":"secret"`},
		{"THINKING_START", begun, thinking},
		{"THINKING_TEXT_MESSAGE_START", []string{run, thinking}, `THINKING_TEXT_MESSAGE_START`},
		{"THINKING_TEXT_MESSAGE_CONTENT", []string{run, thinking, `THINKING_TEXT_MESSAGE_START`}, `THINKING_TEXT_MESSAGE_CONTENT "delta":"secret"`},
		{"THINKING_TEXT_MESSAGE_END", []string{run, thinking, `THINKING_TEXT_MESSAGE_START`}, `THINKING_TEXT_MESSAGE_END`},
		{"THINKING_END", []string{run, thinking}, `THINKING_END`},

		{"STATE_SNAPSHOT", begun, `STATE_SNAPSHOT "snapshot":{"plan":"secret","step":1}`},
		{"STATE_DELTA", begun, `STATE_DELTA "delta":[{"op":"replace","path":"/plan","value":"secret"}]`},
		{"MESSAGES_SNAPSHOT", begun, `MESSAGES_SNAPSHOT "messages":[{"id":"u0","role":"user","content":"secret"}]`},
		{"MESSAGES_SNAPSHOT with a prompt", begun, `MESSAGES_SNAPSHOT "messages":[{"id":"u0","role":"system","content":"CANARY"},{"id":"u1","role":"user","content":"secret"}]`},
		{"MESSAGES_SNAPSHOT whose messages cannot be judged", begun, `MESSAGES_SNAPSHOT "messages":{"id":"u0","role":"user","content":"CANARY"}`},
		{"MESSAGES_SNAPSHOT with a tool's result", called, `MESSAGES_SNAPSHOT "messages":[{"id":"m2","role":"tool","toolCallId":"c1","content":"secret"}]`},
		{"ACTIVITY_SNAPSHOT", begun, activity},
		{"ACTIVITY_DELTA", []string{run, activity}, `ACTIVITY_DELTA "messageId":"p1","activityType":"PLAN","patch":[{"op":"add","path":"/y","value":"secret"}]`},
		{"CUSTOM", begun, `CUSTOM "name":"secret","value":{"x":"secret"}`},
		{"CUSTOM on_interrupt", begun, asking},
		{"CUSTOM manually_emit_state", begun, `CUSTOM "name":"manually_emit_state","value":{"x":"secret"}`},
		{"an error of the middleware", begun, `error {"error":"secret"}`},

		{"RAW", begun, `RAW "event":{"x":"CANARY"},"source":"CANARY"`},
		{"TEXT_MESSAGE_START of the system", begun, `TEXT_MESSAGE_START "messageId":"s1","role":"system","name":"CANARY"`},
		{"TEXT_MESSAGE_CONTENT of the system", []string{run, `TEXT_MESSAGE_START "messageId":"s1","role":"system"`}, `TEXT_MESSAGE_CONTENT "messageId":"s1","delta":"CANARY"`},
		{"TEXT_MESSAGE_END of the developer", []string{run, `TEXT_MESSAGE_START "messageId":"s1","role":"developer"`}, `TEXT_MESSAGE_END "messageId":"s1","x":"CANARY"`},
		{"TEXT_MESSAGE_CHUNK of the developer", begun, `TEXT_MESSAGE_CHUNK "messageId":"s1","role":"developer","delta":"CANARY"`},
		{"TEXT_MESSAGE_CONTENT of a message that nobody began", begun, `TEXT_MESSAGE_CONTENT "messageId":"m9","delta":"CANARY"`},
		{"TEXT_MESSAGE_CONTENT of a message that is over", []string{run, text, piece, textEnd}, `TEXT_MESSAGE_CONTENT "messageId":"m1","delta":"CANARY"`},
		{"a type of tomorrow", begun, `SURPRISE "x":"CANARY"`},
		{"an internal type", begun, `internal:STEP_STARTED "stepName":"CANARY"`},
		{"an internal kind beside a type", begun, step + `,"kind":"internal:x","x":"CANARY"`},
		{"an internal event that one was made of", begun, `{"type":"STEP_STARTED","stepName":"CANARY","rawEvent":{"type":"internal:x"}}`},
		{"no type", begun, `{"x":"CANARY"}`},
		{"no text for a type", begun, `{"type":["RUN_STARTED"],"x":"CANARY"}`},
		{"no object", begun, `{"type":"CUSTOM","name":"CANARY`},
		{"an error whose text was pasted in", begun, `{"type":"RUN_ERROR","message":"a "CANARY""}`},
	}}
}
