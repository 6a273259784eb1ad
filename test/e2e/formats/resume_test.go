package formats_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/collector/source"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter"
	"github.com/delegraph/delegraph/exporter/conventions"
	"github.com/delegraph/delegraph/exporter/metrics"
	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/stream/filter"
	"github.com/delegraph/delegraph/exporter/stream/format"
	"github.com/delegraph/delegraph/exporter/stream/replay"
	"github.com/delegraph/delegraph/internal/settings"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// served is a hub behind a server that publishes captures.
type served struct {
	t      *testing.T
	hub    *stream.Hub
	server *httptest.Server
	sink   event.Sink
	counts *prometheus.Registry
	epoch  string
	head   int // the last sequence
}

func newServed(t *testing.T, policy string, frames int) *served {
	t.Helper()
	return newServedWithin(t, policy, frames, nil)
}

// newServedWithin charges the subscribers to an account.
func newServedWithin(t *testing.T, policy string, frames int, memory *budget.Account) *served {
	t.Helper()
	return newServedFrom(t, policy, stream.Settings{Replay: replay.Settings{Frames: frames, Bytes: 64 << 20, Age: time.Hour, Epoch: "e"}, Memory: memory})
}

// newServedFrom is newServed with the store and the memory account of the settings.
func newServedFrom(t *testing.T, policy string, set stream.Settings) *served {
	t.Helper()
	c := config.Default()
	s := &served{t: t, counts: prometheus.NewRegistry(), epoch: "e"}
	m := metrics.New(s.counts, settings.Metrics(c, conventions.Released()))
	var err error
	set.Observer, set.MaxSubscribers, set.MaxSubscribersPerToken = m.Stream(), 10, 10
	set.Heartbeat, set.WriteDeadline, set.MaxLifetime, set.RecheckInterval = time.Hour, time.Minute, time.Hour, time.Hour
	set.Decoder = settings.Decoder(settings.Collector(c), func() bool { return policy != config.PolicyPublic }, nil)
	s.hub, err = stream.New(set)
	if err != nil {
		t.Fatal(err)
	}
	public := settings.Filter(c.Stream)
	if public.Policy = event.Policy(policy); policy == config.PolicyClient {
		public.Thoughts = event.ThoughtsDetailed
	}
	publish := func(e replay.Entry) {
		s.head++
		s.hub.Store().Publish(e)
	}
	publisher := stream.NewPublisher(public, publish, func(filter.Reason) {})
	s.sink = exporter.New(m, settings.Tracker(c, nil), []exporter.Sink{{Component: recovery.Stream, Sink: publisher}})
	s.server = httptest.NewServer(s.hub.Handler())
	t.Cleanup(s.server.Close)
	return s
}

// play sends a capture through the pipeline.
func (s *served) play(file string) {
	s.t.Helper()
	pipeline := collector.New(collector.Dialects(), settings.Collector(config.Default()), s.sink)
	if err := source.ReadCapture(s.t.Context(), pipeline, source.Capture{Name: file, Dialect: config.DialectAuto}); err != nil {
		s.t.Fatal(err)
	}
}

// read returns what a subscriber gets that resumes after a sequence, up to the newest frame. All ids are of the epoch "e".
func (s *served) read(query string, after int) []byte {
	s.t.Helper()
	ctx, stop := context.WithCancel(s.t.Context())
	defer stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.server.URL+"/events?"+query, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Last-Event-ID", fmt.Sprintf("%s-%d", s.epoch, after))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		s.t.Fatal(response.Status)
	}
	last := fmt.Sprintf("id: %s-%d\n", s.epoch, s.head)
	var all bytes.Buffer
	lines := bufio.NewReader(response.Body)
	for seen := false; ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			s.t.Fatal(err)
		}
		all.WriteString(line)
		if seen = seen || line == last; seen && line == "\n" {
			return bytes.ReplaceAll(all.Bytes(), []byte(s.epoch+"-"), []byte("e-"))
		}
	}
}

