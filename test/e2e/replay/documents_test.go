package replay_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/internal/command"
)

// TestStudioExampleFullEventStream replays the "Example Full Event Stream" in the design document of ADK Studio's traces, which
// has no times. The stated duration is used, and the keys of the state are shown.
func TestStudioExampleFullEventStream(t *testing.T) {
	example := filepath.Join("..", "..", "..", "collector", "dialect", "adkstudio", "testdata", "made-example.sse")
	replays(t, "adkstudio", example, "json",
		`"name":"researcher","agent":"researcher","status":"ok","error":null,"failure":null,"started":null,"ended":null,"timing":"unknown","duration_seconds":1.5,"duration_timing":"reported"`,
		`"state":[{"agent":null,"operation":"ID","keys":["query","results","response"],"bytes":49},{"agent":"researcher","operation":"ID","keys":["query","results"],"bytes":32}]`)
	replays(t, "adkstudio", example, "text", "  1.50 s", "It reports their durations.", "state       researcher: query, results")
	replays(t, "adkstudio", example, "metrics", `gen_ai_invoke_agent_duration_seconds_sum{error_type="",gen_ai_agent_name="researcher",source="capture.sse"} 1.5`)
}

// TestDeepAgentsExample1SimpleQuery replays "Example 1: Simple Query (No Sub-Agents)" from a recording whose frames have no times.
func TestDeepAgentsExample1SimpleQuery(t *testing.T) {
	example := untimed(t, "made-simple.sse")
	replays(t, "deepagents", example, "json",
		`"timing":"unknown","duration_seconds":6.5,"duration_timing":"reported"`,
		`"kind":"execute_tool","name":"search_tender_corpus","agent":"main","status":"ok","error":null,"failure":null,"started":null,"ended":null,"timing":"unknown","duration_seconds":1.823,"duration_timing":"reported"`)
	replays(t, "deepagents", example, "metrics", `delegraph_run_duration_seconds_sum{agent="main",source="capture.sse",status="completed"} 6.5`)
}

// TestDeepAgentsPlanEvents replays "PLAN Events (Todo/Task Planning)", with the update of an item that the section describes.
func TestDeepAgentsPlanEvents(t *testing.T) {
	const plan = `data: {"v":2,"type":"start","message_id":"m","chat_id":"c"}

data: {"v":2,"type":"plan","id":"event_id","ts":"2025-10-14T10:30:00.000Z","items":[{"id":"todo_1","text":"Search for backup requirements","status":"in_progress"},{"id":"todo_2","text":"Search for CSR requirements","status":"pending"},{"id":"todo_3","text":"Analyze findings","status":"pending"}]}

data: {"v":2,"type":"plan","id":"event_id_2","ts":"2025-10-14T10:30:01.000Z","items":[{"id":"todo_1","text":"Search for backup requirements","status":"completed"}]}

data: {"v":2,"type":"end","status":"completed"}

`
	file := filepath.Join(t.TempDir(), "capture.sse")
	if err := os.WriteFile(file, []byte(plan), 0o600); err != nil {
		t.Fatal(err)
	}
	replays(t, "deepagents", file, "json", `"plan":{"pending":2,"in_progress":0,"completed":1,"canceled":0}`)
	replays(t, "deepagents", file, "text", "plan        1 completed, 0 in progress, 2 pending, 0 canceled")
}

// TestBriefingTopics replays the final event of "Event Flow Sequence", in which each value follows its topic.
func TestBriefingTopics(t *testing.T) {
	file := filepath.Join(t.TempDir(), "capture.sse")
	if err := os.WriteFile(file, []byte("data: "+strings.ReplaceAll(briefSynthesis, "\n", "")+"\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	replays(t, "adk", file, "json", `"value":0.92,"topic":"Fire Severity","scope":""`, `"value":0.95,"topic":"NEPA Pathway","scope":"timber"`)
	replays(t, "adk", file, "text", "coordinator: 92 % for Fire Severity (text)", "coordinator: 95 % for NEPA Pathway for timber (text)", "coordinator: 90 % overall (text)")
}

// untimed copies a capture of DeepAgents without the times of its frames.
func untimed(t *testing.T, name string) string {
	t.Helper()
	sent, err := os.ReadFile(filepath.Join("..", "..", "..", "collector", "dialect", "deepagents", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "capture.sse")
	if err := os.WriteFile(file, regexp.MustCompile(`"ts":"[^"]*",`).ReplaceAll(sent, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// operationID matches the id of an operation in a report.
var operationID = regexp.MustCompile(`"[0-9a-f]{16}"`)

// replays replays a file and expects each of the texts in the output, after ids are replaced by ID.
func replays(t *testing.T, dialect, file, format string, wants ...string) {
	t.Helper()
	var out, stderr bytes.Buffer
	if err := command.Run(t.Context(), []string{"replay", "--format=" + format, "--dialect=" + dialect, file}, &out, &stderr); err != nil {
		t.Fatal(err, &stderr)
	}
	got := strings.ReplaceAll(operationID.ReplaceAllString(out.String(), `"ID"`), `source="`+filepath.Base(file)+`"`, `source="capture.sse"`)
	for _, want := range wants {
		if !strings.Contains(got, want) {
			t.Errorf("%s: no %s in\n%.6000s", format, want, got)
		}
	}
}
