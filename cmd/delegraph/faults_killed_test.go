package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	tracecollector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"

	"github.com/delegraph/delegraph/test/subprocess"
)

const reciting = callFrame + responseFrame + finalFrame

// reciterMain is the program reciter ADDRESS: an agent that answers each run with the same three frames.
func reciterMain() {
	panic(http.ListenAndServe(os.Args[1], http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for _, frame := range []string{callFrame, responseFrame, finalFrame} {
			_, _ = io.WriteString(w, frame)
			_ = http.NewResponseController(w).Flush()
		}
	})))
}

// receiverMain is the program receiver ADDRESS FILE: a trace backend that appends the id of each span to a file before it answers.
func receiverMain() {
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		panic(err)
	}
	file, err := os.OpenFile(os.Args[2], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	server := grpc.NewServer()
	tracecollector.RegisterTraceServiceServer(server, writtenDown{to: file})
	panic(server.Serve(listener))
}

type writtenDown struct {
	tracecollector.UnimplementedTraceServiceServer
	to io.Writer
}

func (w writtenDown) Export(_ context.Context, r *tracecollector.ExportTraceServiceRequest) (*tracecollector.ExportTraceServiceResponse, error) {
	var ids []byte
	for _, resource := range r.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			for _, s := range scope.Spans {
				ids = fmt.Appendf(ids, "%x%x\n", s.TraceId, s.SpanId)
			}
		}
	}
	_, err := w.to.Write(ids)
	return &tracecollector.ExportTraceServiceResponse{}, err
}

// TestFaultKilledUnderLoad kills the trace backend and the agent by SIGKILL while clients ask, and starts them again, twice each. No
// answer breaks off while the agent lives; one that does is the beginning of the whole. Every span that was made is received in the
// end or counted as dropped.
func TestFaultKilledUnderLoad(t *testing.T) {
	const clients, runs = 4, 600
	address, traces, proxy, file := vacant(t), vacant(t), vacant(t), filepath.Join(t.TempDir(), "spans")
	agent, receiver := start(t, subprocess.Command("reciter", address)), start(t, subprocess.Command("receiver", traces, file))
	await(t, func(context.Context) error { return errors.Join(reachable(address), reachable(traces)) })
	car := serveProcess(t, fmt.Sprintf("stream: {listen: %q}\nsources: [{name: runs, relay: verbatim, proxy: {listen: %q, upstream: \"http://%s\"}}]\n", vacant(t), proxy, address),
		map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://" + traces, "OTEL_BSP_SCHEDULE_DELAY": "10"})
	var asked, life, broken, refused atomic.Int64 // life is odd from when the agent is killed until it is there again
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for asked.Add(1) <= runs {
				before := life.Load()
				got := askRun(t, proxy, "x")
				whole := got.status == http.StatusOK && got.err == nil && string(got.body) == reciting
				switch {
				case whole:
				case before%2 == 0 && life.Load() == before:
					t.Errorf("while the agent lives, the client got %d %q, %v", got.status, got.body, got.err)
				case got.status == http.StatusBadGateway:
					refused.Add(1)
					await(t, func(context.Context) error { return reachable(address) })
				case got.err == nil || !bytes.HasPrefix([]byte(reciting), got.body):
					t.Errorf("the client got %d %q, %v", got.status, got.body, got.err)
				default:
					broken.Add(1)
				}
			}
		})
	}
	after := func(n int64) {
		await(t, func(context.Context) error {
			if asked.Load() < n {
				return fmt.Errorf("%d runs were asked for", asked.Load())
			}
			return nil
		})
	}
	for round := range int64(2) {
		after(runs/2*round + runs/10)
		receiver.kill()
		after(runs/2*round + runs/5)
		life.Add(1)
		agent.kill()
		agent = start(t, subprocess.Command("reciter", address))
		await(t, func(context.Context) error { return reachable(address) })
		life.Add(1)
		receiver = start(t, subprocess.Command("receiver", traces, file))
	}
	all.Wait()
	car.becomes(t, 0, "delegraph_runs_open")
	car.becomes(t, 0, "delegraph_spans_queued")
	made := operationsMade(t, car) + runs
	var received, dropped float64
	await(t, func(ctx context.Context) (err error) {
		received = float64(receivedSpans(t, file))
		if dropped, err = car.scrape(ctx, "delegraph_spans_dropped_total"); err == nil && received+dropped != float64(made) {
			err = fmt.Errorf("of %d spans %v are received and %v dropped", made, received, dropped)
		}
		return err
	})
	t.Logf("%d runs, %d broken off and %d refused while the agent was away; of %d spans %v received, %v dropped", runs, broken.Load(), refused.Load(), made, received, dropped)
}

// operationsMade is how many operations the ended runs have, all of which are remembered.
func operationsMade(t *testing.T, car *instance) (n int) {
	t.Helper()
	status, page, err := look(t.Context(), car.admin+"/api/v1/runs?limit=1000")
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

// receivedSpans is how many different spans are written down.
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
