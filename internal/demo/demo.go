package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/prometheus/common/promslog"

	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter/spans"
	"github.com/delegraph/delegraph/exporter/web"
	"github.com/delegraph/delegraph/internal/logqueue"
	"github.com/delegraph/delegraph/internal/settings"
	"github.com/delegraph/delegraph/internal/sidecar"
)

// recordedConfig is the configuration in front of the recorded agents. Their addresses are inserted by the names of their sources. One
// agent is read by a tail, in each session that a request names.
const recordedConfig = `
stream: {listen: "127.0.0.1:0"}
sources:
  - name: fire-briefing
    proxy: {listen: "127.0.0.1:0", upstream: "${fire-briefing}"}
    agents_as_tools: [burn_analyst, trail_assessor, cruising_assistant, nepa_advisor]
  - name: tender-analysis
    proxy: {listen: "127.0.0.1:0", upstream: "${tender-analysis}"}
  - name: fire-weather
    tail: {url: "${fire-weather}/events/{session}?filterInternal=false", idle_timeout: 1m}
  - name: fire-weather-turns
    proxy: {listen: "127.0.0.1:0", upstream: "${fire-weather}", paths: [/turns]}
  - name: evacuation-notice
    proxy: {listen: "127.0.0.1:0", upstream: "${evacuation-notice}"}
  - name: burned-area
    proxy: {listen: "127.0.0.1:0", upstream: "${burned-area}"}
  - name: parcels
    proxy: {listen: "127.0.0.1:0", upstream: "${parcels}"}
  - name: shelters
    proxy: {listen: "127.0.0.1:0", upstream: "${shelters}"}
  - name: supplies
    proxy: {listen: "127.0.0.1:0", upstream: "${supplies}"}
  - name: air
    proxy: {listen: "127.0.0.1:0", upstream: "${air}"}
  - name: field-report
    proxy: {listen: "127.0.0.1:0", upstream: "${field-report}"}
`

// ownConfig is the configuration in front of the user's own agent.
const ownConfig = `
stream: {listen: "127.0.0.1:0"}
sources: [{name: agent, proxy: {listen: "127.0.0.1:0", upstream: %q}}]
`

// interruptedGrace is how long the demo may take to stop after Ctrl-C. Requests that other programs have opened may end on their own for
// half of it and are then cut off.
const interruptedGrace = 2 * time.Second

// Command is the demonstration: recorded agents, the sidecar in front of them, and clients, all on loopback. With Agent, it is the
// sidecar in front of the user's own agent.
type Command struct {
	Runs         int     // number of runs; 0 continues until the context is done
	Speed        float64 // how many times faster than recorded the agents send
	Agent        string  // URL of the user's own agent
	HasAgent     bool    // Agent was given, even if it is empty
	AdminAddress string
	Out, Stderr  io.Writer
}

// Run runs the demonstration until its runs have ended or the context is done.
func (d *Command) Run(ctx context.Context) error {
	if !(d.Speed > 0) { // false for NaN
		return fmt.Errorf("--speed=%v: use a number above 0", d.Speed)
	}
	if d.Runs < 0 {
		return fmt.Errorf("--runs=%d: use 0 or more", d.Runs)
	}
	if d.HasAgent || d.Agent != "" { // Agent is empty if it comes from an empty variable
		return d.serveOwn(ctx)
	}
	stage, err := openStage(d.Speed)
	if err != nil {
		return err
	}
	defer stage.close()
	c, err := config.Parse("demo", []byte(os.Expand(recordedConfig, stage.url)), settings.KnownNames())
	if err != nil {
		return err
	}
	return d.serve(ctx, c, func(ctx context.Context, _ *sidecar.Sidecar, proxies map[string]string, ended *summary) error {
		for _, configured := range c.Sources {
			if configured.Tail != nil {
				fmt.Fprintf(d.Out, "source   %-18s listens to %s\n", configured.Name, configured.Tail.URL)
				continue
			}
			fmt.Fprintf(d.Out, "source   %-18s %s\n", configured.Name, proxies[configured.Name])
		}
		ended.begin()
		asked := func(source string) string { return cmp.Or(proxies[source], proxies[source+"-turns"]) }
		if err := stage.drive(ctx, d.Runs, asked); err != nil {
			return err
		}
		ended.await(ctx, d.Runs)
		return nil
	})
}

