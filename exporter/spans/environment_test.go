package spans

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// of returns an environment with these variables only.
func of(variables ...string) Environment {
	return func(name string) string {
		for i := 0; i < len(variables); i += 2 {
			if variables[i] == name {
				return variables[i+1]
			}
		}
		return ""
	}
}

func TestDisabled(t *testing.T) {
	for _, c := range []struct {
		env  Environment
		want bool
	}{
		{of(), false},
		{of("OTEL_SDK_DISABLED", "true"), true},
		{of("OTEL_SDK_DISABLED", "TRUE"), true},
		{of("OTEL_SDK_DISABLED", "yes"), false}, // the specification: everything but true is false
		{of("OTEL_TRACES_EXPORTER", "none"), true},
		{of("OTEL_TRACES_EXPORTER", " None "), true},
		{of("OTEL_TRACES_EXPORTER", "otlp"), false},
	} {
		if got := c.env.Disabled(); got != c.want {
			t.Errorf("%s, %s: disabled is %t", c.env("OTEL_SDK_DISABLED"), c.env("OTEL_TRACES_EXPORTER"), got)
		}
	}
}

func TestKnownMethods(t *testing.T) {
	for value, want := range map[string][]string{
		"": nil, " , ": nil, "GET": {"GET"}, "GET, brew,,POST ": {"GET", "brew", "POST"},
	} {
		if got := of("OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS", value).KnownMethods(); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", value, got, want)
		}
	}
}

// TestExporterEnvironment checks each exporter and protocol. An error in another variable that package otlp checks is an error
// here too.
func TestExporterEnvironment(t *testing.T) {
	const noProtocol = " is not supported: use grpc, http/protobuf or http/json"
	for _, c := range []struct {
		env  []string
		want string // empty if there is an exporter
	}{
		{nil, ""},
		{[]string{"OTEL_TRACES_EXPORTER", "otlp"}, ""},
		{[]string{"OTEL_TRACES_EXPORTER", "OTLP"}, ""},
		{[]string{"OTEL_TRACES_EXPORTER", "console"}, ""},
		{[]string{"OTEL_TRACES_EXPORTER", "console", "OTEL_EXPORTER_OTLP_PROTOCOL", "udp"}, ""},
		{[]string{"OTEL_TRACES_EXPORTER", "jaeger"}, "OTEL_TRACES_EXPORTER=jaeger is not supported: use otlp, console or none"},
		{[]string{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}, ""},
		{[]string{"OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"}, ""},
		{[]string{"OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"}, ""},
		{[]string{"OTEL_EXPORTER_OTLP_PROTOCOL", "http"}, "OTEL_EXPORTER_OTLP_PROTOCOL=http" + noProtocol},
		{[]string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "udp", "OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=udp" + noProtocol},
		{[]string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "grpc", "OTEL_EXPORTER_OTLP_PROTOCOL", "udp"}, ""},
		{[]string{"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "udp", "OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "5s"}, ""},
		{[]string{"OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "5s"}, "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: not a timeout: use a whole number of milliseconds"},
		{[]string{"OTEL_EXPORTER_OTLP_PROTOCOL", "http/json", "OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:hunter2@:1"}, "OTEL_EXPORTER_OTLP_ENDPOINT: not a URL: use one such as http://localhost:4318"},
	} {
		t.Run(strings.Join(c.env, ","), func(t *testing.T) {
			for i := 0; i < len(c.env); i += 2 {
				t.Setenv(c.env[i], c.env[i+1]) // the SDK reads the environment of the process
			}
			exporter, err := NewExporter(t.Context(), os.Getenv)
			if exporter != nil {
				defer exporter.Shutdown(t.Context())
			}
			if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
				t.Errorf("error %v; want %s", err, c.want)
			}
		})
	}
}

