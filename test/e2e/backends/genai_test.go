package backends_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// genaiRun is what a backend shows of a run.
type genaiRun struct {
	Spans         []string // those of operations, each with its kind, name, session and error
	Failed        bool     // the whole trace
	Input, Output int64    // tokens of the whole run
}

// genaiBackend is a running backend for traces of agents.
type genaiBackend struct {
	environment map[string]string // with which Delegraph sends its spans
	show        func(trace, session string) (genaiRun, error)
	page        func(trace string) string // the address of the page of a trace
	kinds       map[tracker.OperationKind]string
}

// TestGenAIBackends sends every capture to a real Phoenix and a real MLflow. It compares the kinds, sessions, errors
// and tokens that they show with the reports of the runs. -update takes the pictures in the documentation.
func TestGenAIBackends(t *testing.T) {
	harness.Slow(t)
	for name, start := range map[string]func(*testing.T) genaiBackend{"phoenix": startPhoenix, "mlflow": startMLflow} {
		t.Run(name, func(t *testing.T) {
			agent := recorded.NewAgent(t)
			backend := start(t)
			service := harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL), backend.environment)
			for i, capture := range agent.Names() {
				session := fmt.Sprint("session-", i)
				harness.AskOK(t, service, fmt.Appendf(nil, `{"appName":"a","userId":"u","sessionId":%q,"streaming":true,"newMessage":{"parts":[{"text":%q}]}}`, session, capture))
				want := backend.expect(service.Recent.Reports()[0])
				trace := strings.Split(agent.Asked[i].Get("traceparent"), "-")[1]
				harness.Await(t, func(context.Context) error {
					got, err := backend.show(trace, session)
					slices.Sort(got.Spans)
					if diff := cmp.Diff(want, got); err == nil && diff != "" {
						err = fmt.Errorf("%s (-want +shown):\n%s", capture, diff)
					}
					return err
				})
			}
			if *harness.Update {
				agent.Fault = answerSlowly
				harness.AskOK(t, service, []byte(`{"appName":"coordinator","userId":"u","sessionId":"fire-briefing","streaming":true,"newMessage":{"parts":[{"text":"fault"}]}}`))
				trace := strings.Split(agent.Asked[len(agent.Asked)-1].Get("traceparent"), "-")[1]
				takePicture(t, backend.page(trace), "../../../docs/pictures/"+name+".png")
			}
		})
	}
}

// expect returns what the backend is to show of a run.
func (b genaiBackend) expect(r tracker.Report) genaiRun {
	want := genaiRun{Failed: r.Status == tracker.Failed || r.Status == tracker.TimedOut}
	for _, op := range r.Operations {
		want.Spans = append(want.Spans, genaiSpan(b.kinds[op.Kind], spanName(op), harness.Text(r.Session), op.Status == tracker.OperationError, harness.Text(op.Error)))
	}
	slices.Sort(want.Spans)
	if r.Usage.Input != nil {
		want.Input = *r.Usage.Input
	}
	if r.Usage.Output != nil {
		want.Output = *r.Usage.Output
	}
	return want
}

func genaiSpan(kind, name, session string, failed bool, message string) string {
	if !failed {
		message = "no error"
	}
	return fmt.Sprintf("%s %q in %s: %s", kind, name, session, message)
}

// answerSlowly answers with the recording that the pictures in the documentation show.
func answerSlowly(w http.ResponseWriter, _ *http.Request) {
	recording, err := os.ReadFile("../../../internal/demo/recordings/fire-briefing.sse")
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, frame := range bytes.SplitAfter(recording, []byte("\n\n")) {
		_, _ = w.Write(frame)
		_ = http.NewResponseController(w).Flush()
		time.Sleep(100 * time.Millisecond)
	}
}

// takePicture takes a screenshot of a page that shows a trace.
func takePicture(t *testing.T, url, file string) {
	t.Helper()
	path, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), harness.Program(t, "node", "readers"), "picture.mjs", harness.Program(t, "chromium", "readers"), url, path, "execute_tool burn", "invoke_agent coordinator")
	command.Dir = harness.ReaderScripts(t)
	if said, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", url, err, said)
	}
}

// fetchJSON decodes the answer to a GET request.
func fetchJSON(url string, into any) error {
	status, body, err := harness.Request(http.MethodGet, url, "")
	if err != nil {
		return err
	}
	if !strings.HasPrefix(status, "200") {
		return fmt.Errorf("%s: %s: %s", url, status, body)
	}
	return json.Unmarshal([]byte(body), into)
}
