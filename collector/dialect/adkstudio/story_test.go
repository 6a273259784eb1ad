package adkstudio_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// execute is the request for an execution; in it stand secrets.
func execute(input, session string) string {
	return "/api/projects/p1/stream?input=" + input + "&session_id=" + session + "&api_key=secret-key&binary_path=%2Fsecret%2Fflow"
}

// TestStories plays whole executions over HTTP, and reads what became of them.
func TestStories(t *testing.T) {
	for _, c := range []struct{ capture, want string }{
		{"flow-sequential", `
completed  session=s1
invoke_workflow p1: ok  <
invoke_agent researcher#1: ok  < p1
  confidence 0.92 by researcher
execute_tool search: ok  < researcher#1
execute_tool broken: error tool_error < researcher#1
execute_tool search: ok  < researcher#1
execute_tool broken: error tool_error < researcher#1
invoke_agent writer#2: ok  < p1
  confidence 0.92 by writer
`},
		{"flow-failing", `
failed error_frame session=s1
invoke_workflow p1: error timeout <
invoke_agent researcher#1: error agent_error < p1
`},
		{"server-loop", `
completed  session=s1
invoke_workflow p1: ok  <
invoke_agent drafter#1: ok  < p1
invoke_agent critic#2: ok  < p1
invoke_agent drafter#3: ok  < p1
invoke_agent critic#4: ok  < p1
`},
		{"made-parallel", `
completed  session=s1
invoke_workflow p1: ok  <
invoke_agent left#1: ok  < p1
invoke_agent right#2: ok  < p1
execute_tool look: ok  < right#2
invoke_agent middle#3: ok  < p1
execute_tool look: ok  < middle#3
execute_tool write: ok  < left#1
invoke_agent never begun#9: ok  < p1
`},
		{"made-error", `
failed error_frame session=s1
invoke_workflow p1: error agent_error <
invoke_agent writer#1: ok  < p1
`},
		{"server-not-built", `
failed error_frame session=s1
invoke_workflow p1: error agent_error <
`},
		{"server-cut", `
incomplete stream_ended session=s1
invoke_workflow p1: unfinished  <
invoke_agent writer#1: unfinished  < p1
`},
	} {
		t.Run(c.capture, func(t *testing.T) {
			s := newStand(t)
			status, got := s.ask(t, http.MethodGet, execute(c.capture, "s1"), "", nil)
			sent, err := os.ReadFile("testdata/" + c.capture + ".sse")
			if err != nil {
				t.Fatal(err)
			}
			if frames := strings.Count(got, "\n\n"); status != http.StatusOK || frames != strings.Count(string(sent), "\n\n") {
				t.Errorf("the client got %d, %d frames", status, frames)
			}
			if diff := cmp.Diff(strings.TrimPrefix(c.want, "\n"), s.told()); diff != "" {
				t.Error(diff)
			}
			if log := s.log.String(); strings.Contains(log, "secret") {
				t.Errorf("logged: %s", log)
			}
		})
	}
}

// TestResumedStory answers a question on the stream that asked it.
func TestResumedStory(t *testing.T) {
	s := newStand(t)
	if status, answer := s.ask(t, http.MethodPost, "/api/sessions/s1/resume", `{"response":{"approved":true}}`, nil); status != http.StatusNotFound || !strings.Contains(answer, "not interrupted") {
		t.Errorf("nothing waits, and the answer is %d: %s", status, answer)
	}
	s.ask(t, http.MethodGet, execute("server-interrupt", "s1"), "", func(line string) {
		if line == "event: interrupt" {
			if status, answer := s.ask(t, http.MethodPost, "/api/sessions/s1/resume", `{"response":{"approved":true}}`, nil); status != http.StatusOK {
				t.Errorf("%d: %s", status, answer)
			}
		}
	})
	want := `completed  session=s1
invoke_workflow p1: ok  <
invoke_agent review#1: ok  < p1
invoke_agent publish#2: ok  < p1
input review#1 data answered
`
	if diff := cmp.Diff(want, s.told()); diff != "" {
		t.Error(diff)
	}
}

// TestUnansweredStory ends a session that waits: its stream ends without a word.
func TestUnansweredStory(t *testing.T) {
	s := newStand(t)
	s.ask(t, http.MethodGet, execute("server-interrupt", "s1"), "", func(line string) {
		if line == "event: interrupt" {
			s.ask(t, http.MethodDelete, "/api/sessions/s1", "", nil)
		}
	})
	want := `interrupted awaiting_input session=s1
invoke_workflow p1: interrupted  <
invoke_agent review#1: interrupted  < p1
input review#1 data open
`
	if diff := cmp.Diff(want, s.told()); diff != "" {
		t.Error(diff)
	}
}

// TestRefusedStory asks for what there is not: no stream, one run that never was.
func TestRefusedStory(t *testing.T) {
	s := newStand(t)
	if status, answer := s.ask(t, http.MethodGet, "/api/projects/p1/stream?input=flow-loop&session_id=", "", nil); status != http.StatusBadRequest || !strings.Contains(answer, "invalid session_id") {
		t.Errorf("%d: %s", status, answer)
	}
	if told := s.told(); told != "" {
		t.Errorf("observed: %s", told)
	}
}
