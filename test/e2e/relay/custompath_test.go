package relay_test

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
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// recordedTurn is a request and the stream that answers it.
type recordedTurn struct {
	method, query, body string
	stream              []byte
}

// TestCustomPaths serves agents on paths that no protocol defines and no configuration names. The runs continue the caller's
// trace and have their session, and a run that answers a question links to the run that asked. DeepAgents has its session only on
// its own paths. A GET on such a path is not part of the caller's trace, because its stream may go on from run to run.
func TestCustomPaths(t *testing.T) {
	asked := func(server, name string) recordedTurn {
		answer := readAnswered(t, filepath.Join(servers, server, "recordings", name+".http"))
		return recordedTurn{method: answer.request.Method, body: string(answer.asked), stream: answer.body}
	}
	captured := func(dialect, name string) []byte {
		text, err := os.ReadFile("../../../collector/dialect/" + dialect + "/testdata/" + name + ".sse")
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for dialect, c := range map[string]struct {
		turns   []recordedTurn
		session string
		resumes bool // the second turn answers a question of the first
	}{
		"a2a":  {[]recordedTurn{capturedTurn(t, "a2a", "python-asked"), capturedTurn(t, "a2a", "python-answered")}, "", true},
		"adk":  {[]recordedTurn{shapeTurn(t, "confirmation"), shapeTurn(t, "confirmation.2")}, shapeSession(t, "confirmation"), true},
		"agui": {[]recordedTurn{asked("langgraph-agui", "asking"), asked("langgraph-agui", "answered")}, "thread-asking", true},
		"looopy": {[]recordedTurn{
			{http.MethodPost, "", `{"contextId":"ctx-input","type":"prompt","prompt":"x"}`, captured("looopy", "input-required")},
			{http.MethodPost, "", `{"contextId":"ctx-input","inputs":[{"inputId":"call_1","value":true}]}`, captured("looopy", "input-resume")},
		}, "ctx-input", false},
		"adkstudio":  {[]recordedTurn{{http.MethodPost, "?session_id=tools-session", "", captured("adkstudio", "server-tools")}}, "tools-session", false},
		"deepagents": {[]recordedTurn{{http.MethodPost, "", `{"message":"x"}`, captured("deepagents", "made-simple")}}, "", false},
	} {
		for _, path := range []string{"/agent", "/run", "/chat", "/jsonrpc"} {
			t.Run(dialect+path, func(t *testing.T) {
				receiver := harness.NewReceiver(t)
				service := take(t, path, c.turns, receiver)
				runs := service.Recent.Reports()
				if len(runs) != len(c.turns) {
					t.Fatalf("%d runs: %s", len(runs), listRuns(runs))
				}
				linked := 0
				for _, run := range runs {
					if run.Dialect != dialect || c.session != "" && harness.Text(run.Session) != c.session {
						t.Errorf("a run of %s in the session %s", run.Dialect, harness.Text(run.Session))
					}
					linked += len(run.Links)
				}
				if c.resumes && linked != 1 {
					t.Errorf("%d links", linked)
				}
				traces := receiver.Traces(t)
				if len(traces) != 1 || len(traces[harness.CallerTrace]) == 0 {
					t.Fatalf("%d traces, and not the caller's alone", len(traces))
				}
				name := c.turns[0].method
				for _, span := range traces[harness.CallerTrace] {
					if strings.HasPrefix(span.Name, name) && fmt.Sprintf("%x", span.ParentSpanId) != harness.CallerSpan {
						t.Errorf("%s is not below the caller's span", span.Name)
					}
				}
			})
		}
	}
}

// take sends the turns to an agent behind a default proxy, on a path.
func take(t *testing.T, path string, turns []recordedTurn, receiver *harness.Receiver) *harness.Service {
	t.Helper()
	next := 0
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(turns[next].stream)
		next++
	}))
	defer agent.Close()
	service := harness.Launch(t, fmt.Sprintf(defaultProxy, agent.URL), receiver.Environment(nil))
	for i, turn := range turns {
		request, err := http.NewRequest(turn.method, service.Address()+path+turn.query, strings.NewReader(turn.body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header = http.Header{"Traceparent": {harness.SampledCaller}, "Accept": {"text/event-stream"}, "Content-Type": {"application/json"}}
		resp, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || len(bytes.TrimSpace(got)) == 0 {
			t.Fatalf("the client got %q, %v", got, err)
		}
		harness.Await(t, func(context.Context) error { // a person answers later than a program
			if ended := service.Count(t, "delegraph_runs_ended_total"); ended != float64(i+1) {
				return fmt.Errorf("%g runs have ended", ended)
			}
			return nil
		})
	}
	service.Stop()
	return service
}

// capturedTurn returns a dialect's capture with its request.
func capturedTurn(t *testing.T, dialect, name string) recordedTurn {
	t.Helper()
	file := "../../../collector/dialect/" + dialect + "/testdata/" + name
	body, err := os.ReadFile(file + ".request.json")
	if err != nil {
		t.Fatal(err)
	}
	stream, err := os.ReadFile(file + ".sse")
	if err != nil {
		t.Fatal(err)
	}
	return recordedTurn{method: http.MethodPost, body: string(body), stream: stream}
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

func shapeTurn(t *testing.T, name string) recordedTurn {
	t.Helper()
	run := shapeRecording(t, name)
	var stream bytes.Buffer
	for _, f := range run.Frames {
		fmt.Fprintf(&stream, "data: %s\n\n", f.Data)
	}
	return recordedTurn{method: http.MethodPost, body: string(run.Request), stream: stream.Bytes()}
}
