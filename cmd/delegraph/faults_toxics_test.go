//go:build linux

package main

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

	"github.com/delegraph/delegraph/test/subprocess"
)

// toxiproxy is Toxiproxy's server: connections go through it and fail as they are told to.
type toxiproxy struct {
	api string // its URL
}

func startToxiproxy(t *testing.T) *toxiproxy {
	t.Helper()
	requireProgram(t, "toxiproxy-server")
	address := vacant(t)
	start(t, subprocess.Command("toxiproxy-server", "-host=127.0.0.1", "-port="+portOf(address)))
	p := &toxiproxy{"http://" + address}
	await(t, func(ctx context.Context) error {
		_, _, err := look(ctx, p.api+"/version")
		return err
	})
	return p
}

// before puts a proxy of that name before an address and returns its own.
func (p *toxiproxy) before(t *testing.T, name, upstream string) (address string) {
	t.Helper()
	address = vacant(t)
	p.tell(t, http.MethodPost, "/proxies", map[string]any{"name": name, "listen": address, "upstream": upstream, "enabled": true})
	return address
}

// toxic is one way to fail.
type toxic struct {
	kind       string // "down" for nobody there
	upstream   bool   // what goes to the server, not what comes from it
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

// cure has all proxies work.
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

// made is how many spans there are of live runs whose times are all known: one for each operation, and one for each request.
func (s *instance) made(ctx context.Context, requests int) (sum float64, err error) {
	sum = float64(requests)
	for _, name := range []string{"gen_ai_invoke_agent_duration_seconds", "gen_ai_execute_tool_duration_seconds", "gen_ai_client_operation_duration_seconds"} {
		n, err := s.scrape(ctx, name)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// distinct is how many spans came: one whose answer was lost comes twice.
func (b *backend) distinct() int {
	received := map[string]bool{}
	for _, s := range b.spans() {
		received[string(s.TraceId)+string(s.SpanId)] = true
	}
	return len(received)
}

// TestFaultBackendToxics has the way to the trace backend fail in each way, amid runs: their clients have every byte, and when the
// way is good again the backend gets every span.
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
				agent, receiver := newRecordedAgent(t), newBackend(t)
				proxy := vacant(t)
				env := receiver.environment(map[string]string{
					"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": protocol, "OTEL_BSP_SCHEDULE_DELAY": "10", "OTEL_BSP_EXPORT_TIMEOUT": "500",
				})
				link := "backend " + protocol + name
				link = strings.NewReplacer(" ", "-", "/", "-").Replace(link)
				env["OTEL_EXPORTER_OTLP_ENDPOINT"] = "http://" + toxics.before(t, link, strings.TrimPrefix(env["OTEL_EXPORTER_OTLP_ENDPOINT"], "http://"))
				car := serveProcess(t, fmt.Sprintf(besides, vacant(t), proxy, agent.Listener.Addr()), env)
				const runs, capture = 10, "adk-go/transfer"
				for n := range runs {
					if n == 1 {
						toxics.add(t, link, x)
					}
					if got := askRun(t, proxy, capture); got.err != nil || !bytes.Equal(got.body, agent.recordings[capture]) {
						t.Errorf("the client got %d bytes of %d: %v", len(got.body), len(agent.recordings[capture]), got.err)
					}
				}
				if x.kind != "slicer" {
					await(t, func(context.Context) error {
						if !strings.Contains(car.log.String(), backendDown) {
							return fmt.Errorf("not told that %s:\n%s", backendDown, car.log)
						}
						return nil
					})
				}
				toxics.cure(t)
				awaitWithin(t, time.Minute, func(ctx context.Context) error {
					made, err := car.made(ctx, runs)
					exported, fault := car.scrape(ctx, "delegraph_spans_exported_total")
					if err = errors.Join(err, fault); err == nil && (exported != made || receiver.distinct() != int(made)) {
						err = fmt.Errorf("of %v spans %v are exported, and the backend has %d", made, exported, receiver.distinct())
					}
					return err
				})
				if dropped := car.count(t, "delegraph_spans_dropped_total"); dropped != 0 {
					t.Errorf("%v spans were dropped", dropped)
				}
			})
		}
	}
}

// TestFaultAgentToxics has the way to an agent fail in each way: a client has what came of the answer, which is all where nothing
// was lost; what was lost is told by the run's status and the counter.
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
			agent, proxy := newRecordedAgent(t), vacant(t)
			link := strings.ReplaceAll("agent "+name, " ", "-")
			car := serveProcess(t, fmt.Sprintf(besides, vacant(t), proxy, toxics.before(t, link, agent.Listener.Addr().String())), nil)
			toxics.add(t, link, c.toxic)
			want := agent.recordings[capture]
			got := askRun(t, proxy, capture)
			switch {
			case c.whole && (got.err != nil || !bytes.Equal(got.body, want)):
				t.Errorf("the client got %d bytes of %d: %v", len(got.body), len(want), got.err)
			case !c.whole && got.status == http.StatusOK && (got.err == nil || !bytes.HasPrefix(want, got.body)):
				t.Errorf("the client got %q, %v", got.body, got.err)
			case !c.whole && got.status != http.StatusOK && got.status != http.StatusBadGateway:
				t.Errorf("the client got %d, %v", got.status, got.err)
			}
			if got.status == http.StatusOK {
				status := map[bool]string{true: "completed", false: "incomplete"}[c.whole]
				car.becomes(t, 1, "delegraph_runs_ended_total", "source", "runs", "status", status)
				if frames := car.count(t, "delegraph_frames_total", "source", "runs"); frames != float64(bytes.Count(got.body, []byte("\n\n"))) {
					t.Errorf("of %d frames %v were observed", bytes.Count(got.body, []byte("\n\n")), frames)
				}
			}
			if broken := car.count(t, "delegraph_source_upstream_errors_total", "source", "runs"); broken > 0 == c.whole {
				t.Errorf("%v answers broken off", broken)
			}
			toxics.cure(t)
			if got := askRun(t, proxy, capture); got.err != nil || !bytes.Equal(got.body, want) {
				t.Errorf("afterwards the client got %d bytes of %d: %v", len(got.body), len(want), got.err)
			}
		})
	}
}

// TestFaultTailToxics cuts each connection of a tail after some bytes, its answer's head included: it comes back until it has all,
// and has nothing twice.
func TestFaultTailToxics(t *testing.T) {
	toxics := startToxiproxy(t)
	address := vacant(t)
	agent := startOrator(t, address)
	between := toxics.before(t, "tail", address)
	toxics.add(t, "tail", toxic{kind: "limit_data", attributes: map[string]any{"bytes": 350}})
	car := serveProcess(t, fmt.Sprintf(besides, vacant(t), vacant(t), between), nil)
	agent.say(t, "retry: 100\n\n")
	for _, frame := range story() {
		agent.say(t, frame)
	}
	car.becomes(t, 1, "delegraph_runs_ended_total", "source", "support", "status", "completed")
	if frames, again := car.count(t, "delegraph_frames_total", "source", "support"), car.count(t, "delegraph_source_reconnects_total"); frames != 6 || again < 2 {
		t.Errorf("%v frames of 6 after %v reconnects", frames, again)
	}
}
