package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"log/slog"
	"os"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/promslog"
	toolkit "github.com/prometheus/exporter-toolkit/web"
	"github.com/prometheus/exporter-toolkit/web/kingpinflag"

	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter/web"
)

// adminAddress is where the admin server listens by default: it says much of an agent, so to nobody but this machine.
const adminAddress = "127.0.0.1:10477"

// serve is the commands that run until they are told to stop, each with a service of its own.
type serve struct {
	begin func(context.Context, config.Config, *slog.Logger) (service, error)
	file  string
	watch time.Duration
	pprof bool
	flags *toolkit.FlagConfig
	log   promslog.Config

	stderr io.Writer
}

func addServe(app *kingpin.Application, commands map[string]func() error, ctx context.Context, stderr io.Writer) {
	s := &serve{begin: func(ctx context.Context, c config.Config, logger *slog.Logger) (service, error) {
		return newSidecar(ctx, c, logger, environment)
	}}
	s.add(app.Command("serve", "Run the sidecar.").Default(), commands, ctx, stderr)
}

func addGateway(app *kingpin.Application, commands map[string]func() error, ctx context.Context, stderr io.Writer) {
	s := &serve{begin: func(_ context.Context, c config.Config, logger *slog.Logger) (service, error) {
		return newGateway(c, logger)
	}}
	s.add(app.Command("gateway", "Serve the external stream that sidecars publish to NATS JetStream."), commands, ctx, stderr)
}

func (s *serve) add(c *kingpin.CmdClause, commands map[string]func() error, ctx context.Context, stderr io.Writer) {
	s.stderr = stderr
	s.log = promslog.Config{Level: promslog.NewLevel(), Format: promslog.NewFormat()}
	c.Flag("config.file", "The configuration.").Default("delegraph.yml").StringVar(&s.file)
	c.Flag("config.auto-reload-interval", "How often to see whether the configuration has changed; 0 for never.").Default("5s").DurationVar(&s.watch)
	c.Flag("web.enable-pprof", "Serve Go's profiles below /debug/pprof of the admin server.").BoolVar(&s.pprof)
	c.Flag("log.level", "Only log messages with this severity or above: debug, info, warn, error.").Default("info").SetValue(s.log.Level)
	c.Flag("log.format", "logfmt or json.").Default("logfmt").SetValue(s.log.Format)
	s.flags = kingpinflag.AddFlags(c, adminAddress)
	commands[c.FullCommand()] = func() error { return s.run(ctx) }
}

func addCheck(app *kingpin.Application, commands map[string]func() error, out io.Writer) {
	c := app.Command("check", "Validate a configuration: exit 0, or 1 with the line and the key of each mistake.")
	file := c.Flag("config.file", "The configuration.").Default("delegraph.yml").String()
	commands[c.FullCommand()] = func() error {
		loaded, err := load(*file)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: valid, %d source(s)\n", *file, len(loaded.Sources))
		return nil
	}
}

func load(file string) (config.Config, error) {
	data, err := configured(file)
	if err != nil {
		return config.Config{}, err
	}
	return config.Parse(file, data, known())
}

// configured is what a configuration file says.
func configured(file string) ([]byte, error) {
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no configuration %q: name yours by --config.file, or see delegraph demo, which needs none", file)
	}
	return config.Read(file)
}

func (s *serve) run(ctx context.Context) error {
	if s.watch < 0 {
		return fmt.Errorf("--config.auto-reload-interval=%s: use 0 or more", s.watch)
	}
	data, err := configured(s.file)
	if err != nil {
		return err
	}
	c, err := config.Parse(s.file, data, known())
	if err != nil {
		return err
	}
	lines := newLogQueue(s.stderr, int(c.Limits.LogQueue))
	defer lines.close(time.Second)
	s.log.Writer = lines
	logger := promslog.New(&s.log)
	log.SetOutput(io.Discard) // net/http quotes there what an agent sends on an idle connection
	car, err := s.begin(ctx, c, logger)
	if err != nil {
		return err
	}
	car.logs(lines.lost)
	loaded := &reloading{file: s.file, car: car, logger: logger, tried: fingerprintOf(data, nil)}
	onHangup(ctx, loaded.reload)
	if s.watch > 0 && rereadable(s.file) {
		ticker := time.NewTicker(s.watch)
		defer ticker.Stop()
		go loaded.watch(ctx, ticker.C)
	}
	admin := car.admin(loaded.reload, s.pprof)
	return serveAll(ctx, car, func(ctx context.Context) error {
		err := web.Serve(ctx, admin, s.flags, lastScrape, logger.With("server", "admin"))
		if err != nil {
			err = fmt.Errorf("%w; see --web.listen-address and --web.config.file", err)
		}
		return err
	})
}

// lastScrape is how long the admin server answers after everything else has stopped.
const lastScrape = time.Second

// serveAll runs a service and its admin server, which outlives it so that a last scrape sees the end.
func serveAll(ctx context.Context, car service, admin func(context.Context) error) error {
	adminContext, stopAdmin := context.WithCancel(context.Background())
	defer stopAdmin()
	carContext, stopCar := context.WithCancel(ctx)
	defer stopCar()
	adminDone := make(chan error, 1)
	go func() {
		adminDone <- admin(adminContext)
		stopCar()
	}()
	err := car.run(carContext)
	stopAdmin()
	return errors.Join(err, <-adminDone)
}
