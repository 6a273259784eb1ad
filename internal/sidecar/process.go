package sidecar

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"os/signal"
	"syscall"
	"time"

	"github.com/prometheus/common/promslog"
	toolkit "github.com/prometheus/exporter-toolkit/web"

	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter/web"
	"github.com/delegraph/delegraph/internal/logqueue"
	"github.com/delegraph/delegraph/internal/settings"
)

// AdminAddress is the default address of the admin server. Only this machine can reach it, because its pages
// show what an agent does.
const AdminAddress = "127.0.0.1:10477"

// FinalScrapeWait is how long the admin server stays up for a last scrape after everything else has stopped.
const FinalScrapeWait = time.Second

// Service is a sidecar or a gateway.
type Service interface {
	// Run serves until the context is done, and returns when everything has been released.
	Run(context.Context) error
	// Starting returns what the service does once it runs.
	Starting() []Notice
	// OpenRequests returns the number of requests that a stop waits for. DrainTime returns how long it waits for them.
	OpenRequests() int
	DrainTime() time.Duration
	// Stopped returns what was delivered and what was lost.
	Stopped() Notice
	// Configure applies a configuration as a whole, or returns an error and changes nothing.
	Configure(config.Config) error
	// RecordReload records the outcome of a reload.
	RecordReload(ok bool, at time.Time)
	// ObserveDroppedLines takes a function that returns the number of dropped log lines.
	ObserveDroppedLines(lost func() uint64)
	// Admin returns the handler of the admin server. A nil reload means that the configuration cannot be reloaded.
	Admin(reload func() error, profile bool) http.Handler
}

// Process is a service with its configuration file, its log and its admin server. The commands serve and
// gateway run it.
type Process struct {
	New           func(context.Context, config.Config, *slog.Logger) (Service, error)
	File          string
	WatchInterval time.Duration // how often the file is read again; 0 for never
	PProf         bool
	Web           *toolkit.FlagConfig
	Log           promslog.Config // its Writer is replaced
	Stderr        io.Writer
}

// Run runs the process until the context is done.
func (p *Process) Run(ctx context.Context) error {
	if p.WatchInterval < 0 {
		return fmt.Errorf("--config.auto-reload-interval=%s: use 0 or more", p.WatchInterval)
	}
	data, err := settings.Read(p.File)
	if err != nil {
		return err
	}
	c, err := config.Parse(p.File, data, settings.KnownNames())
	if err != nil {
		return err
	}
	signal.Ignore(syscall.SIGPIPE) // Go would end the process when it writes to a closed standard output or error
	lines := logqueue.New(p.Stderr, int(c.Limits.LogQueue))
	defer lines.Close(time.Second)
	p.Log.Writer = lines
	logger := promslog.New(&p.Log)
	log.SetOutput(io.Discard) // net/http's client logs the data that an agent sends on an idle connection
	service, err := p.New(ctx, c, logger)
	if err != nil {
		return err
	}
	service.ObserveDroppedLines(lines.DroppedLines)
	reloader := NewReloader(p.File, data, service, logger)
	onHangup(ctx, reloader.Reload)
	if p.WatchInterval > 0 && rereadable(p.File) {
		ticker := time.NewTicker(p.WatchInterval)
		defer ticker.Stop()
		go reloader.Watch(ctx, ticker.C)
	}
	admin := service.Admin(reloader.Reload, p.PProf)
	notices := newNotifier(p.Stderr, lines, logger)
	notices.notify(service.Starting()...)
	if addresses := p.Web.WebListenAddresses; addresses != nil && len(*addresses) > 0 {
		notices.notify(pageNotice((*addresses)[0], *p.Web.WebConfigFile)...)
	}
	defer context.AfterFunc(ctx, func() { notices.notify(drainingNotice(service.OpenRequests(), service.DrainTime())) })()
	err = Serve(ctx, service, func(ctx context.Context) error {
		err := web.Serve(ctx, admin, p.Web, FinalScrapeWait, logger.With("server", "admin"))
		if err != nil {
			err = fmt.Errorf("%w; see --web.listen-address and --web.config.file", err)
		}
		return err
	})
	notices.notify(service.Stopped())
	return err
}

// Serve runs a service and its admin server until the context is done or one of them fails. The admin server
// stops after the service, so that a last scrape sees the end.
func Serve(ctx context.Context, service Service, admin func(context.Context) error) error {
	adminContext, stopAdmin := context.WithCancel(context.Background())
	defer stopAdmin()
	serviceContext, stopService := context.WithCancel(ctx)
	defer stopService()
	adminDone := make(chan error, 1)
	go func() {
		adminDone <- admin(adminContext)
		stopService()
	}()
	err := service.Run(serviceContext)
	stopAdmin()
	return errors.Join(err, <-adminDone)
}
