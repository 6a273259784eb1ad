package collector_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/proof"
)

var limits = collector.Settings{MaxFrame: 1 << 10, MaxJSONDepth: 32, Proof: proof.Limits{MaxText: 1 << 10, MaxFindings: 8}}

// fake is a dialect that reads its answer to Detect from the frame: the member with the dialect's name,
// as in {"x":"yes"}.
type fake string

func (d fake) Name() string                          { return string(d) }
func (fake) Paths() []dialect.Path                   { return nil }
func (fake) Identify(dialect.Request) event.Identity { return event.Identity{} }
func (fake) Table() *event.Table                     { return &event.Table{} }
func (fake) New(*event.Stream) dialect.Decoder       { return fakeDecoder{} }
func (d fake) Detect(f dialect.Frame) (m dialect.Match) {
	switch f.JSON.Get(string(d)).String() {
	case "yes":
		m = dialect.Yes
	case "sure":
		m = dialect.Sure
	case "maybe":
		m = dialect.Maybe
	}
	return m
}

type fakeDecoder struct{}

func (fakeDecoder) Decode(f dialect.Frame, b *event.Batch) {
	b.Agent = f.JSON.Get("n").String()
	b.Add(event.KindOther)
	facts, _ := f.JSON.Get("facts").Int()
	for range facts - 1 {
		b.Add(event.KindOther)
	}
	switch {
	case f.JSON.Get("panic").Exists():
		panic("decoder")
	case f.Malformed != "":
		b.Events, b.Rejected = nil, f.Malformed
	}
}

// recorder is a sink that describes each call.
type recorder struct {
	calls  []string // a line for each call
	clock  bool     // include the times of receipt
	opened *event.Stream
	closed int
	panics string // Consume panics for the batch with this line
}

func (r *recorder) Open(s *event.Stream) {
	if r.opened != nil {
		r.calls = append(r.calls, "opened twice")
	}
	r.opened = s
}

func (r *recorder) Consume(b *event.Batch) {
	line := fmt.Sprintf("%s %s", b.Stream.Dialect, b.Agent)
	if b.Rejected != "" {
		line = fmt.Sprintf("%s %s: %d events", b.Stream.Dialect, b.Rejected, len(b.Events))
	}
	if r.clock {
		line += b.Received.Format(" 05")
	}
	if r.opened != b.Stream || r.closed > 0 {
		line += " outside Open and Close"
	}
	r.calls = append(r.calls, strings.TrimSpace(line))
	if r.panics != "" && line == r.panics {
		panic("the sink's")
	}
}

func (r *recorder) Close(s *event.Stream, end event.End, at time.Time) {
	r.closed++
	line := fmt.Sprintf("closed %d", end)
	if r.clock {
		line += at.Format(" 05")
	}
	if r.opened != s || r.closed > 1 {
		line += " without Open or again"
	}
	r.calls = append(r.calls, line)
}

// stream returns frames with the given data. Their ids are their members n, if they have one.
func stream(data ...string) string {
	return "data: " + strings.Join(data, "\n\ndata: ") + "\n\n"
}

const (
	none   = `{"n":"none"}`
	yesX   = `{"n":"yes","x":"yes"}`
	sureX  = `{"n":"sure","x":"sure"}`
	yesY   = `{"n":"yes","y":"yes"}`
	maybeX = `{"n":"maybe","x":"maybe"}`
	maybeY = `{"n":"maybe","y":"maybe"}`
	both   = `{"n":"both","x":"maybe","y":"maybe"}`
)

