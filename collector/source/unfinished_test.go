package source_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/source"
)

// TestUnfinishedFramesAreCharged checks that the observers of verbatim streams hold no more unfinished frames than the budget allows. The
// other streams are unobserved, and their clients get every byte.
func TestUnfinishedFramesAreCharged(t *testing.T) {
	const size, fits, clients = 512 << 10, 4, 8
	start := "data: " + strings.Repeat("x", size)
	var compressed bytes.Buffer
	z := gzip.NewWriter(&compressed)
	_, _ = io.WriteString(z, start)
	_ = z.Flush()
	for encoding, wire := range map[string]string{"": start, "gzip": compressed.String()} {
		t.Run("encoding "+encoding, func(t *testing.T) {
			s := &proxyRecorder{}
			hold := make(chan struct{})
			end := sync.OnceFunc(func() { close(hold) })
			agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if encoding != "" {
					w.Header().Set("Content-Encoding", encoding)
				}
				stream(w, wire)
				<-hold
			}))
			t.Cleanup(agent.Close)
			whole := budget.New(fits*size + size/2)
			p := newProxy(t, s, agent.URL, source.ProxySettings{ObserveBudget: whole.Account("observe", 1, 1)})
			address := front(t, p, p)
			t.Cleanup(end)
			for i := range clients {
				body := post(t, address, request).Body
				if _, err := io.ReadFull(body, make([]byte, len(wire))); err != nil {
					t.Fatal(err)
				}
				await(t, func() bool {
					use := whole.Usage()[0]
					return use.Bytes/size+int64(use.Shed) >= int64(i+1)
				})
			}
			// While the observer is behind, a part of a frame is in its queue and in the frame, so one frame less may fit.
			use := whole.Usage()[0]
			if held := use.Bytes / size; held > fits || held < fits-1 || int64(use.Shed) < clients-held {
				t.Errorf("%d unfinished frames are held and %d are given up, want %d and the others", held, use.Shed, fits)
			}
			end()
			p.Wait()
			if used := whole.Usage()[0].Bytes; used != 0 {
				t.Errorf("%d bytes are still charged after all streams have ended", used)
			}
			unobserved := 0
			for _, end := range s.ends {
				if end == event.EndUnobserved {
					unobserved++
				}
			}
			if unobserved < clients-fits || unobserved > clients-fits+1 {
				t.Errorf("%d streams ended unobserved, want %d", unobserved, clients-fits)
			}
			if want := unobserved * len(wire); encoding == "" && s.unobserved != want {
				t.Errorf("%d bytes are counted as unobserved, want %d", s.unobserved, want)
			}
		})
	}
}

// await waits until a condition holds.
func await(t *testing.T, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the condition does not hold within 10 s")
		}
	}
}
