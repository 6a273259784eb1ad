//go:build linux

package main

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
)

// isolated has a test run again in a process with a network and with mounts of its own, of which nothing stays behind. It says
// whether this is that process.
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
		requireProgram(t, tool)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Parallel() // it waits most of the time
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

// requireProgram ends the test without a program that another package installs.
func requireProgram(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err == nil {
		return
	}
	if os.Getenv("DELEGRAPH_REQUIRE") == "all" {
		t.Fatalf("there is no %s: .ci/install/toxiproxy gets it", name)
	}
	t.Skipf("there is no %s: .ci/install/toxiproxy gets it", name)
}

// drop has the network lose what comes from or goes to a port, from now on.
func drop(t *testing.T, rule ...string) {
	t.Helper()
	for _, chain := range []string{"INPUT", "OUTPUT"} {
		if said, err := exec.Command("iptables", append(append([]string{"-w", "-A", chain, "-p", "tcp"}, rule...), "-j", "DROP")...).CombinedOutput(); err != nil {
			t.Fatalf("iptables: %v: %s", err, said)
		}
	}
}

// heal has it lose nothing any more.
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

// TestFaultHalfOpen has the network swallow an agent's packets: the tail's connection is given up within about a minute, by the
// probes of TCP, and once the network is back the tail goes on with the next frame.
func TestFaultHalfOpen(t *testing.T) {
	if !*slowFaults {
		t.Skip("it takes a minute until a connection is given up: give -faults")
	}
	if !isolated(t, "iptables") {
		return
	}
	address := vacant(t)
	agent := startOrator(t, address)
	car := serveProcess(t, fmt.Sprintf(besides, vacant(t), vacant(t), address), nil)
	frames := story()
	for _, frame := range frames[:3] {
		agent.say(t, frame)
	}
	car.becomes(t, 3, "delegraph_frames_total", "source", "support")
	begun := time.Now()
	drop(t, "--sport", portOf(address))
	awaitWithin(t, 2*time.Minute, func(ctx context.Context) error { // with Go's own probes it takes almost three
		if again, err := car.scrape(ctx, "delegraph_source_reconnects_total"); err != nil || again == 0 {
			return fmt.Errorf("the connection is still taken for one: %w", err)
		}
		return nil
	})
	t.Logf("given up after %s", time.Since(begun).Round(time.Second))
	heal(t)
	for _, frame := range frames[3:] {
		agent.say(t, frame)
	}
	awaitWithin(t, 2*time.Minute, func(ctx context.Context) error {
		if got, err := car.scrape(ctx, "delegraph_frames_total", "source", "support"); err != nil || got != 6 {
			return fmt.Errorf("%v frames of 6 were read: %w; the log:\n%s", got, err, car.log)
		}
		return nil
	})
	car.becomes(t, 1, "delegraph_runs_ended_total", "source", "support", "status", "completed")
}

// TestFaultBackendUnreachable has the network swallow what is sent to the trace backend: clients notice nothing, and a stop takes
// no longer than it may, ends well and says what was not delivered.
func TestFaultBackendUnreachable(t *testing.T) {
	if !isolated(t, "iptables") {
		return
	}
	for _, protocol := range []string{"grpc", "http/protobuf"} {
		t.Run(protocol, func(t *testing.T) {
			agent, receiver := newRecordedAgent(t), newBackend(t)
			proxy := vacant(t)
			env := receiver.environment(map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": protocol, "OTEL_BSP_SCHEDULE_DELAY": "10"})
			car := serveProcess(t, fmt.Sprintf(besides, vacant(t), proxy, agent.Listener.Addr()), env)
			askRun(t, proxy, "adk-go/transfer")
			await(t, func(ctx context.Context) error {
				if exported, err := car.scrape(ctx, "delegraph_spans_exported_total"); err != nil || exported == 0 {
					return fmt.Errorf("no span is exported: %w", err)
				}
				return nil
			})
			exported := car.count(t, "delegraph_spans_exported_total")
			drop(t, "--dport", portOf(strings.TrimPrefix(env["OTEL_EXPORTER_OTLP_ENDPOINT"], "http://")))
			defer heal(t)
			for _, name := range agent.names()[:10] {
				if got := askRun(t, proxy, name); got.err != nil || string(got.body) != string(agent.recordings[name]) {
					t.Errorf("%s: the client got %d bytes of %d: %v", name, len(got.body), len(agent.recordings[name]), got.err)
				}
			}
			if n := car.count(t, "delegraph_spans_exported_total"); n != exported {
				t.Errorf("%v spans were exported where nothing arrives", n-exported)
			}
			car.signal(t, syscall.SIGTERM)
			begun := time.Now()
			if err := car.Wait(); err != nil || !strings.Contains(car.log.String(), "not every span was delivered") {
				t.Errorf("the process ended with %v:\n%s", err, car.log)
			}
			t.Logf("the stop took %s of 10", time.Since(begun).Round(time.Second/10))
		})
	}
}

// TestFaultSubscriberUnreachable has the network swallow one subscriber's packets, amid a flood: another one beside it gets every
// frame, the agent's client every byte, and the one that is gone is cut.
func TestFaultSubscriberUnreachable(t *testing.T) {
	if !isolated(t, "iptables") {
		return
	}
	const frame, flood = finalFrame, 20_000
	agent := newRecordedAgent(t)
	agent.fault = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for range flood {
			_, _ = io.WriteString(w, frame)
		}
	}
	proxy, external := vacant(t), vacant(t)
	configured := fmt.Sprintf(besides, external, proxy, agent.Listener.Addr())
	configured = strings.Replace(configured, "stream: {", "stream: {write_timeout: 1s, replay: {frames: 50000}, ", 1)
	car := serveProcess(t, configured, nil)
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
	if got := askRun(t, proxy, "fault"); got.err != nil || string(got.body) != strings.Repeat(frame, flood) {
		t.Errorf("the client got %d bytes: %v", len(got.body), got.err)
	}
	if n := <-heard; n != flood {
		t.Errorf("the other subscriber got %d frames", n)
	}
	car.becomes(t, 1, "delegraph_stream_disconnects_total", "reason", "write_timeout")
}
