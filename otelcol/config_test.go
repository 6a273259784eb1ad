package otelcol

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
	"go.yaml.in/yaml/v3"

	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/internal/settings"
)

// unmarshal reads a receiver's configuration as the Collector does.
func unmarshal(t *testing.T, text string) *Config {
	t.Helper()
	var given map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(text), &given))
	c := NewFactory().CreateDefaultConfig()
	require.NoError(t, confmap.NewFromStringMap(given).Unmarshal(&c))
	return c.(*Config)
}

// TestConfigKeys checks that the receiver reads every key of delegraph serve.
func TestConfigKeys(t *testing.T) {
	for _, file := range []string{"../config/example.yml", "../config/testdata/good.yml"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		want, err := config.Parse(file, text, settings.KnownNames())
		require.NoError(t, err)
		c := unmarshal(t, string(text))
		require.NoError(t, confmap.Validate(c))
		require.Equal(t, want, c.sidecar)
	}
}

func TestConfigMistakes(t *testing.T) {
	for name, c := range map[string]struct{ text, err string }{
		"empty": {"", "sources: there is no source; give at least one, with a name and a proxy or a tail"},
		"two": {
			"sources: [{name: a, proxy: {listen: 127.0.0.1, upstream: http://127.0.0.1:1}}, {name: b, tail: {url: 7}}]",
			"sources::0::proxy::listen: \"127.0.0.1\" is not host:port; give host:port, such as \"127.0.0.1:8080\", or \":8080\" for every address\n" +
				"sources::1::tail::url: expected text, found the number 7; put it in quotes",
		},
		"unknown": {
			"sources: [{name: a, proxy: {listen: 127.0.0.1:0, upstrem: http://127.0.0.1:1}}]",
			"sources::0::proxy::upstrem: unknown key; did you mean \"upstream\"?",
		},
		"interval": {
			"{collection_interval: 0s, sources: [{name: a, tail: {url: http://127.0.0.1:1}}]}",
			"collection_interval: 0s is out of bounds; give a value from 1ms to 24h0m0s",
		},
		"only a store": {
			"stream: {store: jetstream, jetstream: {urls: [nats://127.0.0.1:4222]}}",
			"sources: there is no source; to serve the stream that others store, run delegraph gateway",
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.EqualError(t, confmap.Validate(unmarshal(t, c.text)), c.err)
		})
	}
}

// TestConfigHidesSecrets checks that the Collector cannot print the headers of a tail.
func TestConfigHidesSecrets(t *testing.T) {
	c := unmarshal(t, "sources: [{name: a, tail: {url: http://127.0.0.1:1, headers: {Authorization: {value: Bearer 4711}}}}]")
	require.NoError(t, confmap.Validate(c))
	printed := confmap.New()
	require.NoError(t, printed.Marshal(c))
	text, err := yaml.Marshal(printed.ToStringMap())
	require.NoError(t, err)
	require.False(t, strings.Contains(string(text), "4711"), string(text))
}
