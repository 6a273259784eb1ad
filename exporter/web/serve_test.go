package web

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	toolkit "github.com/prometheus/exporter-toolkit/web"
)

// server is a running server, configured by flags.
type server struct {
	address string
	stop    context.CancelFunc
	done    chan error
}

// serve starts a server on a free port and waits until it listens, which the toolkit reports only in its log.
func serve(t *testing.T, h http.Handler, configFile string, grace time.Duration) *server {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	s := &server{stop: stop, done: make(chan error, 1)}
	logged, log := io.Pipe()
	logger := slog.New(slog.NewTextHandler(log, nil))
	go func() {
		s.done <- Serve(ctx, h, flags("127.0.0.1:0", configFile), grace, logger)
		log.Close()
	}()
	lines := bufio.NewScanner(logged)
	for lines.Scan() {
		_, address, found := strings.Cut(lines.Text(), "address=")
		if found && strings.Contains(lines.Text(), "TLS is ") {
			s.address = address
			break
		}
	}
	go func() { _, _ = io.Copy(io.Discard, logged) }()
	t.Cleanup(stop)
	if s.address == "" {
		t.Fatalf("the server did not start: %v", <-s.done)
	}
	return s
}

func flags(address, configFile string) *toolkit.FlagConfig {
	return &toolkit.FlagConfig{WebListenAddresses: &[]string{address}, WebSystemdSocket: new(bool), WebConfigFile: &configFile}
}

// end stops the server and returns its error.
func (s *server) end() error {
	s.stop()
	return <-s.done
}

// fetch sends a request and leaves no connection open.
func fetch(t *testing.T, client *http.Client, url string, credentials ...string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Close = true
	if len(credentials) == 2 {
		r.SetBasicAuth(credentials[0], credentials[1])
	}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(content)
}

func TestServe(t *testing.T) {
	s := serve(t, Handler(settings()), "", time.Minute)
	if status, body := fetch(t, http.DefaultClient, "http://"+s.address+"/-/healthy"); status != 200 || body != "delegraph is healthy\n" {
		t.Errorf("%d %s", status, body)
	}
	if err := s.end(); err != nil {
		t.Errorf("at the end: %v", err)
	}
	if c, err := net.Dial("tcp", s.address); err == nil {
		c.Close()
		t.Error("the port is still open")
	}
}

// TestServeNothing serves with a context that is already canceled.
func TestServeNothing(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := Serve(ctx, Handler(settings()), flags("127.0.0.1:0", ""), time.Minute, slog.New(slog.DiscardHandler)); err != nil {
		t.Error(err)
	}
}

// TestServeDrains checks that a response in progress is completed during a shutdown.
func TestServeDrains(t *testing.T) {
	asked, goOn := make(chan struct{}), make(chan struct{})
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(asked)
		<-goOn
		_, _ = io.WriteString(w, "whole")
	}), "", time.Hour)
	answered := make(chan string, 1)
	go func() {
		status, body := fetch(t, http.DefaultClient, "http://"+s.address+"/")
		answered <- fmt.Sprint(status, " ", body)
	}()
	<-asked
	s.stop()
	// Wait until the port is closed: then the shutdown has begun while the response is in progress.
	for {
		c, err := net.Dial("tcp", s.address)
		if err != nil {
			break
		}
		c.Close()
	}
	select {
	case err := <-s.done:
		t.Errorf("the server ended before its answer: %v", err)
	default:
	}
	close(goOn)
	if got := <-answered; got != "200 whole" {
		t.Errorf("the answer is %s", got)
	}
	if err := <-s.done; err != nil {
		t.Errorf("at the end: %v", err)
	}
}

// TestServeCuts checks that a response that does not end is cut off after the grace period.
func TestServeCuts(t *testing.T) {
	asked, left := make(chan struct{}), make(chan struct{})
	s := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
		close(left)
	}), "", time.Nanosecond)
	c, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-asked
	if err := s.end(); err != nil {
		t.Errorf("at the end: %v", err)
	}
	<-left
}

