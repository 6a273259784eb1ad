package source_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/source"
)

// TestEveryByteIsAccountedFor checks that each byte of a stream is either observed or counted as unobserved. It uses
// random streams, queue sizes and budgets, and observers that fall behind or fail.
func TestEveryByteIsAccountedFor(t *testing.T) {
	eachRelay(t, func(t *testing.T, newFilter func() source.Filter) {
		random := rand.New(rand.NewPCG(7, 8))
		for round := range 60 {
			var wire bytes.Buffer
			ends := map[string]int{} // offset of the end of each frame, by id
			for i := range 1 + random.IntN(300) {
				switch random.IntN(4) {
				case 0:
					wire.WriteString(strings.Repeat(":\n\n", random.IntN(100)))
				case 1:
					wire.WriteString(": " + strings.Repeat("c", random.IntN(500)) + "\nevent: x\n\n")
				case 2:
					fmt.Fprintf(&wire, "id: no%d\ndata: %s\n\n", i, strings.Repeat("x", random.IntN(2000))) // rejected
					ends[fmt.Sprint("no", i)] = wire.Len()
				}
				id := fmt.Sprint(i)
				fmt.Fprintf(&wire, "id: %s\n"+frame, id, i)
				ends[id] = wire.Len()
			}
			wire.WriteString([]string{"", ":\n:\n", "data: {", "id: 1\n\n"}[random.IntN(4)])
			panics, frames, observed := 0, 0, 0
			if random.IntN(3) == 0 {
				panics = 1 + random.IntN(100)
			}
			hold := make(chan struct{})
			release := sync.OnceFunc(func() { close(hold) })
			early := random.IntN(2) == 0
			if early {
				release()
			}
			s := &proxyRecorder{frame: func(b *event.Batch) {
				<-hold
				if frames++; frames == panics {
					panic("a fault of ours")
				}
				observed = ends[string(b.Frame.ID)]
			}}
			whole := budget.New(1 << (9 + random.IntN(14)))
			memory := whole.Account("observe", 1, 1)
			agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { stream(w, wire.String()) }))
			t.Cleanup(agent.Close)
			p := newProxy(t, s, agent.URL, source.ProxySettings{QueueLimit: 1 << (9 + random.IntN(12)), ObserveBudget: memory, NewFilter: newFilter})
			address := front(t, p, p)
			body := post(t, address, request).Body
			if _, err := io.Copy(io.Discard, body); err != nil {
				t.Fatal(err)
			}
			release()
			p.Wait()
			if used := whole.Usage()[0].Bytes; used != 0 {
				t.Errorf("round %d: %d bytes of the budget are not released", round, used)
			}
			if s.ends[0] != event.EndUnobserved {
				observed = wire.Len() // the whole stream
			}
			if observed+s.unobserved != wire.Len() {
				t.Errorf("round %d: %d bytes are observed and %d unobserved of %d; early %t, %d frames, panics at %d", round, observed, s.unobserved, wire.Len(), early, frames, panics)
			}
		}
	})
}
