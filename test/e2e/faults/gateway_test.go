package faults_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/loopback"
	"github.com/delegraph/delegraph/test/subprocess"
)

// TestFaultGatewayMemory sends eight times as many bytes through a gateway as its budget allows. Its buffer stays
// within the budget, and the reader gets every frame on one connection, because NATS keeps what the reader has not read yet.
func TestFaultGatewayMemory(t *testing.T) {
	const budget, frames, size = 4 << 20, 512, 64 << 10
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range frames {
			fmt.Fprintf(w, "data: {\"invocationId\":\"e-1\",\"author\":\"a\",\"id\":\"%d\",\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"%s\"}]}}\n\n", i, strings.Repeat("a", size))
		}
	}))
	t.Cleanup(agent.Close)
	store, listen, proxy := startStore(t), loopback.FreeAddress(t), loopback.FreeAddress(t)
	harness.Serve(t, fmt.Sprintf("stream: {listen: \"\", %s}\nsources: [{name: a, dialect: adk, proxy: {listen: %q, upstream: %q}}]\n", store, proxy, agent.URL), nil)
	gateway := startCommand(t, "gateway", fmt.Sprintf("limits: {memory: 4MiB}\nstream: {listen: %q, %s}\n", listen, strings.Replace(store, "{urls", "{feed_bytes: 16MiB, urls", 1)))

	reader := openStream(t, listen, "", "")
	if resp, err := http.Post("http://"+proxy+"/run_sse", "application/json", strings.NewReader("{}")); err != nil {
		t.Fatal(err)
	} else if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
	read := sse.NewReader(reader.Body, 0)
	for got := range frames {
		if f, err := read.Next(); err != nil || f.Type() != "message" {
			t.Fatalf("after %d frames: %s %s, %v", got, f.Type(), f.Data, err)
		}
	}
	if limit, used := gateway.Count(t, "delegraph_memory_budget_bytes"), gateway.Count(t, "delegraph_memory_used_bytes"); limit != budget || used > limit {
		t.Errorf("the budget is %v bytes, %v of them are used", limit, used)
	}
}

// startStore starts NATS with JetStream and returns the settings of a stream that is stored there.
func startStore(t *testing.T) string {
	t.Helper()
	nats := loopback.FreeAddress(t)
	harness.Start(t, subprocess.Command(harness.Component(t, "nats", "nats-server"), "-js", "-a", "127.0.0.1", "-p", portOf(nats), "-sd", t.TempDir()))
	return fmt.Sprintf(`store: jetstream, jetstream: {urls: ["nats://%s"], max_bytes: 64MiB}`, nats) // NATS refuses a stream that may exceed the free disk space
}

// startCommand starts a command of delegraph that serves, and waits until it is ready.
func startCommand(t *testing.T, name, configured string) *harness.Instance {
	t.Helper()
	admin := loopback.FreeAddress(t)
	command := harness.ServeCommand(t, configured, admin, nil, "")
	command.Args[2] = strings.Replace(command.Args[2], " serve ", " "+name+" ", 1) // of the shell's command line
	return harness.StartReady(t, command, admin)
}
