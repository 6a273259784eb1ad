package replay_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/internal/command"
)

// questionCase is a run of a dialect that ends with a question.
type questionCase struct {
	name, dialect string
	frames        []string // data, after the SSE event name if that matters
	question      []string // texts that the normalized format must have for the agent's own client
	prompt        string   // the text of the question
	public        bool     // the policy public publishes the text
}

// askings have the text of a question, and canaries in everything next to it. The first two are from the design documents: the
// event of "HITL (Human-in-the-Loop) Interrupts" of DeepAgents, and that of "Phase 5: Input Routing & Auth Events" of Looopy.
var askings = []questionCase{
	{"HITL interrupt", "deepagents", []string{
		`{"v":2,"type":"start","id":"e1","ts":"2025-10-14T10:30:00.000Z","message_id":"m","chat_id":"c","status":"processing"}`,
		`{"v":2,"type":"status","id":"event_id","ts":"2025-10-14T10:30:00.000Z","text":"⏸️ Agent needs human input","md":"{\"interrupt\":true,\"tool\":\"request_human_input\",\"question\":\"Which document format do you prefer?\",\"context\":\"CANARY\",\"thread_id\":\"CANARY\",\"instructions\":\"CANARY\"}"}`,
		`{"v":2,"type":"end","id":"event_id_end","ts":"2025-10-14T10:30:01.000Z","status":"interrupted","ms_total":5000,"tool_calls":3}`,
	}, nil, "Which document format do you prefer?", false},
	{"Phase 5 input-required", "looopy", []string{
		`{"kind":"task-created","contextId":"c","taskId":"t","timestamp":"2025-10-14T10:30:00Z","initiator":"user"}`,
		`{"kind":"input-required","contextId":"c","taskId":"t","inputId":"i1","requireUser":false,"inputType":"tool-execution","prompt":"Execute client-side tool: lookup","timestamp":"2025-10-14T10:30:01Z","metadata":{"toolCall":{"function":{"name":"lookup","arguments":"CANARY"}}}}`,
	}, nil, "Execute client-side tool: lookup", true},
	{"input-required with choices", "looopy", []string{
		`{"kind":"task-created","contextId":"c","taskId":"t","timestamp":"2025-10-14T10:30:00Z","initiator":"user"}`,
		`{"kind":"input-required","contextId":"c","taskId":"t","timestamp":"2025-10-14T10:30:01Z","inputId":"i1","requireUser":true,"inputType":"selection","prompt":"Which region?","options":["north","south"],"schema":{"type":"string"}}`,
	}, []string{`"options":["north","south"],"schema":{"type":"string"}`}, "Which region?", true},
	{"auth-required", "looopy", []string{
		`{"kind":"task-created","contextId":"c","taskId":"t","timestamp":"2025-10-14T10:30:00Z","initiator":"user"}`,
		`{"kind":"auth-required","contextId":"c","taskId":"t","timestamp":"2025-10-14T10:30:01Z","authId":"a1","authType":"oauth2","provider":"drive","prompt":"Connect Drive","authUrl":"https://CANARY","schema":{"CANARY":1},"options":["CANARY"],"codeChallenge":"CANARY"}`,
	}, nil, "Connect Drive", true},
	{"adk_request_input", "adk", []string{
		`{"invocationId":"e-1","author":"buyer","id":"q","content":{"role":"model","parts":[{"functionCall":{"id":"q2","name":"adk_request_input","args":{"interruptId":"i2","message":"How many?","payload":{"CANARY":1},"responseSchema":{"type":"integer"}}}}]},"longRunningToolIds":["q2"]}`,
	}, []string{`"schema":{"type":"integer"}`}, "How many?", false},
	{"adk_request_confirmation", "adk", []string{
		`{"invocationId":"e-1","author":"buyer","id":"q","content":{"role":"model","parts":[{"functionCall":{"id":"q2","name":"adk_request_confirmation","args":{"originalFunctionCall":{"id":"c2","name":"buy","args":{"card":"CANARY"}},"toolConfirmation":{"hint":"Buy?","confirmed":false,"payload":"CANARY"}}}}]},"longRunningToolIds":["q2"]}`,
	}, nil, "Buy?", false},
	{"adk_request_credential", "adk", []string{
		`{"invocationId":"e-1","author":"buyer","id":"q","content":{"role":"user","parts":[{"functionCall":{"id":"q1","name":"adk_request_credential","args":{"functionCallId":"c1","message":"CANARY","authConfig":{"rawAuthCredential":{"oauth2":{"clientSecret":"CANARY"}}}}}}]},"longRunningToolIds":["q1"]}`,
	}, nil, "", false},
	{"input-required", "a2a", []string{
		`{"jsonrpc":"2.0","id":1,"result":{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"working"},"final":false}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"input-required","message":{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"text","text":"From which airport?"},{"kind":"data","data":{"x":"CANARY"}}]}},"final":true}}`,
	}, nil, "From which airport?", true},
	{"auth-required of A2A", "a2a", []string{
		`{"jsonrpc":"2.0","id":1,"result":{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"working"},"final":false}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"auth-required","message":{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"text","text":"Sign in to continue."},{"kind":"data","data":{"client_secret":"CANARY"}}]}},"final":true}}`,
	}, nil, "Sign in to continue.", true},
	{"interrupt", "agui", []string{
		`{"type":"RUN_STARTED","threadId":"c","runId":"r"}`,
		`{"type":"RUN_FINISHED","threadId":"c","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i1","reason":"input_required","message":"Which seat?","responseSchema":{"type":"object","properties":{"seat":{"type":"string"}}},"metadata":{"x":"CANARY"}}]}}`,
	}, []string{`"schema":{"type":"object","properties":{"seat":{"type":"string"}}}`}, "Which seat?", true},
	{"on_interrupt", "agui", []string{
		`{"type":"RUN_STARTED","threadId":"c","runId":"r"}`,
		`{"type":"CUSTOM","name":"on_interrupt","value":"{\"question\":\"Which one?\",\"state\":\"CANARY\"}"}`,
		`{"type":"RUN_FINISHED","threadId":"c","runId":"r"}`,
	}, nil, "Which one?", false},
	{"interrupt of Studio", "adkstudio", []string{
		"session\ns1",
		`trace` + "\n" + `{"type":"node_start","node":"review","step":1}`,
		`interrupt` + "\n" + `{"type":"interrupt","node_id":"review","message":"Go on?","data":{"x":"CANARY"},"thread_id":"CANARY","checkpoint_id":"CANARY","timestamp":1706400000000}`,
	}, nil, "Go on?", true},
}

