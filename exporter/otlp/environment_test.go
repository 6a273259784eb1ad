package otlp

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
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

func write(t *testing.T, name string, content []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// keyPair writes a certificate and its key to files.
func keyPair(t *testing.T) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return write(t, "tls.crt", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})),
		write(t, "tls.key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
}

func TestDisabled(t *testing.T) {
	for value, want := range map[string]bool{
		"": false, "true": true, " TRUE ": true, "false": false,
		"yes": false, // the specification: everything but true is false
	} {
		if got := of("OTEL_SDK_DISABLED", value).Disabled(); got != want {
			t.Errorf("OTEL_SDK_DISABLED=%q: disabled is %t", value, got)
		}
	}
}

const (
	noHTTPEndpoint = "not a URL: use one such as http://localhost:4318"
	noGRPCEndpoint = "not a URL: use one such as http://localhost:4317"
	noHeader       = "cannot be parsed: use name=value pairs, percent-encoded and separated by commas"
	noTimeout      = "not a timeout: use a whole number of milliseconds"
	noProtocol     = " is not supported: use grpc, http/protobuf or http/json"
)

// TestProtocol checks valid and invalid values of each variable, for all signals and for each one. An invalid value gives one
// error, which names the variable and the remedy.
func TestProtocol(t *testing.T) {
	certificate, key := keyPair(t)
	noCertificate := write(t, "note.txt", []byte("this is no certificate"))
	for _, c := range []struct {
		env       []string // names without their prefix
		want, err string
	}{
		{nil, "grpc", ""},
		{[]string{"PROTOCOL", " grpc "}, "grpc", ""},
		{[]string{"PROTOCOL", "HTTP/Protobuf"}, "http/protobuf", ""},
		{[]string{"PROTOCOL", "http/json"}, "http/json", ""},
		{[]string{"PROTOCOL", "http"}, "", "PROTOCOL=http" + noProtocol},
		{[]string{"ENDPOINT", "http://collector:4317"}, "grpc", ""},
		{[]string{"ENDPOINT", "collector:4317"}, "grpc", ""},
		{[]string{"ENDPOINT", "unix:///run/otlp.sock"}, "grpc", ""},
		{[]string{"ENDPOINT", "127.0.0.1:4317"}, "", "ENDPOINT: " + noGRPCEndpoint},
		{[]string{"ENDPOINT", "http://"}, "", "ENDPOINT: " + noGRPCEndpoint},
		{[]string{"PROTOCOL", "http/protobuf", "ENDPOINT", "https://collector:4318"}, "http/protobuf", ""},
		{[]string{"PROTOCOL", "http/protobuf", "ENDPOINT", "collector:4318"}, "", "ENDPOINT: " + noHTTPEndpoint},
		{[]string{"PROTOCOL", "http/json", "ENDPOINT", "http://user:hunter2@:1"}, "", "ENDPOINT: " + noHTTPEndpoint},
		{[]string{"TIMEOUT", "5000"}, "grpc", ""},
		{[]string{"TIMEOUT", "5s"}, "", "TIMEOUT: " + noTimeout},
		{[]string{"TIMEOUT", "-1"}, "", "TIMEOUT: " + noTimeout},
		{[]string{"COMPRESSION", "gzip"}, "grpc", ""},
		{[]string{"COMPRESSION", "none"}, "grpc", ""},
		{[]string{"COMPRESSION", "zstd"}, "", "COMPRESSION: value not supported: use gzip or none"},
		{[]string{"INSECURE", "True"}, "grpc", ""},
		{[]string{"INSECURE", "1"}, "", "INSECURE: value not supported: use true or false"},
		{[]string{"HEADERS", "authorization=Basic%20c2VjcmV0, x-team = fire "}, "grpc", ""},
		{[]string{"HEADERS", "a=b,"}, "grpc", ""},
		{[]string{"HEADERS", "a=b,authorization: hunter2"}, "", "HEADERS: header 2 " + noHeader},
		{[]string{"HEADERS", "a=hunter2%zz"}, "", "HEADERS: header 1 " + noHeader},
		{[]string{"HEADERS", "hunter2"}, "", "HEADERS: header 1 " + noHeader},
		{[]string{"HEADERS", "=hunter2"}, "", "HEADERS: header 1 " + noHeader},
		{[]string{"CERTIFICATE", certificate}, "grpc", ""},
		{[]string{"CERTIFICATE", noCertificate}, "", "CERTIFICATE: the file holds no certificate: name one of certificates in PEM form"},
		{[]string{"CERTIFICATE", "/nowhere"}, "", "CERTIFICATE: open /nowhere: no such file or directory: name a file of certificates in PEM form"},
		{[]string{"CLIENT_CERTIFICATE", certificate, "CLIENT_KEY", key}, "grpc", ""},
		{[]string{"CLIENT_CERTIFICATE", certificate}, "", "CLIENT_CERTIFICATE and _CLIENT_KEY: one is not set: give both files or none"},
		{[]string{"CLIENT_CERTIFICATE", key, "CLIENT_KEY", key}, "", "CLIENT_CERTIFICATE and _CLIENT_KEY: tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched: name a certificate and its own key, both in PEM form"},
	} {
		for _, signal := range []Signal{Traces, Metrics} {
			for _, prefix := range signal.prefixes() {
				t.Run(prefix+strings.Join(c.env, ","), func(t *testing.T) {
					var env []string
					for i, word := range c.env {
						if i%2 == 0 {
							word = prefix + word
						}
						env = append(env, word)
					}
					got, err := of(env...).Protocol(signal, "grpc", "http/protobuf", "http/json")
					switch {
					case c.err == "" && (err != nil || got != c.want):
						t.Errorf("%s, error %v; want %s", got, err, c.want)
					case c.err != "" && (err == nil || err.Error() != prefix+c.err):
						t.Errorf("error %v; want %s", err, prefix+c.err)
					case err != nil && strings.Contains(err.Error(), "hunter2"):
						t.Errorf("the error quotes a secret: %v", err)
					}
				})
			}
		}
	}
}

