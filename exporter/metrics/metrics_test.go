package metrics

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/conventions"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// testSettings are the settings of tests without limits. They use the metrics of both tables of conventions.
var (
	testSettings = Settings{MaxLabelValues: 100, MaxLabelSets: 1000, Names: conventions.Released(), Version: "1.2.3", Revision: "abc"}
	released     = newGenAI(conventions.Released())
	latest       = newGenAI(conventions.Latest())
)

func newTest(values, sets int) (*Metrics, *prometheus.Registry) {
	reg := prometheus.NewPedanticRegistry()
	s := testSettings
	s.MaxLabelValues, s.MaxLabelSets = values, sets
	return New(reg, s), reg
}

// call returns a tool call by an agent, without a known duration.
func call(agent, tool string) *tracker.Operation {
	return &tracker.Operation{Kind: tracker.ExecuteTool, Name: tool, Agent: agent, Timing: tracker.TimingUnknown}
}

// TestLabelsAreBounded checks that tools beyond the limit become one series, and are counted.
func TestLabelsAreBounded(t *testing.T) {
	m, reg := newTest(10, 1000)
	m.InitSource("s", nil, []string{"configured"})
	for i := range 100 {
		ends(m, call("a", fmt.Sprint("tool", i)))
	}
	if n := len(m.toolCalls.series); n != 11 {
		t.Errorf("the metric has %d series", n)
	}
	if n := testutil.ToFloat64(m.toolCalls.with("s", "a", other)); n != 90 {
		t.Errorf("%v calls are counted in %s", n, other)
	}
	ends(m, call("a", "configured"))
	if n := testutil.ToFloat64(m.toolCalls.with("s", "a", "configured")); n != 1 {
		t.Errorf("the configured name has %v calls", n)
	}
	want := []string{`label="agent" 0`, `label="error" 0`, `label="event" 0`, `label="model" 0`, `label="tool" 90`, `label="workflow" 0`}
	if diff := cmp.Diff(want, series(t, reg, "delegraph_label_overflow_total")); diff != "" {
		t.Errorf("overflow (-want +got):\n%s", diff)
	}
}

// TestConfiguredNames checks that names from the configuration, also after many reloads, take no place of other names, and
// that they keep their own beyond both limits.
func TestConfiguredNames(t *testing.T) {
	m, reg := newTest(3, 40)
	ends(m, call("late", "t"))
	for i := range 50 {
		m.AllowTools([]string{fmt.Sprint("reloaded", i), "late"})
	}
	ends(m, call("planner", "search"), call("writer", "t"), call("third", "t"))
	for i := range 32 { // up to nine tenths of the sets
		ends(m, call("planner", fmt.Sprint("reloaded", i)))
	}
	ends(m, call("planner", "reloaded40"), call("late", "reloaded40"))
	got := series(t, reg, toolCalls.name)
	for _, want := range []string{
		`agent="late",source="s",tool="t" 1`, `agent="planner",source="s",tool="search" 1`, `agent="third",source="s",tool="t" 1`,
		`agent="_other",source="s",tool="reloaded40" 1`, `agent="late",source="s",tool="reloaded40" 1`,
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not in %q", want, got)
		}
	}
}

// TestEachClassIsBounded checks the limit for agents, tools and models.
func TestEachClassIsBounded(t *testing.T) {
	m, reg := newTest(3, 1000)
	for i := range 10 {
		name := fmt.Sprint(i)
		asks, calls := chat(name, ""), tool(name, "")
		asks.Agent, calls.Agent = name, name
		ends(m, asks, calls, &tracker.Operation{Kind: tracker.InvokeAgent, Name: name, Timing: tracker.TimingObserved})
		runEnds(m, func(r *tracker.Run) {
			r.Root.Name = name
			r.FirstText = at(1)
			r.Transfers = []tracker.Transfer{{From: name, To: name, Loop: true}}
			r.Operations = []*tracker.Operation{r.Root}
			r.Confidence = []tracker.Confidence{{Agent: name, Confidence: event.Confidence{Known: true}}}
			r.Citations = []tracker.Citation{{Agent: name}}
			r.UnratedAnswers = map[string]int{name: 1}
		})
	}
	for name, most := range map[string]int{
		"gen_ai_invoke_agent_duration_seconds": 4, "gen_ai_execute_tool_duration_seconds": 4, "gen_ai_client_operation_duration_seconds": 4, "gen_ai_client_operation_time_to_first_chunk_seconds": 4,
		"gen_ai_client_token_usage": 8, "delegraph_runs_ended_total": 4 * 6, "delegraph_tool_call_failures_total": 4, "delegraph_run_duration_seconds": 4,
		"delegraph_run_time_to_first_text_seconds": 4, "delegraph_tool_calls_total": 4, "delegraph_transfers_total": 4, "delegraph_transfer_loops_total": 4, "delegraph_run_delegation_depth": 4,
		"delegraph_confidence_ratio": 4, "delegraph_answers_without_confidence_total": 4, "delegraph_citations_total": 4,
	} {
		got := series(t, reg, name)
		if len(got) != most || !strings.Contains(strings.Join(got, "\n"), `"_other"`) {
			t.Errorf("%s has %d series: %q", name, len(got), got)
		}
	}
}

