package relay_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/test/e2e/harness"
)

// background is a server with one recorded answer, which a POST begins and a GET brings again, without its first events. Each client
// waits in the middle until it is released.
type background struct {
	*httptest.Server
	id      string
	post    string
	get     string // the target of requests that join
	asked   string
	events  []string
	after   int
	release map[string]chan struct{} // by method
	left    chan struct{}
}

func serveBackground(t *testing.T, recording, idMember string, after int) *background {
	t.Helper()
	said := readAnswered(t, filepath.Join(servers, recording+".http"))
	events := strings.SplitAfter(string(said.body), "\n\n")
	b := &background{
		post: said.request.URL.Path, asked: string(said.asked), events: events[:len(events)-1], after: after, left: make(chan struct{}),
		release: map[string]chan struct{}{http.MethodGet: make(chan struct{}), http.MethodPost: make(chan struct{})},
	}
	_, id, _ := strings.Cut(events[0], idMember)
	b.id, _, _ = strings.Cut(id, `"`)
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		first, rest := b.parts(r.Method)
		_, _ = io.WriteString(w, first)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-b.release[r.Method]:
			_, _ = io.WriteString(w, rest)
		case <-r.Context().Done():
			close(b.left)
		}
	}))
	t.Cleanup(b.Close)
	return b
}

// parts returns what a client gets up to the middle of the response, and after it.
func (b *background) parts(method string) (first, rest string) {
	middle, from := len(b.events)/2, 0
	if method == http.MethodGet {
		from = b.after
	}
	return strings.Join(b.events[from:middle], ""), strings.Join(b.events[middle:], "")
}

func (b *background) take(t *testing.T, service *harness.Service, steps []string) {
	t.Helper()
	open := map[string]*http.Response{}
	for _, step := range steps {
		method := http.MethodPost
		if strings.HasPrefix(step, "retrieve") {
			method = http.MethodGet
		}
		first, rest := b.parts(method)
		switch step {
		case "begin":
			open[method] = request(t, method, service.Address()+b.post, b.asked)
			expectText(t, open[method], first)
		case "retrieve":
			open[method] = request(t, method, service.Address()+b.get, "")
			expectText(t, open[method], first)
		case "leave":
			open[method].Body.Close()
			<-b.left
		default:
			close(b.release[method])
			expectText(t, open[method], rest)
			open[method].Body.Close()
		}
	}
}

func request(t *testing.T, method, url, body string) *http.Response {
	t.Helper()
	asked, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(asked)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

// expectText reads what a response has next.
func expectText(t *testing.T, response *http.Response, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if n, err := io.ReadFull(response.Body, got); err != nil || string(got) != want {
		t.Errorf("the client gets %q: %v, want %q", got[:n], err, want)
	}
}
