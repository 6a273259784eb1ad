//go:build linux

package faults_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/test/agents/fakeagent"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/loopback"
	"github.com/delegraph/delegraph/test/subprocess"
)

// toxiproxy is a Toxiproxy server. Connections through it fail in configured ways.
type toxiproxy struct {
	api string // the URL of its API
}

func startToxiproxy(t *testing.T) *toxiproxy {
	t.Helper()
	harness.Program(t, "toxiproxy-server", "toxiproxy")
	address := loopback.FreeAddress(t)
	harness.Start(t, subprocess.Command("toxiproxy-server", "-host=127.0.0.1", "-port="+portOf(address)))
	p := &toxiproxy{"http://" + address}
	harness.Await(t, func(ctx context.Context) error {
		_, _, err := harness.Fetch(ctx, p.api+"/version")
		return err
	})
	return p
}

// before adds a proxy in front of an address and returns its own address.
func (p *toxiproxy) before(t *testing.T, name, upstream string) (address string) {
	t.Helper()
	address = loopback.FreeAddress(t)
	p.tell(t, http.MethodPost, "/proxies", map[string]any{"name": name, "listen": address, "upstream": upstream, "enabled": true})
	return address
}

// toxic is a way in which a connection fails.
type toxic struct {
	kind       string // "down" if nothing listens
	upstream   bool   // towards the server instead of from it
	attributes map[string]any
}

func (p *toxiproxy) add(t *testing.T, name string, x toxic) {
	t.Helper()
	direction := map[bool]string{true: "upstream", false: "downstream"}[x.upstream]
	if x.kind == "down" {
		p.tell(t, http.MethodPost, "/proxies/"+name, map[string]any{"enabled": false})
		return
	}
	p.tell(t, http.MethodPost, "/proxies/"+name+"/toxics", map[string]any{"name": "toxic", "type": x.kind, "stream": direction, "attributes": x.attributes})
}

// cure removes all toxics.
func (p *toxiproxy) cure(t *testing.T) {
	t.Helper()
	p.tell(t, http.MethodPost, "/reset", nil)
}

func (p *toxiproxy) tell(t *testing.T, method, path string, body any) {
	t.Helper()
	content, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, p.api+path, bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	r.Close = true
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if said, _ := io.ReadAll(resp.Body); resp.StatusCode >= 300 {
		t.Fatalf("toxiproxy: %s %s: %s", method, path, said)
	}
}

// TestFaultBackendToxics applies each toxic to the connection of the trace backend during runs. Clients get every byte, and the
// backend gets every span once the toxic is removed.
func TestFaultBackendToxics(t *testing.T) {
	toxics := startToxiproxy(t)
	for _, protocol := range []string{"grpc", "http/protobuf"} {
		for name, x := range map[string]toxic{
			"down":                {kind: "down"},
			"takes and is silent": {kind: "timeout", attributes: map[string]any{"timeout": 0}},
			"hears nothing":       {kind: "timeout", upstream: true, attributes: map[string]any{"timeout": 0}},
			"resets":              {kind: "reset_peer", attributes: map[string]any{"timeout": 10}},
			"answers late":        {kind: "latency", attributes: map[string]any{"latency": 30_000}},
			"takes 1 KB a second": {kind: "bandwidth", upstream: true, attributes: map[string]any{"rate": 1}},
			"breaks off":          {kind: "limit_data", upstream: true, attributes: map[string]any{"bytes": 2_000}},
			"takes byte by byte":  {kind: "slicer", upstream: true, attributes: map[string]any{"average_size": 1, "size_variation": 0, "delay": 0}},
		} {
			t.Run(protocol+" "+name, func(t *testing.T) {
				agent, receiver := recorded.NewAgent(t), harness.NewReceiver(t)
				proxy := loopback.FreeAddress(t)
				env := receiver.Environment(map[string]string{
					"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": protocol, "OTEL_BSP_SCHEDULE_DELAY": "10", "OTEL_BSP_EXPORT_TIMEOUT": "500",
				})
				link := "backend " + protocol + name
				link = strings.NewReplacer(" ", "-", "/", "-").Replace(link)
				env["OTEL_EXPORTER_OTLP_ENDPOINT"] = "http://" + toxics.before(t, link, strings.TrimPrefix(env["OTEL_EXPORTER_OTLP_ENDPOINT"], "http://"))
				service := harness.Serve(t, fmt.Sprintf(besides, loopback.FreeAddress(t), proxy, agent.Listener.Addr()), env)
				const runs, capture = 10, "adk-go/transfer"
				for n := range runs {
					if n == 1 {
						toxics.add(t, link, x)
					}
					if got := harness.AskRun(t, proxy, capture); got.Err != nil || !bytes.Equal(got.Body, agent.Recordings[capture]) {
						t.Errorf("the client got %d bytes of %d: %v", len(got.Body), len(agent.Recordings[capture]), got.Err)
					}
				}
				if x.kind != "slicer" {
					harness.Await(t, func(context.Context) error {
						if !strings.Contains(service.Log.String(), harness.BackendDown) {
							return fmt.Errorf("the log lacks %q:\n%s", harness.BackendDown, service.Log)
						}
						return nil
					})
				}
				toxics.cure(t)
				harness.AwaitWithin(t, time.Minute, func(ctx context.Context) error {
					made, err := service.Made(ctx, runs)
					exported, fault := service.Metric(ctx, "delegraph_spans_exported_total")
					if err = errors.Join(err, fault); err == nil && (exported != made || receiver.Distinct() != int(made)) {
						err = fmt.Errorf("of %v spans %v are exported, and the backend has %d", made, exported, receiver.Distinct())
					}
					return err
				})
				if dropped := service.Count(t, "delegraph_spans_dropped_total"); dropped != 0 {
					t.Errorf("%v spans were dropped", dropped)
				}
			})
		}
	}
}

