package spans

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"strings"
	"testing"
	"time"
)

// of is an environment with these variables and no others.
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

// keyPair makes a certificate and its key, as files.
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

const (
	noHTTPEndpoint = "this is no URL: use one such as http://localhost:4318"
	noGRPCEndpoint = "this is no URL: use one such as http://localhost:4317"
	noHeader       = "is not readable: use name=value, percent-encoded, with commas between"
	noTimeout      = "this is no timeout: use a whole number of milliseconds"
)

// TestExporterEnvironment has each variable with values that are right and wrong. A wrong one is one error, which names the
// variable and what to do.
func TestExporterEnvironment(t *testing.T) {
	certificate, key := keyPair(t)
	noCertificate := write(t, "note.txt", []byte("this is no certificate"))
	for _, c := range []struct {
		env  []string
		want string // "" for an exporter
	}{
		{nil, ""},
		{[]string{"OTEL_TRACES_EXPORTER", "otlp"}, ""},
		{[]string{"OTEL_TRACES_EXPORTER", "OTLP"}, ""},
		{[]string{"OTEL_TRACES_EXPORTER", "console"}, ""},
		{[]string{"OTEL_TRACES_EXPORTER", "jaeger"}, "OTEL_TRACES_EXPORTER=jaeger is not supported: use otlp, console or none"},
		{[]string{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}, ""},
		{[]string{"OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"}, ""},
		{[]string{"OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"}, ""},
		{[]string{"OTEL_EXPORTER_OTLP_PROTOCOL", "http"}, "OTEL_EXPORTER_OTLP_PROTOCOL=http is not supported: use grpc, http/protobuf or http/json"},
		{[]string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "udp", "OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=udp is not supported: use grpc, http/protobuf or http/json"},
		{[]string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "grpc", "OTEL_EXPORTER_OTLP_PROTOCOL", "udp"}, ""},
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4317"}, ""},
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317"}, ""},
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT", "unix:///run/otlp.sock"}, ""},
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT", "127.0.0.1:4317"}, "OTEL_EXPORTER_OTLP_ENDPOINT: " + noGRPCEndpoint},
		{[]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://"}, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: " + noGRPCEndpoint},
		{[]string{"OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf", "OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector:4318"}, ""},
		{[]string{"OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf", "OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"}, "OTEL_EXPORTER_OTLP_ENDPOINT: " + noHTTPEndpoint},
		{[]string{"OTEL_EXPORTER_OTLP_PROTOCOL", "http/json", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://user:hunter2@:1"}, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: " + noHTTPEndpoint},
		{[]string{"OTEL_EXPORTER_OTLP_TIMEOUT", "5000"}, ""},
		{[]string{"OTEL_EXPORTER_OTLP_TIMEOUT", "5s"}, "OTEL_EXPORTER_OTLP_TIMEOUT: " + noTimeout},
		{[]string{"OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "-1"}, "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: " + noTimeout},
		{[]string{"OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"}, ""},
		{[]string{"OTEL_EXPORTER_OTLP_COMPRESSION", "none"}, ""},
		{[]string{"OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"}, "OTEL_EXPORTER_OTLP_COMPRESSION: this is not supported: use gzip or none"},
		{[]string{"OTEL_EXPORTER_OTLP_INSECURE", "True"}, ""},
		{[]string{"OTEL_EXPORTER_OTLP_INSECURE", "1"}, "OTEL_EXPORTER_OTLP_INSECURE: this is not supported: use true or false"},
		{[]string{"OTEL_EXPORTER_OTLP_HEADERS", "authorization=Basic%20c2VjcmV0, x-team = fire "}, ""},
		{[]string{"OTEL_EXPORTER_OTLP_HEADERS", "a=b,authorization: hunter2"}, "OTEL_EXPORTER_OTLP_HEADERS: header 2 " + noHeader},
		{[]string{"OTEL_EXPORTER_OTLP_HEADERS", "a=hunter2%zz"}, "OTEL_EXPORTER_OTLP_HEADERS: header 1 " + noHeader},
		{[]string{"OTEL_EXPORTER_OTLP_HEADERS", "hunter2"}, "OTEL_EXPORTER_OTLP_HEADERS: header 1 " + noHeader},
		{[]string{"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "=hunter2"}, "OTEL_EXPORTER_OTLP_TRACES_HEADERS: header 1 " + noHeader},
		{[]string{"OTEL_EXPORTER_OTLP_CERTIFICATE", certificate}, ""},
		{[]string{"OTEL_EXPORTER_OTLP_CERTIFICATE", noCertificate}, "OTEL_EXPORTER_OTLP_CERTIFICATE: the file holds no certificate: name one of certificates in PEM form"},
		{[]string{"OTEL_EXPORTER_OTLP_CERTIFICATE", "/nowhere"}, "OTEL_EXPORTER_OTLP_CERTIFICATE: open /nowhere: no such file or directory: name a file of certificates in PEM form"},
		{[]string{"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", certificate, "OTEL_EXPORTER_OTLP_CLIENT_KEY", key}, ""},
		{[]string{"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", certificate}, "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and _CLIENT_KEY: one is not set: give both files or none"},
		{[]string{"OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE", key, "OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY", key}, "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE and _CLIENT_KEY: tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched: name a certificate and its own key, both in PEM form"},
	} {
		t.Run(strings.Join(c.env, ","), func(t *testing.T) {
			for i := 0; i < len(c.env); i += 2 {
				t.Setenv(c.env[i], c.env[i+1]) // the SDK reads the process's
			}
			exporter, err := NewExporter(t.Context(), os.Getenv)
			if exporter != nil {
				defer exporter.Shutdown(t.Context())
			}
			switch {
			case c.want == "" && err != nil:
				t.Errorf("error %v", err)
			case c.want != "" && (err == nil || err.Error() != c.want):
				t.Errorf("error %v; want %s", err, c.want)
			case err != nil && strings.Contains(err.Error(), "hunter2"):
				t.Errorf("the error quotes a secret: %v", err)
			}
		})
	}
}

// TestHeadersEndInComma shows that an empty header is none, as for the SDK.
func TestHeadersEndInComma(t *testing.T) {
	if err := of("OTEL_EXPORTER_OTLP_HEADERS", "a=b,").check("grpc"); err != nil {
		t.Error(err)
	}
}

// TestSettings has the variables of the batch span processor, which outweigh what is configured.
func TestSettings(t *testing.T) {
	const number = " is not supported: use a whole number of "
	defaults := Settings{Queue: 8192, Batch: 512, Delay: time.Second, Timeout: 30 * time.Second, Backend: "localhost:4317"}
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
		{[]string{"OTEL_BSP_MAX_QUEUE_SIZE", " 2048 "}, with(func(s *Settings) { s.Queue = 2048 }), ""},
		{[]string{"OTEL_BSP_MAX_QUEUE_SIZE", "100"}, with(func(s *Settings) { s.Queue, s.Batch = 100, 100 }), ""},
		{[]string{"OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "8192"}, with(func(s *Settings) { s.Batch = 8192 }), ""},
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
		got, err := NewSettings(of(c.env...), 8192, nil)
		switch {
		case c.err == "" && (err != nil || got != c.want):
			t.Errorf("%v: %+v, %v; want %+v", c.env, got, err, c.want)
		case c.err != "" && (err == nil || err.Error() != c.err):
			t.Errorf("%v: error %v; want %s", c.env, err, c.err)
		}
	}
}

// TestBackendName says no more of an endpoint than its host.
func TestBackendName(t *testing.T) {
	for _, c := range []struct {
		env  Environment
		want string
	}{
		{of(), "localhost:4317"},
		{of("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"), "localhost:4318"},
		{of("OTEL_EXPORTER_OTLP_ENDPOINT", "https://hunter2:hunter2@collector/hunter2?hunter2#hunter2"), "collector"},
		{of("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:1", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://b:2/v1/traces"), "b:2"},
		{of("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317"), "collector:4317"},
		{of("OTEL_EXPORTER_OTLP_ENDPOINT", "hunter2:hunter2@collector:4317"), "collector:4317"},
		{of("OTEL_EXPORTER_OTLP_ENDPOINT", "unix:///run/otlp.sock"), "unix:///run/otlp.sock"},
		{of("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:1", "OTEL_TRACES_EXPORTER", "console"), "standard output"},
	} {
		if got := c.env.backend(); got != c.want {
			t.Errorf("%s, not %s", got, c.want)
		}
	}
}
