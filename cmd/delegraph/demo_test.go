package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/internal/replay"
	"github.com/delegraph/delegraph/internal/settings"
)

// shownDemo is a demo that runs.
type shownDemo struct {
	*journal
	stop context.CancelFunc
	over chan error
}

// withoutTelemetry has the process tell of itself to nobody.
func withoutTelemetry(t *testing.T) {
	t.Helper()
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "OTEL_") {
			t.Setenv(name, "")
		}
	}
}

// showDemo runs the command of that name until it is stopped, and sees to it that nothing of it is left.
func showDemo(t *testing.T, args ...string) *shownDemo {
	t.Helper()
	before := goleak.IgnoreCurrent()
	ctx, stop := context.WithCancel(context.Background()) // the test's own is over before its cleanups
	d := &shownDemo{&journal{}, stop, make(chan error, 1)}
	go func() {
		d.over <- run(ctx, append([]string{"demo", "--web.listen-address=127.0.0.1:0"}, args...), d.journal, d.journal)
	}()
	t.Cleanup(func() {
		stop()
		if err := <-d.over; err != nil {
			t.Error(err)
		}
		if err := goleak.Find(before); err != nil {
			t.Error(err)
		}
	})
	return d
}

// pages is where its pages are, once they are there.
func (d *shownDemo) pages(t *testing.T) string {
	t.Helper()
	address := d.says(t, `^runs +(http://\S+/) `)
	await(t, func(context.Context) error {
		connection, err := net.Dial("tcp", strings.Trim(address, "htp:/"))
		if err == nil {
			connection.Close()
		}
		return err
	})
	return address
}

// says waits for the demo to say something, and returns what the pattern's group matches.
func (d *shownDemo) says(t *testing.T, pattern string) string {
	t.Helper()
	said := regexp.MustCompile("(?m)" + pattern)
	await(t, func(context.Context) error {
		if !said.MatchString(d.String()) {
			return fmt.Errorf("no %s in %s", pattern, d)
		}
		return nil
	})
	return said.FindStringSubmatch(d.String())[1]
}

// reports are all runs, as the API has them.
func reports(t *testing.T, pages string) (runs []tracker.Report) {
	t.Helper()
	if err := json.Unmarshal([]byte(fetched(t, pages+"api/v1/runs?limit=100")), &runs); err != nil {
		t.Fatal(err)
	}
	return runs
}

// inShort is what a run shows, on one line.
func inShort(r tracker.Report) string {
	var agents, tools []string
	for _, op := range r.Operations {
		switch op.Kind {
		case tracker.InvokeAgent:
			agents = append(agents, text(op.Name))
		case tracker.ExecuteTool:
			tools = append(tools, text(op.Name)+map[tracker.OperationStatus]string{tracker.Error: "!", tracker.OperationInterrupted: "?"}[op.Status])
		}
	}
	slices.Sort(agents)
	slices.Sort(tools)
	line := fmt.Sprintf("%s %s %s: %s; %s", text(r.Session), r.Dialect, r.Status, strings.Join(agents, " "), strings.Join(tools, " "))
	for _, n := range []struct {
		of   int
		what string
	}{{r.ParseErrors, "unreadable"}, {len(r.Inputs), "inputs"}, {r.Internal, "internal"}} {
		if n.of > 0 {
			line += fmt.Sprintf("; %d %s", n.of, n.what)
		}
	}
	for _, x := range r.Transfers {
		line += "; to " + x.To
	}
	for _, a := range r.Artifacts {
		line += "; wrote " + a.Name
	}
	for _, l := range r.Links {
		line += "; " + l.Kind + " " + l.Run
	}
	return line
}

// stories are what the demo shows, each once.
var stories = []string{
	"burned-area-6 a2a completed: coordinator expert; transfer_to_agent; to expert; wrote ",
	"evacuation-notice-5 adkstudio completed: researcher writer; search_roads search_shelters!",
	"fire-briefing-1 adk completed: coordinator; burn_analyst cruising_assistant nepa_advisor nepa_advisor nepa_advisor trail_assessor",
	"fire-briefing-10 adk failed: coordinator; trail_assessor!",
	"fire-briefing-11 adk completed: coordinator; burn_analyst; 2 unreadable",
	"fire-briefing-12 adk completed: coordinator permit_agent; request_permit transfer_to_agent; 1 inputs; to permit_agent",
	"fire-briefing-8 adk interrupted: coordinator; close_trails?; 1 inputs",
	"fire-weather-4 looopy completed: - weather-bot; agent__weather-bot__invoke append_file_chunk append_file_chunk create_data_artifact create_file_artifact get_weather; 2 internal; wrote outlook.md; wrote values",
	"parcels-7 agui completed: burn_analyst imagery parcels trail_assessor; delegate delegate mtbs",
	"tender-analysis-2 deepagents completed: main; ; resumes tender-analysis-2-1",
	"tender-analysis-2 deepagents interrupted: main; request_human_input? search_tender_corpus; 1 inputs",
	"tender-analysis-9 deepagents completed: analyst analyst analyst main; search_tender_corpus search_tender_corpus search_tender_corpus task task task",
}