// TestDialectIsFound checks detection with two dialects. x is tried first.
func TestDialectIsFound(t *testing.T) {
	unrecognised := func(n int) []string { return append(many(n, "unrecognised: 0 events"), "closed 0") }
	for _, c := range []struct {
		name   string
		forced []string
		sure   bool
		frames []string
		want   []string
	}{
		{"at once", nil, false, []string{yesX, none}, []string{"x yes", "x none", "closed 0"}},
		{"first Yes is final", nil, false, []string{yesX, yesY}, []string{"x yes", "x yes", "closed 0"}},
		{"in the sixth frame", nil, false, append(many(5, none), yesY), append(many(5, "y none"), "y yes", "closed 0")},
		{"too late for the first five", nil, false, append(many(6, none), yesY), append(many(5, "unrecognised: 0 events"), "y none", "y yes", "closed 0")},
		{"never", nil, false, many(13, none), unrecognised(13)},
		{"never, in a short stream", nil, false, []string{none, none}, unrecognised(2)},
		{"Maybe in the first frame", nil, false, append([]string{maybeY}, many(6, none)...), append([]string{"y maybe"}, append(many(6, "y none"), "closed 0")...)},
		{"Maybe in the last frame", nil, false, []string{none, maybeX}, []string{"x none", "x maybe", "closed 0"}},
		{"first of two Maybes in two frames", nil, false, []string{maybeY, maybeX}, []string{"y maybe", "y maybe", "closed 0"}},
		{"first of two Maybes in one frame", nil, false, []string{both, maybeY}, []string{"x both", "x maybe", "closed 0"}},
		{"Yes after Maybe", nil, false, []string{maybeX, yesY}, []string{"y maybe", "y yes", "closed 0"}},
		{"malformed frame first", nil, false, []string{`{`, yesX}, []string{"x syntax: 0 events", "x yes", "closed 0"}},
		{"forced", []string{"y"}, false, []string{none, yesY, yesX}, []string{"y none", "y yes", "y yes", "closed 0"}},
		{"forced, but another is sure", []string{"y"}, false, []string{none, yesX, yesY}, []string{"y none", "y foreign: 0 events", "y foreign: 0 events", "closed 0"}},
		{"forced, but another may fit", []string{"y"}, false, []string{maybeX, both}, []string{"y maybe", "y both", "closed 0"}},
		{"one of two", []string{"y", "x"}, false, []string{none, yesX}, []string{"x none", "x yes", "closed 0"}},
		{"unknown name", []string{"", "z"}, false, []string{yesX}, []string{"x yes", "closed 0"}},
		{"on an unknown path", nil, true, []string{maybeX, yesX, none, sureX, none}, []string{"x sure", "x none", "closed 0"}},
		{"never, on an unknown path", nil, true, []string{maybeX, yesX, none, `{`}, []string{"unrecognized"}},
		{"no frame, on an unknown path", nil, true, nil, nil},
		{"no frame", nil, false, nil, []string{"closed 0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &recorder{}
			settings := limits
			settings.OnUnrecognized = func(*event.Stream) { r.calls = append(r.calls, "unrecognized") }
			pipeline := collector.New([]dialect.Dialect{fake("x"), fake("y")}, settings, r)
			input := ""
			if c.frames != nil {
				input = stream(c.frames...)
			}
			if err := pipeline.Observe(&event.Stream{}, collector.Input{Reader: strings.NewReader(input), RequireSure: c.sure}, c.forced...); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, r.calls); diff != "" {
				t.Errorf("the calls to the sink differ (-want +got):\n%s", diff)
			}
		})
	}
}

func many(n int, s string) (all []string) {
	for range n {
		all = append(all, s)
	}
	return all
}

// tickingReader returns one frame from each Read and advances its clock by step.
type tickingReader struct {
	frames []string
	step   time.Duration
	now    time.Time
}

func (s *tickingReader) Read(p []byte) (int, error) {
	if len(s.frames) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.frames[0])
	s.frames = s.frames[1:]
	s.now = s.now.Add(s.step)
	return n, nil
}

// TestReceived checks that buffered frames keep their times of receipt, and that no frame is buffered for
// long.
func TestReceived(t *testing.T) {
	for _, c := range []struct {
		name   string
		frames []string
		step   time.Duration
		want   []string
	}{
		{"buffered", []string{none, none, none, yesX, none}, time.Second / 4, []string{"x none 00", "x none 00", "x none 00", "x yes 01", "x none 01", "closed 0 01"}},
		{"buffered until the end", []string{none, maybeX}, time.Second, []string{"x none 01", "x maybe 02", "closed 0 02"}},
		{"not recognized in time", []string{none, none, none}, time.Second, []string{"unrecognised: 0 events 01", "unrecognised: 0 events 02", "unrecognised: 0 events 03", "closed 0 03"}},
		{"buffered for at most a second", []string{maybeX, none, none, yesY}, time.Second, []string{"x maybe 01", "x none 02", "x none 03", "x yes 04", "closed 0 04"}},
		{"recognized after the first frames expired", []string{none, none, none, yesY}, time.Second,
			[]string{"unrecognised: 0 events 01", "unrecognised: 0 events 02", "y none 03", "y yes 04", "closed 0 04"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			source := &tickingReader{step: c.step}
			for _, data := range c.frames {
				source.frames = append(source.frames, stream(data))
			}
			r := &recorder{clock: true}
			pipeline := collector.New([]dialect.Dialect{fake("x"), fake("y")}, limits, r)
			in := collector.Input{Reader: source, ReceivedAt: func() time.Time { return source.now }}
			if err := pipeline.Observe(&event.Stream{}, in); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, r.calls); diff != "" {
				t.Errorf("the calls to the sink differ (-want +got):\n%s", diff)
			}
		})
	}
}

