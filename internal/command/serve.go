package command

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

func addServe(ctx context.Context, app *kingpin.Application, commands map[string]func() error, stderr io.Writer) {
	p := &sidecar.Process{Stderr: stderr, New: func(ctx context.Context, c config.Config, logger *slog.Logger) (sidecar.Service, error) {
		return sidecar.New(ctx, c, logger, os.Getenv)
	}}
	addProcess(ctx, app.Command("serve", "Run the sidecar.").Default(), p, commands)
}

// addProcess adds the flags of a long-running command.
func addProcess(ctx context.Context, c *kingpin.CmdClause, p *sidecar.Process, commands map[string]func() error) {
	p.Log = promslog.Config{Level: promslog.NewLevel(), Format: promslog.NewFormat()}
	c.Flag("config.file", "The configuration.").Default("delegraph.yml").StringVar(&p.File)
	c.Flag("config.auto-reload-interval", "How often to check whether the configuration has changed; 0 for never.").Default("5s").DurationVar(&p.WatchInterval)
	c.Flag("web.enable-pprof", "Serve Go's profiles below /debug/pprof of the admin server.").BoolVar(&p.PProf)
	c.Flag("log.level", "Only log messages with this severity or above: debug, info, warn, error.").Default("info").SetValue(p.Log.Level)
	c.Flag("log.format", "logfmt or json.").Default("logfmt").SetValue(p.Log.Format)
	p.Web = kingpinflag.AddFlags(c, sidecar.AdminAddress)
	commands[c.FullCommand()] = func() error { return p.Run(ctx) }
}