// TestQuestions formats runs with a question in every format under both policies. The agent's own client always gets the
// question, the public only if the dialect's table allows its text. No canary may be in any output.
func TestQuestions(t *testing.T) {
	for _, c := range askings {
		t.Run(c.dialect+" "+c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "capture.sse")
			if err := os.WriteFile(file, []byte(c.wire()), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, format := range []string{"normalized", "a2a", "a2a-0.3", "agui"} {
				for _, policy := range []string{"client", "public"} {
					var out, stderr bytes.Buffer
					err := command.Run(t.Context(), []string{"replay", "--format=stream", "--stream-format=" + format, "--policy=" + policy, "--dialect=" + c.dialect, file}, &out, &stderr)
					if err != nil {
						t.Fatal(err, &stderr)
					}
					got := out.String()
					if wanted := c.prompt != "" && (policy == "client" || c.public); wanted != (c.prompt != "" && strings.Contains(got, c.prompt)) {
						t.Errorf("%s, %s: %q expected: %v, in\n%s", format, policy, c.prompt, wanted, got)
					} else if words := c.words(format); wanted && !strings.Contains(got, words) {
						t.Errorf("%s, %s: no %s in\n%s", format, policy, words, got)
					}
					for _, want := range c.question {
						if format == "normalized" && policy == "client" && !strings.Contains(got, want) {
							t.Errorf("%s, %s: no %s in\n%s", format, policy, want, got)
						}
					}
					if strings.Contains(got, "CANARY") {
						t.Errorf("%s, %s: text next to the question is published:\n%s", format, policy, got)
					}
				}
			}
		})
	}
}

// words returns the question in a format.
func (c questionCase) words(format string) string {
	switch format {
	case "a2a":
		return `{"text":"` + c.prompt + `"}`
	case "a2a-0.3":
		return `{"kind":"text","text":"` + c.prompt + `"}`
	case "agui":
		return `"message":"` + c.prompt + `"`
	}
	return `"prompt":"` + c.prompt + `"`
}

// wire returns the run as it is sent.
func (c questionCase) wire() string {
	var w strings.Builder
	for _, frame := range c.frames {
		if name, data, named := strings.Cut(frame, "\n"); named {
			w.WriteString("event: " + name + "\n")
			frame = data
		}
		w.WriteString("data: " + frame + "\n\n")
	}
	return w.String()
}

// TestLongQuestion asks a question that is too long to be remembered for a connection: it is published once, and not repeated at
// the end.
func TestLongQuestion(t *testing.T) {
	long := questionCase{dialect: "agui", prompt: strings.Repeat("why ", 2000)}
	long.frames = []string{
		`{"type":"RUN_STARTED","threadId":"c","runId":"r"}`,
		`{"type":"RUN_FINISHED","threadId":"c","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i1","reason":"input_required","message":"` + long.prompt + `"}]}}`,
	}
	file := filepath.Join(t.TempDir(), "capture.sse")
	if err := os.WriteFile(file, []byte(long.wire()), 0o600); err != nil {
		t.Fatal(err)
	}
	for format, want := range map[string]int{"normalized": 1, "agui": 1, "a2a": 2} { // for people and for programs
		var out, stderr bytes.Buffer
		if err := command.Run(t.Context(), []string{"replay", "--format=stream", "--stream-format=" + format, "--policy=client", "--dialect=agui", file}, &out, &stderr); err != nil {
			t.Fatal(err, &stderr)
		}
		if n := strings.Count(out.String(), long.prompt); n != want {
			t.Errorf("%s has the question %d times, want %d", format, n, want)
		}
	}
}