// TestSourcesAreApart checks that equal names of two sources are counted separately.
func TestSourcesAreApart(t *testing.T) {
	m, reg := newTest(10, 1000)
	for _, source := range []string{"one", "two"} {
		r := run()
		r.Source, r.FirstText = source, at(3)
		r.Transfers = []tracker.Transfer{{From: "a", To: "b", Loop: true}}
		r.Operations = []*tracker.Operation{r.Root}
		r.Confidence = []tracker.Confidence{{Agent: "a", Confidence: event.Confidence{Known: true}}}
		r.Citations = []tracker.Citation{{Agent: "a"}}
		r.UnratedAnswers = map[string]int{"a": 1}
		r.UnattributedUsage = []tracker.UnattributedUsage{{Model: "m", Usage: event.Usage{Input: known}}}
		r.Root.ID = tracker.SpanID{1}
		workflow := &tracker.Operation{Kind: tracker.InvokeWorkflow, Name: "w", Timing: tracker.TimingObserved}
		for _, op := range []*tracker.Operation{chat("m", ""), tool("t", event.ToolError), workflow} {
			op.Parent = r.Root.ID
			m.OperationEnded(r, op)
		}
		m.OperationEnded(r, r.Root)
		m.RunEnded(r)
		m.Consume(&event.Batch{Stream: &event.Stream{Source: source}, Type: "internal:checkpoint", Internal: true})
		unknown := batch(event.KindOther)
		unknown.Stream.Source, unknown.UnknownKind = source, "kind"
		m.Consume(unknown)
	}
	for _, section := range table {
		for _, mt := range section.metrics {
			of := map[string]int{}
			for _, s := range gathered(t, reg, mt.name) {
				for _, l := range s.Label {
					if l.GetName() == "source" {
						of[l.GetValue()]++
					}
				}
			}
			if of["one"] != of["two"] {
				t.Errorf("the metric %s has the series %v", mt.name, of)
			}
			named := slices.ContainsFunc(mt.labels, func(label string) bool { return fromWire[label] != "" })
			if named && of["one"] == 0 {
				t.Errorf("%s has no series with the source one: if it has the label, add what it counts to this test", mt.name)
			}
		}
	}
}

// TestLabelSetsAreBounded uses few agents and few tools whose combinations exceed the limit. Combinations beyond the
// limit must share one series, and no call may be lost.
func TestLabelSetsAreBounded(t *testing.T) {
	for _, c := range []struct{ values, names, sets, series int }{{100, 20, 50, 46}, {100, 100, 1000, 901}, {100, 30, 1000, 900}} {
		m, reg := newTest(c.values, c.sets)
		for agent := range c.names {
			for tool := range c.names {
				ends(m, call(fmt.Sprint("agent", agent), fmt.Sprint("tool", tool)))
			}
		}
		total := 0.0
		calls := gathered(t, reg, "delegraph_tool_calls_total")
		for _, s := range calls {
			total += s.GetCounter().GetValue()
		}
		if len(calls) != c.series || total != float64(c.names*c.names) {
			t.Errorf("%d sets: %d series of %v calls", c.sets, len(calls), total)
		}
		over := c.names*c.names - min(c.names*c.names, c.sets*9/10)
		if n := testutil.ToFloat64(m.toolCalls.with("s", other, other)); n != float64(over) {
			t.Errorf("%d sets: %v calls in %s; want %d", c.sets, n, other, over)
		}
		for _, class := range []string{"agent", "tool"} {
			if n := testutil.ToFloat64(m.caps.overflow.WithLabelValues(class)); n != float64(over) {
				t.Errorf("%d sets: %v of class %s are counted; want %d", c.sets, n, class, over)
			}
		}
	}
}

