package source

import (
	"io"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/adk"
	"github.com/delegraph/delegraph/collector/dialect/deepagents"
	"github.com/delegraph/delegraph/collector/event"
)

// TestIdentityIsCloned checks that an identity does not keep the URL of its request in memory, which may be a megabyte long.
func TestIdentityIsCloned(t *testing.T) {
	const requests = 20
	target := "/" + strings.Repeat("x", 1<<20) + "/api/chats/chat-1/messages/m/stream"
	var kept []event.Identity
	before := heapAfterGC()
	for range requests {
		request := httptest.NewRequest("GET", target, nil)
		id, reason := newRequestBody(request).identify([]dialect.Dialect{deepagents.Dialect{}}, request.ContentLength, 8)
		if id.Session != "chat-1" || reason != "" {
			t.Fatalf("the session is %q, and the request is unread for %q", id.Session, reason)
		}
		kept = append(kept, id)
	}
	if each := (int64(heapAfterGC()) - int64(before)) / requests; each > 64<<10 {
		t.Errorf("each of %d identities keeps %d bytes", len(kept), each)
	}
	runtime.KeepAlive(kept)
}

// TestSessionOfShortRequest checks that OnSession gets the session of a request even if the request ends before it is read.
func TestSessionOfShortRequest(t *testing.T) {
	for _, test := range []struct{ method, path, body string }{
		{"GET", "/threads/s/stream", ""},
		{"POST", "/run_sse", `{"appName":"a","sessionId":"s"}`},
	} {
		var named atomic.Int64
		p := newGatedProxy(&listingSink{}, false)
		p.settings.Dialect, p.settings.OnSession = "", func(session string) { named.Add(int64(len(session))) }
		for range 100 {
			r := httptest.NewRequest(test.method, test.path, strings.NewReader(test.body))
			body := newRequestBody(r)
			p.begin(r, &exchange{route: p.route(r), body: body, span: &serverSpan{}})
			_, _ = io.ReadAll(body)
			body.discard()
			p.Wait()
			if body.copy.data != nil {
				t.Fatal("the copy of the request is not released")
			}
		}
		if n := named.Load(); n != 100 {
			t.Errorf("%s: OnSession is called %d times for 100 requests", test.path, n)
		}
	}
}

// TestRequestKeepsToTheMemory checks that the copy of a request is charged as it grows, and that no copy is kept once
// the budget refuses. The agent gets the whole request in any case.
func TestRequestKeepsToTheMemory(t *testing.T) {
	const length = 100 << 10
	for name, c := range map[string]struct {
		budget int64
		reason string
	}{
		"room":    {1 << 20, ""},
		"no room": {128 << 10, UnreadMemory},
	} {
		t.Run(name, func(t *testing.T) {
			memory := budget.New(c.budget)
			text := `{"appName":"a","sessionId":"s","newMessage":"` + strings.Repeat("x", length) + `"}`
			request := httptest.NewRequest("POST", "/run_sse", strings.NewReader(text))
			b := newRequestBody(request)
			b.copy.limit, b.copy.memory = 1<<20, memory.Account("requests", 1, 1)
			got := make([]byte, len(text))
			if _, err := io.ReadFull(b, got[:10]); err != nil {
				t.Fatal(err)
			}
			if used := memory.Usage()[0].Bytes; used != minCopy {
				t.Errorf("10 bytes of %d are charged as %d, want %d", len(text), used, minCopy)
			}
			for at := 10; at < len(text); {
				n, err := b.Read(got[at:min(at+4<<10, len(text))])
				if at += n; err != nil {
					t.Fatal(err)
				}
			}
			if used := memory.Usage()[0].Bytes; c.reason == "" && used < length || c.reason != "" && used != 0 || used > 2*length {
				t.Errorf("%d bytes are charged for a request of %d", used, len(text))
			}
			id, reason := b.identify([]dialect.Dialect{adk.Dialect{}}, int64(len(text)), 8)
			if string(got) != text || reason != c.reason || (id.Session == "s") != (reason == "") {
				t.Errorf("the agent gets %d bytes of %d; session %q, unread for %q, want %q", len(got), len(text), id.Session, reason, c.reason)
			}
			b.discard()
			b.record([]byte("more"), nil) // the transport may read on
			if used := memory.Usage()[0].Bytes; used != 0 || b.copy.data != nil {
				t.Errorf("%d bytes are charged after the request", used)
			}
		})
	}
}

func heapAfterGC() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
