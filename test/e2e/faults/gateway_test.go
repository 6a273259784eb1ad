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
	"github.com/delegraph/delegraph/test/subprocess"
)

// TestFaultGatewayMemory sends eight times as many bytes through a gateway as its budget allows. Its replay buffer shrinks, and the
// reader gets every frame.
func TestFaultGatewayMemory(t *testing.T) {
	const budget, frames, size = 4 << 20, 512, 64 << 10
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range frames {
			fmt.Fprintf(w, "data: {\"invocationId\":\"e-1\",\"author\":\"a\",\"id\":\"%d\",\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"%s\"}]}}\n\n", i, strings.Repeat("a", size))
		}
	}))
	t.Cleanup(agent.Close)
	store, listen, proxy := startStore(t), harness.FreeAddress(t), harness.FreeAddress(t)
	harness.Serve(t, fmt.Sprintf("stream: {listen: \"\", %s}\nsources: [{name: a, dialect: adk, proxy: {listen: %q, upstream: %q}}]\n", store, proxy, agent.URL), nil)
	gateway := startCommand(t, "gateway", fmt.Sprintf("limits: {memory: 4MiB}\nstream: {listen: %q, %s}\n", listen, strings.Replace(store, "{urls", "{feed_bytes: 16MiB, urls", 1)))

	reader := openStream(t, listen, "", "")
	if resp, err := http.Post("http://"+proxy+"/run_sse", "application/json", strings.NewReader("{}")); err != nil {
		t.Fatal(err)
	} else if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
	for got, last := 0, ""; got < frames; { // the buffer is smaller than the burst, so the reader falls out of it and resumes
		read := sse.NewReader(reader.Body, 0)
		for got < frames {
			f, err := read.Next()
			if err != nil {
				reader = resume(t, listen, last)
				break
			}
			if f.Type() != "message" {
				t.Fatalf("after %d frames: %s %s", got, f.Type(), f.Data)
			}
			got, last = got+1, read.LastEventID()
		}
	}
	if limit, used := gateway.Count(t, "delegraph_memory_budget_bytes"), gateway.Count(t, "delegraph_memory_used_bytes"); limit != budget || used > limit {
		t.Errorf("the budget is %v bytes, %v of them are used", limit, used)
	}
	if shed := gateway.Count(t, "delegraph_memory_shed_total", "buffer", "replay"); shed == 0 {
		t.Error("the replay buffer did not shrink")
	}
}

// resume subscribes again after the frame with an id.
func resume(t *testing.T, address, id string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Last-Event-ID", id)
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// startStore starts NATS with JetStream and returns the settings of a stream that is stored there.
func startStore(t *testing.T) string {
	t.Helper()
	nats := harness.FreeAddress(t)
	harness.Start(t, subprocess.Command(harness.Component(t, "nats", "nats-server"), "-js", "-a", "127.0.0.1", "-p", portOf(nats), "-sd", t.TempDir()))
	return fmt.Sprintf(`store: jetstream, jetstream: {urls: ["nats://%s"], max_bytes: 64MiB}`, nats) // NATS refuses a stream that may exceed the free disk space
}

// startCommand starts a command of delegraph that serves, and waits until it is ready.
func startCommand(t *testing.T, name, configured string) *harness.Instance {
	t.Helper()
	admin := harness.FreeAddress(t)
	command := harness.ServeCommand(t, configured, admin, nil, "")
	command.Args[2] = strings.Replace(command.Args[2], " serve ", " "+name+" ", 1) // of the shell's command line
	return harness.StartReady(t, command, admin)
}