// TestSetsOfClosedLabels checks that labels with closed lists do not push a metric with names from the stream over its
// limit. A metric without such names must have no limit.
func TestSetsOfClosedLabels(t *testing.T) {
	m, _ := newTest(100, 100)
	for source := range 200 {
		for _, status := range tracker.Statuses() {
			m.RunEnded(&tracker.Run{Source: fmt.Sprint(source), Status: status, Root: &tracker.Operation{Name: "a", Timing: tracker.TimingUnknown}})
		}
	}
	if n := len(m.runsEnded.series); n != 100 {
		t.Errorf("%d series of runs", n)
	}
	if n := testutil.ToFloat64(m.runsEnded.with(other, other, other)); n != 200*6-99 {
		t.Errorf("%v runs are counted in %s", n, other)
	}
	if n := len(m.runsOpen.series); n != 200 {
		t.Errorf("%d series of open runs", n)
	}
}

// TestFewSetsLeft checks that a source whose agents have used up the limit on label sets counts all further calls in its own
// set, whatever the number of sets, and that a label without a value never counts as replaced.
func TestFewSetsLeft(t *testing.T) {
	m, reg := newTest(100, 20)
	for i := range 40 {
		failed := call("a", fmt.Sprint("tool", i))
		failed.Status = tracker.OperationError
		ends(m, failed)
	}
	const own = `agent="_other",source="s",tool="_other" 22`
	for _, name := range []string{toolCalls.name, toolCallFailures.name} {
		if got := series(t, reg, name); len(got) != 19 || !slices.Contains(got, own) {
			t.Errorf("%s has no %s: %q", name, own, got)
		}
	}
	for sets, want := range map[int]string{20: `agent="",source="s",tool="_other" 2`, 10: `agent="_other",source="_other",tool="_other" 11`} {
		m, reg := newTest(100, sets)
		for i := range 20 {
			ends(m, call("", fmt.Sprint("tool", i)))
		}
		if got := series(t, reg, toolCalls.name); !slices.Contains(got, want) || testutil.ToFloat64(m.caps.overflow.WithLabelValues("agent")) != 0 {
			t.Errorf("without an agent, with %d sets: %q", sets, got)
		}
	}
}

// TestConcurrent counts calls from many goroutines beyond the limit, and checks that no call is lost and no series is wasted.
func TestConcurrent(t *testing.T) {
	for _, most := range []int{20, 112, 1000} { // of which nine tenths are for the first sets: 100 in the second
		m, reg := newTest(100, most)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for i := range 1000 {
					ends(m, call(fmt.Sprint(i%10), fmt.Sprint(i/10%10)))
				}
			})
			all.Go(func() {
				if _, err := reg.Gather(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		total := 0.0
		for _, s := range gathered(t, reg, "delegraph_tool_calls_total") {
			total += s.GetCounter().GetValue()
		}
		if total != 8000 {
			t.Errorf("%v calls are counted", total)
		}
		if n := len(m.toolCalls.series); n > most || most > 100 && n != 100 {
			t.Errorf("%d series of at most %d", n, most)
		}
	}
}

// TestHostile checks names that would make Prometheus panic, and a few names long enough to fill the memory.
func TestHostile(t *testing.T) {
	long := strings.Repeat("l", longestValue)
	for name, want := range map[string]string{
		"a\xff": other, strings.Repeat("\xff", 1<<20): other, strings.Repeat("x", 1<<20): other, "a\x1b[2Jb\n\u0085": "a\ufffd[2Jb\ufffd\ufffd", long + "l": other, long: long,
		"": "", other: other, "a\x00\"\\\n\u202e{}": "a\ufffd\"\\\ufffd\ufffd{}", "<script>": "<script>",
		"a\u2028b\u2067c": "a\ufffdb\ufffdc", "Feu\u00ader \u0645\u06cc\u200c👩\u200d🚒": "Feu\u00ader \u0645\u06cc\u200c👩\u200d🚒",
	} {
		m, reg := newTest(100, 1000)
		m.RunStarted(&tracker.Run{Source: "s\xff"})
		ends(m, call("a", name))
		calls := gathered(t, reg, "delegraph_tool_calls_total")
		if len(calls) != 1 || calls[0].Label[2].GetValue() != want {
			t.Errorf("the tool %.20q has the series %.200v", name, calls)
		}
		counted := testutil.ToFloat64(m.caps.overflow.WithLabelValues("tool")) > 0
		if counted != (want == other && name != other) {
			t.Errorf("%.20q is counted as too much: %t", name, counted)
		}
		if diff := cmp.Diff([]string{"source=\"s\uFFFD\" 1"}, series(t, reg, "delegraph_runs_open")); diff != "" {
			t.Errorf("source (-want +got):\n%s", diff)
		}
	}
}
