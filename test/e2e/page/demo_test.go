package page_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/internal/command"
	"github.com/delegraph/delegraph/internal/replay"
	"github.com/delegraph/delegraph/internal/settings"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/schema"
)

// withoutTelemetry turns off the telemetry of the process.
func withoutTelemetry(t *testing.T) {
	t.Helper()
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "OTEL_") {
			t.Setenv(name, "")
		}
	}
}

// reports returns all runs from the API.
func reports(t *testing.T, pages string) (runs []tracker.Report) {
	t.Helper()
	if err := json.Unmarshal([]byte(fetchBody(t, pages+"api/v1/runs?limit=100")), &runs); err != nil {
		t.Fatal(err)
	}
	return runs
}

// summarize formats a run on one line.
func summarize(r tracker.Report) string {
	var agents, tools []string
	for _, op := range r.Operations {
		switch op.Kind {
		case tracker.InvokeAgent:
			agents = append(agents, harness.Text(op.Name))
		case tracker.ExecuteTool:
			tools = append(tools, harness.Text(op.Name)+map[tracker.OperationStatus]string{tracker.OperationError: "!", tracker.OperationInterrupted: "?"}[op.Status])
		}
	}
	slices.Sort(agents)
	slices.Sort(tools)
	line := fmt.Sprintf("%s %s %s: %s; %s", harness.Text(r.Session), r.Dialect, r.Status, strings.Join(agents, " "), strings.Join(tools, " "))
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
		line += "; " + l.Kind + " " + harness.Text(l.Run)
	}
	return line
}

// stories are the runs that the demo shows, each once.
var stories = []string{
	"air-15 langgraph completed: air_desk smoke_expert; smoke task",
	"burned-area-6 a2a completed: coordinator expert; transfer_to_agent; to expert; wrote ",
	"evacuation-notice-5 adkstudio completed: researcher writer; search_roads search_shelters!",
	"field-report-16 adk completed: editor planner slope_survey surveys trail_survey; ",
	"fire-briefing-1 adk completed: coordinator; burn_analyst cruising_assistant nepa_advisor nepa_advisor nepa_advisor trail_assessor",
	"fire-briefing-10 adk failed: coordinator; trail_assessor!",
	"fire-briefing-11 adk completed: coordinator; burn_analyst; 2 unreadable",
	"fire-briefing-12 adk completed: coordinator permit_agent; request_permit transfer_to_agent; 1 inputs; to permit_agent",
	"fire-briefing-8 adk interrupted: coordinator; close_trails?; 1 inputs",
	"fire-weather-4 looopy completed: - weather-bot; agent__weather-bot__invoke append_file_chunk append_file_chunk create_data_artifact create_file_artifact get_weather; 2 internal; wrote outlook.md; wrote values",
	"parcels-7 agui completed: burn_analyst imagery parcels trail_assessor; delegate delegate mtbs",
	"shelters-13 aisdk completed: shelters; count_beds count_beds",
	"supplies-14 openai completed: dispatcher quartermaster; transfer_to_quartermaster; to quartermaster",
	"tender-analysis-2 deepagents completed: main; ; resumes tender-analysis-2-1",
	"tender-analysis-2 deepagents interrupted: main; request_human_input? search_tender_corpus; 1 inputs",
	"tender-analysis-9 deepagents completed: analyst analyst analyst main; search_tender_corpus search_tender_corpus search_tender_corpus task task task",
}

