package otelcol

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/receiverhelper"
	"go.uber.org/zap/exp/zapslog"

	"github.com/delegraph/delegraph/exporter/spans"
	"github.com/delegraph/delegraph/internal/sidecar"
)

// instance is one receiver. The pipelines of each signal start it and shut it down; the first call counts.
type instance struct {
	config   *Config
	logger   *slog.Logger
	pipeline *pipeline
	remove   func() // forgets the instance, so that its configuration can be used again

	starting, stopping sync.Once
	sidecar            *sidecar.Sidecar // nil unless Start succeeded
	stopped            chan struct{}
}

func newInstance(set receiver.Settings, c *Config, remove func()) (*instance, error) {
	report, err := receiverhelper.NewObsReport(receiverhelper.ObsReportSettings{ReceiverID: set.ID, Transport: "http", ReceiverCreateSettings: set})
	if err != nil {
		return nil, err
	}
	return &instance{
		config: c, logger: slog.New(zapslog.NewHandler(set.Logger.Core())), remove: remove, stopped: make(chan struct{}),
		pipeline: &pipeline{report: report, logger: set.Logger},
	}, nil
}

// Start opens the ports and begins to read.
func (r *instance) Start(ctx context.Context, host component.Host) (err error) {
	r.starting.Do(func() {
		if err = r.config.Validate(); err != nil {
			return
		}
		var running *sidecar.Sidecar
		running, err = sidecar.NewInProcess(ctx, r.config.sidecar, r.logger, r.environment(os.Getenv), &http.Client{Transport: r.pipeline})
		if err != nil {
			return
		}
		r.sidecar = running
		go func() {
			defer close(r.stopped)
			if err := running.Run(context.Background()); err != nil {
				componentstatus.ReportStatus(host, componentstatus.NewFatalErrorEvent(err))
			}
		}()
	})
	return err
}

// Shutdown lets streams end and passes their last spans and metrics on, for at most ten seconds and until the context is done.
func (r *instance) Shutdown(ctx context.Context) (err error) {
	r.stopping.Do(func() {
		r.remove()
		if r.sidecar == nil {
			return
		}
		r.sidecar.Stop(ctx)
		select {
		case <-r.stopped:
		case <-ctx.Done():
			err = ctx.Err()
		}
	})
	return err
}

// environment returns the variables of the sidecar: those of the process, except that the signals that have a pipeline go there.
func (r *instance) environment(process spans.Environment) spans.Environment {
	exporters := map[bool]string{true: "otlp", false: "none"}
	own := map[string]string{
		"OTEL_SDK_DISABLED":           "",
		"OTEL_TRACES_EXPORTER":        exporters[r.pipeline.traces != nil],
		"OTEL_METRICS_EXPORTER":       exporters[r.pipeline.metrics != nil],
		"OTEL_METRIC_EXPORT_INTERVAL": strconv.FormatInt(int64(r.config.CollectionInterval/time.Millisecond), 10),
		"OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
		"OTEL_EXPORTER_OTLP_ENDPOINT": "http://pipeline", // only for log messages
	}
	return func(name string) string {
		value, set := own[name]
		if set || strings.HasPrefix(name, "OTEL_EXPORTER_OTLP_") {
			return value
		}
		return process(name)
	}
}
