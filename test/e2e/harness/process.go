package harness

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
	"github.com/delegraph/delegraph/test/loopback"
	"github.com/delegraph/delegraph/test/subprocess"
)

// Command is a program that a test starts, and can stop and kill.
type Command struct {
	*exec.Cmd
	Log   *LogBuffer    // its standard error, unless the test reads that itself
	ended chan struct{} // closed when the program has ended
	err   error         // the error of exec.Cmd.Wait, after the end
}

// Start starts a program and kills it when the test ends. The test fails if the program panics or has a data race.
func Start(t testing.TB, command *exec.Cmd) *Command {
	t.Helper()
	p := &Command{Cmd: command, ended: make(chan struct{})}
	switch output := command.Stderr.(type) {
	case nil:
		p.Log = &LogBuffer{}
		command.Stderr = p.Log
	case *LogBuffer:
		p.Log = output
	default:
		p.Log = &LogBuffer{}
	}
	if err := command.Start(); err != nil {
		t.Fatalf("start %s: %v", command.Path, err)
	}
	go func() {
		p.err = command.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.Kill()
		if log := p.Log.String(); strings.Contains(log, "DATA RACE") || strings.Contains(log, "panic") {
			t.Errorf("the log of %s:\n%s", command.Path, log)
		}
	})
	return p
}

// Wait waits until the program has ended. It returns the error of exec.Cmd.Wait.
func (p *Command) Wait() error {
	<-p.ended
	return p.err
}

// Kill kills the program and waits until it has ended.
func (p *Command) Kill() {
	_ = p.Process.Kill()
	_ = p.Wait()
}

// Signal sends a signal to the program.
func (p *Command) Signal(t testing.TB, signal syscall.Signal) {
	t.Helper()
	if err := p.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

// WaitReady waits until the admin server at a URL reports that it is ready. The test fails at once if the program ends
// first.
func (p *Command) WaitReady(t testing.TB, admin string) {
	t.Helper()
	Await(t, func(ctx context.Context) error {
		select {
		case <-p.ended:
			t.Fatalf("the program ended before it was ready: %v; the log:\n%s", p.err, p.Log)
		default:
		}
		status, body, err := Fetch(ctx, admin+"/-/ready")
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("%d %s", status, body)
		}
		if err != nil {
			return fmt.Errorf("not ready: %w; the log:\n%s", err, p.Log)
		}
		return nil
	})
}

// Instance is a process of "delegraph serve".
type Instance struct {
	*Command
	Admin string // its URL
}

// ServeCommand prepares "delegraph serve" with a configuration, the address of its admin server and an environment. before is
// shell text in front of the command.
func ServeCommand(t testing.TB, configured, admin string, env map[string]string, before string) *exec.Cmd {
	t.Helper()
	file := filepath.Join(t.TempDir(), "delegraph.yml")
	if err := os.WriteFile(file, []byte(withOwnPorts(configured)), 0o600); err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("delegraph")
	if err != nil {
		t.Fatal(err)
	}
	line := before + " exec \"$0\" serve --config.file=\"$1\" --web.listen-address=\"$2\" --web.enable-pprof --config.auto-reload-interval=0"
	command := subprocess.Command("/bin/sh", "-c", line, program, file, admin)
	command.Env = []string{"GORACE=atexit_sleep_ms=0", "PATH=" + os.Getenv("PATH"), "OTEL_TRACES_EXPORTER=none"}
	for name, value := range env {
		command.Env = append(command.Env, name+"="+value)
	}
	return command
}

// Serve starts "delegraph serve" and waits until it is ready.
func Serve(t testing.TB, configured string, env map[string]string) *Instance {
	t.Helper()
	admin := loopback.FreeAddress(t)
	return StartReady(t, ServeCommand(t, configured, admin, env, ""), admin)
}

// StartReady starts a program that ServeCommand prepared and waits until it is ready.
func StartReady(t testing.TB, command *exec.Cmd, admin string) *Instance {
	t.Helper()
	s := &Instance{Command: Start(t, command), Admin: "http://" + admin}
	s.WaitReady(t, s.Admin)
	return s
}

// Fetch gets a URL over a connection of its own.
func Fetch(ctx context.Context, address string) (status int, body string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, "", err
	}
	r.Close = true
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(content), err
}

// Count is like Metric, and fails the test on an error.
func (s *Instance) Count(t testing.TB, name string, pairs ...string) float64 {
	t.Helper()
	sum, err := s.Metric(t.Context(), name, pairs...)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// Metric scrapes the process and returns the sum of a counter or gauge, or of the counts of a histogram. It counts only
// samples that have all given labels: pairs of name and value.
func (s *Instance) Metric(ctx context.Context, name string, pairs ...string) (sum float64, err error) {
	status, page, err := Fetch(ctx, s.Admin+"/metrics")
	if err != nil || status != http.StatusOK {
		return 0, fmt.Errorf("scrape: %d %w", status, err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(page))
	if err != nil {
		return 0, err
	}
	for _, m := range families[name].GetMetric() {
		wanted := true
		for _, l := range m.GetLabel() {
			if i := slices.Index(pairs, l.GetName()); i >= 0 && pairs[i+1] != l.GetValue() {
				wanted = false
			}
		}
		if wanted {
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return sum, nil
}

// WaitMetric waits until Metric returns a value.
func (s *Instance) WaitMetric(t testing.TB, want float64, name string, pairs ...string) {
	t.Helper()
	Await(t, func(ctx context.Context) error {
		got, err := s.Metric(ctx, name, pairs...)
		if err == nil && got != want {
			err = fmt.Errorf("%s %v = %v, want %v; the log:\n%s", name, pairs, got, want, s.Log)
		}
		return err
	})
}

// AskRun starts a run through a proxy and reads the response to its end.
func AskRun(t *testing.T, address, says string) Response {
	t.Helper()
	return Post(t, "http://"+address, adkserver.RunRequest("u", "s", says, true), nil)
}

// Made returns the expected number of spans of live runs whose times are all known: one for each operation and request.
func (s *Instance) Made(ctx context.Context, requests int) (sum float64, err error) {
	sum = float64(requests)
	for _, name := range []string{"gen_ai_invoke_agent_duration_seconds", "gen_ai_execute_tool_duration_seconds", "gen_ai_client_operation_duration_seconds"} {
		n, err := s.Metric(ctx, name)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}
