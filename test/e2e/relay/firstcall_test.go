package relay_test

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"testing"

	"github.com/delegraph/delegraph/test/component"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/loopback"
)

// TestFirstCall puts the demo in front of real servers and runs the command that it prints, as a new user would. The command makes a run
// that completes.
func TestFirstCall(t *testing.T) {
	home := harness.ServersHome(t)
	for server, protocol := range map[string]string{"adk-2": "ADK", "a2a-1": "A2A", "a2a-js": "A2A", "langgraph-dev": "LangGraph", "litellm": "OpenAI"} {
		t.Run(server, func(t *testing.T) {
			if protocol != "A2A" { // .ci/run installs no others
				harness.Slow(t)
			}
			if !harness.IsInstalled(t, home, server) {
				component.Missing(t, "run .ci/install/servers "+server)
			}
			demo := harness.StartDemo(t, "--agent="+harness.ServeReal(t, home, server))
			call := demo.WaitOutput(t, `it speaks `+protocol+`; this makes it run:\n +(curl .*)\n`)
			if out, err := exec.CommandContext(t.Context(), "sh", "-c", call).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", call, err, out)
			}
			demo.WaitOutput(t, `(?m)^agent +\S+ +(completed) `)
		})
	}
}

// TestNoFirstCall puts the demo in front of a server that is no agent, and in front of an address where nothing listens.
func TestNoFirstCall(t *testing.T) {
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	harness.StartDemo(t, "--agent="+other.URL).WaitOutput(t, `(the agent answers, but is no server of ADK, A2A, LangGraph or OpenAI)`)
	nobody := "http://" + loopback.FreeAddress(t)
	harness.StartDemo(t, "--agent="+nobody).WaitOutput(t, `(nothing answers at `+nobody+` \(connection refused\): start the agent)`)
}
