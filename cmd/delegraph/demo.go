package main

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/promslog"
	toolkit "github.com/prometheus/exporter-toolkit/web"

	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter/spans"
	"github.com/delegraph/delegraph/exporter/tracker"
)

//go:embed demo
var demoFiles embed.FS

// briefing is a coordinator's run with four specialists in parallel, two follow-ups and a synthesis.
var briefing = demoFile("fire-briefing")

func demoFile(name string) []byte {
	content, _ := demoFiles.ReadFile("demo/" + name + ".sse") // what is embedded is there
	return content
}

// demoStories are what the client asks for in turn, each with the file that answers it: a run that is well, one that waits for a
// person, one that fails, one of which two frames cannot be read, and one that is handed over.
var demoStories = []struct{ question, file string }{
	{"Give me a recovery briefing for Cedar Creek Fire", "fire-briefing"},
	{"Close the trails of sector SW-2", "approval"},
	{"Give me a recovery briefing for Cedar Creek Fire", "fire-briefing"},
	{"Which trails of the Bootleg Fire are open?", "quota"},
	{"Give me a recovery briefing for Cedar Creek Fire", "fire-briefing"},
	{"How badly did Holiday Farm burn?", "garbled"},
	{"Give me a recovery briefing for Cedar Creek Fire", "fire-briefing"},
	{"Get me a permit for salvage logging in NE-4", "handover"},
}

// demo is the command of that name: a recorded agent, the sidecar in front of it, and a client, all on loopback.
type demo struct {
	runs  int
	speed float64
	admin string
	out   io.Writer
	err   io.Writer
}

func addDemo(app *kingpin.Application, commands map[string]func() error, ctx context.Context, out, stderr io.Writer) {
	d := &demo{out: out, err: stderr}
	c := app.Command("demo", "Serve a recorded agent on loopback, put the sidecar in front of it and drive runs through it.")
	c.Flag("runs", "Runs to drive; 0 goes on until interrupted.").Default("0").IntVar(&d.runs)
	c.Flag("speed", "How many times faster than it was recorded the agent speaks.").Default("10").Float64Var(&d.speed)
	c.Flag("web.listen-address", "Address of the admin server.").Default(adminAddress).StringVar(&d.admin)
	commands[c.FullCommand()] = func() error { return d.run(ctx) }
}

