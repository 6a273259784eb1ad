package replay_test

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/collector/source"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter/stream/filter"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/internal/settings"
)

// TestBursts sends every recording of the repository through a filtering proxy, with content, in three ways:
//   - frame by frame, each after the frame before it was observed
//   - in one write that is observed at once
//   - in one write that is observed only after the client has received everything
//
// The observations must be the same. Only in AG-UI, the duration of a call is unknown that arrives together with its result.
func TestBursts(t *testing.T) {
	for _, file := range recordings(t) {
		t.Run(filepath.ToSlash(file), func(t *testing.T) {
			t.Parallel()
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			dialect := dialectOf(t, content)
			if dialect == "" {
				t.Skip("no dialect is sure of it")
			}
			paced := newTranscript()
			paced.observe(t, dialect, func(w io.Writer) {
				for _, sent := range split(content) {
					_, _ = w.Write(sent.bytes)
					w.(http.Flusher).Flush()
					if sent.whole {
						<-paced.batch
					}
				}
			})
			for when, held := range map[string]chan struct{}{"late": make(chan struct{}), "at once": nil} {
				burst := newTranscript()
				burst.held = held
				burst.observe(t, dialect, func(w io.Writer) { _, _ = w.Write(content) })
				if diff := cmp.Diff(paced.lines(), burst.lines()); diff != "" {
					t.Errorf("observed %s: %s", when, diff)
				}
			}
		})
	}
}

// recordings lists every recording of the repository.
func recordings(t *testing.T) (files []string) {
	t.Helper()
	const least = 300
	err := filepath.WalkDir("../../..", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".sse") {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) < least {
		t.Fatalf("%d recordings, want %d at least: %v", len(files), least, err)
	}
	return files
}

// dialectOf returns the dialect of a recording, or "".
func dialectOf(t *testing.T, content []byte) string {
	t.Helper()
	s := &event.Stream{}
	pipeline := collector.New(collector.Dialects(), settings.Collector(config.Default()), newTranscript())
	if err := pipeline.Observe(s, collector.Input{Reader: bytes.NewReader(content)}); err != nil {
		t.Fatal(err)
	}
	return s.Dialect
}

// part is what an agent sends at once.
type part struct {
	bytes []byte
	whole bool // it ends with a frame
}

// split cuts a recording after each of its frames.
func split(content []byte) (parts []part) {
	frames := sse.NewReader(bytes.NewReader(content), 0)
	from := 0
	for {
		_, err := frames.Next()
		if err != nil {
			return append(parts, part{bytes: content[from:]})
		}
		to := int(frames.Offset())
		parts = append(parts, part{content[from:to], true})
		from = to
	}
}

// observe records what is observed of an agent that sends one stream through a filtering proxy.
func (s *transcript) observe(t *testing.T, dialect string, send func(io.Writer)) {
	t.Helper()
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		send(w)
	}))
	defer agent.Close()
	upstream, err := url.Parse(agent.URL)
	if err != nil {
		t.Fatal(err)
	}
	configured := config.Default()
	configured.Traces.Content = config.ContentAll
	s.tracker = tracker.New(settings.Tracker(configured, nil), nothingLost{}, s)
	proxy := source.NewProxy(source.ProxySettings{
		Name: "burst", Upstream: upstream, Paths: []string{"/stream"}, Dialect: dialect, JSONDepth: configured.Limits.JSONDepth,
		QueueLimit: int(configured.Limits.ObserveQueue), FrameLimit: int(configured.Limits.Frame),
		Panics:    recovery.New(slog.New(slog.DiscardHandler), func(recovery.Component) { s.WriteString("panic\n") }),
		NewFilter: func() source.Filter { return filter.NewRelay(filter.Settings{Policy: event.PolicyClient}, s) },
	}, collector.New(collector.Dialects(), settings.Collector(configured), s), collector.Dialects(),
		source.Tracing{Tracer: noop.NewTracerProvider().Tracer(""), Propagator: propagation.TraceContext{}},
		s, slog.New(slog.DiscardHandler), time.Now)
	front := httptest.NewServer(proxy)
	defer front.Close()
	response, err := http.Post(front.URL+"/stream", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Error(err)
	}
	if s.held != nil {
		close(s.held)
	}
	proxy.Wait()
}

