//go:build linux

package faults_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/delegraph/delegraph/test/agents/fakeagent"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/loopback"
)

// isolated runs the test again in a process with its own network and mounts, which end with it. It reports whether this is that
// process.
func isolated(t *testing.T, tools ...string) bool {
	t.Helper()
	const mark = "DELEGRAPH_ISOLATED"
	if os.Getenv(mark) == t.Name() {
		if err := exec.Command("ip", "link", "set", "lo", "up").Run(); err != nil {
			t.Fatal(err)
		}
		return true
	}
	if os.Geteuid() != 0 {
		t.Skip("only root may make a network namespace")
	}
	for _, tool := range append(tools, "ip") {
		harness.Program(t, tool, "toxiproxy")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Parallel() // it mostly waits
	again := exec.CommandContext(t.Context(), program, "-test.run=^"+regexp.QuoteMeta(t.Name())+"$", "-test.v", "-faults="+fmt.Sprint(*slowFaults))
	again.Env = append(os.Environ(), mark+"="+t.Name())
	again.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS}
	said, err := again.CombinedOutput()
	switch {
	case errors.Is(err, syscall.EPERM):
		t.Skip("root may not make a network namespace here")
	case err != nil:
		t.Errorf("%v:\n%s", err, said)
	case testing.Verbose():
		t.Logf("%s", said)
	}
	return false
}

// drop makes the network lose the packets that match an iptables rule.
func drop(t *testing.T, rule ...string) {
	t.Helper()
	for _, chain := range []string{"INPUT", "OUTPUT"} {
		if said, err := exec.Command("iptables", append(append([]string{"-w", "-A", chain, "-p", "tcp"}, rule...), "-j", "DROP")...).CombinedOutput(); err != nil {
			t.Fatalf("iptables: %v: %s", err, said)
		}
	}
}

// heal removes all rules.
func heal(t *testing.T) {
	t.Helper()
	if said, err := exec.Command("iptables", "-w", "-F").CombinedOutput(); err != nil {
		t.Fatalf("iptables: %v: %s", err, said)
	}
}

func portOf(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}

// TestFaultHalfOpen drops the packets of an agent. TCP keep-alive ends the tail's connection within about a minute, and the tail
// continues with the next frame once the network is back.
func TestFaultHalfOpen(t *testing.T) {
	if !*slowFaults {
		t.Skip("it takes a minute until a connection is given up: give -faults")
	}
	if !isolated(t, "iptables") {
		return
	}
	address := loopback.FreeAddress(t)
	agent := startFakeAgent(t, address)
	service := harness.Serve(t, fmt.Sprintf(besides, loopback.FreeAddress(t), loopback.FreeAddress(t), address), nil)
	frames := fakeagent.LooopyTurn()
	for _, frame := range frames[:3] {
		agent.say(t, frame)
	}
	service.WaitMetric(t, 3, "delegraph_frames_total", "source", "support")
	begun := time.Now()
	drop(t, "--sport", portOf(address))
	harness.AwaitWithin(t, 2*time.Minute, func(ctx context.Context) error { // with Go's default probes it takes almost three
		if again, err := service.Metric(ctx, "delegraph_source_reconnects_total"); err != nil || again == 0 {
			return fmt.Errorf("the connection is still open: %w", err)
		}
		return nil
	})
	t.Logf("given up after %s", time.Since(begun).Round(time.Second))
	heal(t)
	for _, frame := range frames[3:] {
		agent.say(t, frame)
	}
	harness.AwaitWithin(t, 2*time.Minute, func(ctx context.Context) error {
		if got, err := service.Metric(ctx, "delegraph_frames_total", "source", "support"); err != nil || got != 6 {
			return fmt.Errorf("%v frames of 6 were read: %w; the log:\n%s", got, err, service.Log)
		}
		return nil
	})
	service.WaitMetric(t, 1, "delegraph_runs_ended_total", "source", "support", "status", "completed")
}

