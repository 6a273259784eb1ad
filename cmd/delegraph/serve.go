package main

import (
	"context"
	"io"
	"log/slog"
	"os"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/exporter-toolkit/web/kingpinflag"

	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/internal/sidecar"
)

func addServe(app *kingpin.Application, commands map[string]func() error, ctx context.Context, stderr io.Writer) {
	p := &sidecar.Process{Stderr: stderr, New: func(ctx context.Context, c config.Config, logger *slog.Logger) (sidecar.Service, error) {
		return sidecar.New(ctx, c, logger, os.Getenv)
	}}
	addProcess(app.Command("serve", "Run the sidecar.").Default(), p, commands, ctx)
}

// addProcess adds the flags of a command that runs until it is told to stop.
func addProcess(c *kingpin.CmdClause, p *sidecar.Process, commands map[string]func() error, ctx context.Context) {
	p.Log = promslog.Config{Level: promslog.NewLevel(), Format: promslog.NewFormat()}
	c.Flag("config.file", "The configuration.").Default("delegraph.yml").StringVar(&p.File)
	c.Flag("config.auto-reload-interval", "How often to see whether the configuration has changed; 0 for never.").Default("5s").DurationVar(&p.Watch)
	c.Flag("web.enable-pprof", "Serve Go's profiles below /debug/pprof of the admin server.").BoolVar(&p.PProf)
	c.Flag("log.level", "Only log messages with this severity or above: debug, info, warn, error.").Default("info").SetValue(p.Log.Level)
	c.Flag("log.format", "logfmt or json.").Default("logfmt").SetValue(p.Log.Format)
	p.Web = kingpinflag.AddFlags(c, sidecar.AdminAddress)
	commands[c.FullCommand()] = func() error { return p.Run(ctx) }
}
