package demo

import (
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
