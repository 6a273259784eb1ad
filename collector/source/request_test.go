package source

import (
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/deepagents"
	"github.com/delegraph/delegraph/collector/event"
)

// TestIdentityLetsGo makes sure that the names in a request do not hold on to its URL, which may be a MiB, for as long as anything
// tells of the run.
func TestIdentityLetsGo(t *testing.T) {
	const requests = 20
	target := "/" + strings.Repeat("x", 1<<20) + "/api/chats/chat-1/messages/m/stream"
	var kept []event.Identity
	before := heapAfterGC()
	for range requests {
		request := httptest.NewRequest("GET", target, nil)
		id, reason := newRequestBody(request).identify([]dialect.Dialect{deepagents.Dialect{}}, request.ContentLength, 8)
		if id.Session != "chat-1" || reason != "" {
			t.Fatalf("session %q, %s", id.Session, reason)
		}
		kept = append(kept, id)
	}
	if each := (int64(heapAfterGC()) - int64(before)) / requests; each > 64<<10 {
		t.Errorf("each of %d identities holds %d bytes", len(kept), each)
	}
	runtime.KeepAlive(kept)
}

func heapAfterGC() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
