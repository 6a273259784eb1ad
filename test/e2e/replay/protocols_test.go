package replay_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

type protocol struct{ dialect, name, about string }

// protocols are the lines of the README's list: the name of a dialect and its words in the README.
var protocols = []protocol{
	{"adk", "ADK", "Google's Agent Development Kit"},
	{"a2a", "A2A", "Agent2Agent 0.3 and 1.0"},
	{"agui", "AG-UI", "CopilotKit, pydantic-ai, Strands and others"},
	{"openai", "OpenAI", "Responses, Chat Completions, Agents SDK"},
	{"langgraph", "LangGraph", "its server, with LangChain and DeepAgents"},
	{"aisdk", "AI SDK", "Vercel's UI message stream"},
	{"looopy", "Looopy", ""},
	{"adkstudio", "ADK Studio", ""},
	{"deepagents", "DeepAgents", "one private API, not LangChain's library"},
}

// seen are the facts that the list tells of: a name, and whether a run has it.
var seen = []struct {
	name string
	has  func(tracker.Report) bool
}{
	{"agents", func(r tracker.Report) bool { return hasOperation(r, tracker.InvokeAgent) }},
	{"transfers", func(r tracker.Report) bool { return len(r.Transfers) > 0 }},
	{"tools", func(r tracker.Report) bool { return hasOperation(r, tracker.ExecuteTool) }},
	{"model calls", func(r tracker.Report) bool { return hasOperation(r, tracker.Chat) }},
	{"tokens", func(r tracker.Report) bool { return r.Usage.Input != nil || r.Usage.Output != nil }},
	{"inputs", func(r tracker.Report) bool { return len(r.Inputs) > 0 }},
}

// hasOperation reports whether a run has an operation of a kind, with a name if it is an agent.
func hasOperation(r tracker.Report, kind tracker.OperationKind) bool {
	return slices.ContainsFunc(r.Operations, func(op tracker.OperationReport) bool {
		return op.Kind == kind && (kind != tracker.InvokeAgent || op.Name != nil)
	})
}

// TestProtocols compares the README's list of protocols with what no recording shows. The flag -update rewrites it.
func TestProtocols(t *testing.T) {
	for _, d := range collector.Dialects() {
		if !slices.ContainsFunc(protocols, func(p protocol) bool { return p.dialect == d.Name() }) {
			t.Errorf("the README's list lacks %s: add a line to protocols", d.Name())
		}
	}
	list := "\n"
	for _, p := range protocols {
		var reports []tracker.Report
		for _, family := range recorded.Families(p.dialect) {
			for _, file := range recorded.Files(t, recorded.Captures[family]) {
				reports = append(reports, harness.Replay(t, file)...)
			}
		}
		line := fmt.Sprintf("- [%s](docs/reference/dialects/%s.md)", p.name, p.dialect)
		if p.about != "" {
			line += ": " + p.about
		}
		var unseen []string
		for _, fact := range seen {
			if !slices.ContainsFunc(reports, fact.has) {
				unseen = append(unseen, fact.name)
			}
		}
		if n := len(unseen); n > 1 {
			unseen = []string{strings.Join(unseen[:n-1], ", "), unseen[n-1]}
		}
		if len(unseen) > 0 {
			line += " (no " + strings.Join(unseen, " or ") + ")"
		}
		list += line + "\n"
	}
	list += "\n"
	const page, start, end = "../../../README.md", "<!-- protocols: written by go test ./test/e2e/replay -run TestProtocols -update -->\n", "<!-- end of protocols -->\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), start)
	got, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatal("the README has no marks of the list")
	}
	if *harness.Update {
		if err := os.WriteFile(page, []byte(before+start+list+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if got != list {
		t.Errorf("the README has\n%s\nwant\n%s", got, list)
	}
}
