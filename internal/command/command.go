// Package command implements the command line of delegraph. It is separate from package main so that test binaries can run it.
package command

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

	"github.com/delegraph/delegraph/internal/build"
	"github.com/delegraph/delegraph/internal/replay"
)

// Exit statuses: 1 for a failed command, 2 for a replay of a file that is no stream.
const (
	exitFailed  = 1
	exitNothing = 2
)

// signalDedupWindow is the time within which signals count as one: timeout(1) and other programs
// signal a process and then its group. A person who presses Ctrl-C twice takes longer.
const signalDedupWindow = 150 * time.Millisecond

// Main runs the command that the arguments of the process name. It exits with a status other than 0 if the command fails.
func Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() { time.AfterFunc(signalDedupWindow, stop) }) // a second signal does not wait for the grace period
	err := Run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if err == nil {
		return
	}
	for mistake := range strings.Lines(err.Error() + "\n") {
		fmt.Fprint(os.Stderr, "delegraph: ", mistake)
	}
	if errors.Is(err, replay.ErrNotReplayed) {
		os.Exit(exitNothing)
	}
	os.Exit(exitFailed)
}

// Run parses the arguments and runs the command.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	app, commands := New(ctx, stdout, stderr)
	chosen, err := app.Parse(args)
	if err != nil {
		return fmt.Errorf("%w; see delegraph --help", refusal(app, args, err))
	}
	return commands[chosen]()
}

// New returns the parser of the command line, and a function for each command, to be called once the
// arguments are parsed.
func New(ctx context.Context, stdout, stderr io.Writer) (*kingpin.Application, map[string]func() error) {
	app := kingpin.New("delegraph", "Shows the event stream of an AI agent as OpenTelemetry traces and Prometheus metrics.")
	app.HelpFlag.Short('h')
	app.UsageWriter(stdout)
	app.DefaultEnvars()
	app.Version("delegraph " + build.Version())
	app.HelpFlag.NoEnvar() // an image may set DELEGRAPH_VERSION=1.2.3, which is not meant as this flag
	app.VersionFlag.NoEnvar()

	commands := map[string]func() error{}
	addServe(ctx, app, commands, stderr)
	addGateway(ctx, app, commands, stderr)
	addReplay(ctx, app, commands, stdout, stderr)
	addCheck(app, commands, stdout)
	addDemo(ctx, app, commands, stdout, stderr)
	return app, commands
}

// refusal adds the name of the refused command or flag to kingpin's error.
func refusal(app *kingpin.Application, args []string, err error) error {
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") && app.GetCommand(args[0]) == nil {
		return fmt.Errorf("there is no command %.60q", args[0]) // kingpin would report an unexpected argument of serve
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
