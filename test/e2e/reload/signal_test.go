package reload_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
	"github.com/delegraph/delegraph/test/agents/fakeagent"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/subprocess"
)

// TestSignal sends SIGTERM to the process within a run. The agent may finish, the admin server answers until then, and all spans
// are delivered.
func TestSignal(t *testing.T) {
	agent, receiver := recorded.NewAgent(t), harness.NewReceiver(t)
	speaking, stopping := make(chan struct{}), make(chan struct{})
	goOn := sync.OnceFunc(func() { close(stopping) })
	defer goOn()
	agent.Fault = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, fakeagent.CallFrame)
		_ = http.NewResponseController(w).Flush()
		close(speaking)
		<-stopping
		_, _ = io.WriteString(w, fakeagent.ResponseFrame+fakeagent.FinalFrame)
	}
	noisy, heard := noisyAgent(t)
	configured := fmt.Appendf(nil, harness.Verbatim+"  - {name: noisy, proxy: {listen: '127.0.0.1:0', upstream: 'http://%s'}}\n", agent.URL, noisy)
	file := filepath.Join(t.TempDir(), "delegraph.yml")
	if err := os.WriteFile(file, configured, 0o600); err != nil {
		t.Fatal(err)
	}
	command := subprocess.CommandContext(t.Context(), "delegraph", "serve", "--config.file="+file, "--web.listen-address=127.0.0.1:0")
	command.Env = []string{"GORACE=atexit_sleep_ms=0"}
	for name, value := range receiver.Environment(nil) {
		command.Env = append(command.Env, name+"="+value)
	}
	log, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(log)
	proxy, other := "http://"+addressLogged(t, lines, "name=fire-briefing"), "http://"+addressLogged(t, lines, "name=noisy")
	admin := "http://" + addressLogged(t, lines, `msg="Listening on" server=admin`)

	if said := fetch(t, other); said != "ok" {
		t.Errorf("the noisy agent says %q", said)
	}
	<-heard

	got := make(chan harness.Response, 1)
	go func() { got <- harness.Post(t, proxy, adkserver.RunRequest("u", "s", "fault", true), nil) }()
	<-speaking
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	harness.Await(t, func(context.Context) error {
		if said := fetch(t, admin+"/-/ready"); strings.Contains(said, "is ready") {
			return errors.New(said)
		}
		return nil
	})
	harness.Await(t, func(context.Context) error {
		if page := fetch(t, admin+"/metrics"); !strings.Contains(page, `delegraph_runs_open{source="fire-briefing"} 1`) {
			return fmt.Errorf("while draining, the metrics are\n%s", page)
		}
		return nil
	})
	goOn()
	if a := <-got; string(a.Body) != fakeagent.Run || a.Err != nil {
		t.Errorf("the client got %q, then %v", a.Body, a.Err)
	}
	rest, _ := io.ReadAll(lines)
	if err := command.Wait(); err != nil || strings.Contains(string(rest), "level=ERROR") || strings.Contains(string(rest), "level=WARN") || strings.Contains(string(rest), "hunter2") {
		t.Errorf("the process ended with %v:\n%s", err, rest)
	}
	for _, spans := range receiver.Traces(t) {
		if status := harness.Attribute(spans.Run(t), "delegraph.run.status"); status != "completed" {
			t.Errorf("the run's span says %s", status)
		}
	}
	if len(receiver.Traces(t)) != 1 {
		t.Errorf("%d traces", len(receiver.Traces(t)))
	}
}

// TestSignalTwice sends SIGTERM twice at once, as timeout(1) does. The summary is still printed.
func TestSignalTwice(t *testing.T) {
	command := subprocess.CommandContext(t.Context(), "delegraph", "demo", "--web.listen-address=127.0.0.1:0")
	command.Env = []string{"GORACE=atexit_sleep_ms=0"}
	said, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	lines, last, sent := bufio.NewScanner(said), "", false
	for lines.Scan() {
		if last = lines.Text(); !sent && strings.Contains(last, " interrupted ") { // the first run that ends
			sent = true
			for range 2 {
				_ = command.Process.Signal(syscall.SIGTERM)
			}
		}
	}
	if err := command.Wait(); err != nil || !strings.HasPrefix(last, "stopped: ") {
		t.Errorf("%v, after %q", err, last)
	}
}
