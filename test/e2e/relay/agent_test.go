package relay_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// failingTool is the status of a run in which a tool raises an exception: Python ends the run, JavaScript reports it to the
// model.
var failingTool = map[string]string{"python": "failed", "js": "completed"}

// TestRealAgents sends requests to real ADK servers through the sidecar: a client gets the agent's exact bytes, and the run is
// observed.
func TestRealAgents(t *testing.T) {
	for name, start := range map[string]func(testing.TB, *adkserver.FakeModel, ...string) *adkserver.Server{
		"python": adkserver.StartPython, "js": adkserver.StartJS,
	} {
		t.Run(name, func(t *testing.T) {
			agent := start(t, adkserver.NewFakeModel(t))
			recorded := record(t, agent.URL)
			service := startSidecar(t, recorded.URL)
			for _, c := range []struct {
				script, status string
				tools          []string
			}{
				{"plain", "completed", nil},
				{"parallel_tools", "completed", []string{"get_time", "get_weather"}},
				{"transfer", "completed", []string{"lookup_invoice", "transfer_to_agent"}},
				{"long_running", "completed", []string{"request_approval"}},
				{"model_error", "failed", nil},
				{"failing_tool", failingTool[name], []string{"failing_tool"}},
			} {
				for _, streaming := range []bool{false, true} {
					t.Run(fmt.Sprint(c.script, " streaming=", streaming), func(t *testing.T) {
						session := fmt.Sprintf("s-%s-%v", c.script, streaming)
						agent.CreateSession(t, adkserver.App, "u", session)
						got := harness.AskOK(t, service, adkserver.RunRequest("u", session, "case:"+c.script, streaming))
						if sent := recorded.last(); !bytes.Equal(got, sent) || len(got) == 0 {
							t.Fatalf("the client got %d bytes, the agent sent %d", len(got), len(sent))
						}
						report := service.Recent.Reports()[0]
						var tools []string
						for _, op := range report.Operations {
							if op.Kind == "execute_tool" {
								tools = append(tools, harness.Text(op.Name))
							}
							if op.Status == "ok" && op.Timing != "observed" {
								t.Errorf("%s %s has the timing %s", op.Kind, harness.Text(op.Name), op.Timing)
							}
						}
						slices.Sort(tools)
						if string(report.Status) != c.status || !slices.Equal(tools, c.tools) || harness.Text(report.Session) != session || harness.Text(report.App) != adkserver.App {
							t.Errorf("status %s, tools %v, session %s, app %s\n%s", report.Status, tools, harness.Text(report.Session), harness.Text(report.App), got)
						}
					})
				}
			}
		})
	}
}

// TestClientLeavesRealAgent uses a client that reads each frame of a real agent as soon as the model lets the agent send it, and
// leaves half-way.
func TestClientLeavesRealAgent(t *testing.T) {
	for name, start := range map[string]func(testing.TB, *adkserver.FakeModel, ...string) *adkserver.Server{
		"python": adkserver.StartPython, "js": adkserver.StartJS,
	} {
		t.Run(name, func(t *testing.T) {
			model := adkserver.NewFakeModel(t)
			gate := make(chan struct{})
			model.GateChunks("slow", gate)
			agent := start(t, model)
			service := startSidecar(t, agent.URL)
			agent.CreateSession(t, adkserver.App, "u", "s")
			resp, err := http.Post(service.Address()+"/run_sse", "application/json", bytes.NewReader(adkserver.RunRequest("u", "s", "case:slow", true)))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			frames := sse.NewReader(resp.Body, 1<<20)
			for i := range 3 {
				gate <- struct{}{}
				if _, err := frames.Next(); err != nil {
					t.Fatalf("frame %d: %v", i, err)
				}
			}
			resp.Body.Close()
			service.Wait()
			close(gate)
			r := service.Recent.Reports()[0]
			if r.Status != "canceled" || harness.Text(r.StatusReason) != "client_left" || r.Events < 3 {
				t.Errorf("%s, %s, %d events", r.Status, harness.Text(r.StatusReason), r.Events)
			}
		})
	}
}

// startSidecar runs a sidecar without a trace exporter in front of an agent until the test ends.
func startSidecar(t *testing.T, upstream string) *harness.Service {
	t.Helper()
	return harness.Launch(t, fmt.Sprintf(harness.OneAgent, upstream), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
}

// recording stands between sidecar and agent and keeps the agent's last response.
type recording struct {
	*httptest.Server
	mu   sync.Mutex
	sent *bytes.Buffer
}

func record(t *testing.T, agent string) *recording {
	t.Helper()
	target, err := url.Parse(agent)
	if err != nil {
		t.Fatal(err)
	}
	r := &recording{sent: &bytes.Buffer{}}
	forward := &httputil.ReverseProxy{
		Rewrite:       func(p *httputil.ProxyRequest) { p.SetURL(target) },
		FlushInterval: -1,
		ModifyResponse: func(resp *http.Response) error {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.sent = &bytes.Buffer{}
			resp.Body = struct {
				io.Reader
				io.Closer
			}{io.TeeReader(resp.Body, r.sent), resp.Body}
			return nil
		},
	}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex() // otherwise it cuts a stream now and then, like any such proxy
		forward.ServeHTTP(w, req)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *recording) last() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sent.Bytes()
}
