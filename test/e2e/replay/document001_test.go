package replay_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// document001 has the examples of document 001 by section, each event as its kind and its own members.
var document001 = []documentExample{
	{"2.1 Task Lifecycle Events", []string{docCreated, docWorking}},
	{"2.1 Task Lifecycle Events, whole", []string{docCreated, docWorking, docCompleted, docComplete}},
	{"2.2 Tool Execution Events", []string{docCreated, docWorking, docToolStart, docToolComplete, docCompleted, docComplete}},
	{"2.2 Tool Execution Events, failed", []string{docCreated, docWorking, docToolStart,
		`tool-complete "toolCallId":"call-1","toolName":"search","success":false,"error":"TimeoutError: no answer"`, docCompleted, docComplete}},
	{"2.3 Thought Streaming Events", []string{docCreated, docWorking,
		`thought-stream "thoughtId":"th-1","thoughtType":"planning","verbosity":"normal","content":"Calling LLM with 3 messages and 2 tools","index":0,"metadata":{"confidence":0.9}`,
		docCompleted, docComplete}},
	{"2.4 Content Streaming", []string{docCreated, docWorking, `content-delta "delta":"All ","index":0`, `content-delta "delta":"done. Confidence: 92%","index":1`,
		`content-complete "content":"All done. Confidence: 92%"`, docCompleted, docComplete}},
	{"2 Event Emission Status, internal events", []string{docCreated, docWorking, docLLMCall, docCheckpoint, docCompleted, docComplete}},
	{"Phase 3 Integration Example", []string{`task-created "contextId":"ctx-123","taskId":"task-456"`}},
	{"Phase 3 SSEServer.emit", []string{docCreated, docLLMCall, docThoughtProcess, docCheckpoint}},
	{"Phase 4 createFile, a string", []string{docCreated, docWorking,
		`file-write "artifactId":"f-1","data":"# Report","index":0,"complete":true,"name":"report.md","mimeType":"text/markdown"`, docCompleted, docComplete}},
	{"Phase 4 createFile, chunks", []string{docCreated, docWorking,
		`file-write "artifactId":"f-1","data":"# Re","index":0,"complete":false,"name":"report.md","mimeType":"text/markdown"`,
		`file-write "artifactId":"f-1","data":"port","index":1,"complete":false`,
		`file-write "artifactId":"f-1","data":"","index":2,"complete":true`, docCompleted, docComplete}},
	{"Phase 4 createData", []string{docCreated, docWorking,
		`data-write "artifactId":"d-1","data":{"total":3},"name":"totals","description":"Sums"`, docCompleted, docComplete}},
	{"Phase 4 createDataset", []string{docCreated, docWorking,
		`dataset-write "artifactId":"r-1","rows":[{"a":1},{"a":2}],"index":0,"complete":false,"name":"rows","schema":{"a":"number"},"description":"All","metadata":{"totalRows":2,"batchSize":2}`,
		`dataset-write "artifactId":"r-1","rows":[],"index":1,"complete":true`, docCompleted, docComplete}},
	{"Phase 5 Input Routing, the coordinator answers", []string{docCreated, docWorking, docInput, docReceived, docCompleted, docComplete}},
	{"Phase 5 Input Routing, nobody answers", []string{docCreated, docWorking, docInput, `task-status "status":"waiting-input"`}},
	{"Phase 5 Auth Events", []string{docCreated, docWorking, `auth-required "authId":"a-1","authType":"oauth2","provider":"maps"`,
		`task-status "status":"waiting-auth"`, `auth-completed "authId":"a-1"`, docWorking, docCompleted, docComplete}},
	{"Phase 6 invokeSubAgent", docSubtask},
	{"Phase 6 invokeSubAgent, task-complete first", []string{docCreated, docWorking, docSubtaskCreated, docSubCreated, docSubWorking, docSubComplete, docSubCompleted, docComplete, docCompleted}},
	{"Phase 7 Planning thought (brief)", []string{docCreated, docWorking, docPlanning, docCompleted, docComplete}},
	{"Phase 7 Decision thought (detailed)", []string{docCreated, docWorking, docDecision, docCompleted, docComplete}},
	{"Phase 7 Internal thought process", []string{docCreated, docWorking, docThoughtProcess, docCompleted, docComplete}},
	{"Phase 8 mapToA2A", []string{docCreated, docWorking, `content-delta "delta":"All ","index":0`, `content-delta "delta":"done.","index":1`,
		`file-write "artifactId":"f-1","data":"# Report","index":0,"complete":true,"name":"report.md","mimeType":"text/markdown"`,
		docLLMCall, docCheckpoint, docThoughtProcess, docCompleted}},
	{"Phase 9 scenario 2, task lifecycle with failure", []string{docCreated, docWorking, `task-status "status":"failed","message":"no answer","metadata":{"error":"TimeoutError: no answer"}`}},
	{"Phase 9 scenario 4, tool start, progress, complete", []string{docCreated, docWorking, docToolStart,
		`tool-progress "toolCallId":"call-1","progress":0.5,"message":"half"`, docToolComplete, docCompleted, docComplete}},
	{"Phase 9 scenario 8, input of the user", []string{docCreated, docWorking,
		`input-required "inputId":"i-1","requireUser":true,"inputType":"confirmation","prompt":"Go on?"`, `input-received "inputId":"i-1","providedBy":"user","userId":"u-1"`, docCompleted, docComplete}},
	{"Phase 9 scenario 12, thoughts at all verbosity levels", []string{docCreated, docWorking, docPlanning,
		`thought-stream "thoughtId":"th-4","thoughtType":"reasoning","verbosity":"normal","content":"So it is.","index":1`, docDecision, docCompleted, docComplete}},
}

