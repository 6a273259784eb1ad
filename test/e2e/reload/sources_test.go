package reload_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
	"github.com/delegraph/delegraph/test/agents/fakeagent"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/loopback"
)

// proxied returns a configuration of proxies from names, addresses and upstreams.
func proxied(sources ...string) string {
	text := "stream: {listen: \"127.0.0.1:0\"}\nsources:\n"
	for i := 0; i < len(sources); i += 3 {
		text += fmt.Sprintf("  - {name: %s, proxy: {listen: %q, upstream: %q}}\n", sources[i], sources[i+1], sources[i+2])
	}
	return text
}

// askAt starts a run at an address.
func askAt(t *testing.T, address string) harness.Response {
	t.Helper()
	return harness.Post(t, "http://"+strings.TrimPrefix(address, "http://"), adkserver.RunRequest("u", "s", "adk-go/transfer", true), nil)
}

func refusedThere(t *testing.T, address string) bool {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err == nil {
		conn.Close()
	}
	return err != nil
}

// TestReloadOfPorts moves sources between ports, and ports between sources.
func TestReloadOfPorts(t *testing.T) {
	agent := recorded.NewAgent(t)
	a, b, c := loopback.FreeAddress(t), loopback.FreeAddress(t), loopback.FreeAddress(t)
	service := harness.LaunchFile(t, proxied("one", a, agent.URL, "two", b, agent.URL), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	steps := []struct {
		name    string
		sources []string          // triples
		serve   map[string]string // the source that answers at each address; "" if none does
	}{
		{"the same", []string{"one", a, agent.URL, "two", b, agent.URL}, map[string]string{a: "one", b: "two", c: ""}},
		{"added", []string{"one", a, agent.URL, "two", b, agent.URL, "three", c, agent.URL}, map[string]string{a: "one", b: "two", c: "three"}},
		{"removed", []string{"one", a, agent.URL, "two", b, agent.URL}, map[string]string{a: "one", b: "two", c: ""}},
		{"added again", []string{"one", a, agent.URL, "two", b, agent.URL, "three", c, agent.URL}, map[string]string{a: "one", b: "two", c: "three"}},
		{"exchanged", []string{"one", b, agent.URL, "two", a, agent.URL, "three", c, agent.URL}, map[string]string{a: "two", b: "one", c: "three"}},
		{"renamed", []string{"four", b, agent.URL, "two", a, agent.URL, "three", c, agent.URL}, map[string]string{a: "two", b: "four", c: "three"}},
		{"in another order", []string{"three", c, agent.URL, "two", a, agent.URL, "four", b, agent.URL}, map[string]string{a: "two", b: "four", c: "three"}},
		{"moved", []string{"two", c, agent.URL}, map[string]string{a: "", b: "", c: "two"}},
	}
	for _, step := range steps {
		if err := service.Change(t, proxied(step.sources...)); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		for address, source := range step.serve {
			if source == "" {
				if !refusedThere(t, address) {
					t.Errorf("%s: something listens at %s", step.name, address)
				}
				continue
			}
			before := service.Runs(t, source)
			if got := askAt(t, address); got.Err != nil || got.Status != http.StatusOK {
				t.Errorf("%s: status %d, %v", step.name, got.Status, got.Err)
			}
			harness.Await(t, func(context.Context) error {
				if after := service.Runs(t, source); after != before+1 {
					return fmt.Errorf("%s: %d runs of %s, %d before", step.name, after, source, before)
				}
				return nil
			})
		}
		var shown []string
		for _, s := range service.Sidecar.Sources.All() {
			shown = append(shown, s.Name)
		}
		for i := 0; i < len(step.sources); i += 3 {
			if name := step.sources[i]; !slices.Contains(shown, name) || len(shown) != len(step.sources)/3 {
				t.Errorf("%s: the page shows %q", step.name, shown)
			}
			if n := service.Count(t, "delegraph_source_up", "source", step.sources[i]); n != 1 {
				t.Errorf("%s: delegraph_source_up is %v", step.name, n)
			}
		}
	}
	families, err := service.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "delegraph_source_up" && len(f.GetMetric()) != 1 {
			t.Errorf("series of the source: %v", f.GetMetric())
		}
	}
	if n := service.Count(t, "delegraph_runs_ended_total", "source", "four"); n != 2 {
		t.Errorf("%v runs of a removed source", n)
	}
}