// TestBadFrames checks that a frame that cannot be decoded does not affect the others.
func TestBadFrames(t *testing.T) {
	clientLeft := func() event.End { return event.EndClientLeft }
	broken := func() event.End { return event.EndBroken }
	huge := `{"n":"` + strings.Repeat("x", limits.MaxFrame) + `"}`
	for _, c := range []struct {
		name, stream string
		end          func() event.End
		want         []string
	}{
		{"malformed", stream(yesX, `{"n":`, none), nil, []string{"x yes", "x syntax: 0 events", "x none", "closed 0"}},
		{"duplicate name", stream(yesX, `{"n":"a","n":"b"}`, none), nil, []string{"x yes", "x duplicate_name: 0 events", "x none", "closed 0"}},
		{"too deep", stream(yesX, strings.Repeat("[", limits.MaxJSONDepth+1), none), nil, []string{"x yes", "x depth: 0 events", "x none", "closed 0"}},
		{"too large", stream(yesX, huge, none), nil, []string{"x yes", "x too_large: 0 events", "x none", "closed 0"}},
		{"too large at first", stream(huge, yesX), nil, []string{"too_large: 0 events", "x yes", "closed 0"}},
		{"panic of the decoder", stream(yesX, `{"n":"p","panic":1}`, none), nil, []string{"x yes", "x panic: 0 events", "x none", "closed 0"}},
		{"maximum number of events", stream(yesX, fmt.Sprintf(`{"n":"full","facts":%d}`, event.MaxEvents), none), nil, []string{"x yes", "x full", "x none", "closed 0"}},
		{"too many events", stream(yesX, fmt.Sprintf(`{"n":"full","facts":%d}`, event.MaxEvents+1), none), nil, []string{"x yes", "x too_large: 0 events", "x none", "closed 0"}},
		{"panic in a buffered frame", stream(`{"panic":1}`, yesX), nil, []string{"x panic: 0 events", "x yes", "closed 0"}},
		{"truncated", stream(yesX) + "data: {", nil, []string{"x yes", "x truncated: 0 events", "closed 0"}},
		{"ended before the blank line", stream(yesX) + "data: " + none + "\n", nil, []string{"x yes", "x none", "closed 0"}},
		{"ended before the end of the line", stream(yesX) + "data: " + none, nil, []string{"x yes", "x none", "closed 0"}},
		{"broken before the blank line", stream(yesX) + "data: " + none + "\n", broken, []string{"x yes", "x truncated: 0 events", "closed 4"}},
		{"truncated in a name", stream(yesX) + "data: " + none + "\nevent: inter", nil, []string{"x yes", "x truncated: 0 events", "closed 0"}},
		{"truncated because the client left", stream(yesX) + "data: {", clientLeft, []string{"x yes", "closed 1"}},
		{"truncated in a comment", stream(yesX) + ": keep-al", nil, []string{"x yes", "closed 0"}},
		{"truncated before the dialect is known", stream(maybeX) + "data: {", nil, []string{"x maybe", "x truncated: 0 events", "closed 0"}},
		{"only a truncated frame", "data: {", nil, []string{"truncated: 0 events", "closed 0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &recorder{}
			pipeline := collector.New([]dialect.Dialect{fake("x")}, limits, r)
			if err := pipeline.Observe(&event.Stream{}, collector.Input{Reader: strings.NewReader(c.stream), End: c.end}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, r.calls); diff != "" {
				t.Errorf("the calls to the sink differ (-want +got):\n%s", diff)
			}
		})
	}
}

