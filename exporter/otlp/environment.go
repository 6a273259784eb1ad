// Package otlp reads what the OTEL_* environment says of sending telemetry, and finds the mistakes in it before anything is sent.
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

// Environment looks a variable of the OTEL_* environment up; os.Getenv is one.
type Environment func(name string) string

// Signal is what is sent: its name stands in the variables that are for it alone.
type Signal string

// The signals that we send.
const (
	Traces  Signal = "TRACES"
	Metrics Signal = "METRICS"
)

// Disabled says whether OTEL_SDK_DISABLED turns everything off. The Go SDK does not read it.
func (env Environment) Disabled() bool { return env.Word("OTEL_SDK_DISABLED") == "true" }

// Word reads a value of an enumeration, whose case says nothing.
func (env Environment) Word(name string) string { return strings.ToLower(env.Text(name)) }

// Text reads a value as the SDK does.
func (env Environment) Text(name string) string { return strings.TrimSpace(env(name)) }

// prefixes begin the variables of a signal's exporter, its own first since they outweigh the others.
func (s Signal) prefixes() []string {
	return []string{"OTEL_EXPORTER_OTLP_" + string(s) + "_", "OTEL_EXPORTER_OTLP_"}
}

// Backend is where a signal goes by a protocol, for the log: the host alone, since the rest of a URL may be a secret.
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

// Number reads a whole number of a unit, within bounds, which stands there otherwise.
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

// Protocol is how OTLP is spoken for a signal: one of those given, the first where nobody says. An error names the variable that
// is wrong, of all that the exporter reads, and what to write there.
func (env Environment) Protocol(s Signal, known ...string) (string, error) {
	protocol := known[0]
	for _, prefix := range s.prefixes() {
		said := env.Word(prefix + "PROTOCOL")
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

// check finds the mistakes that the SDK passes over, to send elsewhere or nowhere. No value is quoted: endpoints and headers
// hold secrets.
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

// listed is "a, b or c".
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
			return fmt.Errorf("this is not supported: use %s", listed(words))
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
