package faults_test

import (
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/loopback"
	"github.com/delegraph/delegraph/test/subprocess"
)

// startPlain starts the plain proxy and waits until it listens. before is shell text in front of the command.
func startPlain(t *testing.T, listen, upstream, before string) *harness.Command {
	t.Helper()
	started := harness.Start(t, subprocess.Command("/bin/sh", "-c", before+` exec plain "$0" "$1"`, listen, upstream))
	harness.Await(t, func(context.Context) error { return reachable(listen) })
	return started
}

func plainGoroutines(t *testing.T, address string) (n int) {
	t.Helper()
	_, page, err := harness.Fetch(t.Context(), "http://"+address+"/goroutines")
	if err == nil {
		n, err = strconv.Atoi(page)
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

const fastLength = 43 << 20

// fastAgent answers each run with a stream of 43 MB as fast as it is read.
type fastAgent struct {
	*httptest.Server
	sent atomic.Int64 // bytes
}

// newFastAgent returns an agent whose frames have texts of so many words, of five bytes each.
func newFastAgent(t *testing.T, words int) *fastAgent {
	a := &fastAgent{}
	piece := []byte(strings.Repeat(`data: {"author":"a","invocationId":"e-1","partial":true,"content":{"role":"model","parts":[{"text":"`+strings.Repeat("word ", words)+`"}]}}`+"\n\n", max(5000/words, 1)))
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for sent := 0; sent < fastLength && r.Context().Err() == nil; sent += len(piece) {
			n, err := w.Write(piece)
			if a.sent.Add(int64(n)); err != nil {
				return
			}
		}
	}))
	t.Cleanup(a.Close)
	return a
}

// stall opens runs through a proxy and never reads the responses. It returns when the agent cannot send more.
func (a *fastAgent) stall(t *testing.T, proxy string, clients int) {
	t.Helper()
	a.sent.Store(0)
	body := adkserver.RunRequest("u", "s", "x", true)
	for range clients {
		conn, err := net.Dial("tcp", proxy)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
		_, _ = fmt.Fprintf(conn, "POST /run_sse HTTP/1.1\r\nHost: agent\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	}
	last, same := int64(-1), 0
	harness.Await(t, func(context.Context) error {
		if sent := a.sent.Load(); sent != last || sent == 0 {
			last, same = sent, 0
		} else {
			same++
		}
		if same < 50 {
			return fmt.Errorf("the agent still sends: %d bytes", last)
		}
		return nil
	})
}

// TestFaultStalledReaders connects 60 clients that never read a fast stream, through a plain proxy and through both relays.
// Memory stays within the limit and within a small multiple of a plain proxy's.
func TestFaultStalledReaders(t *testing.T) {
	const clients, most, limit = 60, 10, 461 << 20 // nine tenths of the chart's 512 MiB
	if harness.RaceDetector {
		t.Skip("the race detector takes memory of its own")
	}
	agent := newFastAgent(t, 100)
	plain := loopback.FreeAddress(t)
	started := startPlain(t, plain, agent.Listener.Addr().String(), "")
	agent.stall(t, plain, clients)
	floor := peakMemory(t, started.Process.Pid)
	started.Kill()
	for name, relay := range eachPolicy {
		t.Run(name, func(t *testing.T) {
			proxy := loopback.FreeAddress(t)
			service := harness.Serve(t, stalledConfig(t, agent, proxy, relay), map[string]string{"GOMEMLIMIT": fmt.Sprint(limit)})
			agent.stall(t, proxy, clients)
			peak := peakMemory(t, service.Process.Pid)
			t.Logf("%d MiB resident at most, %.1f times as much as a plain proxy; %d MiB sent, %v bytes unobserved", peak>>20,
				float64(peak)/float64(floor), agent.sent.Load()>>20, service.Count(t, "delegraph_source_unobserved_bytes_total"))
			if peak > limit || peak > most*floor {
				t.Errorf("%d MiB resident, a plain proxy %d", peak>>20, floor>>20)
			}
			if budget := service.Count(t, "delegraph_memory_budget_bytes"); budget != math.Floor(0.8*limit) {
				t.Errorf("a budget of %v bytes", budget)
			}
		})
	}
}

// TestFaultMemoryLimit limits memory only with a control group, if the test may create one. With 60 clients that never read
// frames of 2 MB, the process survives and another client gets every byte.
func TestFaultMemoryLimit(t *testing.T) {
	const clients, limit = 60, 256 << 20
	if harness.RaceDetector {
		t.Skip("the race detector takes memory of its own")
	}
	group := memoryGroup(t, limit)
	agent, proxy := newFastAgent(t, 400_000), loopback.FreeAddress(t)
	admin := loopback.FreeAddress(t)
	service := harness.StartReady(t, harness.ServeCommand(t, stalledConfig(t, agent, proxy, "filtered"), admin, nil, "echo $$ > "+group+"/cgroup.procs;"), admin)
	if budget := service.Count(t, "delegraph_memory_budget_bytes"); budget != math.Floor(0.8*limit) {
		t.Errorf("a budget of %v bytes", budget)
	}
	agent.stall(t, proxy, clients)
	resp, err := openRun(t.Context(), proxy, "x")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if n, err := io.Copy(io.Discard, resp.Body); err != nil || n < fastLength {
		t.Errorf("the client that reads got %d bytes, %v", n, err)
	}
	t.Logf("%d MiB resident at most, %v times shed", peakMemory(t, service.Process.Pid)>>20, service.Count(t, "delegraph_memory_shed_total"))
	if shed := service.Count(t, "delegraph_memory_shed_total"); shed == 0 {
		t.Error("nothing was shed")
	}
}

// memoryGroup creates a control group with a memory limit in bytes.
func memoryGroup(t *testing.T, limit int) (folder string) {
	t.Helper()
	root, file := "/sys/fs/cgroup", "memory.max"
	if _, err := os.Stat(root + "/memory/memory.limit_in_bytes"); err == nil {
		root, file = root+"/memory", "memory.limit_in_bytes"
	}
	folder = fmt.Sprintf("%s/delegraph-test-%d", root, os.Getpid())
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Skipf("no control group can be made: %v", err)
	}
	t.Cleanup(func() {
		if err := os.Remove(folder); err != nil {
			t.Error(err)
		}
	})
	if err := os.WriteFile(filepath.Join(folder, file), []byte(fmt.Sprint(limit)), 0o600); err != nil {
		t.Skipf("the memory of a control group cannot be limited: %v", err)
	}
	return folder
}

func stalledConfig(t *testing.T, agent *fastAgent, proxy, relay string) string {
	return fmt.Sprintf("stream: {listen: %q}\nsources:\n  - {name: runs, relay: %s, proxy: {listen: %q, upstream: \"http://%s\"}}\n",
		loopback.FreeAddress(t), relay, proxy, agent.Listener.Addr())
}

func reachable(address string) error {
	conn, err := net.Dial("tcp", address)
	if err == nil {
		conn.Close()
	}
	return err
}