// TestFaultAgentToxics applies each toxic to the connection of an agent. A client gets the part of the response that arrived, and
// losses show in the run's status and in the counter.
func TestFaultAgentToxics(t *testing.T) {
	toxics := startToxiproxy(t)
	for name, c := range map[string]struct {
		toxic
		whole bool
	}{
		"byte by byte":     {toxic{kind: "slicer", attributes: map[string]any{"average_size": 1, "size_variation": 0, "delay": 0}}, true},
		"late":             {toxic{kind: "latency", attributes: map[string]any{"latency": 50, "jitter": 50}}, true},
		"slowly":           {toxic{kind: "bandwidth", attributes: map[string]any{"rate": 100}}, true},
		"closes late":      {toxic{kind: "slow_close", attributes: map[string]any{"delay": 300}}, true},
		"down":             {toxic{kind: "down"}, false},
		"resets":           {toxic{kind: "reset_peer", attributes: map[string]any{"timeout": 0}}, false},
		"breaks off":       {toxic{kind: "limit_data", attributes: map[string]any{"bytes": 1_500}}, false},
		"hears it in part": {toxic{kind: "limit_data", upstream: true, attributes: map[string]any{"bytes": 50}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			const capture = "adk-go/transfer"
			agent, proxy := recorded.NewAgent(t), loopback.FreeAddress(t)
			link := strings.ReplaceAll("agent "+name, " ", "-")
			service := harness.Serve(t, fmt.Sprintf(besides, loopback.FreeAddress(t), proxy, toxics.before(t, link, agent.Listener.Addr().String())), nil)
			toxics.add(t, link, c.toxic)
			want := agent.Recordings[capture]
			got := harness.AskRun(t, proxy, capture)
			switch {
			case c.whole && (got.Err != nil || !bytes.Equal(got.Body, want)):
				t.Errorf("the client got %d bytes of %d: %v", len(got.Body), len(want), got.Err)
			case !c.whole && got.Status == http.StatusOK && (got.Err == nil || !bytes.HasPrefix(want, got.Body)):
				t.Errorf("the client got %q, %v", got.Body, got.Err)
			case !c.whole && got.Status != http.StatusOK && got.Status != http.StatusBadGateway:
				t.Errorf("the client got %d, %v", got.Status, got.Err)
			}
			if got.Status == http.StatusOK {
				status := map[bool]string{true: "completed", false: "incomplete"}[c.whole]
				service.WaitMetric(t, 1, "delegraph_runs_ended_total", "source", "runs", "status", status)
				if frames := service.Count(t, "delegraph_frames_total", "source", "runs"); frames != float64(bytes.Count(got.Body, []byte("\n\n"))) {
					t.Errorf("of %d frames %v were observed", bytes.Count(got.Body, []byte("\n\n")), frames)
				}
			}
			if broken := service.Count(t, "delegraph_source_upstream_errors_total", "source", "runs"); broken > 0 == c.whole {
				t.Errorf("%v answers broken off", broken)
			}
			toxics.cure(t)
			if got := harness.AskRun(t, proxy, capture); got.Err != nil || !bytes.Equal(got.Body, want) {
				t.Errorf("afterwards the client got %d bytes of %d: %v", len(got.Body), len(want), got.Err)
			}
		})
	}
}

// TestFaultTailToxics cuts each connection of a tail after some bytes. The tail reconnects until it has every frame, each once.
func TestFaultTailToxics(t *testing.T) {
	toxics := startToxiproxy(t)
	address := loopback.FreeAddress(t)
	agent := startFakeAgent(t, address)
	between := toxics.before(t, "tail", address)
	toxics.add(t, "tail", toxic{kind: "limit_data", attributes: map[string]any{"bytes": 350}})
	service := harness.Serve(t, fmt.Sprintf(besides, loopback.FreeAddress(t), loopback.FreeAddress(t), between), nil)
	agent.say(t, "retry: 100\n\n")
	for _, frame := range fakeagent.LooopyTurn() {
		agent.say(t, frame)
	}
	service.WaitMetric(t, 1, "delegraph_runs_ended_total", "source", "support", "status", "completed")
	if frames, again := service.Count(t, "delegraph_frames_total", "source", "support"), service.Count(t, "delegraph_source_reconnects_total"); frames != 6 || again < 2 {
		t.Errorf("%v frames of 6 after %v reconnects", frames, again)
	}
}
