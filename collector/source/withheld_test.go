package source_test

import (
	"io"
	"net/http"
	"strings"
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

// TestOtherStream checks a client that rejoins a run in the middle of a message that the first stream withheld.
func TestOtherStream(t *testing.T) {
	const thread = "/threads/11111111-1111-1111-1111-111111111111"
	agent := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		if r.Method == http.MethodPost {
			_, _ = io.WriteString(w, `event: messages/metadata`+"\n"+`data: {"m1":{"metadata":{"langgraph_node":"internal_x"}}}`+"\n\n")
		}
		_, _ = io.WriteString(w, `event: messages/partial`+"\n"+`data: [{"type":"ai","id":"m1","content":"secret"}]`+"\n\n")
		_, _ = io.WriteString(w, `event: messages/partial`+"\n"+`data: [{"type":"ai","id":"m2","content":"shown"}]`+"\n\n")
	})
	settings := source.ProxySettings{Withheld: new(event.Withheld), NewFilter: func() source.Filter {
		return filter.NewRelay(filter.Settings{Policy: event.PolicyClient}, uncounted{})
	}}
	upstream := front(t, nil, agent)
	p := newProxy(t, &proxyRecorder{}, upstream, settings, dialect.Dialect(langgraph.Dialect{}))
	address := front(t, p, p)
	for _, request := range []struct{ method, path string }{
		{http.MethodPost, thread + "/runs/stream"}, {http.MethodGet, thread + "/runs/22222222-2222-2222-2222-222222222222/stream"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), request.method, address+request.path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if got := string(body); strings.Contains(got, "secret") || !strings.Contains(got, "shown") {
			t.Errorf("%s %s: the client gets %s", request.method, request.path, got)
		}
	}
}
