// Package otlp holds what the delivery of spans and metrics over OTLP has in common: it reads and checks
// the OTEL_* environment variables, and classifies the exporters' errors.
package otlp

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Environment looks up a variable of the OTEL_* environment, as os.Getenv does.
type Environment func(name string) string

// InProcess is the base URL of OTLP requests that are answered in this process. The SDK reads OTEL_*
// itself where an option does not override it, and would refuse a certificate for a URL without TLS.
const InProcess = "https://in-process"

// Signal is a kind of telemetry. Its value is part of the names of its own variables.
type Signal string

// The signals that Delegraph sends.
const (
	Traces  Signal = "TRACES"
	Metrics Signal = "METRICS"
)

// Disabled reports whether OTEL_SDK_DISABLED turns telemetry off. The Go SDK does not read it.
func (env Environment) Disabled() bool { return env.Enum("OTEL_SDK_DISABLED") == "true" }

// Enum returns the value of a case-insensitive variable in lower case.
func (env Environment) Enum(name string) string { return strings.ToLower(env.Text(name)) }

// Text returns the value of a variable without surrounding space, as the SDK reads it.
func (env Environment) Text(name string) string { return strings.TrimSpace(env(name)) }

// prefixes returns the prefixes of the variables of a signal's exporter. The signal's own comes
// first, because it overrides the general one.
func (s Signal) prefixes() []string {
	return []string{"OTEL_EXPORTER_OTLP_" + string(s) + "_", "OTEL_EXPORTER_OTLP_"}
}

// Backend returns where a signal is sent, for the log. It returns only the host, because the rest
// of a URL may be secret.
func (env Environment) Backend(s Signal, protocol string) string {
	for _, prefix := range s.prefixes() {
		if endpoint := env.Text(prefix + "ENDPOINT"); endpoint != "" {
			if u, err := url.Parse(endpoint); err == nil && u.Host != "" {
				return u.Host
			}
			return endpoint[strings.LastIndex(endpoint, "@")+1:]
		}
	}
	if protocol != "grpc" {
		return "localhost:4318"
	}
	return "localhost:4317"
}

// Number reads an integer within bounds, or returns otherwise if the variable is not set.
func (env Environment) Number(name, unit string, otherwise, least, most int) (int, error) {
	text := env.Text(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%s=%s is not supported: use a whole number of %s, from %d to %d", name, text, unit, least, most)
	}
	return n, nil
}

// Protocol returns the OTLP protocol of a signal, which must be one of known; the first is the
// default. It also checks the exporter's other variables. An error names the wrong variable and how
// to correct it.
func (env Environment) Protocol(s Signal, known ...string) (string, error) {
	protocol := known[0]
	for _, prefix := range s.prefixes() {
		said := env.Enum(prefix + "PROTOCOL")
		if said == "" {
			continue
		}
		if !slices.Contains(known, said) {
			return "", fmt.Errorf("%sPROTOCOL=%s is not supported: use %s", prefix, said, listed(known))
		}
		protocol = said
		break
	}
	return protocol, env.check(s, protocol)
}

// check reports mistakes that the SDK would ignore and then send elsewhere or nowhere. Errors quote
// no values, because endpoints and headers contain secrets.
func (env Environment) check(s Signal, protocol string) error {
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
	for _, prefix := range s.prefixes() {
		for _, c := range checks {
			value := env.Text(prefix + c.name)
			if value == "" {
				continue
			}
			if err := c.wrong(value); err != nil {
				return fmt.Errorf("%s%s: %w", prefix, c.name, err)
			}
		}
		if err := wrongKeyPair(env.Text(prefix+"CLIENT_CERTIFICATE"), env.Text(prefix+"CLIENT_KEY")); err != nil {
			return fmt.Errorf("%sCLIENT_CERTIFICATE and _CLIENT_KEY: %w", prefix, err)
		}
	}
	return nil
}

// listed formats words as "a, b or c".
func listed(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func wrongEndpoint(value, protocol string) error {
	u, err := url.Parse(value)
	web := err == nil && (u.Scheme == "http" || u.Scheme == "https")
	switch {
	case web && u.Hostname() != "":
		return nil
	case protocol != "grpc":
		return errors.New("not a URL: use one such as http://localhost:4318")
	case err != nil || web:
		return errors.New("not a URL: use one such as http://localhost:4317")
	}
	return nil // whatever gRPC can resolve: unix:, dns:, host:port
}

func wrongTimeout(value string) error {
	if n, err := strconv.Atoi(value); err != nil || n < 0 {
		return errors.New("not a timeout: use a whole number of milliseconds")
	}
	return nil
}

func oneOf(words ...string) func(string) error {
	return func(value string) error {
		if !slices.Contains(words, value) {
			return fmt.Errorf("value not supported: use %s", listed(words))
		}
		return nil
	}
}

// headerName is the token of RFC 9110.
var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

func wrongHeaders(value string) error {
	for i, header := range strings.Split(value, ",") {
		name, content, found := strings.Cut(header, "=")
		_, err := url.PathUnescape(content)
		if strings.TrimSpace(header) != "" && (!found || err != nil || !headerName.MatchString(strings.TrimSpace(name))) {
			return fmt.Errorf("header %d cannot be parsed: use name=value pairs, percent-encoded and separated by commas", i+1)
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
