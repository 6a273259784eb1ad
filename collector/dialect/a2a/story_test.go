package a2a_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/dialect/a2a"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/test/proxyfixture"
)

// resubscribed is the observed run of a resubscription in the middle of an answer.
const resubscribed = `
completed
invoke_agent : ok  <
artifact other 64 bytes
`

// TestStories checks the runs observed on whole streams, played over HTTP through one proxy.
func TestStories(t *testing.T) {
	for _, c := range []struct{ captures, want string }{
		{"go-sdk-artifact-stream", `
completed
invoke_agent coordinator: ok  <
artifact other 21 bytes
`},
		{"go-sdk-exec-error", `
failed error_frame
invoke_agent coordinator: error agent_error <
`},
		{"go-sdk-input-required", `
interrupted awaiting_input
invoke_agent coordinator: interrupted  <
input clarification open
`},
		{"python-message", `
completed
invoke_agent : ok  <
  confidence 0.8
`},
		{"python-rest-files", `
completed
invoke_agent : ok  <
artifact file 11 bytes
artifact file 0 bytes
artifact data 25 bytes
`},
		{"python-canceled", `
canceled agent_canceled
invoke_agent : unfinished canceled <
artifact other 24 bytes
`},
		{"python-asked python-answered", `
interrupted awaiting_input
invoke_agent : interrupted  <
input clarification open

completed
invoke_agent : ok  <
artifact other 26 bytes
resumes the run before: true
`},
		{"python-resubscribed", resubscribed},
		{"python-rest-resubscribed", resubscribed},
		{"adk-go-streamed-tool", `
completed
invoke_agent coordinator: ok  <
  confidence 0.9
chat : ok  < coordinator 12 in, 6 out
execute_tool get_weather: ok  < coordinator
chat : ok  < coordinator 20 in, 8 out
artifact other 39 bytes
`},
		{"adk-go-transfer", `
completed
invoke_agent coordinator: ok  <
chat : ok  < coordinator 15 in, 3 out
execute_tool transfer_to_agent: ok  < coordinator
invoke_agent expert: ok  < coordinator
  confidence 0.92
chat : ok  < expert 10 in, 5 out
artifact other 64 bytes
`},
		{"adk-go-safety", `
failed error_frame
invoke_agent coordinator: error agent_error <
chat : error model_error < coordinator 9 in, 0 out
`},
		{"adk-python-parallel", `
completed
invoke_agent coordinator: ok  <
chat : ok  < coordinator 12 in, 6 out
execute_tool get_weather: ok  < coordinator
execute_tool get_weather: ok  < coordinator
chat : ok  < coordinator 20 in, 8 out
artifact other 15 bytes
`},
		{"adk-python-failtool", `
completed
invoke_agent coordinator: ok  <
chat : ok  < coordinator 12 in, 6 out
execute_tool broken: error tool_error < coordinator
chat : ok  < coordinator 20 in, 8 out
artifact other 19 bytes
`},
		{"adk-python-extension-asked adk-python-extension-answered", `
interrupted awaiting_input
invoke_agent coordinator: interrupted  <
chat : ok  < coordinator 12 in, 6 out
chat : ok  < coordinator 22 in, 4 out
execute_tool approve: interrupted  < coordinator
input tool open
artifact other 11 bytes
artifact other 19 bytes

completed
invoke_agent coordinator: ok  <
chat : ok  < coordinator 22 in, 4 out
artifact other 19 bytes
resumes the run before: true
`},
	} {
		t.Run(c.captures, func(t *testing.T) {
			s := newFixture(t)
			for _, capture := range strings.Fields(c.captures) {
				sent, err := os.ReadFile("testdata/" + capture + ".sse")
				if err != nil {
					t.Fatal(err)
				}
				if got, want := strings.Count("\n"+play(t, s, capture), "\ndata:"), strings.Count("\n"+string(sent), "\ndata:"); got != want {
					t.Errorf("the client gets %d frames, want %d", got, want)
				}
			}
			if diff := cmp.Diff(strings.TrimPrefix(c.want, "\n"), s.Runs()); diff != "" {
				t.Errorf("the observed runs differ (-want +got):\n%s", diff)
			}
			if log := s.Log(); strings.Contains(log, "case:") {
				t.Errorf("the log has %s, want nothing", log)
			}
		})
	}
}

// newFixture starts a proxy in front of a server that plays recordings.
func newFixture(t *testing.T) *proxyfixture.Fixture {
	t.Helper()
	return proxyfixture.New(t, a2a.Dialect{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		http.ServeFileFS(w, r, os.DirFS("testdata"), r.Header.Get("Play")+".sse")
	}), describe)
}

// play sends the request of a recording and returns the response.
func play(t *testing.T, s *proxyfixture.Fixture, capture string) string {
	t.Helper()
	body, _ := os.ReadFile("testdata/" + capture + ".request.json") // a GET has none
	target := []byte("POST /")
	if recorded, err := os.ReadFile("testdata/" + capture + ".target"); err == nil {
		target = bytes.TrimSpace(recorded)
	}
	method, path, _ := strings.Cut(string(target), " ")
	status, answer := s.Ask(t, method, path, string(body), nil, "Play: "+capture)
	if status != http.StatusOK {
		t.Fatalf("%s: the response is %d", capture, status)
	}
	s.Wait() // the next request may continue this run
	return answer
}

// describe describes a run: one line for the run and one for each of its operations, questions and links.
func describe(r *tracker.Run) string {
	var w strings.Builder
	fmt.Fprintln(&w, strings.TrimSpace(fmt.Sprintln(r.Status, r.Reason)))
	names := map[tracker.SpanID]string{}
	for _, op := range r.Operations {
		names[op.ID] = op.Name
	}
	for _, op := range r.Operations {
		tokens := ""
		if used := op.Response.OrZero().Usage; used.Input.Known {
			tokens = fmt.Sprintf(" %d in, %d out", used.Input.N, used.Output.N)
		}
		fmt.Fprintf(&w, "%s %s: %s%s\n", op.Kind, op.Name, strings.TrimSpace(fmt.Sprintf("%s %s < %s", op.Status, op.Failure, names[op.Parent])), tokens)
		for _, c := range op.Details.OrZero().Confidence {
			fmt.Fprintf(&w, "  confidence %v\n", c.Value)
		}
	}
	for _, in := range r.Inputs {
		fmt.Fprintf(&w, "input %s %s\n", in.Kind, in.Status)
	}
	for _, a := range r.Artifacts {
		fmt.Fprintf(&w, "artifact %s %d bytes\n", a.Kind, a.Bytes.N)
	}
	for _, l := range r.Links {
		fmt.Fprintf(&w, "%s the run before: %t\n", l.Kind, l.Run == r.ID)
	}
	return w.String()
}
