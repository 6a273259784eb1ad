package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/looopy"
	"github.com/delegraph/delegraph/collector/sse"
)

// looopyCanary stands in the captures only where something is internal, or where upstream's own filter let it pass.
var looopyCanary = []byte("CANARY-INTERNAL")

// outside are the frames of a Looopy stream that are for readers outside, as event name and data.
func outside(t *testing.T, stream []byte) (all []string) {
	t.Helper()
	types := looopy.Dialect{}.Table().Types
	frames := sse.NewReader(bytes.NewReader(stream), 0)
	for {
		f, err := frames.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if types[string(f.Event)].Client && !bytes.Contains(f.Data, looopyCanary) {
			all = append(all, string(f.Event)+" "+string(f.Data))
		}
	}
}

// TestRelayOfLooopy sends every capture through the default relay: the client gets every frame that is for it, as it was, and
// nothing internal, not even what upstream's replay lets out.
func TestRelayOfLooopy(t *testing.T) {
	var capture []byte
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(capture)
	}))
	defer agent.Close()
	car := startSidecar(t, agent.URL)
	for _, file := range sseFiles(t, captures["looopy"]) {
		var err error
		if capture, err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/events/ctx", "/invocations"} {
			resp, err := http.Get(car.address() + path)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(got, looopyCanary) {
				t.Errorf("%s: something internal reached the client", filepath.Base(file))
			}
			if want := outside(t, capture); !slices.Equal(outside(t, got), want) {
				t.Errorf("%s: the client got %d of %d frames", filepath.Base(file), len(outside(t, got)), len(want))
			}
		}
	}
}

// TestPublicStreamOfLooopy has strangers read every capture.
func TestPublicStreamOfLooopy(t *testing.T) {
	for _, file := range sseFiles(t, captures["looopy"]) {
		for _, policy := range []string{"public", "client"} {
			if got := streamed(t, policy, file); bytes.Contains(got, looopyCanary) {
				t.Errorf("%s: something internal left under %s", filepath.Base(file), policy)
			}
		}
	}
}
