package relay_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/test/component"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/subprocess"
)

// TestServersClients uses the clients of real servers directly and through a default proxy. They must get the same.
func TestServersClients(t *testing.T) {
	for _, test := range []struct {
		server, client, modules string
		large                   bool    // is not installed for every change
		runs                    float64 // that the client starts; 0 if they overlap
	}{
		{"a2a-1", "a2a-1.py", "a2a-1", false, 0},
		{"a2a-js", "a2a-js.mjs", "a2a-js", false, 0},
		{"agno", "agno_a2a.py", "agno", true, 0},
		{"llama-index", "llama-index.mjs", "../agui", true, 0},
		{"fasta2a", "fasta2a_talk.py", "fasta2a", true, 3},
		{"adk-a2a", "a2a_talk.py", "a2a-1", true, 3},
		{"litellm", "openai_talk.py", "openai-agents", true, 12},
		{"litellm", "openai.mjs", "mastra", true, 12},
		{"openai-agents", "openai_agents.py", "openai-agents", true, 21},
		{"langgraph-dev", "langgraph.mjs", "clients", true, 10},
	} {
		t.Run(test.server, func(t *testing.T) {
			if test.large {
				harness.Slow(t)
			}
			home := harness.ServersHome(t)
			for _, environment := range []string{test.server, test.modules} {
				if harness.IsInstalled(t, home, environment) {
					continue
				}
				component.Missing(t, "no "+environment+" in "+home+": run .ci/install/servers "+test.server+" and .ci/install/agui")
			}
			client := newClient(t, test.client, filepath.Join(home, test.modules))
			agent := harness.ServeReal(t, home, test.server)
			service := harness.Launch(t, fmt.Sprintf(defaultProxy, agent), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
			direct, through := client(agent), client(service.Address())
			if difference := firstDifference(direct, through); difference != "" {
				expectKnown(t, test.client, []string{difference})
			} else {
				expectKnown(t, test.client, nil)
			}
			if service.Stop(); service.Count(t, "delegraph_frames_total") == 0 {
				t.Error("the client went around the proxy")
			}
			if runs := service.Count(t, "delegraph_runs_started_total"); test.runs > 0 && runs != test.runs {
				t.Errorf("%g runs, want %g", runs, test.runs)
			}
		})
	}
}

// newClient returns a function that returns a client's output for a URL.
func newClient(t *testing.T, client, modules string) func(url string) string {
	t.Helper()
	dir := t.TempDir()
	text, err := os.ReadFile(filepath.Join(servers, "clients", client))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, client), text, 0o600); err != nil {
		t.Fatal(err)
	}
	interpreter := filepath.Join(modules, "bin", "python")
	if filepath.Ext(client) == ".mjs" {
		interpreter = harness.Program(t, "node", "readers")
		if err := os.Symlink(filepath.Join(modules, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
			t.Fatal(err)
		}
	}
	return func(url string) string {
		t.Helper()
		var said, complained bytes.Buffer
		command := subprocess.CommandContext(t.Context(), interpreter, client, url)
		command.Dir, command.Stdout, command.Stderr = dir, &said, &complained
		if err := command.Run(); err != nil {
			t.Fatalf("%s: %v: %s", client, err, complained.Bytes())
		}
		return said.String()
	}
}

func firstDifference(direct, through string) string {
	want, got := strings.Split(direct, "\n"), strings.Split(through, "\n")
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			return fmt.Sprintf("line %d is\n%.600s\ndirectly it was\n%.600s", i+1, strings.Join(got[min(i, len(got)):min(i+1, len(got))], ""), want[i])
		}
	}
	if len(got) > len(want) {
		return fmt.Sprintf("%d lines, directly there were %d", len(got), len(want))
	}
	return ""
}
