package formats_test

import (
	"fmt"
	"strings"
	"testing"
)

// looopyShapes lists the ways in which Looopy's servers send an event:
//   - as in the design document, where the event name of an internal event has no prefix
//   - as the server of November 2025 did
//   - as today's servers do, whose data has neither kind nor context
//
// A frame is written as its kind and the members of its data. It belongs to task t unless a member names another task.
var looopyShapes = []kindShape{
	{"document", func(n int, frame string) string {
		kind, members := looopyMembers(n, frame)
		return fmt.Sprintf("event: %s\ndata: {\"kind\":%q,\"contextId\":\"ctx\",%s}\n\n", strings.TrimPrefix(kind, "internal:"), kind, members)
	}},
	{"2025", func(n int, frame string) string {
		kind, members := looopyMembers(n, frame)
		return fmt.Sprintf("id: ctx-%d\nevent: %s\ndata: {\"kind\":%q,\"contextId\":\"ctx\",%s}\n\n", n, kind, kind, members)
	}},
	{"today", func(n int, frame string) string {
		kind, members := looopyMembers(n, frame)
		return fmt.Sprintf("id: ctx-%d\nevent: %s\ndata: {%s}\n\n", n, kind, members)
	}},
}

func looopyMembers(n int, frame string) (kind, members string) {
	kind, members, _ = strings.Cut(frame, " ")
	if !strings.HasPrefix(members, `"taskId":`) {
		members = strings.TrimSuffix(`"taskId":"t",`+members, ",")
	}
	return kind, fmt.Sprintf(`%s,"timestamp":"2026-06-01T10:00:%02dZ"`, members, n)
}

const (
	looopyBegun = `task-created "initiator":"user","metadata":{"agentId":"helper"}`
	looopyCall  = `tool-start "toolCallId":"c1","toolName":"look","arguments":{"q":"secret"}`
	looopyAsked = `input-required "inputId":"i1","requireUser":true,"inputType":"confirmation","prompt":"Go on?","metadata":{"timeout":300,"toolCall":{"x":"secret"}}`
	looopyAuth  = `auth-required "authId":"a1","authType":"oauth2","provider":"p","scopes":["s"],"prompt":"Sign in","clientId":"c","metadata":{"expiresIn":600,"toolCallId":"c1","toolArguments":{"q":"secret"}}`
	looopySub   = `task-created "taskId":"s","parentTaskId":"t","path":["agent:analyst"],"initiator":"user"`
	looopyDone  = `content-complete "content":"Hi.","finishReason":"stop"`
	looopyFile  = `file-write "artifactId":"f","name":"a.md","mimeType":"text/plain","description":"secret","encoding":"utf-8","data":"secret","index":0,"complete":false`
)

