package otelcol

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"go.opentelemetry.io/collector/confmap"
	"go.yaml.in/yaml/v3"

	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/internal/settings"
)

// intervalKey is the key of CollectionInterval, the only one that delegraph serve does not have.
const intervalKey = "collection_interval"

// Limits of CollectionInterval, which are those of OTEL_METRIC_EXPORT_INTERVAL.
const (
	shortestInterval = time.Millisecond
	longestInterval  = 24 * time.Hour
)

// Config is the receiver's configuration: the keys of delegraph serve, and the interval of metrics.
type Config struct {
	CollectionInterval time.Duration `mapstructure:"collection_interval"`

	sidecar  config.Config
	mistakes error // of the keys of delegraph serve
}

var (
	_ confmap.Unmarshaler = (*Config)(nil)
	_ confmap.Validator   = (*Config)(nil)
)

func defaultConfig() *Config {
	return &Config{
		CollectionInterval: time.Minute,
		mistakes:           errors.New("sources: there is no source; give at least one, with a name and a proxy or a tail"),
	}
}

// Unmarshal reads the configuration with the parser of delegraph serve. Validate reports what that refuses.
func (c *Config) Unmarshal(conf *confmap.Conf) error {
	if err := conf.Unmarshal(c, confmap.WithIgnoreUnused()); err != nil {
		return err
	}
	given := conf.ToStringMap()
	delete(given, intervalKey)
	data, err := yaml.Marshal(given)
	if err != nil {
		return fmt.Errorf("write the keys as YAML: %w", err)
	}
	var refused error
	c.sidecar, refused = config.Parse("", data, settings.KnownNames())
	c.mistakes = byCollectorKey(refused)
	return nil
}

// Validate returns every mistake with its key.
func (c *Config) Validate() error {
	err := c.mistakes
	if c.CollectionInterval < shortestInterval || c.CollectionInterval > longestInterval {
		err = errors.Join(err, fmt.Errorf("%s: %v is out of bounds; give a value from %v to %v", intervalKey, c.CollectionInterval, shortestInterval, longestInterval))
	}
	if err == nil && len(c.sidecar.Sources) == 0 {
		return errors.New("sources: there is no source; to serve the stream that others store, run delegraph gateway")
	}
	return err
}

// byCollectorKey rewrites the keys of mistakes as the Collector does. It leaves out lines, because the Collector has merged its files.
func byCollectorKey(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, one := range joined.Unwrap() {
			all = append(all, byCollectorKey(one))
		}
		return errors.Join(all...)
	}
	var mistake *config.Error
	if !errors.As(err, &mistake) {
		return err
	}
	return &config.Error{Key: collectorKey(mistake.Key), Problem: mistake.Problem, Remedy: mistake.Remedy}
}

var index = regexp.MustCompile(`\[(\d+)\]`)

// collectorKey turns sources[1].proxy.listen into sources::1::proxy::listen.
func collectorKey(key string) string {
	return strings.ReplaceAll(index.ReplaceAllString(key, ".$1"), ".", confmap.KeyDelimiter)
}
