package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/test/agents/adkshapes"
)

// conversed is a request and the stream that answers it.
type conversed struct {
	method, query, body string
	stream              []byte
}

// TestCustomPaths serves agents on paths that no protocol has and no configuration names: the runs continue the caller's trace, have
// their session, and a run that answers what an earlier one asked links to that. DeepAgents has its session only in its own paths. A
// GET on such a path is no part of the caller's trace, since it may go on from run to run.
func TestCustomPaths(t *testing.T) {
	asked := func(server, name string) conversed {
		answer := readAnswered(t, filepath.Join(servers, server, "recordings", name+".http"))
		return conversed{method: answer.request.Method, body: string(answer.asked), stream: answer.body}
	}
	captured := func(dialect, name string) []byte {
		text, err := os.ReadFile("../../collector/dialect/" + dialect + "/testdata/" + name + ".sse")
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for dialect, c := range map[string]struct {
		turns   []conversed
		session string
		resumes bool // the second turn answers what the first asked
	}{
		"a2a":  {[]conversed{capturedTurn(t, "a2a", "python-asked"), capturedTurn(t, "a2a", "python-answered")}, "", true},
		"adk":  {[]conversed{shapeTurn(t, "confirmation"), shapeTurn(t, "confirmation.2")}, shapeSession(t, "confirmation"), true},
		"agui": {[]conversed{asked("langgraph-agui", "asking"), asked("langgraph-agui", "answered")}, "thread-asking", true},
		"looopy": {[]conversed{
			{http.MethodPost, "", `{"contextId":"ctx-input","type":"prompt","prompt":"x"}`, captured("looopy", "input-required")},
			{http.MethodPost, "", `{"contextId":"ctx-input","inputs":[{"inputId":"call_1","value":true}]}`, captured("looopy", "input-resume")},
		}, "ctx-input", false},
		"adkstudio":  {[]conversed{{http.MethodPost, "?session_id=tools-session", "", captured("adkstudio", "server-tools")}}, "tools-session", false},
		"deepagents": {[]conversed{{http.MethodPost, "", `{"message":"x"}`, captured("deepagents", "made-simple")}}, "", false},
	} {
		for _, path := range []string{"/agent", "/run", "/chat", "/jsonrpc"} {
			t.Run(dialect+path, func(t *testing.T) {
				receiver := newBackend(t)
				car := take(t, path, c.turns, receiver)
				runs := car.Recent.Reports()
				if len(runs) != len(c.turns) {
					t.Fatalf("%d runs: %s", len(runs), listRuns(runs))
				}
				linked := 0
				for _, run := range runs {
					if run.Dialect != dialect || c.session != "" && text(run.Session) != c.session {
						t.Errorf("a run of %s in the session %s", run.Dialect, text(run.Session))
					}
					linked += len(run.Links)
				}
				if c.resumes && linked != 1 {
					t.Errorf("%d links", linked)
				}
				traces := receiver.traces(t)
				if len(traces) != 1 || len(traces[callerTrace]) == 0 {
					t.Fatalf("%d traces, and not the caller's alone", len(traces))
				}
				name := c.turns[0].method
				for _, span := range traces[callerTrace] {
					if strings.HasPrefix(span.Name, name) && fmt.Sprintf("%x", span.ParentSpanId) != callerSpan {
						t.Errorf("%s is not below the caller's span", span.Name)
					}
				}
			})
		}
	}
}

// take asks an agent behind a default proxy for the turns, on a path.
func take(t *testing.T, path string, turns []conversed, receiver *backend) *running {
	t.Helper()
	next := 0
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(turns[next].stream)
		next++
	}))
	defer agent.Close()
	car := launch(t, fmt.Sprintf(defaultProxy, agent.URL), receiver.environment(nil))
	for i, turn := range turns {
		request, err := http.NewRequest(turn.method, car.address()+path+turn.query, strings.NewReader(turn.body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header = http.Header{"Traceparent": {sampledCaller}, "Accept": {"text/event-stream"}, "Content-Type": {"application/json"}}
		resp, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || len(bytes.TrimSpace(got)) == 0 {
			t.Fatalf("the client got %q, %v", got, err)
		}
		await(t, func(context.Context) error { // a person answers later than a program
			if ended := car.count(t, "delegraph_runs_ended_total"); ended != float64(i+1) {
				return fmt.Errorf("%g runs have ended", ended)
			}
			return nil
		})
	}
	car.stop()
	return car
}

// capturedTurn returns a dialect's capture with its request.
func capturedTurn(t *testing.T, dialect, name string) conversed {
	t.Helper()
	file := "../../collector/dialect/" + dialect + "/testdata/" + name
	body, err := os.ReadFile(file + ".request.json")
	if err != nil {
		t.Fatal(err)
	}
	stream, err := os.ReadFile(file + ".sse")
	if err != nil {
		t.Fatal(err)
	}
	return conversed{method: http.MethodPost, body: string(body), stream: stream}
}

func shapeRecording(t *testing.T, name string) adkshapes.Recording {
	t.Helper()
	for _, run := range adkshapes.Recordings(t) {
		if run.Version == "2.13" && run.Name == name {
			return run
		}
	}
	t.Fatalf("no recording %s", name)
	return adkshapes.Recording{}
}

func shapeSession(t *testing.T, name string) string {
	t.Helper()
	var said struct{ SessionID string }
	if err := json.Unmarshal(shapeRecording(t, name).Request, &said); err != nil {
		t.Fatal(err)
	}
	return said.SessionID
}

func shapeTurn(t *testing.T, name string) conversed {
	t.Helper()
	run := shapeRecording(t, name)
	var stream bytes.Buffer
	for _, f := range run.Frames {
		fmt.Fprintf(&stream, "data: %s\n\n", f.Data)
	}
	return conversed{method: http.MethodPost, body: string(run.Request), stream: stream.Bytes()}
}
