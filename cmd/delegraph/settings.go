package main

import (
	"slices"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/proof"
	"github.com/delegraph/delegraph/config"
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

func trackerSettings(c config.Config, sample func(*tracker.Run) bool) tracker.Settings {
	return tracker.Settings{
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

func metricsSettings(c config.Config) metrics.Settings {
	return metrics.Settings{
		MaxLabelValues: c.Metrics.MaxLabelValues, MaxLabelSets: c.Metrics.MaxLabelSets,
		Version: version(), Revision: revision(),
	}
}
