package source_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/langgraph"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/source"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// uncounted counts nothing.
type uncounted struct{}

func (uncounted) CountWithheld(string, filter.Reason) {}
func (uncounted) CountRemovedID(string)               {}

// TestJoinedRun has a client come back to a run, whose next frame repeats a response.
func TestJoinedRun(t *testing.T) {
	const thread, run = "/threads/11111111-1111-1111-1111-111111111111", "22222222-2222-2222-2222-222222222222"
	const response = `{"type":"ai","id":"lc_run--1","content":"Hi"}`
	agent := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		if r.Method == http.MethodPost {
			_, _ = io.WriteString(w, `event: metadata`+"\n"+`data: {"run_id":"`+run+`","attempt":1}`+"\n\n"+`event: messages`+"\n"+`data: [`+response+`,{"langgraph_node":"a"}]`+"\n\n")
		} else {
			_, _ = io.WriteString(w, `event: updates`+"\n"+`data: {"a":{"messages":[`+response+`]}}`+"\n\n")
		}
	})
	for _, newFilter := range []func() source.Filter{nil, func() source.Filter {
		return filter.NewRelay(filter.Settings{Policy: event.PolicyClient}, uncounted{})
	}} {
		var responses atomic.Int32
		sink := &proxyRecorder{frame: func(b *event.Batch) {
			if slices.ContainsFunc(b.Events, func(e event.Event) bool { return e.Kind == event.KindModelEnded }) {
				responses.Add(1)
			}
		}}
		p := newProxy(t, sink, front(t, nil, agent), source.ProxySettings{NewFilter: newFilter}, dialect.Dialect(langgraph.Dialect{}))
		address := front(t, p, p)
		for _, request := range []struct{ method, path string }{{http.MethodPost, thread + "/runs/stream"}, {http.MethodGet, thread + "/runs/" + run + "/stream"}} {
			r, err := http.NewRequestWithContext(t.Context(), request.method, address+request.path, strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		p.Wait()
		if n := responses.Load(); n != 1 {
			t.Errorf("%d responses count, with a filter: %v", n, newFilter != nil)
		}
	}
}