// TestLongHeaders checks that long headers are refused before they are complete.
func TestLongHeaders(t *testing.T) {
	s := serve(t, Handler(settings()), "", time.Minute)
	c, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\nX: "+strings.Repeat("x", 64<<10)); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(c).ReadString('\n'); !strings.Contains(line, "431") {
		t.Errorf("%q, %v", line, err)
	}
	if err := s.end(); err != nil {
		t.Errorf("at the end: %v", err)
	}
}

// piped is a listener with one in-memory connection, for tests with a fake clock.
type piped chan net.Conn

func (p piped) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p piped) Close() error { close(p); return nil }

func (piped) Addr() net.Addr { return &net.TCPAddr{} }

// TestSilentClients checks that idle connections are closed: before a request, in the middle of one, and after a response.
func TestSilentClients(t *testing.T) {
	for name, c := range map[string]struct {
		says   string
		within time.Duration
	}{
		"nothing":   {"", 5 * time.Second},
		"half":      {"GET / HTTP/1.1\r\nHost:", 5 * time.Second},
		"no longer": {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", 2 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ours, theirs := net.Pipe()
				listener := make(piped, 1)
				listener <- theirs
				server := newServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), slog.New(slog.DiscardHandler))
				served := make(chan error, 1)
				go func() { served <- server.Serve(listener) }()
				began := time.Now()
				if _, err := io.WriteString(ours, c.says); err != nil {
					t.Error(err)
				}
				if _, err := io.Copy(io.Discard, ours); err != nil {
					t.Error(err)
				}
				if took := time.Since(began); took > c.within {
					t.Errorf("it was cut off after %s", took)
				}
				server.Close()
				<-served
			})
		})
	}
}

