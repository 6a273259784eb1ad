package faults_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/delegraph/delegraph/test/agents/fakeagent"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/loopback"
	"github.com/delegraph/delegraph/test/subprocess"
)

// TestFaultKilledUnderLoad kills the trace backend and the agent with SIGKILL while clients start runs, and starts them again,
// twice each. No answer breaks off while the agent lives, and one that does is a prefix of the whole. In the end every span was
// received or is counted as dropped.
func TestFaultKilledUnderLoad(t *testing.T) {
	const clients, runs = 4, 600
	address, traces, proxy, file := loopback.FreeAddress(t), loopback.FreeAddress(t), loopback.FreeAddress(t), filepath.Join(t.TempDir(), "spans")
	agent, receiver := harness.Start(t, subprocess.Command("run-agent", address)), harness.Start(t, subprocess.Command("receiver", traces, file))
	harness.Await(t, func(context.Context) error { return errors.Join(reachable(address), reachable(traces)) })
	service := harness.Serve(t, fmt.Sprintf("stream: {listen: %q}\nsources: [{name: runs, relay: verbatim, proxy: {listen: %q, upstream: \"http://%s\"}}]\n", loopback.FreeAddress(t), proxy, address),
		map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://" + traces, "OTEL_BSP_SCHEDULE_DELAY": "10"})
	var asked, life, broken, refused atomic.Int64 // life is odd from the kill of the agent until it answers again
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for asked.Add(1) <= runs {
				before := life.Load()
				got := harness.AskRun(t, proxy, "x")
				whole := got.Status == http.StatusOK && got.Err == nil && string(got.Body) == fakeagent.Run
				switch {
				case whole:
				case before%2 == 0 && life.Load() == before:
					t.Errorf("while the agent lives, the client got %d %q, %v", got.Status, got.Body, got.Err)
				case got.Status == http.StatusBadGateway:
					refused.Add(1)
					harness.Await(t, func(context.Context) error { return reachable(address) })
				case got.Err == nil || !bytes.HasPrefix([]byte(fakeagent.Run), got.Body):
					t.Errorf("the client got %d %q, %v", got.Status, got.Body, got.Err)
				default:
					broken.Add(1)
				}
			}
		})
	}
	after := func(n int64) {
		harness.Await(t, func(context.Context) error {
			if asked.Load() < n {
				return fmt.Errorf("%d runs were asked for", asked.Load())
			}
			return nil
		})
	}
	for round := range int64(2) {
		after(runs/2*round + runs/10)
		receiver.Kill()
		after(runs/2*round + runs/5)
		life.Add(1)
		agent.Kill()
		agent = harness.Start(t, subprocess.Command("run-agent", address))
		harness.Await(t, func(context.Context) error { return reachable(address) })
		life.Add(1)
		receiver = harness.Start(t, subprocess.Command("receiver", traces, file))
	}
	all.Wait()
	service.WaitMetric(t, 0, "delegraph_runs_open")
	service.WaitMetric(t, 0, "delegraph_spans_queued")
	made := operationsMade(t, service) + runs
	var received, dropped float64
	harness.Await(t, func(ctx context.Context) (err error) {
		received = float64(receivedSpans(t, file))
		if dropped, err = service.Metric(ctx, "delegraph_spans_dropped_total"); err == nil && received+dropped != float64(made) {
			err = fmt.Errorf("of %d spans %v are received and %v dropped", made, received, dropped)
		}
		return err
	})
	t.Logf("%d runs, %d broken off and %d refused while the agent was away; of %d spans %v received, %v dropped", runs, broken.Load(), refused.Load(), made, received, dropped)
}

// operationsMade returns the number of operations of the ended runs.
func operationsMade(t *testing.T, service *harness.Instance) (n int) {
	t.Helper()
	status, page, err := harness.Fetch(t.Context(), service.Admin+"/api/v1/runs?limit=1000")
	var ended []struct{ Operations []struct{ ID string } }
	if err == nil && status == http.StatusOK {
		err = json.Unmarshal([]byte(page), &ended)
	}
	if err != nil || status != http.StatusOK {
		t.Fatalf("%d %v", status, err)
	}
	for _, run := range ended {
		n += len(run.Operations)
	}
	return n
}

// receivedSpans returns the number of different spans in the file of a receiver.
func receivedSpans(t *testing.T, file string) int {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, id := range strings.Fields(string(content)) {
		ids[id] = true
	}
	return len(ids)
}
