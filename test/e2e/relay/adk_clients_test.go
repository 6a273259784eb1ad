package relay_test

import (
	"fmt"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// TestADKClients uses a client of ADK's dev server for JavaScript directly and through a default proxy. It must get the same, and
// each response is a run.
func TestADKClients(t *testing.T) {
	const asked = 12 // by the client
	agent := adkserver.StartJS(t, adkserver.NewFakeModel(t)).URL
	client := newClient(t, "adk-js.mjs", t.TempDir())
	service := harness.Launch(t, fmt.Sprintf(defaultProxy, agent), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	direct, through := client(agent), client(service.Address())
	if difference := firstDifference(direct, through); difference != "" {
		t.Error(difference)
	}
	service.Stop()
	if runs := service.Count(t, "delegraph_runs_started_total"); runs != asked {
		t.Errorf("%g runs, want %d", runs, asked)
	}
}
