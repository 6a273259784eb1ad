package readers_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/loopback"
	"github.com/delegraph/delegraph/test/subprocess"
)

// balancedReaders is the number of readers behind a load balancer.
const balancedReaders = 200

// TestBalancers checks that a graceful restart of three gateways, one after the other, costs no reader a frame behind the load
// balancers in examples/gateways.
func TestBalancers(t *testing.T) {
	for file, start := range map[string]func(*testing.T, string) *harness.Command{"nginx.conf": startNginx, "haproxy.cfg": startHAProxy} {
		t.Run(file, func(t *testing.T) {
			agent := newTalker(t)
			f := newFleet(t, agent.URL, 3)
			f.start()
			listen := loopback.FreeAddress(t)
			balancer := start(t, balancerConfig(t, file, listen, f.streams))
			readers := f.followAll(t, "http://"+listen, balancedReaders)
			speaking, silence := context.WithCancel(t.Context())
			var spoken sync.WaitGroup
			spoken.Go(func() {
				for speaking.Err() == nil {
					agent.say()
					time.Sleep(20 * time.Millisecond)
				}
			})
			for i, gateway := range f.gateways {
				gateway.running.Signal(t, syscall.SIGTERM)
				if err := gateway.running.Wait(); err != nil {
					t.Errorf("gateway %d ended with %v", i, err)
				}
				gateway.start()
				gateway.running.WaitReady(t, f.admins[i])
			}
			silence()
			spoken.Wait()
			said, _ := agent.so()
			refused, came := 0, 0
			for i, r := range readers {
				harness.Await(t, func(context.Context) error {
					if !r.has(said, "c1", "c2") {
						return fmt.Errorf("reader %d does not have all %d frames; the log of %s:\n%s", i, said, file, balancer.Log)
					}
					return nil
				})
				r.mu.Lock()
				if r.fail != "" || len(r.gaps) > 0 {
					t.Errorf("reader %d: %s; gaps %q", i, r.fail, r.gaps)
				}
				refused, came = refused+r.refused, came+r.came
				r.mu.Unlock()
			}
			t.Logf("%d readers got all %d frames over %d connections; %d requests were refused", len(readers), 2*said, came, refused)
			if refused > 0 {
				t.Errorf("%d requests of readers were refused, want 0", refused)
			}
		})
	}
}

// followAll starts readers of everything and waits until each is connected.
func (f *fleet) followAll(t *testing.T, address string, n int) (readers []*follower) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	t.Cleanup(func() { cancel(); running.Wait() })
	for range n {
		r := &follower{path: "/events", next: map[string]int{}}
		readers = append(readers, r)
		running.Go(func() { r.follow(ctx, []string{address}, func(int) int { return 0 }) })
	}
	for i, r := range readers {
		harness.Await(t, func(context.Context) error {
			if r.turn() == 0 {
				return fmt.Errorf("reader %d is not connected", i)
			}
			return nil
		})
	}
	return readers
}

// balancerConfig returns the example configuration of a load balancer, with the test's addresses.
func balancerConfig(t *testing.T, file, listen string, gateways []string) string {
	t.Helper()
	content, err := os.ReadFile("../../../examples/gateways/" + file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(content)
	for i, gateway := range gateways {
		text = strings.Replace(text, fmt.Sprintf("10.0.0.%d:10478", i+1), strings.TrimPrefix(gateway, "http://"), 1)
	}
	text = regexp.MustCompile(`(listen|bind) :?8080`).ReplaceAllString(text, "$1 "+listen)
	if strings.Contains(text, "10.0.0.") || !strings.Contains(text, listen) {
		t.Fatalf("not every address of the file was replaced:\n%s", text)
	}
	return text
}

func startNginx(t *testing.T, text string) *harness.Command {
	t.Helper()
	folder := t.TempDir()
	text = fmt.Sprintf("daemon off; master_process off; pid %[1]s/nginx.pid; error_log stderr warn;\nevents { worker_connections 2000; }\nhttp {\naccess_log off;\n"+
		"client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi; uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;\n%[2]s}\n",
		folder, text)
	file := filepath.Join(folder, "nginx.conf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return harness.Start(t, subprocess.Command(harness.Component(t, "balancers", "nginx"), "-p", folder, "-c", file))
}

func startHAProxy(t *testing.T, text string) *harness.Command {
	t.Helper()
	file := filepath.Join(t.TempDir(), "haproxy.cfg")
	if err := os.WriteFile(file, []byte("global\n    maxconn 2000\n"+text), 0o600); err != nil {
		t.Fatal(err)
	}
	return harness.Start(t, subprocess.Command(harness.Component(t, "balancers", "haproxy"), "-db", "-f", file))
}

// TestHealthOfStreamPort checks that load balancers can ask the stream's port without a token, and that the responses have no details.
func TestHealthOfStreamPort(t *testing.T) {
	folder := t.TempDir()
	tokens := filepath.Join(folder, "tokens")
	if err := os.WriteFile(tokens, []byte("aaaaaaaaaaaaaaaaaaaaaaaa\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	listen, nowhere := loopback.FreeAddress(t), loopback.FreeAddress(t)
	serve := harness.Serve(t, fmt.Sprintf("stream: {listen: %q, authentication: {bearer_tokens_file: %q}}\nsources: [{name: a, proxy: {listen: %q, upstream: \"http://%s\"}}]\n",
		listen, tokens, loopback.FreeAddress(t), nowhere), nil)
	checkHealth(t, listen, "/-/healthy", http.StatusOK, "ok\n")
	checkHealth(t, listen, "/-/ready", http.StatusOK, "ok\n")
	serve.Kill()

	file, other, admin := filepath.Join(folder, "gateway.yml"), loopback.FreeAddress(t), loopback.FreeAddress(t)
	if err := os.WriteFile(file, fmt.Appendf(nil, "stream: {listen: %q, store: jetstream, jetstream: {urls: [\"nats://%s\"]}}\n", other, nowhere), 0o600); err != nil {
		t.Fatal(err)
	}
	harness.Start(t, subprocess.Command("delegraph", "gateway", "--config.file="+file, "--web.listen-address="+admin))
	harness.Await(t, func(ctx context.Context) error {
		_, _, err := harness.Fetch(ctx, "http://"+other+"/-/healthy")
		return err
	})
	checkHealth(t, other, "/-/healthy", http.StatusOK, "ok\n")
	checkHealth(t, other, "/-/ready", http.StatusServiceUnavailable, "no\n") // its store has not been reached
}

func checkHealth(t *testing.T, address, path string, want int, body string) {
	t.Helper()
	status, got, err := harness.Fetch(t.Context(), "http://"+address+path)
	if err != nil || status != want || got != body {
		t.Errorf("GET %s: %d %q, %v, want %d %q", path, status, got, err, want, body)
	}
}