// TestDemo runs every story once and compares it with the pages. The demo itself checks what its clients get.
func TestDemo(t *testing.T) {
	withoutTelemetry(t)
	d := harness.StartDemo(t, "--speed=1000")
	pages := d.URL(t)
	var got []string
	harness.Await(t, func(context.Context) error {
		got = nil
		for _, r := range reports(t, pages) {
			round := regexp.MustCompile(`-(\d+)$`).FindStringSubmatch(harness.Text(r.Session))
			if r.Status != tracker.Running && round != nil && (len(round[1]) == 1 || slices.Contains([]string{"10", "11", "12", "13", "14", "15", "16"}, round[1])) {
				got = append(got, summarize(r))
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
	matchSchema(t, fetchBody(t, pages+"api/v1/runs?limit=100"))
	page := fetchBody(t, pages+"metrics")
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
	d.Stop()
	d.WaitOutput(t, `^(\d+ runs · .*completed · \d+ failed \(RESOURCE_EXHAUSTED\) · .*interrupted.* unreadable · \d+ frames internal)$`)
}

// matchSchema checks that the runs of the API match the published schema, which is that of replay.
func matchSchema(t *testing.T, runs string) {
	t.Helper()
	published, err := schema.Read("../../../docs/reference/replay.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	published["oneOf"] = []any{map[string]any{"$ref": "#/$defs/Run"}}
	var all []any
	if err := json.Unmarshal([]byte(runs), &all); err != nil {
		t.Fatal(err)
	}
	for _, run := range all {
		if fault := schema.Check(published, run); fault != "" {
			t.Errorf("%s: %v", fault, run)
		}
	}
}

// TestDemoStopped stops a demo whose agents are too slow for any story to end.
func TestDemoStopped(t *testing.T) {
	withoutTelemetry(t)
	d := harness.StartDemo(t, "--speed=1e-6")
	pages := d.URL(t)
	harness.Await(t, func(context.Context) error {
		open := map[string]bool{}
		for _, r := range reports(t, pages) {
			open[r.Dialect] = r.Status == tracker.Running
		}
		if len(open) < len(settings.DialectNames()) {
			return fmt.Errorf("only %v are open", open)
		}
		return nil
	})
	d.Stop()
	d.WaitOutput(t, `^(\d+ runs · \d+ canceled)`)
}

// TestDemoOfOwnAgent starts the demo in front of a running agent below a path, which is kept.
func TestDemoOfOwnAgent(t *testing.T) {
	said, err := os.ReadFile("../../../internal/demo/recordings/quota.sse")
	if err != nil {
		t.Fatal(err)
	}
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method + " " + r.URL.Path {
		case "GET /base/list-apps":
			_, _ = io.WriteString(w, `["APP"]`)
		case "POST /base/apps/APP/users/me/sessions":
			_, _ = io.WriteString(w, `{"id": "s-1"}`)
		case "POST /base/run_sse":
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write(said)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(agent.Close)
	withoutTelemetry(t)
	d := harness.StartDemo(t, "--agent="+agent.URL+"/base")
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	example := regexp.MustCompile(`curl -N '(\S+)' -H 'Content-Type: application/json' -d '(.*)'`)
	d.WaitOutput(t, "("+example.String()+")")
	asked := example.FindStringSubmatch(d.String())
	if proxy := d.WaitOutput(t, `^proxy +(\S+) `); asked[1] != proxy+"/run_sse" {
		t.Errorf("the example asks at %s, the proxy is at %s", asked[1], proxy)
	}
	if page := fetchBody(t, d.URL(t)); !strings.Contains(page, html.EscapeString(asked[0])) {
		t.Errorf("the page does not show the example: %s", page)
	}
	resp, err := client.Post(asked[1], "application/json", strings.NewReader(asked[2]))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if heard, err := io.ReadAll(resp.Body); err != nil || !bytes.Equal(heard, said) {
		t.Errorf("%v, %s", err, heard)
	}
	d.WaitOutput(t, `^(agent +adk +failed .* coordinator · RESOURCE_EXHAUSTED)$`)
	runs := reports(t, d.URL(t))
	if len(runs) != 1 || harness.Text(runs[0].App) != "APP" || runs[0].Status != tracker.Failed {
		t.Errorf("%d runs: %+v", len(runs), runs)
	}
	if strings.Contains(d.String(), "fire-briefing") {
		t.Errorf("there are recorded agents: %s", d)
	}
	for url, problem := range map[string]string{
		"localhost:8000": "this is not an http or https URL", "": "the value is empty", // like a variable that is not set
	} {
		if err := command.Run(t.Context(), []string{"demo", "--agent=" + url}, io.Discard, io.Discard); err == nil || errors.Is(err, replay.ErrNotReplayed) ||
			err.Error() != `--agent: `+problem+`; give the agent's URL, such as "http://127.0.0.1:8000"` {
			t.Errorf("%q: %v", url, err)
		}
	}
}