// TestOwnVariablesFirst checks that a signal's own protocol overrides the general one, and that another signal's is not read.
func TestOwnVariablesFirst(t *testing.T) {
	for _, c := range []struct {
		env       Environment
		want, err string
	}{
		{of("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "grpc", "OTEL_EXPORTER_OTLP_PROTOCOL", "udp"), "grpc", ""},
		{of("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "udp", "OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"), "", "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL=udp is not supported: use http/protobuf or grpc"},
		{of("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "udp", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "5s"), "http/protobuf", ""},
	} {
		got, err := c.env.Protocol(Metrics, "http/protobuf", "grpc")
		if c.err == "" && (got != c.want || err != nil) || c.err != "" && (err == nil || err.Error() != c.err) {
			t.Errorf("%s, error %v; want %s, %s", got, err, c.want, c.err)
		}
	}
}

// TestBackend checks that only the host of an endpoint is named.
func TestBackend(t *testing.T) {
	for _, c := range []struct {
		env            Environment
		protocol, want string
	}{
		{of(), "grpc", "localhost:4317"},
		{of(), "http/protobuf", "localhost:4318"},
		{of("OTEL_EXPORTER_OTLP_ENDPOINT", "https://hunter2:hunter2@collector/hunter2?hunter2#hunter2"), "grpc", "collector"},
		{of("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:1", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://b:2/v1/metrics"), "grpc", "b:2"},
		{of("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:1", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://b:2/v1/traces"), "grpc", "a:1"},
		{of("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317"), "grpc", "collector:4317"},
		{of("OTEL_EXPORTER_OTLP_ENDPOINT", "hunter2:hunter2@collector:4317"), "grpc", "collector:4317"},
		{of("OTEL_EXPORTER_OTLP_ENDPOINT", "unix:///run/otlp.sock"), "grpc", "unix:///run/otlp.sock"},
	} {
		if got := c.env.Backend(Metrics, c.protocol); got != c.want {
			t.Errorf("%s, not %s", got, c.want)
		}
	}
}

func TestNumber(t *testing.T) {
	const wrong = " is not supported: use a whole number of milliseconds, from 1 to 1000"
	for value, want := range map[string]int{"": 5, "1": 1, " 1000 ": 1000, "0": 0, "1001": 0, "1e3": 0, "-1": 0, "1s": 0} {
		n, err := of("N", value).Number("N", "milliseconds", 5, 1, 1000)
		if n != want || want > 0 && err != nil || want == 0 && (err == nil || err.Error() != "N="+value+wrong) {
			t.Errorf("%q is %d, error %v", value, n, err)
		}
	}
}
