package source_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/source"
)

// TestCardsKeepToTheMemory checks that agent cards whose agent stalls are charged to the budget. Further cards pass unchanged, and are
// counted.
func TestCardsKeepToTheMemory(t *testing.T) {
	const cards, room = 8, 6 << 20
	arrived, end := make(chan struct{}, cards), make(chan struct{})
	beginning := `{"x":"` + strings.Repeat("x", 900<<10)
	var agent *httptest.Server
	agent = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, beginning)
		_ = http.NewResponseController(w).Flush()
		arrived <- struct{}{}
		<-end
		_, _ = io.WriteString(w, `","url":"`+agent.URL+`/a"}`)
	}))
	defer agent.Close()
	memory := budget.New(room)
	s := &proxyRecorder{}
	p := newProxy(t, s, agent.URL, source.ProxySettings{RewriteCards: true, RequestBudget: memory.Account("requests", 1, 1), JSONDepth: 8})
	var answers sync.WaitGroup // a client has its answer before the proxy is done with it
	address := front(t, p, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers.Add(1)
		defer answers.Done()
		p.ServeHTTP(w, r)
	}))
	bodies := make(chan string, cards)
	for range cards {
		go func() {
			answer, err := http.Get(address + "/.well-known/agent-card.json")
			if err != nil {
				bodies <- err.Error()
				return
			}
			defer answer.Body.Close()
			body, err := io.ReadAll(answer.Body)
			if err != nil {
				body = []byte(err.Error())
			}
			bodies <- string(body)
		}()
	}
	for range cards {
		<-arrived
	}
	if used := memory.Usage()[0].Bytes; used > room {
		t.Errorf("cards take %d bytes of %d", used, room)
	}
	close(end)
	address = strings.TrimPrefix(address, "http://")
	want := []string{
		beginning + `","url":"http://` + address + `/a"}`,
		beginning + `","url":"` + agent.URL + `/a"}`,
	}
	rewritten := 0
	for range cards {
		switch body := <-bodies; slices.Index(want, body) {
		case 0:
			rewritten++
		case -1:
			t.Errorf("a client gets %.80s … %s", body, body[max(0, len(body)-60):])
		}
	}
	answers.Wait()
	p.Wait()
	unchanged := slices.DeleteFunc(s.cards, func(reason string) bool { return reason != source.CardMemory })
	if len(unchanged) != cards-rewritten || rewritten == cards {
		t.Errorf("%d of %d cards were rewritten, and %d are counted as unchanged", rewritten, cards, len(unchanged))
	}
	if used := memory.Usage()[0].Bytes; used != 0 {
		t.Errorf("%d bytes are charged after the answers", used)
	}
	answer, err := http.Get("http://" + address + "/.well-known/agent-card.json")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if body, _ := io.ReadAll(answer.Body); string(body) != want[0] {
		t.Errorf("a card is not rewritten when there is room again: %.80s", body)
	}
}
