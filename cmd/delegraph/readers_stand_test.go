package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
)

// internal stands in everything that must not leave.
const internal = "c4n4ry7f3e9d"

// stand is an agent that says what a test wants it to, a sidecar whose stream can be read over a wire, and pages of two origins,
// of which one is allowed.
type stand struct {
	car        *running
	wire       *wire
	near, far  *httptest.Server // of pages
	stream     string           // the URL of the agent's session
	token      string           // "": readers are not asked who they are
	speech     chan string
	said, read int // sentences
}

func newStand(t *testing.T, named bool) *stand {
	t.Helper()
	s := &stand{speech: make(chan string, 1000)}
	agent := httptest.NewServer(s)
	t.Cleanup(agent.Close)
	s.near, s.far = httptest.NewServer(http.FileServerFS(os.DirFS(pins))), httptest.NewServer(http.FileServerFS(os.DirFS(pins)))
	t.Cleanup(s.near.Close)
	t.Cleanup(s.far.Close)
	authentication := "{}"
	if named {
		s.token = strings.Repeat("t0ken", 8)
		file := filepath.Join(t.TempDir(), "tokens")
		if err := os.WriteFile(file, []byte(s.token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		authentication = fmt.Sprintf("{bearer_tokens_file: %q}", file)
	}
	s.car = launch(t, fmt.Sprintf(`
stream: {listen: "127.0.0.1:0", allowed_origins: [%q], authentication: %s}
sources: [{name: agent, proxy: {listen: "127.0.0.1:0", upstream: %q}}]
`, s.near.URL, authentication, agent.URL), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	s.wire = newWire(t, s.car.StreamAddr())
	s.stream = s.wire.url() + "/events/s"
	ran := make(chan gotten, 1)
	go func() { ran <- post(t, s.car.address(), adkserver.RunRequest("u", "s", "hello", true), nil) }()
	t.Cleanup(func() {
		close(s.speech)
		if answer := <-ran; answer.err != nil && !errors.Is(answer.err, context.Canceled) {
			t.Error(answer.err)
		}
	})
	return s
}

// ServeHTTP answers the agent's one run.
func (s *stand) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for frame := range s.speech {
		_, _ = io.WriteString(w, frame)
		_ = http.NewResponseController(w).Flush()
	}
}

// sentence is what the agent says as its nth: now and then more than a reader takes in at once.
func sentence(n int) string {
	if n%20 == 13 {
		return strings.Repeat(fmt.Sprint(n, " "), 40<<10)
	}
	return fmt.Sprintf("%d: \"wörd\"\r\n\n\u2028data: 😀", n)
}

// say has the agent say so many sentences more, each with what may not leave around it.
func (s *stand) say(n int) {
	for range n {
		text, _ := json.Marshal(sentence(s.said)) // a string
		s.said++
		s.speech <- fmt.Sprintf(`id: %[1]s-%[2]d
data: {"author":"coordinator","invocationId":"e-1","content":{"parts":[{"text":%[3]s},{"text":"%[1]s","thought":true}]},"customMetadata":{"note":"%[1]s"}}

event: internal:llm-call
data: {"author":"coordinator","invocationId":"e-1","content":{"parts":[{"text":"%[1]s"}]}}

data: {"kind":"internal:llm-call","author":"coordinator","invocationId":"e-1","content":{"parts":[{"text":"%[1]s"}]}}

data: {"kind":"internal:%[1]s"}

`, internal, s.said, text)
	}
}

// hear takes so many frames of a reader's, which must be the next sentences with the next ids.
func (s *stand) hear(t *testing.T, r reader, n int) {
	t.Helper()
	for range n {
		got := r.next(t)
		var said struct {
			Content struct{ Parts []struct{ Text string } }
		}
		err := json.Unmarshal([]byte(got.Data), &said)
		want := sentence(s.read)
		s.read++
		if err != nil || got.Event != "message" || !strings.HasSuffix(got.ID, fmt.Sprint("-", s.read)) ||
			len(said.Content.Parts) != 1 || said.Content.Parts[0].Text != want {
			t.Fatalf("frame %d is %+.300v, %v", s.read, got, err)
		}
	}
}

// subscribed waits for a reader.
func (s *stand) subscribed(t *testing.T) {
	t.Helper()
	await(t, func(context.Context) error {
		if s.car.count(t, "delegraph_stream_subscribers") == 0 {
			return errors.New("nobody subscribes")
		}
		return nil
	})
}

// published waits until all that was said can be read.
func (s *stand) published(t *testing.T) {
	t.Helper()
	await(t, func(context.Context) error {
		if kept := s.car.Replay().Frames; kept != s.said {
			return fmt.Errorf("%d of %d sentences are published", kept, s.said)
		}
		return nil
	})
}

func (s *stand) page(name, stream string) string    { return s.address(s.near, name, stream) }
func (s *stand) foreign(name, stream string) string { return s.address(s.far, name, stream) }

func (s *stand) address(pages *httptest.Server, name, stream string) string {
	return pages.URL + "/" + name + "?" + url.Values{"stream": {stream}, "token": {s.token}}.Encode()
}

// ticket gets what lets a page connect once.
func (s *stand) ticket(t *testing.T) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.wire.url()+"/tickets", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var given struct{ Ticket string }
	if err := json.NewDecoder(resp.Body).Decode(&given); err != nil || given.Ticket == "" {
		t.Fatalf("no ticket: %s, %v", resp.Status, err)
	}
	return given.Ticket
}
