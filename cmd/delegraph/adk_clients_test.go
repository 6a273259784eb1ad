package main

import (
	"fmt"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
)

// TestADKClients has a client of ADK's dev server for JavaScript ask it directly and through a default proxy: it must get the same, and
// each answer is a run.
func TestADKClients(t *testing.T) {
	const asked = 12 // by the client
	agent := adkserver.JS(t, adkserver.NewModel(t)).URL
	client := newClient(t, "adk-js.mjs", t.TempDir())
	car := launch(t, fmt.Sprintf(defaultProxy, agent), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	direct, through := client(agent), client(car.address())
	if difference := firstDifference(direct, through); difference != "" {
		t.Error(difference)
	}
	car.stop()
	if runs := car.count(t, "delegraph_runs_started_total"); runs != asked {
		t.Errorf("%g runs, happened were %d", runs, asked)
	}
}
