// Command delegraph stands beside an AI agent, reads the event stream that the agent already sends, and shows it as traces and metrics.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/delegraph/delegraph/internal/replay"

	"github.com/delegraph/delegraph/internal/build"
)

// The exit statuses: 1 for a command that could not do its work, 2 for a replay that had nothing to read.
const (
	exitFailed  = 1
	exitNothing = 2
)

// signalDedupWindow: signals that arrive within it count as one. timeout(1) and other programs signal a process and then its group.
const signalDedupWindow = 500 * time.Millisecond

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() { time.AfterFunc(signalDedupWindow, stop) }) // a second signal does not wait for the grace period
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if err == nil {
		return
	}
	for mistake := range strings.Lines(err.Error() + "\n") {
		fmt.Fprint(os.Stderr, "delegraph: ", mistake)
	}
	if errors.Is(err, replay.ErrNothing) {
		os.Exit(exitNothing)
	}
	os.Exit(exitFailed)
}

// run parses the arguments and runs the command.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	app := kingpin.New("delegraph", "Shows the event stream of an AI agent as OpenTelemetry traces and Prometheus metrics.")
	app.HelpFlag.Short('h')
	app.UsageWriter(stdout)
	app.DefaultEnvars()
	app.Version("delegraph " + build.Version())
	app.HelpFlag.NoEnvar() // an image may set DELEGRAPH_VERSION=1.2.3, which is no flag of ours
	app.VersionFlag.NoEnvar()

	commands := map[string]func() error{}
	addServe(app, commands, ctx, stderr)
	addGateway(app, commands, ctx, stderr)
	addReplay(app, commands, ctx, stdout, stderr)
	addCheck(app, commands, stdout)
	addDemo(app, commands, ctx, stdout, stderr)

	chosen, err := app.Parse(args)
	if err != nil {
		return fmt.Errorf("%w; see delegraph --help", refusal(app, args, err))
	}
	return commands[chosen]()
}

// refusal adds the name of the refused command or flag to kingpin's error.
func refusal(app *kingpin.Application, args []string, err error) error {
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") && app.GetCommand(args[0]) == nil {
		return fmt.Errorf("there is no command %.60q", args[0]) // to kingpin it is an unexpected argument of serve
	}
	parsed, unread := app.ParseContext(args)
	if unread != nil || parsed.SelectedCommand == nil {
		return err
	}
	given := map[string]bool{}
	for _, e := range parsed.Elements {
		if flag, ok := e.Clause.(*kingpin.FlagClause); ok {
			given[flag.Model().Name] = true
			if refused := flag.Model().Value.Set(*e.Value); refused != nil {
				return fmt.Errorf("--%s: %w", flag.Model().Name, refused)
			}
		}
	}
	for _, flag := range parsed.SelectedCommand.Model().Flags {
		if value := os.Getenv(flag.Envar); value != "" && !given[flag.Name] {
			if refused := flag.Value.Set(value); refused != nil {
				return fmt.Errorf("%s: %w", flag.Envar, refused)
			}
		}
	}
	return err
}
