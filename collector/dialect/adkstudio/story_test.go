package adkstudio_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/dialect/adkstudio"
	"github.com/delegraph/delegraph/collector/dialect/adkstudio/studioserver"
	"github.com/delegraph/delegraph/test/proxyfixture"
)

// executionRequest returns the request for an execution. It contains secrets.
func executionRequest(input, session string) string {
	return "/api/projects/p1/stream?input=" + input + "&session_id=" + session + "&api_key=secret-key&binary_path=%2Fsecret%2Fflow"
}

// TestStories checks the runs observed on whole executions, played over HTTP.
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
			s := newFixture(t)
			status, got := s.Ask(t, http.MethodGet, executionRequest(c.capture, "s1"), "", nil)
			sent, err := os.ReadFile("testdata/" + c.capture + ".sse")
			if err != nil {
				t.Fatal(err)
			}
			if frames := strings.Count(got, "\n\n"); status != http.StatusOK || frames != strings.Count(string(sent), "\n\n") {
				t.Errorf("the client gets the status %d and %d frames", status, frames)
			}
			if diff := cmp.Diff(strings.TrimPrefix(c.want, "\n"), s.Runs()); diff != "" {
				t.Errorf("the observed runs differ (-want +got):\n%s", diff)
			}
			if log := s.Log(); strings.Contains(log, "secret") {
				t.Errorf("the log has %s, want nothing", log)
			}
		})
	}
}

// TestResumedStory checks a question that is answered while its stream is open.
func TestResumedStory(t *testing.T) {
	s := newFixture(t)
	if status, answer := s.Ask(t, http.MethodPost, "/api/sessions/s1/resume", `{"response":{"approved":true}}`, nil); status != http.StatusNotFound || !strings.Contains(answer, "not interrupted") {
		t.Errorf("an answer without a question gets %d: %s, want 404", status, answer)
	}
	s.Ask(t, http.MethodGet, executionRequest("server-interrupt", "s1"), "", func(line string) {
		if line == "event: interrupt" {
			if status, answer := s.Ask(t, http.MethodPost, "/api/sessions/s1/resume", `{"response":{"approved":true}}`, nil); status != http.StatusOK {
				t.Errorf("the answer gets %d: %s, want 200", status, answer)
			}
		}
	})
	want := `completed  session=s1
invoke_workflow p1: ok  <
invoke_agent review#1: ok  < p1
invoke_agent publish#2: ok  < p1
input review#1 data answered
`
	if diff := cmp.Diff(want, s.Runs()); diff != "" {
		t.Errorf("the observed runs differ (-want +got):\n%s", diff)
	}
}

// TestUnansweredStory checks a session that is deleted while it waits for an answer.
func TestUnansweredStory(t *testing.T) {
	s := newFixture(t)
	s.Ask(t, http.MethodGet, executionRequest("server-interrupt", "s1"), "", func(line string) {
		if line == "event: interrupt" {
			s.Ask(t, http.MethodDelete, "/api/sessions/s1", "", nil)
		}
	})
	want := `interrupted awaiting_input session=s1
invoke_workflow p1: interrupted  <
invoke_agent review#1: interrupted  < p1
input review#1 data open
`
	if diff := cmp.Diff(want, s.Runs()); diff != "" {
		t.Errorf("the observed runs differ (-want +got):\n%s", diff)
	}
}

// TestRejectedRequest checks that no run is observed if the server rejects the request.
func TestRejectedRequest(t *testing.T) {
	s := newFixture(t)
	if status, answer := s.Ask(t, http.MethodGet, "/api/projects/p1/stream?input=flow-loop&session_id=", "", nil); status != http.StatusBadRequest || !strings.Contains(answer, "invalid session_id") {
		t.Errorf("the response is %d: %s, want 400", status, answer)
	}
	if runs := s.Runs(); runs != "" {
		t.Errorf("the observed runs are %s, want none", runs)
	}
}

// newFixture starts a proxy in front of a server that plays recordings.
func newFixture(t *testing.T) *proxyfixture.Fixture {
	t.Helper()
	return proxyfixture.New(t, adkstudio.Dialect{}, studioserver.New(os.DirFS("testdata")), proxyfixture.Describe)
}
