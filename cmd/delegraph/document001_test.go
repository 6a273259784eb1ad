package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/exporter/tracker"
)

// documentExample is an example of document 001, Looopy's internal event protocol: its events in the order in which the document has
// them, each as its kind and its own members.
type documentExample struct {
	section string
	events  []string
}

// document001 are the document's examples by its sections. docs/design/documents.md says what becomes of each.
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

// wire is the example as SSEConnection.send of the document writes it, an event each second.
func (e documentExample) wire() string {
	var out strings.Builder
	for i, line := range e.events {
		kind, members, _ := strings.Cut(line, " ")
		for _, name := range []string{`"contextId":"ctx-123"`, `"taskId":"task-456"`} {
			if key, _, _ := strings.Cut(name, ":"); !strings.HasPrefix(members, key) && !strings.Contains(members, ","+key) {
				members = name + "," + members
			}
		}
		at := time.Date(2025, 11, 6, 10, 0, i, 0, time.UTC).Format(time.RFC3339)
		fmt.Fprintf(&out, "event: %s\ndata: {\"kind\":%q,%s,\"timestamp\":%q}\n\n", kind, kind, members, at)
	}
	return out.String()
}

// TestDocument001 replays every example of the document. The golden file holds what becomes of each; nothing internal leaves.
func TestDocument001(t *testing.T) {
	var got strings.Builder
	for _, e := range document001 {
		t.Run(e.section, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "document.sse")
			if err := os.WriteFile(file, []byte(e.wire()), 0o600); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&got, "== %s\n", e.section)
			for _, r := range replayed(t, file) {
				got.WriteString(outline(r))
				outlineDetails(&got, r)
			}
			samples := parseSamples(t, replayAs(t, file, "--format=metrics"))
			for _, series := range []string{"delegraph_internal_events_total", "delegraph_late_frames_total"} {
				outlineSamples(&got, series, samples)
			}
			for _, as := range []string{"native", "normalized", "a2a", "agui"} {
				for _, policy := range policies {
					left := formatted(t, policy, as, file)
					if bytes.Contains(left, []byte("CANARY")) || bytes.Contains(left, []byte("internal:")) {
						t.Errorf("something internal leaves as %s under %s", as, policy)
					}
					if policy == "client" {
						fmt.Fprintf(&got, "  %s: %s\n", as, strings.Join(namesLeft(t, left), " "))
					}
				}
			}
		})
	}
	golden := filepath.Join("testdata", "document001.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Error(diff)
	}
}

// outlineDetails writes what a run's JSON says beside its outline.
func outlineDetails(b *strings.Builder, r tracker.Report) {
	for _, c := range r.Confidence {
		if c.Value != nil {
			fmt.Fprintf(b, "  %s is %v sure (%s)\n", text(c.Agent), *c.Value, c.Origin)
		}
	}
	for _, thought := range r.Thoughts {
		fmt.Fprintf(b, "  %s thinks: %s %d\n", text(thought.Agent), thought.Type, thought.Count)
	}
	for _, op := range r.Operations {
		span := fmt.Sprintf("%s %s %s to %s", op.Kind, text(op.Name), timeOfDay(op.Started), timeOfDay(op.Ended))
		span += statedCount("iteration", op.Iteration) + statedCount("messages", op.Messages) + statedCount("tools", op.Tools) + statedCount("reported iterations", op.Iterations)
		if op.Progress != nil {
			span += fmt.Sprintf(", progress %v", *op.Progress)
		}
		fmt.Fprintf(b, "  %s\n", span)
	}
}

func statedCount(name string, n *int64) string {
	if n == nil {
		return ""
	}
	return fmt.Sprintf(", %s %d", name, *n)
}

func timeOfDay(at *string) string {
	if at == nil {
		return "?"
	}
	_, clock, _ := strings.Cut(*at, "T10:00:")
	return strings.TrimSuffix(clock, "Z")
}

func outlineSamples(b *strings.Builder, name string, samples map[string]float64) {
	var found []string
	for series, n := range samples {
		if strings.HasPrefix(series, name+"{") && n > 0 {
			found = append(found, fmt.Sprintf("  %s %v\n", series, n))
		}
	}
	slices.Sort(found)
	b.WriteString(strings.Join(found, ""))
}

// replayAs replays a file with a flag.
func replayAs(t *testing.T, file string, flags ...string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	if err := run(t.Context(), append(append([]string{"replay"}, flags...), file), &out, &errs); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// namesLeft are what frames of any format call themselves.
func namesLeft(t *testing.T, stream []byte) (all []string) {
	t.Helper()
	for _, f := range framesOf(t, stream) {
		var v struct {
			Kind, Type string
			Result     struct {
				Task, ArtifactUpdate *struct{}
				StatusUpdate         *struct{ Status struct{ State string } }
			}
		}
		if len(f.Data) == 0 {
			continue
		}
		if err := json.Unmarshal(f.Data, &v); err != nil {
			t.Fatal(err)
		}
		switch {
		case v.Result.Task != nil:
			all = append(all, "task")
		case v.Result.ArtifactUpdate != nil:
			all = append(all, "artifactUpdate")
		case v.Result.StatusUpdate != nil:
			all = append(all, strings.ToLower(strings.TrimPrefix(v.Result.StatusUpdate.Status.State, "TASK_STATE_")))
		default:
			all = append(all, v.Kind+v.Type)
		}
	}
	return all
}
