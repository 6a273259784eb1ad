// Package config reads the user's configuration: strict YAML in, complete and checked settings out, or every mistake
// of the file at once with its line, its key and its remedy.
package config

import (
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// The values of Source.Dialect and Source.Relay that are always known.
const (
	DialectAuto   = "auto"
	RelayVerbatim = "verbatim"
	RelayFiltered = "filtered"
)

// Config is everything that a user can configure; example.yml shows each field with its default and its bounds.
type Config struct {
	Sources []Source `yaml:"sources"` // at least one
	Runs    Runs     `yaml:"runs"`
	Metrics Metrics  `yaml:"metrics"`
	Limits  Limits   `yaml:"limits"`
}

// Source is one place that agents' streams come from; exactly one kind of source is given in it.
type Source struct {
	Name          string   `yaml:"name"` // the metrics label `source`; unique, [a-zA-Z0-9_.-]{1,64}
	Proxy         *Proxy   `yaml:"proxy,omitempty"`
	Dialect       string   `yaml:"dialect"`         // DialectAuto, or one of Known.Dialects
	Relay         string   `yaml:"relay"`           // RelayVerbatim; RelayFiltered is refused in this version
	AgentsAsTools []string `yaml:"agents_as_tools"` // names of tools that are agents
}

// Proxy is a reverse proxy in front of an agent.
type Proxy struct {
	Listen   string   `yaml:"listen"`          // host:port; an empty host is every address, port 0 any free port
	Upstream string   `yaml:"upstream"`        // an http or https URL: host, and optionally port and path
	Paths    []string `yaml:"paths,omitempty"` // path.Match globs of the agent's streams; nil for the dialects' own
}

// Runs bounds what is remembered of runs.
type Runs struct {
	IdleTimeout   time.Duration `yaml:"idle_timeout"`   // without a frame
	MaxOpen       int           `yaml:"max_open"`       // runs
	MaxOperations int           `yaml:"max_operations"` // open operations a run
	MaxEnded      int           `yaml:"max_ended"`      // ended runs kept for the landing page
}

// Metrics bounds the number of time series.
type Metrics struct {
	MaxLabelValues int `yaml:"max_label_values"` // values a label
	MaxLabelSets   int `yaml:"max_label_sets"`   // label sets a metric
}

// Limits bounds what is read from the wire and what may wait to be worked on.
type Limits struct {
	Frame          Bytes `yaml:"frame"`           // one SSE frame
	JSONDepth      int   `yaml:"json_depth"`      // levels
	RequestBody    Bytes `yaml:"request_body"`    // read of a request for its ids
	ConfidenceText Bytes `yaml:"confidence_text"` // scanned of a text for confidence
	ObserveQueue   Bytes `yaml:"observe_queue"`   // of streams waiting to be decoded
	SpanQueue      int   `yaml:"span_queue"`      // spans waiting to be exported
}

// Default returns every default. It is not valid as it stands: it has no source, since none can be guessed.
func Default() Config {
	return Config{
		Runs:    Runs{IdleTimeout: 30 * time.Minute, MaxOpen: 10_000, MaxOperations: 10_000, MaxEnded: 100},
		Metrics: Metrics{MaxLabelValues: 100, MaxLabelSets: 1_000},
		Limits: Limits{
			Frame:          8 * mebibyte,
			JSONDepth:      128,
			RequestBody:    1 * mebibyte,
			ConfidenceText: 64 * kibibyte,
			ObserveQueue:   16 * mebibyte,
			SpanQueue:      8_192,
		},
	}
}

func defaultSource() Source {
	return Source{Dialect: DialectAuto, Relay: RelayVerbatim, AgentsAsTools: []string{}}
}

// String prints a valid configuration as YAML that loads back to the same value.
func (c Config) String() string {
	var text strings.Builder
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if err := encoder.Encode(c); err != nil {
		return err.Error()
	}
	return text.String()
}
