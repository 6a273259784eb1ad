package command

import (
	"context"
	"io"
	"log/slog"

	"github.com/alecthomas/kingpin/v2"

	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/internal/sidecar"
)

func addGateway(ctx context.Context, app *kingpin.Application, commands map[string]func() error, stderr io.Writer) {
	p := &sidecar.Process{Stderr: stderr, New: func(_ context.Context, c config.Config, logger *slog.Logger) (sidecar.Service, error) {
		return sidecar.NewGateway(c, logger)
	}}
	addProcess(ctx, app.Command("gateway", "Serve the external stream that sidecars publish to NATS JetStream."), p, commands)
}
