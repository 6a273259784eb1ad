package deepagents_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// send puts a message into a chat, and returns the path of the stream that answers it.
func send(t *testing.T, s *stand, path, body string) string {
	t.Helper()
	status, answer := s.ask(t, http.MethodPost, path, body, nil)
	var made struct {
		Stream string `json:"stream_url"`
	}
	if err := json.Unmarshal([]byte(answer), &made); err != nil || status != http.StatusCreated || made.Stream == "" {
		t.Fatalf("%d: %s, %v", status, answer, err)
	}
	return made.Stream
}

// TestStories has whole messages answered over HTTP, and reads what became of them.
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
			s := newStand(t)
			stream := send(t, s, "/api/chats/chat-9/messages", `{"content":"`+capture+`","metadata":{"tender_id":"secret"}}`)
			if status, _ := s.ask(t, http.MethodGet, stream, "", nil); status != http.StatusOK {
				t.Errorf("the client got %d", status)
			}
			if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), s.told()); diff != "" {
				t.Error(diff)
			}
			if log := s.log.String(); strings.Contains(log, "secret") {
				t.Errorf("logged: %s", log)
			}
		})
	}
}

// TestResumedStory asks, is answered by a request that is no stream, and goes on in the answer to another message.
func TestResumedStory(t *testing.T) {
	s := newStand(t)
	if status, answer := s.ask(t, http.MethodPost, "/api/users/u1/chats", `{"title":"My Chat","metadata":{}}`, nil); status != http.StatusCreated || !strings.Contains(answer, `"chat_id":"chat-1"`) {
		t.Fatalf("%d: %s", status, answer)
	}
	const answer = `{"command":{"resume":{"result":"PDF format please"}}}`
	if status, _ := s.ask(t, http.MethodPost, "/api/threads/thread_abc123/resume", answer, nil); status != http.StatusNotFound {
		t.Errorf("nothing waits, and the answer is %d", status)
	}
	s.ask(t, http.MethodGet, send(t, s, "/api/chats/chat-1/messages", `{"content":"made-interrupt"}`), "", nil)
	s.told() // in this order
	s.ask(t, http.MethodGet, send(t, s, "/api/threads/thread_abc123/resume", answer), "", nil)
	want := `message-2: interrupted awaiting_input session=chat-1
invoke_agent main: interrupted  <
execute_tool search_tender_corpus: ok  < main
execute_tool request_human_input: interrupted  < main
input thread-29630eac171ee8a7 clarification open

message-3: completed  session=chat-1
invoke_agent main: ok  <
`
	if diff := cmp.Diff(want, s.told()); diff != "" {
		t.Error(diff)
	}
}

// TestRefusedStory asks for the answer to a message that there is not.
func TestRefusedStory(t *testing.T) {
	s := newStand(t)
	if status, _ := s.ask(t, http.MethodGet, "/api/chats/chat-1/messages/message-1/stream", "", nil); status != http.StatusNotFound {
		t.Errorf("%d", status)
	}
	if told := s.told(); told != "" {
		t.Errorf("observed: %s", told)
	}
}
