package main

import (
	"context"
	"flag"
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
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
	"github.com/delegraph/delegraph/test/subprocess"
)

// slowFaults adds the faults that take minutes, because a timeout of the kernel is waited for.
var slowFaults = flag.Bool("faults", false, "run the faults that take minutes too")

// soak is for how long TestSoak goes on.
var soak = flag.Duration("soak", 3*time.Second, "for how long TestSoak goes on at least")

// process is a program of its own, which can be killed and stopped.
type process struct {
	*exec.Cmd
	log *journal
}

// start runs a program until the test ends.
func start(t testing.TB, command *exec.Cmd) *process {
	t.Helper()
	p := &process{Cmd: command, log: &journal{}}
	if p.Stderr == nil {
		p.Stderr = p.log
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.kill()
		if said := p.log.String(); strings.Contains(said, "DATA RACE") || strings.Contains(said, "panic") {
			t.Error(said)
		}
	})
	return p
}

// kill returns when the program is gone.
func (p *process) kill() {
	_ = p.Process.Kill()
	_ = p.Wait()
}

func (p *process) signal(t testing.TB, signal syscall.Signal) {
	t.Helper()
	if err := p.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

// instance is the program itself, as serve runs it.
type instance struct {
	*process
	admin string // its URL
}

// serveCommand prepares the program with a configuration, in an environment of which the test says all. Where a shell's words
// are given, they come before it is executed.
func serveCommand(t testing.TB, configured, admin string, env map[string]string, before string) *exec.Cmd {
	t.Helper()
	file := filepath.Join(t.TempDir(), "delegraph.yml")
	if err := os.WriteFile(file, []byte(configured), 0o600); err != nil {
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

// serveProcess starts the program and waits until it is ready.
func serveProcess(t testing.TB, configured string, env map[string]string) *instance {
	t.Helper()
	admin := vacant(t)
	return ready(t, serveCommand(t, configured, admin, env, ""), admin)
}

func ready(t testing.TB, command *exec.Cmd, admin string) *instance {
	t.Helper()
	s := &instance{process: start(t, command), admin: "http://" + admin}
	await(t, func(ctx context.Context) error {
		status, body, err := look(ctx, s.admin+"/-/ready")
		if err != nil || status != http.StatusOK {
			return fmt.Errorf("not ready: %d %s %w; the log:\n%s", status, body, err, s.log)
		}
		return nil
	})
	return s
}

// vacant is an address at which nobody listens, so that a program can be started there, and once more.
func vacant(t testing.TB) string {
	t.Helper()
	return strings.TrimPrefix(closed(t, nil), "http://")
}

// look fetches a page over a connection of its own.
func look(ctx context.Context, address string) (status int, body string, err error) {
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

// count sums the samples of a counter, a gauge or the counts of a histogram whose labels are the given pairs, those not given
// being anything.
func (s *instance) count(t testing.TB, name string, pairs ...string) float64 {
	t.Helper()
	sum, err := s.scrape(t.Context(), name, pairs...)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func (s *instance) scrape(ctx context.Context, name string, pairs ...string) (sum float64, err error) {
	status, page, err := look(ctx, s.admin+"/metrics")
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

// becomes waits until a metric has a value.
func (s *instance) becomes(t testing.TB, want float64, name string, pairs ...string) {
	t.Helper()
	await(t, func(ctx context.Context) error {
		got, err := s.scrape(ctx, name, pairs...)
		if err == nil && got != want {
			err = fmt.Errorf("%s %v is %v, not %v; the log:\n%s", name, pairs, got, want, s.log)
		}
		return err
	})
}

// askRun asks for a run at a proxy, and reads the answer to its end.
func askRun(t *testing.T, address, says string) gotten {
	t.Helper()
	return post(t, "http://"+address, adkserver.RunRequest("u", "s", says, true), nil)
}
