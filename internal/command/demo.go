package command

import (
	"context"
	"io"

	"github.com/alecthomas/kingpin/v2"

	"github.com/delegraph/delegraph/internal/demo"
	"github.com/delegraph/delegraph/internal/sidecar"
)

func addDemo(ctx context.Context, app *kingpin.Application, commands map[string]func() error, out, stderr io.Writer) {
	d := &demo.Command{Out: out, Stderr: stderr}
	c := app.Command("demo", "Serve recorded agents on loopback, put the sidecar in front of them and drive runs through it.")
	c.Flag("runs", "Number of runs; 0 continues until interrupted.").Default("0").IntVar(&d.Runs)
	c.Flag("speed", "How many times faster than recorded the agents send.").Default("1").Float64Var(&d.Speed)
	c.Flag("agent", "URL of your own agent, to put the sidecar in front of it. The recorded agents and their clients do not run then.").IsSetByUser(&d.HasAgent).StringVar(&d.Agent)
	c.Flag("web.listen-address", "Address of the admin server.").Default(sidecar.AdminAddress).StringVar(&d.AdminAddress)
	commands[c.FullCommand()] = func() error { return d.Run(ctx) }
}
