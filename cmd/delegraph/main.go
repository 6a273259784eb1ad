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
)

// The exit statuses: 1 for a command that could not do its work, 2 for a replay that had nothing to read.
const (
	exitFailed  = 1
	exitNothing = 2
)

// errNothing says that what was to be replayed cannot be read or is no SSE.
var errNothing = errors.New("not replayed")

// sameWish is how soon a second signal comes where both say one thing: timeout(1), and what runs other programs, signal a process
// and then its group.
const sameWish = 500 * time.Millisecond

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() { time.AfterFunc(sameWish, stop) }) // a second signal does not wait for the grace period
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if err == nil {
		return
	}
	for mistake := range strings.Lines(err.Error() + "\n") {
		fmt.Fprint(os.Stderr, "delegraph: ", mistake)
	}
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
	app.Version("delegraph " + version())
	app.HelpFlag.NoEnvar() // DELEGRAPH_VERSION=1.2.3 is what an image may well set, and no flag of ours
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

// refusal names what was refused where kingpin only says why.
func refusal(app *kingpin.Application, args []string, err error) error {
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") && app.GetCommand(args[0]) == nil {
		return fmt.Errorf("there is no command %.60q", args[0]) // to kingpin it is one argument too many of serve
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
