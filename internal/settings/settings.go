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
	return config.Parse(file, data, KnownNames())
}

// Read returns the content of a configuration file.
func Read(file string) ([]byte, error) {
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no configuration %q: name yours with --config.file, or run delegraph demo, which needs none", file)
	}
	return config.Read(file)
}

// KnownNames returns the names that a configuration may use.
func KnownNames() config.KnownNames {
	var kinds []string
	for _, k := range event.Kinds() {
		kinds = append(kinds, k.String())
	}
	return config.KnownNames{Dialects: DialectNames(), Kinds: kinds, Paths: custom.CommonPaths(), Meanings: meanings()}
}

// Collector returns the settings of a collector.
func Collector(c config.Config) collector.Settings {
	return collector.Settings{
		MaxFrame:     int(c.Limits.Frame),
		MaxJSONDepth: c.Limits.JSONDepth,
		Proof:        proof.Limits{MaxText: int(c.Limits.ConfidenceText), MaxFindings: maxFindings},
	}
}

// Tracker returns the settings of a tracker, without IsAgentTool. sample decides whether a run's spans are exported; nil means none.
func Tracker(c config.Config, sample func(*tracker.Run) bool) tracker.Settings {
	content := 0
	if c.Traces.Content == config.ContentAll {
		content = int(c.Traces.MaxContent)
	}
	return tracker.Settings{
		MaxContent: content, MaxContentTotal: int(c.Traces.MaxContentHeld),
		MaxOpenRuns:   c.Runs.MaxOpen,
		MaxOperations: c.Runs.MaxOperations,
		MaxFacts:      maxFacts,
		IdleTimeout:   c.Runs.IdleTimeout,
		Sample:        sample,
	}
}

// Metrics returns the settings of the metrics.
func Metrics(c config.Config, names conventions.Table) metrics.Settings {
	return metrics.Settings{
		MaxLabelValues: c.Metrics.MaxLabelValues, MaxLabelSets: c.Metrics.MaxLabelSets, Names: names,
		Version: build.Version(), Revision: build.Revision(),
	}
}

// Filter returns the settings of the external stream's filter.
func Filter(c config.Stream) filter.Settings {
	s := filter.Settings{
		Policy: event.Policy(c.Policy), Exclude: kindsNamed(c.Kinds.Out),
		Thoughts:      event.Verbosity(slices.Index(config.Verbosities(), c.Thoughts)),
		MinConfidence: c.ConfidenceFloor, StateKeys: c.StateKeys,
	}
	if len(c.Kinds.In) > 0 {
		s.Include = kindsNamed(c.Kinds.In)
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
	return conventions.Choose(env(conventions.OptInVariable))
}

// Resource returns the resource of all spans and metrics: this program, with the attributes of OTEL_RESOURCE_ATTRIBUTES.
func Resource(ctx context.Context) (*resource.Resource, error) {
	r, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "delegraph")),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("read OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	return r, nil
}

// WarnForeign returns a function that warns about a stream whose dialect is not its source's, once for each source and
// dialect.
func WarnForeign(logger *slog.Logger) func(s *event.Stream, found string) {
	var warned sync.Map // its keys are pairs of a source and a dialect, of which there are few
	return func(s *event.Stream, found string) {
		if _, again := warned.LoadOrStore([2]string{s.Source, found}, true); !again {
			logger.Warn("stream refused: its dialect differs from the one of its source or path; correct dialect or proxy.paths",
				"source", s.Source, "said", s.Dialect, "found", found)
		}
	}
}

// WarnUnknownKind returns a function that warns about a kind of event that a dialect does not know. The metrics call it once for each
// kind and bound their number.
func WarnUnknownKind(logger *slog.Logger) func(source, dialect, name string) {
	return func(source, dialect, name string) {
		logger.Warn("unknown kind of event: it is counted and otherwise ignored; the agent may speak a newer version of its protocol",
			"source", source, "dialect", dialect, "kind", name)
	}
}
