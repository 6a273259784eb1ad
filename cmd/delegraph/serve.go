package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"syscall"
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

// serve is the command of that name.
type serve struct {
	file  string
	pprof bool
	flags *toolkit.FlagConfig
	log   promslog.Config
}

func addServe(app *kingpin.Application, commands map[string]func() error, ctx context.Context, stderr io.Writer) {
	s := &serve{log: promslog.Config{Level: promslog.NewLevel(), Format: promslog.NewFormat(), Writer: stderr}}
	c := app.Command("serve", "Run the sidecar.").Default()
	c.Flag("config.file", "The configuration.").Default("delegraph.yml").StringVar(&s.file)
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
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return config.Config{}, fmt.Errorf("there is no configuration %q: name yours by --config.file, or see delegraph demo, which needs none", file)
	}
	return config.Load(file, known())
}

func (s *serve) run(ctx context.Context) error {
	c, err := load(s.file)
	if err != nil {
		return err
	}
	logger := promslog.New(&s.log)
	log.SetOutput(io.Discard) // net/http quotes there what an agent sends on an idle connection
	car, err := newSidecar(ctx, c, logger, environment)
	if err != nil {
		return err
	}
	reload := func() error { return s.reload(car) }
	onHangup(ctx, reload)
	return serveAll(ctx, car, car.admin(reload, s.pprof), s.flags, logger)
}

// serveAll runs the sidecar and its admin server, which outlives it so that a last scrape sees the end.
func serveAll(ctx context.Context, car *sidecar, admin http.Handler, flags *toolkit.FlagConfig, logger *slog.Logger) error {
	adminContext, stopAdmin := context.WithCancel(context.Background())
	defer stopAdmin()
	carContext, stopCar := context.WithCancel(ctx)
	defer stopCar()
	adminDone := make(chan error, 1)
	go func() {
		err := web.Serve(adminContext, admin, flags, time.Second, logger.With("server", "admin"))
		if err != nil {
			err = fmt.Errorf("%w; see --web.listen-address and --web.config.file", err)
		}
		adminDone <- err
		stopCar()
	}()
	err := car.run(carContext)
	stopAdmin()
	return errors.Join(err, <-adminDone)
}

// reload takes over what can change while streams are open. Sources cannot: their ports and agents are theirs until a restart.
func (s *serve) reload(car *sidecar) error {
	c, err := load(s.file)
	if err == nil && !sameSources(c.Sources, car.config.Sources) {
		err = errors.New("sources cannot be changed by a reload, except for agents_as_tools: restart delegraph")
	}
	if err == nil {
		err = car.configure(c)
	}
	car.metrics.Reloaded(err == nil, time.Now())
	if err != nil {
		car.logger.Error("reload failed; the configuration stays as it was", "err", err)
		return err
	}
	car.logger.Info("reloaded", "file", s.file)
	return nil
}

func sameSources(a, b []config.Source) bool {
	return slices.EqualFunc(a, b, func(x, y config.Source) bool {
		x.AgentsAsTools, y.AgentsAsTools = nil, nil
		return reflect.DeepEqual(x, y)
	})
}

// onHangup takes the signal over before it returns: unhandled, a hangup ends the process.
func onHangup(ctx context.Context, do func() error) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	go func() {
		defer signal.Stop(hangup)
		for {
			select {
			case <-ctx.Done():
				return
			case <-hangup:
				_ = do() // it logs
			}
		}
	}()
}