func (d *demo) run(ctx context.Context) error {
	if !(d.speed > 0) { // NaN is not
		return fmt.Errorf("--speed=%v: use a number above 0", d.speed)
	}
	if d.runs < 0 {
		return fmt.Errorf("--runs=%d: use 0 or more", d.runs)
	}
	agent := httptest.NewServer(http.HandlerFunc(d.agent))
	defer agent.Close()
	c, err := config.Parse("demo", fmt.Appendf(nil, demoConfig, agent.URL), known())
	if err != nil {
		return err
	}
	level := promslog.NewLevel()
	if err := level.Set("warn"); err != nil {
		return err
	}
	logger := promslog.New(&promslog.Config{Level: level, Writer: d.err})
	car, err := newSidecar(ctx, c, logger, demoEnvironment)
	if err != nil {
		return err
	}
	admin, err := freeAddress(d.admin)
	if err != nil {
		return err
	}
	proxy := "http://" + car.proxies[0].listener.Addr().String()
	fmt.Fprintf(d.out, "agent    %s  (recorded: fire briefings, one of which fails, one waits for a person, one is garbled)\nproxy    %s/run_sse\nstream   http://%s/events\nmetrics  http://%s/metrics\nruns     http://%s/\n",
		agent.URL, proxy, car.external.listener.Addr(), admin, admin)
	if demoEnvironment.Disabled() {
		fmt.Fprintln(d.out, "traces   nowhere; set OTEL_EXPORTER_OTLP_ENDPOINT to see them in Jaeger")
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	driven := make(chan error, 1)
	go func() {
		defer stop()
		driven <- d.drive(ctx, proxy, car)
	}()
	none := ""
	flags := &toolkit.FlagConfig{WebListenAddresses: &[]string{admin}, WebSystemdSocket: new(bool), WebConfigFile: &none}
	if err := serveAll(ctx, car, car.admin(nil, false), flags, logger); err != nil {
		return err
	}
	return <-driven
}

const demoConfig = `
stream: {listen: "127.0.0.1:0"}
sources:
  - name: fire-briefing
    proxy: {listen: "127.0.0.1:0", upstream: "%s"}
    agents_as_tools: [burn_analyst, trail_assessor, cruising_assistant, nepa_advisor]
`

// demoEnvironment exports traces only where somebody said whereto.
var demoEnvironment spans.Environment = func(name string) string {
	value := environment(name)
	if name == "OTEL_TRACES_EXPORTER" && value == "" &&
		environment("OTEL_EXPORTER_OTLP_ENDPOINT") == "" && environment("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") == "" {
		return "none"
	}
	return value
}

// freeAddress is the address that was asked for, or one beside it where somebody listens there already.
func freeAddress(wanted string) (string, error) {
	l, err := net.Listen("tcp", wanted)
	if errors.Is(err, syscall.EADDRINUSE) {
		host, _, _ := net.SplitHostPort(wanted)
		l, err = net.Listen("tcp", net.JoinHostPort(host, "0"))
	}
	if err != nil {
		return "", fmt.Errorf("--web.listen-address=%s: %w", wanted, err)
	}
	return l.Addr().String(), l.Close()
}

// agent answers a run request with the recording of its question, at its own pace.
func (d *demo) agent(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.URL.Path != "/run_sse" {
		http.NotFound(w, r)
		return
	}
	asked, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<16))
	if err != nil {
		return
	}
	recording := briefing
	for _, story := range demoStories {
		if bytes.Contains(asked, []byte(story.question)) {
			recording = demoFile(story.file)
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	var last float64
	for _, frame := range bytes.SplitAfter(recording, []byte("\n\n")) {
		var stamped struct{ Timestamp float64 }
		if json.Unmarshal(bytes.TrimPrefix(frame, []byte("data: ")), &stamped) == nil && stamped.Timestamp > 0 {
			if last > 0 && !sleep(r.Context(), time.Duration((stamped.Timestamp-last)/d.speed*float64(time.Second))) {
				return
			}
			last = stamped.Timestamp
		}
		_, _ = w.Write(frame)
		_ = http.NewResponseController(w).Flush()
	}
}

// drive asks for runs through the proxy and prints each as it was understood.
func (d *demo) drive(ctx context.Context, proxy string, car *sidecar) error {
	for n := 1; d.runs == 0 || n <= d.runs; n++ {
		if err := ask(ctx, proxy, n); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		car.proxies[0].Wait() // observation ends after the client's stream does
		printRun(d.out, car.recent.Runs()[0])
		if n != d.runs && !sleep(ctx, time.Second) {
			return nil
		}
	}
	return nil
}

func ask(ctx context.Context, proxy string, n int) error {
	story := demoStories[(n-1)%len(demoStories)]
	body := fmt.Sprintf(`{"appName":"coordinator","userId":"demo","sessionId":"demo-%d","newMessage":{"role":"user","parts":[{"text":%q}]}}`, n, story.question)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, proxy+"/run_sse", strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	sent := demoFile(story.file)
	if err == nil && !bytes.Equal(got, sent) && story.file != "garbled" { // what cannot be read is not relayed
		return fmt.Errorf("the client got %d bytes that are not the agent's %d", len(got), len(sent))
	}
	return err
}

// printRun shows who was called and how long each took, the run's own operation first.
func printRun(out io.Writer, r tracker.Report) {
	fmt.Fprintf(out, "\nrun %s: %s, %d operations\n", text(r.Run), r.Status, len(r.Operations))
	for _, op := range r.Operations {
		indent := "  "
		if op.Parent != nil {
			indent += "  "
		}
		fmt.Fprintf(out, "%s%-44s %-8s %s\n", indent, string(op.Kind)+" "+text(op.Name), op.Status, took(op))
	}
	for _, c := range r.Confidence {
		if c.Overall && c.Value != nil {
			fmt.Fprintf(out, "  overall confidence %.2f, stated by %s; %d citations\n", *c.Value, text(c.Agent), len(r.Citations))
		}
	}
}

func took(op tracker.OperationReport) string {
	if op.Started == nil || op.Ended == nil {
		return "unknown"
	}
	started, errStart := time.Parse(time.RFC3339Nano, *op.Started)
	ended, errEnd := time.Parse(time.RFC3339Nano, *op.Ended)
	if errStart != nil || errEnd != nil {
		return "unknown"
	}
	return ended.Sub(started).Round(time.Millisecond).String()
}

func text(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
