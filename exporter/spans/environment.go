package spans

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

// Disabled says whether OTEL_SDK_DISABLED or OTEL_TRACES_EXPORTER=none turns traces off. The Go SDK reads neither.
func (env Environment) Disabled() bool {
	return env.word("OTEL_SDK_DISABLED") == "true" || env.word("OTEL_TRACES_EXPORTER") == "none"
}

// word reads a value of an enumeration, whose case says nothing.
func (env Environment) word(name string) string { return strings.ToLower(env.text(name)) }

// text reads a value as the SDK does.
func (env Environment) text(name string) string { return strings.TrimSpace(env(name)) }

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
	if err == nil && !x509.NewCertPool().AppendCertsFromPEM(content) {
		err = errors.New("the file holds no certificate in PEM form")
	}
	return err
}

func wrongKeyPair(certificate, key string) error {
	switch {
	case certificate == "" && key == "":
		return nil
	case certificate == "" || key == "":
		return errors.New("one is not set: give both files or none")
	}
	_, err := tls.LoadX509KeyPair(certificate, key)
	return err
}
