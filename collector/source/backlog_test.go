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

// TestBacklogIsBounded sends small frames of which much is made, pieces of artifacts, while nothing is observed: what waits takes no
// more memory than it may, the rest is counted, and the client has every byte.
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
	s := &seen{consume: sync.OnceFunc(func() { <-behind })}
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { stream(w, string(sent)) }))
	defer agent.Close()
	p := newProxy(t, s, agent.URL, source.ProxySettings{
		Dialect: "a2a", Paths: []string{"/"}, QueueLimit: limit, Judge: func() source.Judge { return clement{} },
	})
	address, before := front(t, p, p), heap()
	resp, err := http.Post(address, "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil || !bytes.Equal(got, sent) {
		t.Errorf("the client got %d of %d bytes: %v", len(got), len(sent), err)
	}
	got = nil
	if taken := int(heap() - before); taken < limit/2 || taken > limit+slack {
		t.Errorf("what waits takes %d bytes, %d are allowed", taken, limit)
	}
	close(behind)
	p.Wait()
	if s.unobserved == 0 || s.unobserved == len(sent) || s.ends[0] != event.EndUnobserved {
		t.Errorf("%d of %d bytes unobserved, end %v", s.unobserved, len(sent), s.ends)
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC() // what a pool let go with the first
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
