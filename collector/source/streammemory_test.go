package source_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/source"
)

// TestOpenRequestsAreCharged checks that an open request is charged to the budget until it ends. If the account is used
// up, the request must be forwarded without a charge.
func TestOpenRequestsAreCharged(t *testing.T) {
	eachRelay(t, func(t *testing.T, newFilter func() source.Filter) {
		const size = 64 << 10
		end := make(chan struct{})
		upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			stream(w, fmt.Sprintf(frame, 1))
			<-end
		}))
		defer upstream.Close()
		memory := budget.New(2*size + 1)
		p := newProxy(t, &proxyRecorder{}, upstream.URL, source.ProxySettings{
			QueueLimit: 1 << 20, NewFilter: newFilter, StreamBudget: memory.Account("streams", 1, 1),
		})
		address := front(t, p, p)
		var answers []io.ReadCloser
		for _, want := range []int64{size, 2 * size, 2 * size} {
			answer, err := http.Post(address+"/run_sse", "application/json", nil)
			if err != nil {
				t.Fatal(err)
			}
			answers = append(answers, answer.Body)
			if used := memory.Usage()[0].Bytes; used != want {
				t.Errorf("%d bytes are charged for %d open requests, want %d", used, len(answers), want)
			}
		}
		close(end)
		for i, answer := range answers {
			if got, err := io.ReadAll(answer); err != nil || len(got) == 0 {
				t.Errorf("answer %d has %d bytes: %v", i, len(got), err)
			}
			answer.Close()
		}
		if p.Wait(); memory.Usage()[0] != (budget.Usage{Name: "streams"}) {
			t.Errorf("%+v after the answers, want nothing charged and nothing shed", memory.Usage()[0])
		}
	})
}