// serveOwn runs the sidecar in front of the user's own agent, without clients.
func (d *Command) serveOwn(ctx context.Context) error {
	c, err := config.Parse("--agent", fmt.Appendf(nil, ownConfig, d.Agent), settings.KnownNames())
	var mistake *config.Error
	if errors.As(err, &mistake) {
		return fmt.Errorf("--agent: %s; %s", mistake.Problem, mistake.Remedy)
	}
	if err != nil {
		return err
	}
	return d.serve(ctx, c, func(ctx context.Context, service *sidecar.Sidecar, proxies map[string]string, ended *summary) error {
		d.introduce(ctx, proxies["agent"], func(command string) { service.Sources.SetExample("agent", command) })
		ended.begin()
		<-ctx.Done()
		return nil
	})
}

// serve runs the sidecar with the clients beside it, and stops when these are done.
func (d *Command) serve(ctx context.Context, c config.Config, clients func(context.Context, *sidecar.Sidecar, map[string]string, *summary) error) error {
	level := promslog.NewLevel()
	if err := level.Set("warn"); err != nil {
		return err
	}
	lines := logqueue.New(d.Stderr, int(c.Limits.LogQueue))
	defer lines.Close(time.Second)
	logger := promslog.New(&promslog.Config{Level: level, Writer: lines})
	ended := newSummary(d.Out)
	admin, err := listenNear(d.AdminAddress)
	if err != nil {
		return err
	}
	defer admin.Close()
	service, err := sidecar.New(ctx, c, logger, exportEnvironment, ended)
	if err != nil {
		return err
	}
	service.ObserveDroppedLines(lines.DroppedLines)
	fmt.Fprintf(d.Out, "runs     %[1]s/  look here first: who delegates to whom, live\nmetrics  %[1]s/metrics\nstream   curl -N http://%[2]s/events\n",
		admin.url(), service.StreamAddr())
	if admin.taken {
		fmt.Fprintf(d.Out, "         another program listens on %s\n", d.AdminAddress)
	}
	if exportEnvironment.Disabled() {
		fmt.Fprintln(d.Out, "traces   nowhere; set OTEL_EXPORTER_OTLP_ENDPOINT to see them in Jaeger")
	}
	proxies := map[string]string{}
	for _, p := range service.Proxies() {
		proxies[p.Name] = "http://" + p.Addr
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() {
		limit, cancel := context.WithTimeout(serving, interruptedGrace)
		defer cancel()
		service.Stop(limit)
		<-serving.Done()
	})()
	asking, leave := context.WithCancel(ctx)
	defer leave()
	done := make(chan error, 1)
	go func() {
		err := clients(asking, service, proxies, ended)
		if ctx.Err() == nil {
			stop() // all runs have ended, so there is time to deliver their spans
		}
		done <- err
	}()
	pages := service.Admin(nil, false)
	err = sidecar.Serve(serving, service, func(ctx context.Context) error {
		return web.ServeListener(ctx, admin, pages, sidecar.FinalScrapeWait, logger.With("server", "admin"))
	})
	leave()
	err = errors.Join(err, <-done)
	ended.sum(service.Stopped().Text)
	return err
}

// exportEnvironment exports traces only if the environment names a receiver.
var exportEnvironment spans.Environment = func(name string) string {
	value := os.Getenv(name)
	if name == "OTEL_TRACES_EXPORTER" && value == "" &&
		os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" && os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") == "" {
		return "none"
	}
	return value
}

// adminAt is the listener of the admin server. It is opened early so that no other program takes the address.
type adminAt struct {
	net.Listener
	taken bool // another program listens at the requested address
}

// listenNear listens at the requested address, or at another port if it is taken.
func listenNear(wanted string) (adminAt, error) {
	host, _, err := net.SplitHostPort(wanted)
	if err != nil {
		return adminAt{}, fmt.Errorf("--web.listen-address=%s: use HOST:PORT, such as %s", wanted, sidecar.AdminAddress)
	}
	l, err := net.Listen("tcp", wanted)
	taken := errors.Is(err, syscall.EADDRINUSE)
	if taken {
		l, err = net.Listen("tcp", net.JoinHostPort(host, "0"))
	}
	if err != nil {
		return adminAt{}, fmt.Errorf("--web.listen-address=%s: %w", wanted, err)
	}
	return adminAt{l, taken}, nil
}

// url returns the URL for a browser on this machine.
func (a adminAt) url() string {
	host, port, _ := net.SplitHostPort(a.Addr().String()) // an address of the net package is always valid
	if net.ParseIP(host).IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}
