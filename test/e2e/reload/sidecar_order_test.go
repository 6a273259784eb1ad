package reload_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
	"github.com/delegraph/delegraph/test/agents/fakeagent"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/loopback"
	"github.com/delegraph/delegraph/test/subprocess"
)

// agentAddress is the variable that turns a process of TestSidecarOrder into the agent that listens there.
const agentAddress = "DELEGRAPH_TEST_AGENT"

// TestSidecarOrder starts and stops processes as a kubelet does with a native sidecar. The sidecar is ready before the agent. In
// the end the agent is stopped first and may finish its run, and the sidecar is stopped after it.
func TestSidecarOrder(t *testing.T) {
	if address := os.Getenv(agentAddress); address != "" {
		if err := stoppableAgent(address); err != nil {
			t.Fatal(err)
		}
		return
	}
	receiver, address := harness.NewReceiver(t), loopback.FreeAddress(t)
	file := filepath.Join(t.TempDir(), "delegraph.yml")
	if err := os.WriteFile(file, fmt.Appendf(nil, harness.Verbatim, "http://"+address), 0o600); err != nil {
		t.Fatal(err)
	}

	sidecar, log := startProcess(t, "delegraph", receiver.Environment(nil), "serve", "--config.file="+file, "--web.listen-address=127.0.0.1:0")
	proxy := "http://" + addressLogged(t, log, "name=fire-briefing")
	admin := "http://" + addressLogged(t, log, `msg="Listening on" server=admin`)
	ready := func(context.Context) error {
		if said := fetch(t, admin+"/-/ready"); !strings.Contains(said, "is ready") {
			return errors.New(said)
		}
		return nil
	}
	harness.Await(t, ready) // without an agent

	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	agent, agentLog := startProcess(t, self, map[string]string{agentAddress: address}, "-test.run=^TestSidecarOrder$")
	if line, err := agentLog.ReadString('\n'); line != "listening\n" {
		t.Fatalf("the agent says %q, %v", line, err)
	}
	if got := fetch(t, proxy+"/healthz"); got != "well" {
		t.Errorf("the agent's health through the sidecar: %q", got)
	}

	got := make(chan harness.Response, 1)
	go func() { got <- harness.Post(t, proxy, adkserver.RunRequest("u", "s", "order", true), nil) }()
	if line, err := agentLog.ReadString('\n'); line != "speaking\n" {
		t.Fatalf("the agent says %q, %v", line, err)
	}
	ended(t, agent, agentLog)
	if a := <-got; a.Err != nil || string(a.Body) != fakeagent.Run {
		t.Errorf("the client got %q, then %v", a.Body, a.Err)
	}
	if err := ready(t.Context()); err != nil {
		t.Errorf("between the agent's end and its own, the sidecar says: %v", err)
	}
	ended(t, sidecar, log)
	traces := receiver.Traces(t)
	if len(traces) != 1 {
		t.Fatalf("%d traces", len(traces))
	}
	for _, spans := range traces {
		if status := harness.Attribute(spans.Run(t), "delegraph.run.status"); status != "completed" {
			t.Errorf("the run's span says %s", status)
		}
		for _, name := range []string{"execute_tool survey", "chat m-1", "chat m-2"} {
			spans.One(t, name)
		}
	}
}

// stoppableAgent sends half of a run, and the other half when it is stopped.
func stoppableAgent(address string) error {
	stopped, release := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer release()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "well") })
	mux.HandleFunc("POST /run_sse", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, fakeagent.CallFrame)
		_ = http.NewResponseController(w).Flush()
		fmt.Fprintln(os.Stderr, "speaking")
		<-stopped.Done()
		_, _ = io.WriteString(w, fakeagent.ResponseFrame+fakeagent.FinalFrame)
	})
	server := &http.Server{Handler: mux}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	fmt.Fprintln(os.Stderr, "listening")
	select {
	case err := <-failed:
		return err
	case <-stopped.Done():
		return server.Shutdown(context.Background())
	}
}

// startProcess starts a program and returns its standard error.
func startProcess(t *testing.T, program string, env map[string]string, args ...string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	command := subprocess.CommandContext(t.Context(), program, args...)
	command.Env = []string{"GORACE=atexit_sleep_ms=0"}
	for name, value := range env {
		command.Env = append(command.Env, name+"="+value)
	}
	said, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	return command, bufio.NewReader(said)
}

// ended stops a process and waits until it has ended without an error.
func ended(t *testing.T, command *exec.Cmd, said *bufio.Reader) {
	t.Helper()
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(said)
	if err := command.Wait(); err != nil || strings.Contains(string(rest), "level=ERROR") {
		t.Errorf("%s ended with %v:\n%s", command.Path, err, rest)
	}
}