// factsAfter returns the part of a format after a sequence that must not depend on how the reader got there. This part
// is the events themselves, or only the texts if a connection repeats its beginning.
func factsAfter(t *testing.T, as format.Format, stream []byte, after int) string {
	var all strings.Builder
	texts := map[string]string{}
	for _, f := range numbered(t, stream) {
		if f.number <= after {
			continue
		}
		switch as {
		case format.Normalized:
			all.Write(f.Data)
			all.WriteByte('\n')
		default:
			for id, text := range textMembers(f.Data) {
				if strings.HasPrefix(id, "delta") || strings.HasPrefix(id, "text") {
					texts[id] += text
				}
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(texts)) {
		fmt.Fprintf(&all, "%s: %s\n", id, texts[id])
	}
	return all.String()
}

// numberedFrame is a frame with the number of its native frame.
type numberedFrame struct {
	sse.Frame
	number int
}

// numbered finds the native frame of each frame, by the id of the last frame made of it.
func numbered(t *testing.T, stream []byte) (all []numberedFrame) {
	blocks := strings.Split(string(stream), "\n\n")
	number, from := 0, 0
	for _, block := range blocks {
		for _, f := range harness.Frames(t, []byte(block+"\n\n")) {
			all = append(all, numberedFrame{Frame: f})
		}
		if _, id, is := strings.Cut("\n"+block, "\nid: e-"); is {
			_, _ = fmt.Sscan(id, &number)
			for ; from < len(all); from++ {
				all[from].number = number
			}
		}
	}
	return all
}

// TestFormatsResume resumes after frames of many captures. Readers get the same frames as readers that stayed connected, because
// the frames before are decoded again.
func TestFormatsResume(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const sample, cuts = 6, 3
	for _, family := range slices.Sorted(maps.Keys(recorded.Captures)) {
		files := recorded.Files(t, recorded.Captures[family])
		for range sample {
			file := files[random.IntN(len(files))]
			for _, policy := range harness.Policies {
				s := newServed(t, policy, 1000)
				s.play(file)
				if s.head == 0 {
					continue
				}
				for _, as := range format.Formats() {
					whole := s.read("format="+string(as), 0)
					for range cuts {
						after := random.IntN(s.head)
						if got, want := factsAfter(t, as, s.read("format="+string(as), after), after), factsAfter(t, as, whole, after); got != want {
							t.Errorf("%s, %s, %s behind frame %d of %d:\n%s\nwant\n%s", file, policy, as, after, s.head, got, want)
						}
					}
				}
			}
		}
	}
}

// TestAGUIResume checks, with the verifier, what readers get that connect in the middle of runs.
func TestAGUIResume(t *testing.T) {
	p := newPlayer(t)
	for _, file := range []string{
		"../../../collector/dialect/agui/testdata/made-subagents.sse", "../../../collector/dialect/looopy/testdata/litellm.sse",
		"../../../collector/dialect/adk/adkserver/testdata/captures/python/text_and_tool.stream.sse", "../../../collector/dialect/adkstudio/testdata/flow-loop.sse",
	} {
		s := newServed(t, "client", 1000)
		s.play(file)
		for after := range s.head {
			stream := s.read("format=agui", after)
			if said := p.file(stream); said.Fault != "" {
				t.Errorf("%s behind frame %d: %s\n%s", file, after, said.Fault, stream)
			}
		}
	}
}

// subscribers returns the number of connected subscribers.
func (s *served) subscribers() (n float64) {
	families, err := s.counts.Gather()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "delegraph_stream_subscribers" {
			n = f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	return n
}

// TestAGUIClientSubscribes reads a conversation with the project's client over HTTP, as documented, from a gap to the end.
func TestAGUIClientSubscribes(t *testing.T) {
	p := newPlayer(t)
	s := newServed(t, "public", 1000)
	s.play("../../../collector/dialect/agui/testdata/sdk-tools.sse")
	heard := make(chan playResult, 1)
	go func() {
		heard <- p.play(map[string]string{"url": s.server.URL + "/events/t1?format=agui&last_event_id=none"})
	}()
	harness.Await(t, func(context.Context) error {
		if s.subscribers() == 0 {
			return errors.New("there is no subscriber")
		}
		return nil
	})
	if err := s.hub.Drain(t.Context(), time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if said := <-heard; said.Fault != "" || said.Runs != 1 || assistantText(said) == "" {
		t.Errorf("the client has %+v", said)
	}
}

// TestFormatsTellOfGaps resumes after evicted frames. Every format reports the gap, and no client mistakes it for something else.
func TestFormatsTellOfGaps(t *testing.T) {
	s := newServed(t, "public", 5)
	s.play("../../../collector/dialect/adk/adkserver/testdata/captures/python/text_and_tool.stream.sse")
	for _, as := range format.Formats() {
		stream := string(s.read("format="+string(as), 1))
		if !strings.Contains(stream, `"reason":"evicted"`) || !strings.Contains(stream, "delegraph.gap") {
			t.Errorf("%s: no gap in\n%s", as, stream)
		}
		if named := strings.Contains(stream, "event: "); named != (as == format.Normalized) {
			t.Errorf("%s: named is %v in\n%s", as, named, stream)
		}
		for _, f := range harness.Frames(t, []byte(stream)) {
			var v map[string]any
			if err := json.Unmarshal(f.Data, &v); err != nil {
				t.Errorf("%s: %v in %s", as, err, f.Data)
			}
		}
	}
}

// TestArtifactsResume resumes after each frame of a stream that writes artifacts in chunks. What a reader had and what it gets
// then must add up to the whole.
func TestArtifactsResume(t *testing.T) {
	for _, file := range []string{
		"../../../collector/dialect/looopy/testdata/artifacts.sse", "../../../collector/dialect/agui/testdata/made-langgraph.sse",
		capture(t, pieces([2]string{"", `{"raw":"aGk="}`}, [2]string{goesOn, `{"raw":"IQ=="}`}, [2]string{"", `{"raw":"aGk="}`}, [2]string{isLast, `{"raw":"IQ=="}`})),
	} {
		s := newServed(t, "client", 1000)
		s.play(file)
		for _, as := range []format.Format{format.A2A, format.A2A03, format.AGUI} {
			whole := numbered(t, s.read("format="+string(as), 0))
			want := artifactContents(t, whole)
			if !strings.Contains(want, "+") {
				t.Fatalf("%s, %s: no artifact grows in %s", file, as, want)
			}
			for after := range s.head {
				var had []numberedFrame
				for _, f := range whole {
					if f.number <= after {
						had = append(had, f)
					}
				}
				if got := artifactContents(t, append(had, numbered(t, s.read("format="+string(as), after))...)); got != want {
					t.Errorf("%s, %s, behind frame %d: %s, want %s", file, as, after, got, want)
				}
			}
		}
	}
}

// artifactContents returns the content of artifacts in a stream, with a plus between the parts of different writes.
func artifactContents(t *testing.T, stream []numberedFrame) string {
	all := map[string]string{}
	write := func(id string, goesOn bool, parts ...json.RawMessage) {
		if !goesOn {
			all[id] = ""
		} else if _, known := all[id]; !known {
			t.Errorf("%s continues but has no beginning", id)
		} else {
			all[id] += "+"
		}
		for _, part := range parts {
			all[id] += string(part)
		}
	}
	type update struct {
		Append   bool
		Artifact struct {
			ArtifactID string
			Parts      []json.RawMessage
		}
	}
	for _, f := range stream {
		var said struct {
			Result struct {
				update
				ArtifactUpdate update
			}
			Type, MessageID string
			Content         json.RawMessage
			Patch           []struct {
				Path  string
				Value json.RawMessage
			}
		}
		if err := json.Unmarshal(f.Data, &said); err != nil {
			t.Fatal(err)
		}
		for _, u := range []update{said.Result.update, said.Result.ArtifactUpdate} {
			if id := u.Artifact.ArtifactID; id != "" && !strings.HasPrefix(id, "e-") {
				write(id, u.Append, u.Artifact.Parts...)
			}
		}
		switch said.Type {
		case "ACTIVITY_SNAPSHOT":
			var content struct{ Contents []json.RawMessage }
			if err := json.Unmarshal(said.Content, &content); err != nil {
				t.Fatal(err)
			}
			write(said.MessageID, false, content.Contents...)
		case "ACTIVITY_DELTA":
			var added []json.RawMessage
			for _, change := range said.Patch {
				if change.Path == "/contents/-" {
					added = append(added, change.Value)
				}
			}
			write(said.MessageID, true, added...)
		}
	}
	return fmt.Sprint(all)
}
