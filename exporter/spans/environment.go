package spans

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Environment looks a variable of the OTEL_* environment up; os.Getenv is one.
type Environment func(name string) string

// Disabled says whether OTEL_SDK_DISABLED or OTEL_TRACES_EXPORTER=none turns traces off. The Go SDK reads neither.
func (env Environment) Disabled() bool {
	return env.word("OTEL_SDK_DISABLED") == "true" || env.word("OTEL_TRACES_EXPORTER") == "none"
}

// word reads a value of an enumeration, whose case says nothing.
func (env Environment) word(name string) string { return strings.ToLower(env.text(name)) }

// text reads a value as the SDK does.
func (env Environment) text(name string) string { return strings.TrimSpace(env(name)) }

// The bounds of what OTEL_BSP_* may say; that of the queue is limits.span_queue's too.
const (
	longestQueue = 1_000_000
	longestTime  = int(time.Hour / time.Millisecond)
)

// NewSettings reads OTEL_BSP_*. The queue's size is the configured one where they say nothing of it: the environment outweighs the
// file, as it does for all of the delivery.
func NewSettings(env Environment, queue int, logger *slog.Logger) (s Settings, err error) {
	read := func(name, unit string, otherwise, least, most int) (n int) {
		if err == nil {
			n, err = env.number(name, unit, otherwise, least, most)
		}
		return n
	}
	s.Queue = read("OTEL_BSP_MAX_QUEUE_SIZE", "spans", queue, 1, longestQueue)
	s.Batch = read("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "spans that the queue can hold", min(512, s.Queue), 1, s.Queue)
	s.Delay = time.Duration(read("OTEL_BSP_SCHEDULE_DELAY", "milliseconds", 1_000, 0, longestTime)) * time.Millisecond
	s.Timeout = time.Duration(read("OTEL_BSP_EXPORT_TIMEOUT", "milliseconds", 30_000, 0, longestTime)) * time.Millisecond
	s.Backend, s.Logger = env.backend(), logger
	return s, err
}

func (env Environment) number(name, unit string, otherwise, least, most int) (int, error) {
	text := env.text(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%s=%s is not supported: use a whole number of %s, from %d to %d", name, text, unit, least, most)
	}
	return n, nil
}

// backend is where spans go, for the log: the host alone, since the rest of a URL may be a secret.
func (env Environment) backend() string {
	if env.word("OTEL_TRACES_EXPORTER") == "console" {
		return "standard output"
	}
	for _, prefix := range otlpPrefixes {
		if endpoint := env.text(prefix + "ENDPOINT"); endpoint != "" {
			if u, err := url.Parse(endpoint); err == nil && u.Host != "" {
				return u.Host
			}
			return endpoint[strings.LastIndex(endpoint, "@")+1:]
		}
	}
	if protocol, _ := env.protocol(); protocol != "grpc" {
		return "localhost:4318"
	}
	return "localhost:4317"
}

// otlpPrefixes begin the variables of the OTLP exporter, those of traces first since they outweigh the others.
var otlpPrefixes = []string{"OTEL_EXPORTER_OTLP_TRACES_", "OTEL_EXPORTER_OTLP_"}

// protocol is how OTLP is spoken: gRPC where nobody says.
func (env Environment) protocol() (string, error) {
	for _, prefix := range otlpPrefixes {
		switch p := env.word(prefix + "PROTOCOL"); p {
		case "":
		case "grpc", "http/protobuf", "http/json":
			return p, nil
		default:
			return "", fmt.Errorf("%sPROTOCOL=%s is not supported: use grpc, http/protobuf or http/json", prefix, p)
		}
	}
	return "grpc", nil
}

// check finds the mistakes that the SDK passes over, to send spans elsewhere or nowhere. No value is quoted: endpoints and
// headers hold secrets.
func (env Environment) check(protocol string) error {
	checks := []struct {
		name  string
		wrong func(value string) error
	}{
		{"ENDPOINT", func(v string) error { return wrongEndpoint(v, protocol) }},
		{"TIMEOUT", wrongTimeout},
		{"COMPRESSION", oneOf("gzip", "none")},
		{"INSECURE", func(v string) error { return oneOf("true", "false")(strings.ToLower(v)) }},
		{"HEADERS", wrongHeaders},
		{"CERTIFICATE", wrongCertificate},
	}
	for _, prefix := range otlpPrefixes {
		for _, c := range checks {
			value := env.text(prefix + c.name)
			if value == "" {
				continue
			}
			if err := c.wrong(value); err != nil {
				return fmt.Errorf("%s%s: %w", prefix, c.name, err)
			}
		}
		if err := wrongKeyPair(env.text(prefix+"CLIENT_CERTIFICATE"), env.text(prefix+"CLIENT_KEY")); err != nil {
			return fmt.Errorf("%sCLIENT_CERTIFICATE and _CLIENT_KEY: %w", prefix, err)
		}
	}
	return nil
}

func wrongEndpoint(value, protocol string) error {
	u, err := url.Parse(value)
	web := err == nil && (u.Scheme == "http" || u.Scheme == "https")
	switch {
	case web && u.Hostname() != "":
		return nil
	case protocol != "grpc":
		return errors.New("this is no URL: use one such as http://localhost:4318")
	case err != nil || web:
		return errors.New("this is no URL: use one such as http://localhost:4317")
	}
	return nil // whatever gRPC can resolve: unix:, dns:, host:port
}

func wrongTimeout(value string) error {
	if n, err := strconv.Atoi(value); err != nil || n < 0 {
		return errors.New("this is no timeout: use a whole number of milliseconds")
	}
	return nil
}

func oneOf(words ...string) func(string) error {
	return func(value string) error {
		if !slices.Contains(words, value) {
			return fmt.Errorf("this is not supported: use %s", strings.Join(words, " or "))
		}
		return nil
	}
}

// headerName is RFC 9110's token.
var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

func wrongHeaders(value string) error {
	for i, header := range strings.Split(value, ",") {
		name, content, found := strings.Cut(header, "=")
		_, err := url.PathUnescape(content)
		if strings.TrimSpace(header) != "" && (!found || err != nil || !headerName.MatchString(strings.TrimSpace(name))) {
			return fmt.Errorf("header %d is not readable: use name=value, percent-encoded, with commas between", i+1)
		}
	}
	return nil
}

func wrongCertificate(file string) error {
	content, err := os.ReadFile(file)
	switch {
	case err != nil:
		return fmt.Errorf("%w: name a file of certificates in PEM form", err)
	case !x509.NewCertPool().AppendCertsFromPEM(content):
		return errors.New("the file holds no certificate: name one of certificates in PEM form")
	}
	return nil
}

func wrongKeyPair(certificate, key string) error {
	switch {
	case certificate == "" && key == "":
		return nil
	case certificate == "" || key == "":
		return errors.New("one is not set: give both files or none")
	}
	if _, err := tls.LoadX509KeyPair(certificate, key); err != nil {
		return fmt.Errorf("%w: name a certificate and its own key, both in PEM form", err)
	}
	return nil
}