// TestSettings checks the variables of the batch span processor, which override the configuration.
func TestSettings(t *testing.T) {
	const number = " is not supported: use a whole number of "
	defaults := Settings{QueueSize: 8192, QueueBytes: 1 << 20, BatchSize: 512, Delay: time.Second, Timeout: 30 * time.Second, Backend: "localhost:4317"}
	with := func(change func(*Settings)) Settings {
		s := defaults
		change(&s)
		return s
	}
	for _, c := range []struct {
		env  []string
		want Settings
		err  string
	}{
		{nil, defaults, ""},
		{[]string{"OTEL_BSP_MAX_QUEUE_SIZE", " 2048 "}, with(func(s *Settings) { s.QueueSize = 2048 }), ""},
		{[]string{"OTEL_BSP_MAX_QUEUE_SIZE", "100"}, with(func(s *Settings) { s.QueueSize, s.BatchSize = 100, 100 }), ""},
		{[]string{"OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "8192"}, with(func(s *Settings) { s.BatchSize = 8192 }), ""},
		{[]string{"OTEL_BSP_SCHEDULE_DELAY", "5000"}, with(func(s *Settings) { s.Delay = 5 * time.Second }), ""},
		{[]string{"OTEL_BSP_SCHEDULE_DELAY", "0"}, with(func(s *Settings) { s.Delay = 0 }), ""},
		{[]string{"OTEL_BSP_EXPORT_TIMEOUT", "0"}, with(func(s *Settings) { s.Timeout = 0 }), ""},
		{[]string{"OTEL_BSP_EXPORT_TIMEOUT", "100"}, with(func(s *Settings) { s.Timeout = time.Second / 10 }), ""},
		{[]string{"OTEL_BSP_MAX_QUEUE_SIZE", "many"}, Settings{}, "OTEL_BSP_MAX_QUEUE_SIZE=many" + number + "spans, from 1 to 1000000"},
		{[]string{"OTEL_BSP_MAX_QUEUE_SIZE", "0"}, Settings{}, "OTEL_BSP_MAX_QUEUE_SIZE=0" + number + "spans, from 1 to 1000000"},
		{[]string{"OTEL_BSP_MAX_QUEUE_SIZE", "1000001"}, Settings{}, "OTEL_BSP_MAX_QUEUE_SIZE=1000001" + number + "spans, from 1 to 1000000"},
		{[]string{"OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "0"}, Settings{}, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE=0" + number + "spans that the queue can hold, from 1 to 8192"},
		{[]string{"OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "512", "OTEL_BSP_MAX_QUEUE_SIZE", "511"}, Settings{}, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE=512" + number + "spans that the queue can hold, from 1 to 511"},
		{[]string{"OTEL_BSP_SCHEDULE_DELAY", "5s"}, Settings{}, "OTEL_BSP_SCHEDULE_DELAY=5s" + number + "milliseconds, from 0 to 3600000"},
		{[]string{"OTEL_BSP_SCHEDULE_DELAY", "-1"}, Settings{}, "OTEL_BSP_SCHEDULE_DELAY=-1" + number + "milliseconds, from 0 to 3600000"},
		{[]string{"OTEL_BSP_EXPORT_TIMEOUT", "1e3"}, Settings{}, "OTEL_BSP_EXPORT_TIMEOUT=1e3" + number + "milliseconds, from 0 to 3600000"},
	} {
		got, err := NewSettings(of(c.env...), 8192, 1<<20, nil)
		switch {
		case c.err == "" && (err != nil || got != c.want):
			t.Errorf("%v: %+v, %v; want %+v", c.env, got, err, c.want)
		case c.err != "" && (err == nil || err.Error() != c.err):
			t.Errorf("%v: error %v; want %s", c.env, err, c.err)
		}
	}
}

// TestBackendName checks the name of the backend in the log.
func TestBackendName(t *testing.T) {
	for _, c := range []struct {
		env  Environment
		want string
	}{
		{of(), "localhost:4317"},
		{of("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"), "localhost:4318"},
		{of("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:1", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://hunter2@b:2/v1/traces"), "b:2"},
		{of("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:1", "OTEL_TRACES_EXPORTER", "console"), "standard output"},
	} {
		if got := c.env.Backend(); got != c.want {
			t.Errorf("the backend's name is %s, want %s", got, c.want)
		}
	}
}