// TestErrorLog checks that the HTTP server's errors go to the program's log.
func TestErrorLog(t *testing.T) {
	var log strings.Builder
	server := newServer(nil, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	server.ErrorLog.Print("http: TLS handshake error")
	if !strings.Contains(log.String(), `level=DEBUG msg="http: TLS handshake error"`) {
		t.Errorf("log %s", log.String())
	}
}

// TestServeTLS serves with a web configuration file that has a certificate, and a user with the password "secret".
func TestServeTLS(t *testing.T) {
	dir := t.TempDir()
	pool := keyPair(t, dir)
	configFile := write(t, dir, "web.yml", `tls_server_config: {cert_file: tls.crt, key_file: tls.key}
basic_auth_users: {prometheus: "$2a$04$C4epq0PCcpMW3EUXaW7cROxn4.ViDx1yiVwEAO5bnehxDZqen1.0m"}
`)
	s := serve(t, Handler(settings()), configFile, time.Minute)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	if status, body := fetch(t, client, "https://"+s.address+"/-/ready", "prometheus", "secret"); status != 200 || body != "delegraph is ready\n" {
		t.Errorf("%d %s", status, body)
	}
	for _, credentials := range [][]string{nil, {"prometheus", "guess"}, {"nobody", "secret"}} {
		if status, body := fetch(t, client, "https://"+s.address+"/api/v1/runs", credentials...); status != 401 {
			t.Errorf("%v: %d %s", credentials, status, body)
		}
	}
	if status, _ := fetch(t, http.DefaultClient, "http://"+s.address+"/"); status != 400 {
		t.Errorf("without TLS: %d", status)
	}
	if err := s.end(); err != nil {
		t.Errorf("at the end: %v", err)
	}
}

// TestServeFails checks that each mistake in the flags or files is an error that names its place.
func TestServeFails(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dir := t.TempDir()
	file := func(content string) string { return write(t, dir, "web.yml", content) }
	for name, c := range map[string]struct{ address, file, want string }{
		"taken":        {taken.Addr().String(), "", "admin server: listen tcp " + taken.Addr().String() + ": bind: address already in use"},
		"no address":   {"nowhere", "", "admin server: listen tcp: address nowhere: missing port in address"},
		"no file":      {"127.0.0.1:0", "/nowhere.yml", "admin server: web configuration file /nowhere.yml: open /nowhere.yml: no such file or directory"},
		"unknown key":  {"127.0.0.1:0", file("tls_server_confg: {}\n"), "admin server: web configuration file " + dir + "/web.yml: yaml: unmarshal errors:\n  line 1: field tls_server_confg not found in type web.Config"},
		"no key":       {"127.0.0.1:0", write(t, dir, "half.yml", "tls_server_config: {cert_file: tls.crt}\n"), "admin server: web configuration file " + dir + "/half.yml: missing one of key or key_file"},
		"no such cert": {"127.0.0.1:0", write(t, dir, "gone.yml", "tls_server_config: {cert_file: gone.crt, key_file: gone.key}\n"), "admin server: web configuration file " + dir + "/gone.yml: failed to read cert_file (" + dir + "/gone.crt): open " + dir + "/gone.crt: no such file or directory"},
		"no hash":      {"127.0.0.1:0", write(t, dir, "plain.yml", "basic_auth_users: {prometheus: secret}\n"), "admin server: web configuration file " + dir + "/plain.yml: crypto/bcrypt: hashedSecret too short to be a bcrypted password"},
	} {
		t.Run(name, func(t *testing.T) {
			err := Serve(t.Context(), Handler(settings()), flags(c.address, c.file), time.Minute, slog.New(slog.DiscardHandler))
			if err == nil || err.Error() != c.want {
				t.Errorf("error %v\nwant  %s", err, c.want)
			}
		})
	}
}

// TestPasswordsAreNotLost empties the toolkit's file while it is served, as a rewrite in place does.
func TestPasswordsAreNotLost(t *testing.T) {
	dir := t.TempDir()
	config := write(t, dir, "web.yml", "basic_auth_users: {prometheus: \"$2a$04$C4epq0PCcpMW3EUXaW7cROxn4.ViDx1yiVwEAO5bnehxDZqen1.0m\"}\n")
	s := serve(t, Handler(settings()), config, time.Minute)
	url := "http://" + s.address + "/-/healthy"
	if status, _ := fetch(t, http.DefaultClient, url); status != http.StatusUnauthorized {
		t.Fatalf("status %d without a password", status)
	}
	write(t, dir, "web.yml", "")
	for range 2 {
		if status, _ := fetch(t, http.DefaultClient, url); status != http.StatusServiceUnavailable {
			t.Errorf("status %d without a password after the users are gone", status)
		}
	}
}

func write(t *testing.T, dir, name, content string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// keyPair writes tls.crt and tls.key, and returns a pool with the certificate.
func keyPair(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})
	write(t, dir, "tls.crt", string(certificate))
	write(t, dir, "tls.key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certificate)
	return pool
}

// TestOnlyLocalhost checks that only requests to a loopback address with a foreign host name are refused.
func TestOnlyLocalhost(t *testing.T) {
	loopback, pod := net.IPv4(127, 0, 0, 1), net.IPv4(10, 1, 2, 3)
	for _, c := range []struct {
		at     net.IP
		host   string
		status int
	}{
		{loopback, "localhost:10477", 200},
		{loopback, "LOCALHOST", 200},
		{loopback, "127.0.0.1:10477", 200},
		{net.IPv6loopback, "[::1]:10477", 200},
		{loopback, "evil.example", 421},
		{loopback, "localhost.evil.example:10477", 421},
		{loopback, "10.1.2.3", 421},
		{loopback, "", 421},
		{net.IPv6loopback, "evil.example", 421},
		{pod, "delegraph.agents.svc:10477", 200},
		{pod, "10.1.2.3:10477", 200},
	} {
		r := httptest.NewRequest(http.MethodGet, "/api/v1/runs", nil)
		r.Host = c.host
		w := httptest.NewRecorder()
		Handler(settings()).ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: c.at, Port: 10477}))))
		if w.Code != c.status {
			t.Errorf("at %s, asked for %q: %d %s", c.at, c.host, w.Code, w.Body)
		}
	}
}
