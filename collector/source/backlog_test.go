package source_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/source"
)

// TestBacklogIsBounded checks that batches for a stopped observer take no more memory than the limit. The other frames
// must be counted as unobserved, and the client must get every byte. The test sends pieces of artifacts, which are
// small frames with large batches.
func TestBacklogIsBounded(t *testing.T) {
	const limit, slack = 8 << 20, 2 << 20
	var pieces strings.Builder
	for range 1000 {
		pieces.WriteString(`{"data":1},`)
	}
	frame := `data: {"jsonrpc":"2.0","result":{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"f","parts":[` +
		pieces.String() + `{"data":1}]}}}}` + "\n\n"
	sent := []byte(strings.Repeat(frame, 200))

	behind := make(chan struct{})
	s := &proxyRecorder{consume: sync.OnceFunc(func() { <-behind })}
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { stream(w, string(sent)) }))
	defer agent.Close()
	p := newProxy(t, s, agent.URL, source.ProxySettings{
		Dialect: "a2a", Paths: []string{"/"}, QueueLimit: limit, NewFilter: func() source.Filter { return passValid{} },
	})
	address, before := front(t, p, p), heap()
	resp, err := http.Post(address, "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil || !bytes.Equal(got, sent) {
		t.Errorf("the client gets %d of %d bytes: %v", len(got), len(sent), err)
	}
	if taken := int(heap() - before); taken < limit/2 || taken > limit+slack {
		t.Errorf("the waiting batches take %d bytes, want at most %d", taken, limit)
	}
	close(behind)
	p.Wait()
	if s.unobserved == 0 || s.unobserved == len(sent) || s.ends[0] != event.EndUnobserved {
		t.Errorf("%d of %d bytes are counted as unobserved, and the streams end with %v", s.unobserved, len(sent), s.ends)
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC() // a sync.Pool is emptied only by the second collection
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
