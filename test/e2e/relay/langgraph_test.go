package relay_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/test/component"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// TestLangGraph runs LangGraph's SDK against its server, directly and through a default proxy, in every stream mode.
// The SDK must get the same answers. The telemetry of each run must match what LangChain's own tracer recorded inside
// the server.
func TestLangGraph(t *testing.T) {
	const server = "langgraph-dev"
	harness.Slow(t)
	home := harness.ServersHome(t)
	if !harness.IsInstalled(t, home, server) {
		component.Missing(t, "no "+server+" in "+home+": run .ci/install/servers "+server)
	}
	traces := filepath.Join(t.TempDir(), "traces")
	t.Setenv("TRACE_FILE", traces)
	agent := harness.ServeReal(t, home, server)
	client := newClient(t, "langgraph.py", filepath.Join(home, server))
	direct := client(agent)
	before, err := os.ReadFile(traces)
	if err != nil {
		t.Fatal(err)
	}
	service := harness.Launch(t, fmt.Sprintf(defaultProxy, agent), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	external := readExternal(t, service)
	if difference := firstDifference(direct, client(service.Address())); difference != "" {
		t.Error(difference)
	}
	service.Stop()
	checkUntold(t, "the external stream", <-external)
	if errors := service.Count(t, "delegraph_parse_errors_total"); errors > 0 {
		t.Errorf("%g parse errors", errors)
	}
	after, err := os.ReadFile(traces)
	if err != nil {
		t.Fatal(err)
	}
	own := map[string]tracedRun{}
	for line := range bytes.Lines(bytes.TrimPrefix(after, before)) {
		var run tracedRun
		if err := json.Unmarshal(line, &run); err != nil {
			t.Fatal(err)
		}
		own[run.ID] = run
	}
	reports := service.Recent.Reports()
	if len(reports) != len(own) {
		t.Errorf("%d runs: %s\nthe server's tracer saw %d", len(reports), listRuns(reports), len(own))
	}
	for _, ours := range reports {
		is, known := own[harness.Text(ours.Run)]
		if !known {
			t.Errorf("the server's tracer saw no run %s", harness.Text(ours.Run))
			continue
		}
		want, got := is.describe(), describe(ours)
		if is.Name == "swarm" || is.Name == "supervisor" {
			want, got = withoutHandoffs(want), withoutHandoffs(got)
		}
		if got != want {
			t.Errorf("a run of %s is\n%s\nthe server's tracer saw\n%s", is.Name, got, want)
		}
		if is.Name == retrieving {
			checkChatStart(t, is, ours)
		}
	}
}

// TestLangGraphPublic asks a LangGraph server through a public relay, in every stream mode.
func TestLangGraphPublic(t *testing.T) {
	const server = "langgraph-dev"
	harness.Slow(t)
	home := harness.ServersHome(t)
	if !harness.IsInstalled(t, home, server) {
		component.Missing(t, "no "+server+" in "+home+": run .ci/install/servers "+server)
	}
	var bodies []string
	for _, say := range []string{`call weather {\"city\":\"Rome\"} & call weather {\"city\":\"Oslo\"}\nSunny in both.`, `call broken {\"reason\":\"rain\"}`, `think aloud`, `fail`} {
		for _, modes := range []string{`"values"`, `"messages"`, `"messages-tuple","updates","custom","tasks","checkpoints","debug","events"`} {
			bodies = append(bodies, fmt.Sprintf(`{"assistant_id":"tools","stream_subgraphs":true,"stream_mode":[%s],"input":{"messages":[{"role":"user","content":"%s"}]}}`, modes, say))
		}
	}
	checkPublic(t, harness.ServeReal(t, home, server), "/runs/stream", bodies, "Sunny in both.", `"weather"`)
}

// tracedRun is a run of LangChain's tracer, and what ran in it: see trace_file.py.
type tracedRun struct {
	ID, Kind, Name, Agent, Error string
	Began                        time.Time
	Tokens                       []int64
	Children                     []tracedRun
}

// describe returns a run's status, its tokens, and the tree of its agents, tools and models.
func (r tracedRun) describe() string {
	var input, output int64
	interrupted := false
	r.visit(func(one tracedRun) {
		interrupted = interrupted || one.Error == "GraphInterrupt"
		if len(one.Tokens) == 2 {
			input, output = input+one.Tokens[0], output+one.Tokens[1]
		}
	})
	status := tracker.Completed
	switch {
	case interrupted:
		status = tracker.Interrupted
	case r.Error != "":
		status = tracker.Failed
	}
	return summary(status, r.Error, input, output, r.tree())
}

// withoutHandoffs returns a description without the tree, and without the agent that hands control over: the tracer has its target beside
// it, we have it below, and not each stream mode names it.
func withoutHandoffs(description string) string {
	var lines []string
	for line := range strings.Lines(description) {
		if line = strings.TrimSpace(line); line != "agent coordinator" {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// retrieving is a graph with a node that works for 300 ms before it asks its model.
const retrieving = "retrieving"

// checkChatStart checks that the model of that graph counts as asked when LangChain's tracer saw it asked, not when its node began.
func checkChatStart(t *testing.T, is tracedRun, ours tracker.Report) {
	var began time.Time
	is.visit(func(one tracedRun) {
		if one.Kind == "llm" {
			began = one.Began
		}
	})
	chat := slices.IndexFunc(ours.Operations, func(op tracker.OperationReport) bool { return op.Kind == tracker.Chat && op.Timing == "observed" })
	if chat < 0 {
		t.Error("no chat has observed times")
		return
	}
	at, err := time.Parse(time.RFC3339Nano, harness.Text(ours.Operations[chat].Started))
	if err != nil || began.Sub(at) > 100*time.Millisecond {
		t.Errorf("the chat begins at %v (%v), in the server's tracer at %v", at, err, began)
	}
}

func (r tracedRun) visit(each func(tracedRun)) {
	each(r)
	for _, child := range r.Children {
		child.visit(each)
	}
}

// tree describes what ran, without graphs and nodes that are no agents, and without models that failed before they said anything.
func (r tracedRun) tree() []string {
	var inner []string
	for _, child := range r.Children {
		inner = append(inner, child.tree()...)
	}
	failed := ""
	if r.Error != "" {
		failed = " " + r.Error
	}
	switch {
	case r.Kind == "llm" && r.Error == "":
		return []string{"chat"}
	case r.Kind == "tool":
		return branch("tool "+r.Name+failed, inner)
	case r.Kind == "chain" && r.Name == r.Agent:
		return branch("agent "+r.Name, inner)
	}
	return inner
}

// branch returns an operation with what ran in it, in an order that does not depend on which of two tools is faster.
func branch(name string, inner []string) []string {
	if slices.Sort(inner); len(inner) == 0 {
		return []string{name}
	}
	return []string{name + strings.ReplaceAll("\n"+strings.Join(inner, "\n"), "\n", "\n  ")}
}

func describe(r tracker.Report) string {
	var under func(parent string) []string
	under = func(parent string) (lines []string) {
		for _, op := range r.Operations {
			if strings.Trim(harness.Text(op.Parent), "-") != parent {
				continue
			}
			inner := under(op.ID)
			failed := ""
			if op.Error != nil {
				failed = " " + *op.Error
			}
			switch op.Kind {
			case tracker.Chat:
				lines = append(lines, "chat")
			case tracker.ExecuteTool:
				if op.Status == tracker.OperationInterrupted { // it waits for approval, so that nothing ran
					continue
				}
				lines = append(lines, branch("tool "+harness.Text(op.Name)+failed, inner)...)
			case tracker.InvokeAgent:
				if slices.Contains([]string{"app", "-"}, harness.Text(op.Name)) { // of graphs that name no agent
					lines = append(lines, inner...)
					continue
				}
				lines = append(lines, branch("agent "+harness.Text(op.Name), inner)...)
			default:
				lines = append(lines, inner...)
			}
		}
		return lines
	}
	return summary(r.Status, strings.Trim(harness.Text(r.Error), "-"), count(r.Usage.Input), count(r.Usage.Output), under(""))
}

func count(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

func summary(status tracker.Status, code string, input, output int64, tree []string) string {
	return fmt.Sprintf("%s %s, %d tokens in, %d out\n%s", status, code, input, output, branch("run", tree)[0])
}
