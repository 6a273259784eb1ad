// Command delegraph stands beside an AI agent, reads the event stream that the agent already sends, and shows it as traces and metrics.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kingpin/v2"
)

// The exit statuses: 1 for a command that could not do its work, 2 for a replay that had nothing to read.
const (
	exitFailed  = 1
	exitNothing = 2
)

// errNothing says that what was to be replayed cannot be read or is no SSE.
var errNothing = errors.New("nothing to replay")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "delegraph:", err)
	if errors.Is(err, errNothing) {
		os.Exit(exitNothing)
	}
	os.Exit(exitFailed)
}

// run parses the arguments and does what the command says.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	app := kingpin.New("delegraph", "Shows the event stream of an AI agent as OpenTelemetry traces and Prometheus metrics.")
	app.HelpFlag.Short('h')
	app.UsageWriter(stdout)
	app.DefaultEnvars()
	app.Version(version())

	commands := map[string]func() error{}
	addServe(app, commands, ctx, stderr)
	addReplay(app, commands, ctx, stdout)
	addCheck(app, commands, stdout)
	addDemo(app, commands, ctx, stdout, stderr)

	chosen, err := app.Parse(args)
	if err != nil {
		return fmt.Errorf("%w; see delegraph --help", err)
	}
	return commands[chosen]()
}
