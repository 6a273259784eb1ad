package relay_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// TestRelayOfLooopy sends every capture through the default relay: the client gets every frame for clients unchanged and nothing
// internal, not even what Looopy's own replay lets out.
func TestRelayOfLooopy(t *testing.T) {
	var capture []byte
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(capture)
	}))
	defer agent.Close()
	service := startSidecar(t, agent.URL)
	for _, file := range recorded.Files(t, recorded.Captures["looopy"]) {
		var err error
		if capture, err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/events/ctx", "/invocations"} {
			resp, err := http.Get(service.Address() + path)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(got, harness.LooopyCanary) {
				t.Errorf("%s: something internal reached the client", filepath.Base(file))
			}
			if want := harness.LooopyClientFrames(t, capture); !slices.Equal(harness.LooopyClientFrames(t, got), want) {
				t.Errorf("%s: the client got %d of %d frames", filepath.Base(file), len(harness.LooopyClientFrames(t, got)), len(want))
			}
		}
	}
}

// TestPublicStreamOfLooopy replays every capture as the external stream under both policies, and checks that nothing internal is
// in it.
func TestPublicStreamOfLooopy(t *testing.T) {
	for _, file := range recorded.Files(t, recorded.Captures["looopy"]) {
		for _, policy := range []string{"public", "client"} {
			if got := streamed(t, policy, file); bytes.Contains(got, harness.LooopyCanary) {
				t.Errorf("%s: something internal left under %s", filepath.Base(file), policy)
			}
		}
	}
}

// TestListenersOfLooopy has two clients listen to the same turn: they see one run.
func TestListenersOfLooopy(t *testing.T) {
	turn, err := os.ReadFile(filepath.Join(recorded.Captures["looopy"], "tool-failure.sse"))
	if err != nil {
		t.Fatal(err)
	}
	bothListen := make(chan struct{}, 2)
	begin := make(chan struct{})
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		bothListen <- struct{}{}
		<-begin
		_, _ = w.Write(turn)
	}))
	defer agent.Close()
	service := startSidecar(t, agent.URL)
	var clients sync.WaitGroup
	for range 2 {
		clients.Go(func() {
			if resp, err := http.Get(service.Address() + "/events/ctx-tool-failure"); err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
	<-bothListen
	<-bothListen
	close(begin)
	clients.Wait()
	service.Stop()
	if runs := service.Recent.Reports(); len(runs) != 1 || runs[0].Status != "completed" {
		t.Errorf("two clients listened to one turn; these runs were seen: %s", listRuns(runs))
	}
}