// TestReaderFails checks that Observe returns the reader's error and closes the stream with the input's end.
func TestReaderFails(t *testing.T) {
	broken := errors.New("broken")
	r := &recorder{}
	pipeline := collector.New([]dialect.Dialect{fake("x")}, limits, r)
	in := collector.Input{
		Reader: io.MultiReader(strings.NewReader(stream(maybeX)+"data: {"), iotest.ErrReader(broken)),
		End:    func() event.End { return event.EndShutdown },
	}
	if err := pipeline.Observe(&event.Stream{}, in); !errors.Is(err, broken) {
		t.Errorf("Observe() = %v, want the reader's error", err)
	}
	if diff := cmp.Diff([]string{"x maybe", fmt.Sprint("closed ", event.EndShutdown)}, r.calls); diff != "" {
		t.Errorf("the calls to the sink differ (-want +got):\n%s", diff)
	}
}

// TestSinkPanics checks that, after a panic of the sink, the stream is closed as unobserved and the
// caller gets the panic.
func TestSinkPanics(t *testing.T) {
	for _, frames := range [][]string{{yesX, none, none}, {maybeX, none}} {
		r := &recorder{panics: "x none"}
		func() {
			defer func() {
				if recover() != "the sink's" {
					t.Error("Observe did not panic with the sink's value")
				}
			}()
			pipeline := collector.New([]dialect.Dialect{fake("x")}, limits, r)
			_ = pipeline.Observe(&event.Stream{}, collector.Input{Reader: strings.NewReader(stream(frames...)), End: func() event.End { return event.EndOfStream }})
		}()
		if last := r.calls[len(r.calls)-1]; last != fmt.Sprint("closed ", event.EndUnobserved) || r.closed != 1 {
			t.Errorf("calls = %q with %d closes, want one close as unobserved", r.calls, r.closed)
		}
	}
}

// TestProof checks that the confidences that answers state follow the dialect's own facts in the batch.
func TestProof(t *testing.T) {
	var kinds []string
	sink := sinkFunc(func(b *event.Batch) {
		for i := range b.Events {
			kinds = append(kinds, b.Events[i].Kind.String())
		}
	})
	answer := stream(`{"invocationId":"e-1","author":"a","content":{"parts":[{"text":"**Confidence:** 92%\n**Source:** MTBS"}]}}`)
	pipeline := collector.New(collector.Dialects(), limits, sink)
	if err := pipeline.Observe(&event.Stream{}, collector.Input{Reader: strings.NewReader(answer)}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(kinds, " "); got != "text final confidence citation" {
		t.Errorf("kinds = %q, want text final confidence citation", got)
	}
}

type sinkFunc func(*event.Batch)

func (sinkFunc) Open(*event.Stream)                        {}
func (f sinkFunc) Consume(b *event.Batch)                  { f(b) }
func (sinkFunc) Close(*event.Stream, event.End, time.Time) {}

// TestDeltaAllocations checks that a delta costs at most two allocations from the bytes to the sink.
func TestDeltaAllocations(t *testing.T) {
	delta := stream(`{"invocationId":"e-1","author":"a","content":{"parts":[{"text":"This "}],"role":"model"},"partial":true,"modelVersion":"m","timestamp":1795234329.7524524}`)
	pipeline := collector.New(collector.Dialects(), limits, sinkFunc(func(*event.Batch) {}))
	cost := func(frames int) float64 {
		content := []byte(strings.Repeat(delta, frames))
		return testing.AllocsPerRun(10, func() {
			if err := pipeline.Observe(&event.Stream{}, collector.Input{Reader: bytes.NewReader(content)}); err != nil {
				t.Fatal(err)
			}
		})
	}
	if each := (cost(1100) - cost(100)) / 1000; each > 2 {
		t.Errorf("a delta allocates %.2f times, want at most 2", each)
	} else {
		t.Logf("a delta allocates %.2f times", each)
	}
}

// TestDialectFromPath checks that a dialect that is sure of a stream replaces the one that only its path
// suggests.
func TestDialectFromPath(t *testing.T) {
	r := &recorder{}
	in := collector.Input{Reader: strings.NewReader(stream(none, yesX, yesY)), DialectFromPath: true}
	if err := collector.New([]dialect.Dialect{fake("x"), fake("y")}, limits, r).Observe(&event.Stream{}, in, "y"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"y none", "x yes", "x yes", "closed 0"}, r.calls); diff != "" {
		t.Errorf("the calls to the sink differ (-want +got):\n%s", diff)
	}
}
