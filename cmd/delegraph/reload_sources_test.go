package main

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
)

// freePort is an address that nobody listens on.
func freePort(t *testing.T) string {
	t.Helper()
	l := listen(t)
	defer l.Close()
	return l.Addr().String()
}

// proxied is a configuration of proxies: name, listen, upstream, and so on.
func proxied(sources ...string) string {
	text := "stream: {listen: \"127.0.0.1:0\"}\nsources:\n"
	for i := 0; i < len(sources); i += 3 {
		text += fmt.Sprintf("  - {name: %s, proxy: {listen: %q, upstream: %q}}\n", sources[i], sources[i+1], sources[i+2])
	}
	return text
}

// runs is how many runs of a source have ended, 0 where there is no such source.
func (r *running) runs(t *testing.T, source string) (n int) {
	t.Helper()
	for _, run := range r.Recent.Reports() {
		if run.Source == source {
			n++
		}
	}
	return n
}

// asks has a client ask for a run at an address.
func asks(t *testing.T, address string) gotten {
	t.Helper()
	return post(t, "http://"+strings.TrimPrefix(address, "http://"), adkserver.RunRequest("u", "s", "adk-go/transfer", true), nil)
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
	agent := newRecordedAgent(t)
	a, b, c := freePort(t), freePort(t), freePort(t)
	car := launchOn(t, proxied("one", a, agent.URL, "two", b, agent.URL), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	steps := []struct {
		name    string
		sources []string          // triples
		serve   map[string]string // which source answers at which address; "" nobody
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
		if err := car.change(t, proxied(step.sources...)); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		for address, source := range step.serve {
			if source == "" {
				if !refusedThere(t, address) {
					t.Errorf("%s: somebody listens at %s", step.name, address)
				}
				continue
			}
			before := car.runs(t, source)
			if got := asks(t, address); got.err != nil || got.status != http.StatusOK {
				t.Errorf("%s: status %d, %v", step.name, got.status, got.err)
			}
			await(t, func(context.Context) error {
				if after := car.runs(t, source); after != before+1 {
					return fmt.Errorf("%s: %d runs of %s, %d before", step.name, after, source, before)
				}
				return nil
			})
		}
		var shown []string
		for _, s := range car.Sidecar.Sources.All() {
			shown = append(shown, s.Name)
		}
		for i := 0; i < len(step.sources); i += 3 {
			if name := step.sources[i]; !slices.Contains(shown, name) || len(shown) != len(step.sources)/3 {
				t.Errorf("%s: the page shows %q", step.name, shown)
			}
			if n := car.count(t, "delegraph_source_up", "source", step.sources[i]); n != 1 {
				t.Errorf("%s: delegraph_source_up is %v", step.name, n)
			}
		}
	}
	families, err := car.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "delegraph_source_up" && len(f.GetMetric()) != 1 {
			t.Errorf("of one source, %v", f.GetMetric())
		}
	}
	if n := car.count(t, "delegraph_runs_ended_total", "source", "four"); n != 2 {
		t.Errorf("%v runs of a source that is gone", n)
	}
}

// TestReloadIsAllOrNothing has one source of a configuration take a port that is taken: the others stay what they were, and no
// port of theirs is left open.
func TestReloadIsAllOrNothing(t *testing.T) {
	agent, other := newRecordedAgent(t), newRecordedAgent(t)
	clear(other.recordings) // it answers 404
	taken := listen(t)
	defer taken.Close()
	a, b := freePort(t), freePort(t)
	before := proxied("one", a, agent.URL)
	car := launchOn(t, before, map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	err := car.change(t, proxied("one", a, other.URL, "two", b, agent.URL, "three", taken.Addr().String(), agent.URL))
	if err == nil || !strings.Contains(err.Error(), "source three: listen tcp "+taken.Addr().String()) {
		t.Errorf("error %v", err)
	}
	if n := car.count(t, "delegraph_config_last_reload_successful"); n != 0 {
		t.Errorf("delegraph_config_last_reload_successful is %v", n)
	}
	if !strings.Contains(car.log.String(), `msg="reload failed; the configuration stays as it was" err="source three: listen`) {
		t.Errorf("the log:\n%s", car.log)
	}
	if got := asks(t, a); got.status != http.StatusOK {
		t.Errorf("the source that stays answers %d", got.status)
	}
	if !refusedThere(t, b) {
		t.Error("a port was left open")
	}
	families, err := car.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if strings.Contains(fmt.Sprint(f.GetMetric()), `"two"`) {
			t.Errorf("%s has a series of a source that never was", f.GetName())
		}
	}
	taken.Close()
	if err := car.change(t, proxied("one", a, agent.URL, "two", b, agent.URL, "three", taken.Addr().String(), agent.URL)); err != nil {
		t.Error(err)
	}
	if got := asks(t, taken.Addr().String()); got.status != http.StatusOK {
		t.Errorf("the source that was added answers %d", got.status)
	}
	if n := car.count(t, "delegraph_config_last_reload_successful"); n != 1 {
		t.Errorf("delegraph_config_last_reload_successful is %v", n)
	}
	for _, series := range []string{"delegraph_frames_total", "delegraph_runs_started_total", "delegraph_parse_errors_total"} {
		if n := car.count(t, series, "source", "two"); n != 0 {
			t.Errorf("%s of a source without a request is %v", series, n)
		}
	}
}

// TestReloadRemovesASpeakingSource removes and renames a source in the middle of its stream: the stream ends as what it was, also
// in what its tools are.
func TestReloadRemovesASpeakingSource(t *testing.T) {
	for name, after := range map[string]string{"removed": "another", "renamed": "renamed"} {
		t.Run(name, func(t *testing.T) {
			agent, receiver := newSpeaker(t), newBackend(t)
			address := freePort(t)
			listens := address
			if name == "removed" {
				listens = "127.0.0.1:0"
			}
			tools := strings.NewReplacer("}}", "}, agents_as_tools: [survey]}")
			car := launchOn(t, tools.Replace(proxied("one", address, agent.URL)), receiver.environment(nil))
			got := asking(t, car.address())
			agent.frames <- strings.Replace(finalFrame, "done", "I begin", 1)
			if err := car.change(t, proxied(after, listens, agent.URL)); err != nil {
				t.Fatal(err)
			}
			if refusedThere(t, address) != (name == "removed") {
				t.Error("the port of the source that is gone")
			}
			agent.speak(whole...)
			if a := <-got; a.err != nil || !strings.HasSuffix(string(a.body), strings.Join(whole, "")) {
				t.Errorf("the client got %q, %v", a.body, a.err)
			}
			await(t, func(context.Context) error {
				if n := car.runs(t, "one"); n != 1 {
					return fmt.Errorf("%d runs", n)
				}
				return nil
			})
			if name == "removed" {
				await(t, func(context.Context) error {
					if car.Draining() > 0 {
						return errors.New("the port is still waited for")
					}
					return nil
				})
			}
			if n := car.count(t, "delegraph_runs_open", "source", "one"); n != 0 {
				t.Errorf("%v open runs of a source that is gone", n)
			}
			car.stop()
			for _, spans := range receiver.traces(t) {
				if run := spans.run(t); said(run, "delegraph.source") != "one" || said(run, "delegraph.run.status") != "completed" {
					t.Errorf("the run's span says %v", run.Attributes)
				}
				if tool := spans.one(t, "execute_tool survey"); !strings.Contains(fmt.Sprint(tool.Attributes), "delegraph.tool.is_agent") {
					t.Errorf("a tool that is an agent says %v", tool.Attributes)
				}
			}
		})
	}
}
