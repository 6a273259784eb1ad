package readers_test

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
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// internal is part of every internal frame.
const internal = "c4n4ry7f3e9d"

// stand is an agent that a test controls, a sidecar whose stream is read over a wire, and pages of two origins, one of which is
// allowed.
type stand struct {
	service    *harness.Service
	wire       *harness.Wire
	near, far  *httptest.Server // of pages
	stream     string           // the URL of the agent's session
	token      string           // "": readers need no token
	speech     chan string
	said, read int // numbers of sentences
}

func newStand(t *testing.T, named bool) *stand {
	t.Helper()
	s := &stand{speech: make(chan string, 1000)}
	agent := httptest.NewServer(s)
	t.Cleanup(agent.Close)
	s.near, s.far = httptest.NewServer(pages()), httptest.NewServer(pages())
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
	s.service = harness.Launch(t, fmt.Sprintf(`
stream: {listen: "127.0.0.1:0", allowed_origins: [%q], authentication: %s}
sources: [{name: agent, proxy: {listen: "127.0.0.1:0", upstream: %q}}]
`, s.near.URL, authentication, agent.URL), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	s.wire = harness.NewWire(t, s.service.StreamAddr())
	s.stream = s.wire.URL() + "/events/s"
	ran := make(chan harness.Response, 1)
	go func() {
		ran <- harness.Post(t, s.service.Address(), adkserver.RunRequest("u", "s", "hello", true), nil)
	}()
	t.Cleanup(func() {
		close(s.speech)
		if answer := <-ran; answer.Err != nil && !errors.Is(answer.Err, context.Canceled) {
			t.Error(answer.Err)
		}
	})
	return s
}

// examples is the folder of the readers that users can copy.
const examples = "../../../examples/readers"

// pages serves the pages of the tests, and the example below /examples/.
func pages() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServerFS(os.DirFS(harness.ReaderSources)))
	mux.Handle("/examples/", http.StripPrefix("/examples/", http.FileServerFS(os.DirFS(examples))))
	return mux
}

// ServeHTTP answers the only run of the agent.
func (s *stand) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for frame := range s.speech {
		_, _ = io.WriteString(w, frame)
		_ = http.NewResponseController(w).Flush()
	}
}

// sentence returns the nth text of the agent. Some are longer than the buffer of a reader.
func sentence(n int) string {
	if n%20 == 13 {
		return strings.Repeat(fmt.Sprint(n, " "), 40<<10)
	}
	return fmt.Sprintf("%d: \"wörd\"\r\n\n\u2028data: 😀", n)
}

// say makes the agent send n more texts, each between internal ones.
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

// hear reads n frames, which must be the next texts with the next IDs.
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

// subscribed waits for a subscriber.
func (s *stand) subscribed(t *testing.T) {
	t.Helper()
	harness.Await(t, func(context.Context) error {
		if s.service.Count(t, "delegraph_stream_subscribers") == 0 {
			return errors.New("there is no subscriber")
		}
		return nil
	})
}

// published waits until everything that was sent can be read.
func (s *stand) published(t *testing.T) {
	t.Helper()
	harness.Await(t, func(context.Context) error {
		if kept := s.service.Replay().Frames; kept != s.said {
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

// ticket returns a ticket for one connection of a page.
func (s *stand) ticket(t *testing.T) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.wire.URL()+"/tickets", nil)
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
