package faults_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/subprocess"
)

// fakeAgent is a process of the program fake-agent.
type fakeAgent struct {
	*harness.Command
	address string
}

// startFakeAgent starts a fake agent that listens at an address. before is shell text in front of the command.
func startFakeAgent(t *testing.T, address string, before ...string) *fakeAgent {
	t.Helper()
	line := strings.Join(before, " ") + ` exec fake-agent "$0"`
	return &fakeAgent{harness.Start(t, subprocess.Command("/bin/sh", "-c", line, address)), address}
}

// say makes the agent send frames on every stream. It waits until the agent answers.
func (s *fakeAgent) say(t *testing.T, words string) {
	t.Helper()
	s.post(t, "/say", words)
}

// end makes the agent end the streams of runs.
func (s *fakeAgent) end(t *testing.T) {
	t.Helper()
	s.post(t, "/over", "")
}

func (s *fakeAgent) post(t *testing.T, path, words string) {
	t.Helper()
	var resp *http.Response
	if err := harness.Retry(func() (err error) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.address+path, strings.NewReader(words))
		if err != nil {
			return err
		}
		r.Close = true
		resp, err = http.DefaultClient.Do(r)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}