// TestKindsOfLooopy checks the 20 kinds of the design document, the 7 further kinds of today's servers, and data that is no
// event.
func TestKindsOfLooopy(t *testing.T) {
	begun := []string{looopyBegun}
	called := []string{looopyBegun, looopyCall}
	kindTable{"looopy", looopyShapes, []kindCase{
		{"task-created", nil, looopyBegun},
		{"task-created of an agent's", called, looopySub},
		{"task-status working", begun, `task-status "status":"working","message":"secret"`},
		{"task-status waiting-input", []string{looopyBegun, looopyAsked}, `task-status "status":"waiting-input","metadata":{"reason":"secret","blockedBy":"user","pendingInputIds":["i1"]}`},
		{"task-status waiting-auth", []string{looopyBegun, looopyAuth}, `task-status "status":"waiting-auth","metadata":{"pendingAuths":[{"authId":"a1","authType":"oauth2","provider":"p","x":"secret"}]}`},
		{"task-status waiting-subtask", begun, `task-status "status":"waiting-subtask","metadata":{"blockedBy":"s"}`},
		{"task-status completed", begun, `task-status "status":"completed"`},
		{"task-status failed", begun, `task-status "status":"failed","message":"secret","metadata":{"error":"secret"}`},
		{"task-status canceled", begun, `task-status "status":"canceled"`},
		{"task-status failed, of an agent's", []string{looopyBegun, looopyCall, looopySub}, `task-status "taskId":"s","status":"failed"`},
		{"task-complete", []string{looopyBegun, looopyDone}, `task-complete "content":"Hi.","artifacts":["f"],"metadata":{"duration":2500,"iterations":1,"tokensUsed":"secret"}`},
		{"task-complete of an agent's", []string{looopyBegun, looopyCall, looopySub}, `task-complete "taskId":"s","content":"Found."`},
		{"content-delta", begun, `content-delta "delta":"Hi","index":0`},
		{"content-complete", begun, looopyDone},
		{"content-complete with calls", begun, `content-complete "content":"","finishReason":"tool_calls","toolCalls":[{"id":"c1","type":"function","function":{"name":"look","arguments":{"q":"secret"}}}]`},
		{"content-complete, cut", begun, `content-complete "content":"Hi","finishReason":"length"`},
		{"tool-call", begun, `tool-call "toolCallId":"c1","toolName":"look","arguments":{"q":"secret"}`},
		{"tool-start", begun, looopyCall},
		{"tool-progress", called, `tool-progress "toolCallId":"c1","progress":0.5,"message":"secret","metadata":{"step":"secret"}`},
		{"tool-complete", called, `tool-complete "toolCallId":"c1","toolName":"look","success":true,"result":"secret","metadata":{"duration":12}`},
		{"tool-complete, failed", called, `tool-complete "toolCallId":"c1","toolName":"look","success":false,"error":"secret"`},
		{"tool-complete of an agent that failed", []string{looopyBegun, looopyCall, looopySub, `task-status "taskId":"s","status":"failed"`}, `tool-complete "toolCallId":"c1","toolName":"look","success":true`},
		{"tool-input-required", called, `tool-input-required "toolCallId":"c1","toolName":"look","toolArguments":{"q":"secret"},"inputId":"i1","inputType":"data","prompt":"Which?","schema":{"type":"string"}`},
		{"input-required", begun, looopyAsked},
		{"input-required of whoever can answer", begun, `input-required "inputId":"i1","inputType":"selection","prompt":"Which?","options":["a","b"]`},
		{"input-received", []string{looopyBegun, looopyAsked}, `input-received "inputId":"i1","providedBy":"user","userId":"secret"`},
		{"auth-required", called, looopyAuth},
		{"auth-completed", []string{looopyBegun, looopyCall, looopyAuth}, `auth-completed "authId":"a1","userId":"secret","metadata":{"expiresAt":"secret"}`},
		{"file-write", begun, looopyFile},
		{"file-write, the last chunk", []string{looopyBegun, looopyFile}, `file-write "artifactId":"f","data":"secret","index":1,"complete":true`},
		{"file-write, a chunk after a gap", []string{looopyBegun, looopyFile}, `file-write "artifactId":"f","data":"secret","index":3,"complete":false`},
		{"file-write, a chunk again", []string{looopyBegun, looopyFile}, looopyFile},
		{"data-write", begun, `data-write "artifactId":"d","name":"d.json","description":"secret","data":{"x":"secret"},"metadata":{"version":2}`},
		{"dataset-write", begun, `dataset-write "artifactId":"r","name":"rows","rows":[{"x":"secret"}],"schema":{"x":"secret"},"index":0,"complete":true`},
		{"subtask-created", begun, `subtask-created "subtaskId":"s","agentId":"analyst","prompt":"secret"`},
		{"subtask-created, late", []string{looopyBegun, `content-delta "taskId":"s","delta":"Hm"`}, `subtask-created "subtaskId":"s","agentId":"analyst"`},
		{"thought-stream", begun, `thought-stream "thoughtId":"h1","thoughtType":"planning","verbosity":"brief","content":"secret","index":0,"metadata":{"confidence":0.9,"alternatives":["secret"]}`},
		{"llm-usage", []string{looopyBegun, looopyDone}, `llm-usage "model":"m-secret","prompt_tokens":7,"completion_tokens":3,"total_tokens":10,"completion_tokens_details":{"reasoning_tokens":1},"cache_read_input_tokens":2`},
		{"message", begun, `message "message":{"role":"user","content":"secret"}`},

		{"internal:llm-call", begun, `internal:llm-call "iteration":1,"messageCount":2,"toolCount":3,"model":"CANARY"`},
		{"internal:checkpoint", begun, `internal:checkpoint "iteration":1,"x":"CANARY"`},
		{"internal:thought-process", begun, `internal:thought-process "iteration":1,"stage":"pre-llm","reasoning":"CANARY","state":{"x":"CANARY"}`},
		{"internal:tool-message", begun, `internal:tool-message "message":"CANARY"`},
		{"internal:tool-start", begun, `internal:tool-start "toolCallId":"c1","toolName":"CANARY"`},
		{"internal:tool-complete", called, `internal:tool-complete "toolCallId":"c1","toolName":"CANARY","success":false,"error":"CANARY"`},

		{"llm-call, without its prefix", begun, `llm-call "iteration":1,"model":"CANARY"`},
		{"checkpoint, without its prefix", begun, `checkpoint "x":"CANARY"`},
		{"thought-process, without its prefix", begun, `thought-process "reasoning":"CANARY"`},
		{"tool-message, without its prefix", begun, `tool-message "message":"CANARY"`},
		{"Internal:llm-call", begun, `Internal:llm-call "model":"CANARY"`},
		{"undefined", begun, `undefined "delta":"CANARY"`},
		{"no kind", begun, ` "delta":"CANARY"`},
		{"a kind of tomorrow", begun, `prompt-error "delta":"CANARY"`},
	}}.test(t)
}
