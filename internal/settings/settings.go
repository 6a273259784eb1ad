// Package settings translates the user's configuration and environment into the settings of the packages that do the work.
package settings

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect/custom"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/proof"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter/conventions"
	"github.com/delegraph/delegraph/exporter/metrics"
	"github.com/delegraph/delegraph/exporter/stream/filter"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/internal/build"
)

const (
	maxFindings = 32   // confidences and citations that one answer may give
	maxFacts    = 1000 // facts of each kind that a run keeps
)

// Load reads and validates a configuration file.
func Load(file string) (config.Config, error) {
	data, err := Read(file)
	if err != nil {
		return config.Config{}, err
	}
	return config.Parse(file, data, Known())
}

// Read returns the content of a configuration file.
func Read(file string) ([]byte, error) {
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no configuration %q: name yours by --config.file, or see delegraph demo, which needs none", file)
	}
	return config.Read(file)
}

// Known returns the names that a configuration may use.
func Known() config.Known {
	var kinds []string
	for _, k := range event.Kinds() {
		kinds = append(kinds, k.String())
	}
	return config.Known{Dialects: DialectNames(), Kinds: kinds, Paths: custom.Common(), Meanings: meanings()}
}

// Collector returns how streams are read.
func Collector(c config.Config) collector.Settings {
	return collector.Settings{
		Frame:     int(c.Limits.Frame),
		JSONDepth: c.Limits.JSONDepth,
		Proof:     proof.Limits{Text: int(c.Limits.ConfidenceText), Findings: maxFindings},
	}
}

// Tracker returns how runs are followed. sample decides whether a run's spans are exported; nil for none.
func Tracker(c config.Config, sample func(*tracker.Run) bool) tracker.Settings {
	content := 0
	if c.Traces.Content == config.ContentAll {
		content = int(c.Traces.MaxContent)
	}
	return tracker.Settings{
		MaxContent: content, MaxContentHeld: int(c.Traces.MaxContentHeld),
		MaxOpen:       c.Runs.MaxOpen,
		MaxOperations: c.Runs.MaxOperations,
		MaxFacts:      maxFacts,
		Idle:          c.Runs.IdleTimeout,
		Sample:        sample,
		AgentsAsTools: func(source, tool string) bool {
			i := slices.IndexFunc(c.Sources, func(s config.Source) bool { return s.Name == source })
			return i >= 0 && slices.Contains(c.Sources[i].AgentsAsTools, tool)
		},
	}
}

// Metrics returns how metrics are named and bounded.
func Metrics(c config.Config, names conventions.Table) metrics.Settings {
	return metrics.Settings{
		MaxLabelValues: c.Metrics.MaxLabelValues, MaxLabelSets: c.Metrics.MaxLabelSets, Names: names,
		Version: build.Version(), Revision: build.Revision(),
	}
}

// Filter returns what the external stream lets out.
func Filter(c config.Stream) filter.Settings {
	s := filter.Settings{
		Policy: event.Policy(c.Policy), Out: kindsNamed(c.Kinds.Out),
		Thoughts: event.Verbosity(slices.Index(config.Verbosities(), c.Thoughts)),
		Floor:    c.ConfidenceFloor, StateKeys: c.StateKeys,
	}
	if len(c.Kinds.In) > 0 {
		s.In = kindsNamed(c.Kinds.In)
	}
	if len(c.Authors) > 0 {
		s.Authors = c.Authors
	}
	return s
}

func kindsNamed(names []string) (kinds []event.Kind) {
	for _, k := range event.Kinds() {
		if slices.Contains(names, k.String()) {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// Names returns the names of the GenAI conventions that the environment chooses.
func Names(env func(string) string) conventions.Table {
	return conventions.Choose(env(conventions.Variable))
}

// Resource returns the resource of all spans and metrics: this program, and what the environment says about it.
func Resource(ctx context.Context) (*resource.Resource, error) {
	r, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "delegraph")),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("read OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	return r, nil
}

// WarnForeign returns a function that warns about a stream of another dialect than its source's, once for each source and dialect.
func WarnForeign(logger *slog.Logger) func(s *event.Stream, found string) {
	var warned sync.Map // its keys are pairs of a source and a dialect, of which there are few
	return func(s *event.Stream, found string) {
		if _, again := warned.LoadOrStore([2]string{s.Source, found}, true); !again {
			logger.Warn("stream refused: it is of another dialect than its source, or its path, says; correct dialect or proxy.paths",
				"source", s.Source, "said", s.Dialect, "found", found)
		}
	}
}

// WarnUnknownKind returns a function that warns about a kind of event that a dialect does not know. The metrics call it once for each
// kind and bound their number.
func WarnUnknownKind(logger *slog.Logger) func(source, dialect, name string) {
	return func(source, dialect, name string) {
		logger.Warn("unknown kind of event: it is counted, and nothing else is read of it; the agent may speak a newer version of its protocol",
			"source", source, "dialect", dialect, "kind", name)
	}
}
