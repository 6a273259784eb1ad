package metrics

import (
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/delegraph/delegraph/exporter/tracker"
)

func newTest(values, sets int) (*Metrics, *prometheus.Registry) {
	reg := prometheus.NewPedanticRegistry()
	return New(reg, Settings{MaxLabelValues: values, MaxLabelSets: sets}), reg
}

// TestLint holds the names against Prometheus's own rules.
func TestLint(t *testing.T) {
	m, reg := newTest(10, 100)
	m.Reserve("s", []string{"adk"}, []string{"a_tool"})
	m.RunStarted(&tracker.Run{Source: "s"})
	problems, err := testutil.GatherAndLint(reg)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// TestLabelsAreBounded sends more tools than are let in: the rest is one series, and counted.
func TestLabelsAreBounded(t *testing.T) {
	m, _ := newTest(10, 1000)
	m.Reserve("s", nil, []string{"configured"})
	for i := range 100 {
		m.OperationEnded(&tracker.Run{}, &tracker.Operation{Kind: tracker.ExecuteTool, Name: fmt.Sprint("tool", i), Agent: "a", Timing: tracker.Unknown})
	}
	if n := len(m.toolCalls.series); n != 10 {
		t.Errorf("%d series", n)
	}
	if n := testutil.ToFloat64(m.toolCalls.with("a", other)); n != 91 {
		t.Errorf("%v calls in %s", n, other)
	}
	m.OperationEnded(&tracker.Run{}, &tracker.Operation{Kind: tracker.ExecuteTool, Name: "configured", Agent: "a", Timing: tracker.Unknown})
	if n := testutil.ToFloat64(m.toolCalls.with("a", "configured")); n != 1 {
		t.Errorf("the configured name has %v calls", n)
	}
}

// TestLabelSetsAreBounded has few agents and few tools whose product is over the bound.
func TestLabelSetsAreBounded(t *testing.T) {
	m, _ := newTest(100, 50)
	for agent := range 20 {
		for tool := range 20 {
			m.OperationEnded(&tracker.Run{}, &tracker.Operation{
				Kind: tracker.ExecuteTool, Name: fmt.Sprint("tool", tool), Agent: fmt.Sprint("agent", agent), Timing: tracker.Unknown,
			})
		}
	}
	if n := len(m.toolCalls.series); n != 51 {
		t.Errorf("%d series", n)
	}
	if n := testutil.ToFloat64(m.toolCalls.with(other, other)); n != 350 {
		t.Errorf("%v calls in %s", n, other)
	}
}