// TestDemo shows every story once and holds the pages against what it tells. That clients hear exactly what they should, the demo
// sees to itself.
func TestDemo(t *testing.T) {
	withoutTelemetry(t)
	d := showDemo(t, "--speed=1000")
	pages := d.pages(t)
	var got []string
	await(t, func(context.Context) error {
		got = nil
		for _, r := range reports(t, pages) {
			round := regexp.MustCompile(`-(\d+)$`).FindStringSubmatch(text(r.Session))
			if r.Status != tracker.Running && round != nil && (len(round[1]) == 1 || slices.Contains([]string{"10", "11", "12"}, round[1])) {
				got = append(got, inShort(r))
			}
		}
		if len(got) < len(stories) {
			return fmt.Errorf("only %q", got)
		}
		return nil
	})
	slices.Sort(got)
	for i, want := range stories {
		if got[i] != want {
			t.Errorf("story %d is\n%s\nnot\n%s", i, got[i], want)
		}
	}
	page := fetched(t, pages+"metrics")
	for _, want := range settings.DialectNames() {
		if !regexp.MustCompile(`(?m)^delegraph_events_total\{dialect="` + want + `".* [1-9]`).MatchString(page) {
			t.Errorf("no events of the dialect %s are counted", want)
		}
	}
	for _, want := range []string{
		`delegraph_runs_ended_total\{.*status="failed"\}`, `delegraph_runs_ended_total\{.*status="interrupted"\}`,
		`delegraph_parse_errors_total\{dialect="adk",reason="syntax",source="fire-briefing"\}`,
		`delegraph_internal_events_total\{kind="iteration",name="internal:[a-z-]+",source="fire-weather"\}`,
	} {
		if !regexp.MustCompile(`(?m)^` + want + ` [1-9]`).MatchString(page) {
			t.Errorf("nothing is counted as %s", want)
		}
	}
	d.stop()
	d.says(t, `^(\d+ runs · .*completed · .*failed · .*interrupted.* unreadable · \d+ frames internal)$`)
}

// TestDemoStopped stops a demo whose agents speak so slowly that no story would ever be over.
func TestDemoStopped(t *testing.T) {
	withoutTelemetry(t)
	d := showDemo(t, "--speed=1e-6")
	pages := d.pages(t)
	await(t, func(context.Context) error {
		open := map[string]bool{}
		for _, r := range reports(t, pages) {
			open[r.Dialect] = r.Status == tracker.Running
		}
		if len(open) < len(settings.DialectNames()) {
			return fmt.Errorf("only %v are open", open)
		}
		return nil
	})
	d.stop()
	d.says(t, `^(\d+ runs · \d+ canceled)`)
}

// TestDemoOfOwnAgent puts the sidecar in front of an agent that is there, below a path, and takes the path along.
func TestDemoOfOwnAgent(t *testing.T) {
	said, err := os.ReadFile("../../internal/demo/recordings/quota.sse")
	if err != nil {
		t.Fatal(err)
	}
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/base/run_sse" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(said)
	}))
	t.Cleanup(agent.Close)
	withoutTelemetry(t)
	d := showDemo(t, "--agent="+agent.URL+"/base")
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	example := regexp.MustCompile(`curl -N (\S+) -H 'Content-Type: application/json' -d '(.*)'`)
	d.says(t, "("+example.String()+")")
	asked := example.FindStringSubmatch(d.String())
	if proxy := d.says(t, `^proxy +(\S+) `); asked[1] != proxy+"/run_sse" {
		t.Errorf("the example asks at %s, the proxy is at %s", asked[1], proxy)
	}
	resp, err := client.Post(asked[1], "application/json", strings.NewReader(asked[2]))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if heard, err := io.ReadAll(resp.Body); err != nil || !bytes.Equal(heard, said) {
		t.Errorf("%v, %s", err, heard)
	}
	d.says(t, `^(agent +adk +failed .* coordinator)$`)
	runs := reports(t, d.pages(t))
	if len(runs) != 1 || text(runs[0].App) != "APP" || runs[0].Status != tracker.Failed {
		t.Errorf("%d runs: %+v", len(runs), runs)
	}
	if strings.Contains(d.String(), "fire-briefing") {
		t.Errorf("there are recorded agents: %s", d)
	}
	for url, problem := range map[string]string{
		"localhost:8000": "this is not an http or https URL", "": "the value is empty", // as a variable that is not set makes it
	} {
		if err := run(t.Context(), []string{"demo", "--agent=" + url}, io.Discard, io.Discard); err == nil || errors.Is(err, replay.ErrNothing) ||
			err.Error() != `--agent: `+problem+`; give the agent's URL, such as "http://127.0.0.1:8000"` {
			t.Errorf("%q: %v", url, err)
		}
	}
}