// transcript is everything that is observed of a stream, as text.
type transcript struct {
	strings.Builder
	tracker *tracker.Tracker
	batch   chan struct{} // receives a value for each consumed batch; closed at the end
	held    chan struct{} // holds all batches back until it is closed; nil holds none back
}

func newTranscript() *transcript { return &transcript{batch: make(chan struct{}, 1<<10)} }

// lines returns the lines of the transcript, without the timing of calls.
func (s *transcript) lines() []string {
	return strings.Split(callTiming.ReplaceAllString(s.String(), "$1$2"), "\n")
}

var callTiming = regexp.MustCompile(`(?m)^( *execute_tool .*) (?:observed|unknown)( .*)?$`)

func (s *transcript) Open(stream *event.Stream) {
	if s.tracker != nil {
		s.tracker.Open(stream)
	}
}

func (s *transcript) Consume(b *event.Batch) {
	if s.held != nil {
		<-s.held
	}
	s.frame(b)
	if s.tracker != nil {
		s.tracker.Consume(b)
	}
	select {
	case s.batch <- struct{}{}:
	default:
	}
}

func (s *transcript) Close(stream *event.Stream, end event.End, at time.Time) {
	if s.tracker != nil {
		s.tracker.Close(stream, end, at)
	}
	fmt.Fprintf(s, "closed %d\n", end)
	close(s.batch) // releases an agent whose observation ended early
}

func (s *transcript) frame(b *event.Batch) {
	fmt.Fprintf(s, "%s %s id %q event %q data %q\n", b.Stream.Dialect, b.Type, b.Frame.ID, b.Frame.Event, b.Frame.Data)
	fmt.Fprintf(s, "  JSON %s, rejected %q\n", b.JSON.Raw(), b.Rejected)
	for i := range b.Events {
		e := &b.Events[i]
		fmt.Fprintf(s, "  %v %q %q: %q %s keys %q\n", e.Kind, e.Name, e.CallID, e.Text(), e.Payload().Raw(), e.State().Keys)
		for _, p := range e.Pieces() {
			fmt.Fprintf(s, "    %s %q: %s %s\n", p.Kind, p.Name, p.Value.Raw(), p.Schema.Raw())
		}
	}
}

func (s *transcript) RunStarted(*tracker.Run) {}

func (s *transcript) OperationEnded(_ *tracker.Run, op *tracker.Operation) {
	d := op.Details.OrZero()
	fmt.Fprintf(s, "  %s %q of %q in %q, call %q: %s %s\n", op.Kind, op.Name, op.Agent, op.Branch, op.CallID, op.Status, op.Failure)
	fmt.Fprintf(s, "    keys %q, %+v, %+v\n", d.State.Keys, d.Confidence, d.Citations)
	if c := d.Content; c != nil {
		fmt.Fprintf(s, "    given %s, gave %s, truncated %v\n", c.Arguments, c.Result, c.Truncated)
		for _, p := range c.Output {
			fmt.Fprintf(s, "    said %v %q %q %q: %s\n", p.Kind, p.Text, p.CallID, p.Name, p.Arguments)
		}
	}
}

func (s *transcript) RunEnded(r *tracker.Run) { s.WriteString(outline(r.Report())) }

// The counters of the proxy and its filter. Faults are recorded.
func (s *transcript) SetSourceUp(string, bool)            {}
func (s *transcript) CountBrokenAnswer(string)            { s.WriteString("broke off\n") }
func (s *transcript) CountUnobserved(_, _ string, n int)  { fmt.Fprintf(s, "%d bytes unobserved\n", n) }
func (s *transcript) CountUnreadRequest(string, string)   {}
func (s *transcript) CountUnchangedCard(string, string)   {}
func (s *transcript) CountWithheld(string, filter.Reason) {}
func (s *transcript) CountRemovedID(string)               {}