// TestFaultBackendUnreachable drops what is sent to the trace backend. Clients notice nothing. The shutdown ends in time,
// succeeds, and logs what was not delivered.
func TestFaultBackendUnreachable(t *testing.T) {
	if !isolated(t, "iptables") {
		return
	}
	for _, protocol := range []string{"grpc", "http/protobuf"} {
		t.Run(protocol, func(t *testing.T) {
			agent, receiver := recorded.NewAgent(t), harness.NewReceiver(t)
			proxy := loopback.FreeAddress(t)
			env := receiver.Environment(map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": protocol, "OTEL_BSP_SCHEDULE_DELAY": "10"})
			service := harness.Serve(t, fmt.Sprintf(besides, loopback.FreeAddress(t), proxy, agent.Listener.Addr()), env)
			harness.AskRun(t, proxy, "adk-go/transfer")
			harness.Await(t, func(ctx context.Context) error {
				if exported, err := service.Metric(ctx, "delegraph_spans_exported_total"); err != nil || exported == 0 {
					return fmt.Errorf("no span is exported: %w", err)
				}
				return nil
			})
			exported := service.Count(t, "delegraph_spans_exported_total")
			drop(t, "--dport", portOf(strings.TrimPrefix(env["OTEL_EXPORTER_OTLP_ENDPOINT"], "http://")))
			defer heal(t)
			for _, name := range agent.Names()[:10] {
				if got := harness.AskRun(t, proxy, name); got.Err != nil || string(got.Body) != string(agent.Recordings[name]) {
					t.Errorf("%s: the client got %d bytes of %d: %v", name, len(got.Body), len(agent.Recordings[name]), got.Err)
				}
			}
			if n := service.Count(t, "delegraph_spans_exported_total"); n != exported {
				t.Errorf("%v spans were exported where nothing arrives", n-exported)
			}
			service.Signal(t, syscall.SIGTERM)
			begun := time.Now()
			if err := service.Wait(); err != nil || !strings.Contains(service.Log.String(), "not every span was delivered") {
				t.Errorf("the process ended with %v:\n%s", err, service.Log)
			}
			t.Logf("the stop took %s of 10", time.Since(begun).Round(time.Second/10))
		})
	}
}

// TestFaultSubscriberUnreachable drops the packets of one subscriber while an agent sends fast. Another subscriber gets every
// frame, the client of the agent gets every byte, and the unreachable subscriber is disconnected.
func TestFaultSubscriberUnreachable(t *testing.T) {
	if !isolated(t, "iptables") {
		return
	}
	const frame, flood = fakeagent.FinalFrame, 20_000
	agent := recorded.NewAgent(t)
	agent.Fault = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for range flood {
			_, _ = io.WriteString(w, frame)
		}
	}
	proxy, external := loopback.FreeAddress(t), loopback.FreeAddress(t)
	configured := fmt.Sprintf(besides, external, proxy, agent.Listener.Addr())
	configured = strings.Replace(configured, "stream: {", "stream: {write_timeout: 1s, replay: {frames: 50000}, ", 1)
	service := harness.Serve(t, configured, nil)
	lost, err := net.Dial("tcp", external)
	if err != nil {
		t.Fatal(err)
	}
	defer lost.Close()
	if _, err := io.WriteString(lost, "GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	const begins = "HTTP/1.1 200 OK\r\n"
	got := make([]byte, len(begins))
	if _, err := io.ReadFull(lost, got); err != nil || string(got) != begins {
		t.Fatalf("%q, %v", got, err)
	}
	beside := subscribeTo(t, external, "")
	drop(t, "--sport", portOf(lost.LocalAddr().String()))
	drop(t, "--dport", portOf(lost.LocalAddr().String()))
	heard := make(chan int, 1)
	go func() {
		n := 0
		for ; n < flood; n++ {
			beside.frame(t)
		}
		heard <- n
	}()
	if got := harness.AskRun(t, proxy, "fault"); got.Err != nil || string(got.Body) != strings.Repeat(frame, flood) {
		t.Errorf("the client got %d bytes: %v", len(got.Body), got.Err)
	}
	if n := <-heard; n != flood {
		t.Errorf("the other subscriber got %d frames", n)
	}
	service.WaitMetric(t, 1, "delegraph_stream_disconnects_total", "reason", "write_timeout")
}
