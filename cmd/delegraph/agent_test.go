package main

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
)

// failingTool is how a run ends in which a tool raises: Python ends the run, JavaScript tells its model.
var failingTool = map[string]string{"python": "failed", "js": "completed"}

// TestRealAgents drives real ADK servers through the sidecar: a client's bytes are the agent's own, and the run is understood.
func TestRealAgents(t *testing.T) {
	for name, start := range map[string]func(testing.TB, *adkserver.FakeModel, ...string) *adkserver.Server{
		"python": adkserver.Python, "js": adkserver.JS,
	} {
		t.Run(name, func(t *testing.T) {
			agent := start(t, adkserver.NewModel(t))
			recorded := record(t, agent.URL)
			car := startSidecar(t, recorded.URL)
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
						got := ask200(t, car, adkserver.RunRequest("u", session, "case:"+c.script, streaming))
						if sent := recorded.last(); !bytes.Equal(got, sent) || len(got) == 0 {
							t.Fatalf("the client got %d bytes, the agent sent %d", len(got), len(sent))
						}
						report := car.Recent.Reports()[0]
						var tools []string
						for _, op := range report.Operations {
							if op.Kind == "execute_tool" {
								tools = append(tools, text(op.Name))
							}
							if op.Status == "ok" && op.Timing != "observed" {
								t.Errorf("%s %s has the timing %s", op.Kind, text(op.Name), op.Timing)
							}
						}
						slices.Sort(tools)
						if string(report.Status) != c.status || !slices.Equal(tools, c.tools) || text(report.Session) != session || text(report.App) != adkserver.App {
							t.Errorf("status %s, tools %v, session %s, app %s\n%s", report.Status, tools, text(report.Session), text(report.App), got)
						}
					})
				}
			}
		})
	}
}

// TestClientLeavesRealAgent has a client that reads each frame of a real agent as soon as the model lets the agent send it, and
// leaves half-way.
func TestClientLeavesRealAgent(t *testing.T) {
	for name, start := range map[string]func(testing.TB, *adkserver.FakeModel, ...string) *adkserver.Server{
		"python": adkserver.Python, "js": adkserver.JS,
	} {
		t.Run(name, func(t *testing.T) {
			model := adkserver.NewModel(t)
			gate := make(chan struct{})
			model.Hold("slow", gate)
			agent := start(t, model)
			car := startSidecar(t, agent.URL)
			agent.CreateSession(t, adkserver.App, "u", "s")
			resp, err := http.Post(car.address()+"/run_sse", "application/json", bytes.NewReader(adkserver.RunRequest("u", "s", "case:slow", true)))
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
			car.Wait()
			close(gate)
			r := car.Recent.Reports()[0]
			if r.Status != "canceled" || text(r.StatusReason) != "client_left" || r.Events < 3 {
				t.Errorf("%s, %s, %d events", r.Status, text(r.StatusReason), r.Events)
			}
		})
	}
}

// oneAgent is a configuration with an agent behind a proxy.
const oneAgent = `
stream: {listen: "127.0.0.1:0"}
sources:
  - name: fire-briefing
    proxy: {listen: "127.0.0.1:0", upstream: "%s"}
    agents_as_tools: [burn_analyst, trail_assessor, cruising_assistant, nepa_advisor]
`

// startSidecar runs a sidecar that exports no traces in front of an agent until the test ends.
func startSidecar(t *testing.T, upstream string) *running {
	t.Helper()
	return launch(t, fmt.Sprintf(oneAgent, upstream), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
}

// text is a name that may be unknown.
func text(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}

// address returns the URL of the first proxy.
func (r *running) address() string { return "http://" + r.Proxies()[0].Addr }

// ask200 posts a run through the sidecar and returns the answer once the run has been observed to its end.
func ask200(t *testing.T, car *running, body []byte) []byte {
	t.Helper()
	resp, err := http.Post(car.address()+"/run_sse", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("status %d: %v\n%s", resp.StatusCode, err, got)
	}
	car.Wait()
	return got
}

// recording stands between sidecar and agent and keeps what the agent sent last.
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
		_ = http.NewResponseController(w).EnableFullDuplex() // else it cuts a stream now and then, as any such proxy does
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
