package dashboards_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/delegraph/delegraph/test/e2e/harness"
)

// sources configures a proxy for each of the other dialects, in addition to the existing sources.
func (s *scene) sources(upstream string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s.others)) {
		fmt.Fprintf(&b, "  - {name: %[1]s, dialect: %[1]s, proxy: {listen: \"127.0.0.1:0\", upstream: %[2]q, paths: [/agents/%[1]s]}}\n", name, upstream)
	}
	return b.String()
}

// runOther answers with one of the dialect's recordings.
func (s *scene) runOther(w http.ResponseWriter, r *http.Request) {
	recordings := s.others[r.PathValue("dialect")]
	w.Header().Set("Content-Type", "text/event-stream")
	s.send(w, recordings[rand.IntN(len(recordings))])
}

// askOthers starts some runs of each of the other dialects.
func (s *scene) askOthers(t *testing.T, service *harness.Service) {
	t.Helper()
	proxies := service.Proxies()[len(service.Proxies())-len(s.others):]
	var users sync.WaitGroup
	for i, name := range slices.Sorted(maps.Keys(s.others)) {
		users.Go(func() {
			for range 5 {
				if err := askOther("http://" + proxies[i].Addr + "/agents/" + name); err != nil {
					t.Error(err)
				}
			}
		})
	}
	users.Wait()
}

func askOther(address string) error {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Post(address, "application/json", bytes.NewReader([]byte("{}")))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", address, resp.Status)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}
