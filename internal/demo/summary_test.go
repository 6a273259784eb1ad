package demo

import (
	"bytes"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/internal/terminal"
)

// TestAgentsIn checks that agentsIn names each agent once, including tools that are agents, up to maxAgents.
func TestAgentsIn(t *testing.T) {
	agent := func(name string) *tracker.Operation {
		return &tracker.Operation{Kind: tracker.InvokeAgent, Name: name}
	}
	for want, operations := range map[string][]*tracker.Operation{
		"":                 {agent(""), {Kind: tracker.ExecuteTool, Name: "search"}, {Kind: tracker.Chat, Name: "model"}},
		"a, b":             {agent("a"), {Kind: tracker.ExecuteTool, Name: "b", AgentTool: true}},
		"a ×2, b":          {agent("a"), agent("b"), agent("a")},
		"a, b, c, d, e, f": {agent("a"), agent("b"), agent("c"), agent("d"), agent("e"), agent("f")},
		"a, b, c, d, e, f and 2 more": {
			agent("a"), agent("b"), agent("c"), agent("d"), agent("e"), agent("f"), agent("g"), agent("h"), agent("g"),
		},
		"\uFFFD[31mred, " + strings.Repeat("x", terminal.MaxText) + "…": {agent("\x1b[31mred"), agent(strings.Repeat("x", 1000))},
	} {
		if got := agentsIn(&tracker.Run{Operations: operations}); got != want {
			t.Errorf("agentsIn() = %q, want %q", got, want)
		}
	}
}

// TestSum checks that the summary names the reasons of failed runs, each once and at most maxCodes, and what was lost.
func TestSum(t *testing.T) {
	var out bytes.Buffer
	l := newSummary(&out)
	for _, code := range []string{"E1", "", "E2", "E1", "\x1b[31mred", "E3", "E4", "E5", "E6"} {
		root := &tracker.Operation{Kind: tracker.InvokeAgent, Name: "a", Status: tracker.OperationError, ErrorCode: code}
		l.RunEnded(&tracker.Run{Source: "s", Dialect: "adk", Status: tracker.Failed, Root: root, Operations: []*tracker.Operation{root}})
	}
	done := &tracker.Operation{Kind: tracker.InvokeAgent, Name: "a", ErrorCode: "IGNORED"}
	l.RunEnded(&tracker.Run{Source: "s", Dialect: "adk", Status: tracker.Completed, Root: done, Operations: []*tracker.Operation{done}})
	l.sum("10 runs, 3 spans lost")
	const want = "\n10 runs · 1 completed · 9 failed (E1, E2, E3, E4, \uFFFD[31mred)\nstopped: 10 runs, 3 spans lost; the addresses above no longer answer\n"
	if !strings.HasSuffix(out.String(), want) {
		t.Errorf("the summary is %q, want %q at its end", &out, want)
	}
	if !strings.Contains(out.String(), "  a · E1\n") {
		t.Errorf("no row names its error: %s", &out)
	}
}