// TestReloadIsAllOrNothing reloads a configuration with one port that is in use. All sources stay as they were, and no new port
// is left open.
func TestReloadIsAllOrNothing(t *testing.T) {
	agent, other := recorded.NewAgent(t), recorded.NewAgent(t)
	clear(other.Recordings) // it answers 404
	taken := loopback.Listen(t)
	defer taken.Close()
	a, b := loopback.FreeAddress(t), loopback.FreeAddress(t)
	before := proxied("one", a, agent.URL)
	service := harness.LaunchFile(t, before, map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	err := service.Change(t, proxied("one", a, other.URL, "two", b, agent.URL, "three", taken.Addr().String(), agent.URL))
	if err == nil || !strings.Contains(err.Error(), "source three: listen tcp "+taken.Addr().String()) {
		t.Errorf("error %v", err)
	}
	if n := service.Count(t, "delegraph_config_last_reload_successful"); n != 0 {
		t.Errorf("delegraph_config_last_reload_successful is %v", n)
	}
	if !strings.Contains(service.Log.String(), `msg="reload failed; the configuration stays as it was" err="source three: listen`) {
		t.Errorf("the log:\n%s", service.Log)
	}
	if got := askAt(t, a); got.Status != http.StatusOK {
		t.Errorf("the source that stays answers %d", got.Status)
	}
	if !refusedThere(t, b) {
		t.Error("a port was left open")
	}
	families, err := service.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if strings.Contains(fmt.Sprint(f.GetMetric()), `"two"`) {
			t.Errorf("%s has a series of a source that was never added", f.GetName())
		}
	}
	taken.Close()
	if err := service.Change(t, proxied("one", a, agent.URL, "two", b, agent.URL, "three", taken.Addr().String(), agent.URL)); err != nil {
		t.Error(err)
	}
	if got := askAt(t, taken.Addr().String()); got.Status != http.StatusOK {
		t.Errorf("the source that was added answers %d", got.Status)
	}
	if n := service.Count(t, "delegraph_config_last_reload_successful"); n != 1 {
		t.Errorf("delegraph_config_last_reload_successful is %v", n)
	}
	for _, series := range []string{"delegraph_frames_total", "delegraph_runs_started_total", "delegraph_parse_errors_total"} {
		if n := service.Count(t, series, "source", "two"); n != 0 {
			t.Errorf("%s of a source without a request is %v", series, n)
		}
	}
}

// TestReloadRemovesASpeakingSource removes or renames a source within its stream. The stream ends under its old name, with its
// old settings.
func TestReloadRemovesASpeakingSource(t *testing.T) {
	for name, after := range map[string]string{"removed": "another", "renamed": "renamed"} {
		t.Run(name, func(t *testing.T) {
			agent, receiver := newSpeaker(t), harness.NewReceiver(t)
			address := loopback.FreeAddress(t)
			listens := address
			if name == "removed" {
				listens = "127.0.0.1:0"
			}
			tools := strings.NewReplacer("}}", "}, agents_as_tools: [survey]}")
			service := harness.LaunchFile(t, tools.Replace(proxied("one", address, agent.URL)), receiver.Environment(nil))
			got := startRun(t, service.Address())
			agent.frames <- strings.Replace(fakeagent.FinalFrame, "done", "I begin", 1)
			if err := service.Change(t, proxied(after, listens, agent.URL)); err != nil {
				t.Fatal(err)
			}
			if refusedThere(t, address) != (name == "removed") {
				t.Error("the port of the removed source is open")
			}
			agent.speak(whole...)
			if a := <-got; a.Err != nil || !strings.HasSuffix(string(a.Body), strings.Join(whole, "")) {
				t.Errorf("the client got %q, %v", a.Body, a.Err)
			}
			harness.Await(t, func(context.Context) error {
				if n := service.Runs(t, "one"); n != 1 {
					return fmt.Errorf("%d runs", n)
				}
				return nil
			})
			if name == "removed" {
				harness.Await(t, func(context.Context) error {
					if service.Draining() > 0 {
						return errors.New("the port is still open")
					}
					return nil
				})
			}
			if n := service.Count(t, "delegraph_runs_open", "source", "one"); n != 0 {
				t.Errorf("%v open runs of a removed source", n)
			}
			service.Stop()
			for _, spans := range receiver.Traces(t) {
				if run := spans.Run(t); harness.Attribute(run, "delegraph.source") != "one" || harness.Attribute(run, "delegraph.run.status") != "completed" {
					t.Errorf("the run's span says %v", run.Attributes)
				}
				if tool := spans.One(t, "execute_tool survey"); !strings.Contains(fmt.Sprint(tool.Attributes), "delegraph.tool.is_agent") {
					t.Errorf("a tool that is an agent says %v", tool.Attributes)
				}
			}
		})
	}
}
