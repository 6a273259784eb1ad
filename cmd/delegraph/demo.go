package main

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

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/promslog"

	"github.com/delegraph/delegraph/cmd/delegraph/demo"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter/spans"
	"github.com/delegraph/delegraph/exporter/web"
)

// demoConfig is the sidecar's before the recorded agents, whose addresses stand in it by the names of their sources. One of them is
// not read on its way to the client but listened to, in each session that a request names.
const demoConfig = `
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
`

// ownConfig is the sidecar's before an agent of the user's.
const ownConfig = `
stream: {listen: "127.0.0.1:0"}
sources: [{name: agent, proxy: {listen: "127.0.0.1:0", upstream: %q}}]
`

// demoCommand is the command of the name demo: recorded agents, the sidecar in front of them, and clients, all on loopback; or
// the sidecar in front of the user's own agent.
type demoCommand struct {
	runs  int
	speed float64
	agent string
	own   bool // --agent was given
	admin string
	out   io.Writer
	err   io.Writer
}

func addDemo(app *kingpin.Application, commands map[string]func() error, ctx context.Context, out, stderr io.Writer) {
	d := &demoCommand{out: out, err: stderr}
	c := app.Command("demo", "Serve recorded agents on loopback, put the sidecar in front of them and drive runs through it.")
	c.Flag("runs", "Runs to drive; 0 goes on until interrupted.").Default("0").IntVar(&d.runs)
	c.Flag("speed", "How many times faster than they were recorded the agents speak.").Default("1").Float64Var(&d.speed)
	c.Flag("agent", "URL of your own agent, to put the sidecar in front of it. Nothing is recorded and nothing driven then.").IsSetByUser(&d.own).StringVar(&d.agent)
	c.Flag("web.listen-address", "Address of the admin server.").Default(adminAddress).StringVar(&d.admin)
	commands[c.FullCommand()] = func() error { return d.run(ctx) }
}

func (d *demoCommand) run(ctx context.Context) error {
	if !(d.speed > 0) { // NaN is not
		return fmt.Errorf("--speed=%v: use a number above 0", d.speed)
	}
	if d.runs < 0 {
		return fmt.Errorf("--runs=%d: use 0 or more", d.runs)
	}
	if d.own || d.agent != "" { // which is empty where somebody's variable is
		return d.beforeOwn(ctx)
	}
	stage, err := demo.Open(d.speed)
	if err != nil {
		return err
	}
	defer stage.Close()
	c, err := config.Parse("demo", []byte(os.Expand(demoConfig, stage.URL)), known())
	if err != nil {
		return err
	}
	return d.serve(ctx, c, func(ctx context.Context, proxies map[string]string, ended *ledger) error {
		for _, configured := range c.Sources {
			if configured.Tail != nil {
				fmt.Fprintf(d.out, "source   %-18s listens to %s\n", configured.Name, configured.Tail.URL)
				continue
			}
			fmt.Fprintf(d.out, "source   %-18s %s\n", configured.Name, proxies[configured.Name])
		}
		ended.begin()
		asked := func(source string) string { return cmp.Or(proxies[source], proxies[source+"-turns"]) }
		if err := stage.Drive(ctx, d.runs, asked); err != nil {
			return err
		}
		ended.await(ctx, d.runs)
		return nil
	})
}

// beforeOwn stands before an agent that somebody else talks to.
func (d *demoCommand) beforeOwn(ctx context.Context) error {
	c, err := config.Parse("--agent", fmt.Appendf(nil, ownConfig, d.agent), known())
	var mistake *config.Error
	if errors.As(err, &mistake) {
		return fmt.Errorf("--agent: %s; %s", mistake.Problem, mistake.Remedy)
	}
	if err != nil {
		return err
	}
	return d.serve(ctx, c, func(ctx context.Context, proxies map[string]string, ended *ledger) error {
		fmt.Fprintf(d.out, ownAgent, d.agent, proxies["agent"])
		ended.begin()
		<-ctx.Done()
		return nil
	})
}

// ownAgent says how to talk to the agent. It shows how with the protocol that is most likely.
const ownAgent = `agent    %[1]s
proxy    %[2]s  stands for it: point your client here, or ask it yourself; one of the ADK, where APP is its name, by
         curl -N %[2]s/run_sse -H 'Content-Type: application/json' -d '{"appName":"APP","userId":"me","sessionId":"1","newMessage":{"role":"user","parts":[{"text":"Hello"}]}}'
`

// serve runs the sidecar and, beside it, the clients; when these are done it stops.
func (d *demoCommand) serve(ctx context.Context, c config.Config, clients func(context.Context, map[string]string, *ledger) error) error {
	level := promslog.NewLevel()
	if err := level.Set("warn"); err != nil {
		return err
	}
	lines := newLogQueue(d.err, int(c.Limits.LogQueue))
	defer lines.close(time.Second)
	logger := promslog.New(&promslog.Config{Level: level, Writer: lines})
	ended := newLedger(d.out)
	admin, err := listenFree(d.admin)
	if err != nil {
		return err
	}
	defer admin.Close()
	car, err := newSidecar(ctx, c, logger, demoEnvironment, ended)
	if err != nil {
		return err
	}
	car.logs(lines.lost)
	fmt.Fprintf(d.out, "runs     %[1]s/  look here first: who delegates to whom, live\nmetrics  %[1]s/metrics\nstream   curl -N http://%[2]s/events\n",
		admin.url(), car.external.listener.Addr())
	if admin.taken {
		fmt.Fprintf(d.out, "         somebody else listens on %s\n", d.admin)
	}
	if demoEnvironment.Disabled() {
		fmt.Fprintln(d.out, "traces   nowhere; set OTEL_EXPORTER_OTLP_ENDPOINT to see them in Jaeger")
	}
	proxies := map[string]string{}
	for _, p := range car.proxies {
		proxies[p.name] = "http://" + p.listener.Addr().String()
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	go func() {
		defer stop()
		done <- clients(ctx, proxies, ended)
	}()
	pages := car.admin(nil, false)
	err = serveAll(ctx, car, func(ctx context.Context) error {
		return web.ServeOn(ctx, admin, pages, lastScrape, logger.With("server", "admin"))
	})
	stop()
	err = errors.Join(err, <-done)
	ended.sum()
	return err
}

// demoEnvironment exports traces only where somebody said whereto.
var demoEnvironment spans.Environment = func(name string) string {
	value := environment(name)
	if name == "OTEL_TRACES_EXPORTER" && value == "" &&
		environment("OTEL_EXPORTER_OTLP_ENDPOINT") == "" && environment("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") == "" {
		return "none"
	}
	return value
}

// adminAt is where the admin server listens. It is listened to from the beginning: an address that is given back may be taken by
// another program before it is used.
type adminAt struct {
	net.Listener
	taken bool // another program listens at the address that was asked for
}

// listenFree listens at the address that was asked for, or beside it where another program listens there already.
func listenFree(wanted string) (adminAt, error) {
	host, _, err := net.SplitHostPort(wanted)
	if err != nil {
		return adminAt{}, fmt.Errorf("--web.listen-address=%s: use HOST:PORT, such as %s", wanted, adminAddress)
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

// url is where a browser on this machine goes.
func (a adminAt) url() string {
	host, port, _ := net.SplitHostPort(a.Addr().String()) // which the net package made
	if net.ParseIP(host).IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}
