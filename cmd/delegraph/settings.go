package main

import (
	"context"
	"fmt"
	"log/slog"
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
	"github.com/delegraph/delegraph/exporter/tracker"
)

// What the user configures, in the words of the packages that are configured.

// statements is how many confidences and citations one answer may give, and facts how many of each kind a run keeps.
const (
	statements = 32
	facts      = 1000
)

func collectorSettings(c config.Config) collector.Settings {
	return collector.Settings{
		Frame:     int(c.Limits.Frame),
		JSONDepth: c.Limits.JSONDepth,
		Proof:     proof.Limits{Text: int(c.Limits.ConfidenceText), Findings: statements},
	}
}

// warnForeign names a dialect that a source turns out to have, once for each source.
func warnForeign(logger *slog.Logger) func(*event.Stream, string) {
	var told sync.Map // of sources and dialects, both of which are few
	return func(s *event.Stream, found string) {
		if _, again := told.LoadOrStore([2]string{s.Source, found}, true); !again {
			logger.Warn("stream refused: it is of another dialect than its source, or its path, says; correct dialect or proxy.paths",
				"source", s.Source, "said", s.Dialect, "found", found)
		}
	}
}

func trackerSettings(c config.Config, sample func(*tracker.Run) bool) tracker.Settings {
	content := 0
	if c.Traces.Content == config.ContentAll {
		content = int(c.Traces.MaxContent)
	}
	return tracker.Settings{
		MaxContent: content, MaxContentHeld: int(c.Traces.MaxContentHeld),
		MaxOpen:       c.Runs.MaxOpen,
		MaxOperations: c.Runs.MaxOperations,
		MaxFacts:      facts,
		Idle:          c.Runs.IdleTimeout,
		Sample:        sample,
		AgentsAsTools: func(source, tool string) bool {
			i := slices.IndexFunc(c.Sources, func(s config.Source) bool { return s.Name == source })
			return i >= 0 && slices.Contains(c.Sources[i].AgentsAsTools, tool)
		},
	}
}

func metricsSettings(c config.Config, names conventions.Table) metrics.Settings {
	return metrics.Settings{
		MaxLabelValues: c.Metrics.MaxLabelValues, MaxLabelSets: c.Metrics.MaxLabelSets, Names: names,
		Version: version(), Revision: revision(),
	}
}

// vocabulary returns the names of the GenAI conventions that the environment chooses.
func vocabulary(env func(string) string) conventions.Table {
	return conventions.Choose(env(conventions.Variable))
}

// describe is the resource of every span: this program, and what the environment says of it.
func describe(ctx context.Context) (*resource.Resource, error) {
	described, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "delegraph")),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("read OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	return described, nil
}

// known is what a configuration may name.
func known() config.Known {
	var kinds []string
	for _, k := range event.Kinds() {
		kinds = append(kinds, k.String())
	}
	return config.Known{Dialects: dialectNames(), Kinds: kinds, Paths: custom.Common(), Meanings: meanings()}
}
