package deepagents_test

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/dialect/deepagents"
	"github.com/delegraph/delegraph/collector/dialect/deepagents/deepserver"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/test/proxyfixture"
)

// send posts a message to a chat and returns the path of the response's stream.
func send(t *testing.T, s *proxyfixture.Fixture, path, body string) string {
	t.Helper()
	status, answer := s.Ask(t, http.MethodPost, path, body, nil)
	var made struct {
		Stream string `json:"stream_url"`
	}
	if err := json.Unmarshal([]byte(answer), &made); err != nil || status != http.StatusCreated || made.Stream == "" {
		t.Fatalf("the response is %d: %s (%v)", status, answer, err)
	}
	return made.Stream
}

// TestStories checks the runs observed on the responses to messages, played over HTTP.
func TestStories(t *testing.T) {
	for capture, want := range map[string]string{
		"made-simple": `
message-1: completed  session=chat-9
invoke_agent main: ok  <
  confidence 0.92 by main
execute_tool search_tender_corpus: ok  < main
execute_tool search_tender_corpus: ok  < main
execute_tool search_tender_corpus: ok  < main
execute_tool search_tender_corpus: ok  < main
`,
		"made-subagents": `
message-1: completed  session=chat-9
invoke_agent main: ok  <
execute_tool task: ok  < main
execute_tool task: ok  < main
execute_tool task: ok  < main
invoke_agent subagent_advanced_tender_analyst_xyz12345: ok  < task
invoke_agent subagent_advanced_tender_analyst_abc12345: ok  < task
invoke_agent subagent_auditor_1: ok  < task
execute_tool search_tender_corpus: ok  < subagent_advanced_tender_analyst_xyz12345
execute_tool search_tender_corpus: error tool_error < subagent_advanced_tender_analyst_abc12345
execute_tool task: ok  < subagent_auditor_1
invoke_agent subagent_reader_7f: ok  < task
execute_tool web_search: ok  < subagent_reader_7f
`,
		"made-three-subagents": `
message-1: completed  session=chat-9
invoke_agent main: ok  <
execute_tool task: ok  < main
execute_tool task: ok  < main
execute_tool task: ok  < main
invoke_agent subagent_analyst_1: ok  < task
invoke_agent subagent_analyst_2: ok  < task
invoke_agent subagent_analyst_3: ok  < task
execute_tool search_tender_corpus: ok  < subagent_analyst_1
execute_tool search_tender_corpus: ok  < subagent_analyst_2
execute_tool search_tender_corpus: ok  < subagent_analyst_3
`,
		"made-v1": `
message-1: completed  session=chat-9
invoke_agent : ok  <
execute_tool search_tender_corpus: ok  <
`,
		"made-error": `
message-1: failed error_frame session=chat-9
invoke_agent main: error agent_error <
`,
		"made-error-end": `
message-1: failed error_frame session=chat-9
invoke_agent main: error agent_error <
`,
		"made-error-first": `
: failed error_frame session=chat-9
invoke_agent : error agent_error <
`,
		"made-cancelled": `
message-1: canceled agent_canceled session=chat-9
invoke_agent main: unfinished canceled <
execute_tool search_tender_corpus: unfinished canceled < main
`,
		"made-interrupt-text": `
message-1: interrupted awaiting_input session=chat-9
invoke_agent main: interrupted  <
input 1729000000_0002_003dde clarification open
`,
		"made-interrupt-end": `
message-1: interrupted awaiting_input session=chat-9
invoke_agent main: interrupted  <
input 1729000000_0002_003dde clarification open
`,
		"made-interrupt-answered": `
message-1: completed  session=chat-9
invoke_agent main: ok  <
execute_tool request_human_input: ok  < main
input thread-29630eac171ee8a7 clarification answered
`,
	} {
		t.Run(capture, func(t *testing.T) {
			s := newFixture(t)
			stream := send(t, s, "/api/chats/chat-9/messages", `{"content":"`+capture+`","metadata":{"tender_id":"secret"}}`)
			if status, _ := s.Ask(t, http.MethodGet, stream, "", nil); status != http.StatusOK {
				t.Errorf("the client gets the status %d", status)
			}
			if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), s.Runs()); diff != "" {
				t.Errorf("the observed runs differ (-want +got):\n%s", diff)
			}
			if log := s.Log(); strings.Contains(log, "secret") {
				t.Errorf("the log has %s, want nothing", log)
			}
		})
	}
}

// TestResumedStory checks a run that asks for input. The request with the answer gets no stream, and the run
// continues in the response to another message.
func TestResumedStory(t *testing.T) {
	s := newFixture(t)
	if status, answer := s.Ask(t, http.MethodPost, "/api/users/u1/chats", `{"title":"My Chat","metadata":{}}`, nil); status != http.StatusCreated || !strings.Contains(answer, `"chat_id":"chat-1"`) {
		t.Fatalf("the new chat is answered with %d: %s", status, answer)
	}
	const answer = `{"command":{"resume":{"result":"PDF format please"}}}`
	if status, _ := s.Ask(t, http.MethodPost, "/api/threads/thread_abc123/resume", answer, nil); status != http.StatusNotFound {
		t.Errorf("an answer without a question gets %d, want 404", status)
	}
	s.Ask(t, http.MethodGet, send(t, s, "/api/chats/chat-1/messages", `{"content":"made-interrupt"}`), "", nil)
	s.Runs() // for the order of the runs
	s.Ask(t, http.MethodGet, send(t, s, "/api/threads/thread_abc123/resume", answer), "", nil)
	want := `message-2: interrupted awaiting_input session=chat-1
invoke_agent main: interrupted  <
execute_tool search_tender_corpus: ok  < main
execute_tool request_human_input: interrupted  < main
input thread-29630eac171ee8a7 clarification open

message-3: completed  session=chat-1
invoke_agent main: ok  <
`
	if diff := cmp.Diff(want, s.Runs()); diff != "" {
		t.Errorf("the observed runs differ (-want +got):\n%s", diff)
	}
}

// TestRejectedRequest checks that no run is observed if the server does not know the message.
func TestRejectedRequest(t *testing.T) {
	s := newFixture(t)
	if status, _ := s.Ask(t, http.MethodGet, "/api/chats/chat-1/messages/message-1/stream", "", nil); status != http.StatusNotFound {
		t.Errorf("the response is %d, want 404", status)
	}
	if runs := s.Runs(); runs != "" {
		t.Errorf("the observed runs are %s, want none", runs)
	}
}

// newFixture starts a proxy in front of a server that plays recordings. It describes runs with their IDs.
func newFixture(t *testing.T) *proxyfixture.Fixture {
	t.Helper()
	return proxyfixture.New(t, deepagents.Dialect{}, deepserver.New(os.DirFS("testdata"), "made-resumed"), func(r *tracker.Run) string {
		return r.ID + ": " + proxyfixture.Describe(r)
	})
}