const (
	docCreated      = `task-created "initiator":"user","metadata":{"agentId":"coordinator"}`
	docWorking      = `task-status "status":"working"`
	docCompleted    = `task-status "status":"completed"`
	docComplete     = `task-complete "content":"All done. Confidence: 92%","metadata":{"duration":3000,"iterations":2}`
	docToolStart    = `tool-start "toolCallId":"call-1","toolName":"search","arguments":{"q":"fires"}`
	docToolComplete = `tool-complete "toolCallId":"call-1","toolName":"search","success":true,"result":{"n":3}`
	docLLMCall      = `internal:llm-call "iteration":1,"model":"CANARY-model","messageCount":3,"toolCount":2`
	docCheckpoint   = `internal:checkpoint "iteration":1`
	docPlanning     = `thought-stream "thoughtId":"th-2","thoughtType":"planning","verbosity":"brief","content":"Preparing LLM call","index":0,"metadata":{"confidence":0.95}`
	docDecision     = `thought-stream "thoughtId":"th-3","thoughtType":"decision","verbosity":"detailed","content":"Choosing to execute 2 tools in parallel.","index":1,"metadata":{"confidence":0.8,"alternatives":["Execute tools sequentially"],"relatedTo":"call-1,call-2"}`
	docInput        = `input-required "inputId":"i-1","requireUser":false,"inputType":"tool-execution","prompt":"Execute client-side tool: calendar","metadata":{"toolCall":{"id":"call-2","function":{"name":"calendar","arguments":"{}"}}}`
	docReceived     = `input-received "inputId":"i-1","providedBy":"agent","agentId":"coordinator","metadata":{"duration":800}`

	docThoughtProcess = `internal:thought-process "iteration":2,"stage":"post-llm","reasoning":"CANARY LLM returned 2 tool calls.","state":{"iteration":2,"messageCount":5,"toolCount":2,"pendingTools":["CANARY-search"]}`

	docSubtaskCreated = `subtask-created "subtaskId":"task-457","agentId":"analyst","prompt":"Look it up"`
	docSubCreated     = `task-created "taskId":"task-457","parentTaskId":"task-456","initiator":"agent","metadata":{"agentId":"analyst"}`
	docSubWorking     = `task-status "taskId":"task-457","parentTaskId":"task-456","status":"working"`
	docSubCompleted   = `task-status "taskId":"task-457","parentTaskId":"task-456","status":"completed"`
	docSubComplete    = `task-complete "taskId":"task-457","parentTaskId":"task-456","content":"Found. Confidence: 80%","metadata":{"duration":1000,"iterations":1}`
)

var docSubtask = []string{docCreated, docWorking, docSubtaskCreated, docSubCreated, docSubWorking, docSubCompleted, docSubComplete, docCompleted, docComplete}

// wire001 writes an event as SSEConnection.send of the document does.
func wire001(second int, event string) string {
	kind, members, _ := strings.Cut(event, " ")
	for _, name := range []string{`"contextId":"ctx-123"`, `"taskId":"task-456"`} {
		if key, _, _ := strings.Cut(name, ":"); !strings.HasPrefix(members, key) && !strings.Contains(members, ","+key) {
			members = name + "," + members
		}
	}
	at := documentStart.Add(time.Duration(second) * time.Second).Format(time.RFC3339)
	return fmt.Sprintf("event: %s\ndata: {\"kind\":%q,%s,\"timestamp\":%q}\n\n", kind, kind, members, at)
}

// TestDocument001 replays every example of the document, Looopy's internal event protocol. Nothing internal is published.
func TestDocument001(t *testing.T) {
	designDocument{number: "001", examples: document001, wire: wire001, withheld: []string{"CANARY", "internal:"}}.replay(t)
}
