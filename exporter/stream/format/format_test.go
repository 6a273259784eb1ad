package format

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// scripted is a decoder whose events are chosen by the bytes of a frame.
type scripted struct {
	doc strictjson.Doc
}

func (s *scripted) Decode(f sse.Frame) *event.Batch {
	b := &event.Batch{}
	if len(f.Data) == 0 {
		b.Rejected = event.ReasonShape
		return b
	}
	f.Data = bytes.Clone(f.Data) // the data belongs to the ring
	choose := func(names ...string) string {
		chosen := names[int(f.Data[0])%len(names)]
		f.Data = append(f.Data[1:], f.Data[0])
		return chosen
	}
	kinds := event.Kinds()
	b.Run, b.Session = choose("", "r1", "r2", "r3"), choose("", "c1")
	b.Agent, b.Branch = choose("", "one", "two"), choose("", "b1", "b2")
	b.Partial = choose("", "partial") != ""
	payload := s.doc.Parse([]byte(choose(`{}`, `"text"`, `"aGVs"`, `"_-8"`, `[1]`, `{"a":{"b":null}}`, `7`, `broken`)), 8) == nil
	for _, c := range bytes.Clone(f.Data[:min(len(f.Data), 12)]) {
		e := b.Add(kinds[int(c)%len(kinds)])
		e.CallID, e.Name, e.ID = choose("", "c1", "c2"), choose("", "tool", "\xff"), choose("", "r1", "r2")
		e.SetText(f.Data)
		e.Error = event.Failure(choose("", "tool_error", "canceled"))
		e.Input = event.InputKind(choose("confirmation", "credential", "data"))
		e.Usage.Input = event.Count{N: int64(c), Known: c%2 == 0}
		if payload {
			e.SetPayload(s.doc.Root())
			e.AddPiece(event.Piece{
				Kind: event.PieceKind(choose("text", "bytes", "fragment", "uri", "data", "rows", "patch")), Name: choose("", "file", "\xff"), Value: s.doc.Root(),
			})
		}
		e.Artifact.Append, e.Artifact.Complete = choose("", "append") != "", choose("", "complete") != ""
	}
	return b
}

// newRing returns a ring whose ids begin with "e".
func newRing(t testing.TB, frames int) *replay.Ring {
	t.Helper()
	ring, err := replay.New(replay.Settings{Frames: frames, Bytes: 64 << 10, Age: 1 << 50, Epoch: "e"})
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

func newTransformer(ring *replay.Ring, as Format) *Transformer {
	return New(Settings{
		Format: as, AppendID: ring.AppendID, Decodings: NewDecodings(func(string, string, bool) Decoder { return &scripted{} }, nil),
		EarlierFrames: func(f replay.Frame, most int, each func(replay.Frame)) (int, bool) {
			return ring.EarlierFrames(f.Stream, f.Sequence, nil, most, each)
		},
	})
}

// FuzzFormats decodes frames with any events in any order, on several streams that end at any time. The output must be
// whole frames of valid JSON in AG-UI's order, and the state must stay bounded.
func FuzzFormats(f *testing.F) {
	f.Add([]byte("one frame"), byte(0))
	f.Add(bytes.Repeat([]byte("\x01\x0d\x02\x16\x17\x01\x00\x03"), 40), byte(1))
	f.Add([]byte{21, 1, 1, 1, 1, 21, 1, 1, 1, 1, 9, 22, 19, 20, 2, 5, 7}, byte(2))
	f.Fuzz(func(t *testing.T, script []byte, choice byte) {
		ring := newRing(t, 100)
		streams := []*replay.Stream{{Dialect: "a"}, {Dialect: "b", SingleRun: true}, {Dialect: "c"}}
		for as := range Formats() {
			play(t, ring, Formats()[as], streams, script, int(choice))
		}
	})
}

func play(t *testing.T, ring *replay.Ring, as Format, streams []*replay.Stream, script []byte, size int) {
	transformer := newTransformer(ring, as)
	cursor := ring.Head()
	var order verifier
	var stream []byte
	for n := 0; len(script) > 0; n++ {
		cut := min(len(script), 1+size%32)
		ring.Publish(replay.Entry{Stream: streams[n%len(streams)], Data: script[:cut], StreamEnded: script[0]%16 == 7})
		script = script[cut:]
		frames, batch := ring.Frames(cursor, nil, make([]replay.Frame, 0, 8))
		cursor = batch.Next
		for _, f := range frames {
			stream = transformer.Append(stream, f)
		}
	}
	for _, data := range read(t, stream) {
		if !json.Valid(data) {
			t.Fatalf("%s: %q is no JSON", as, data)
		}
		if as == AGUI {
			order.take(t, data)
		}
	}
}

func read(t *testing.T, stream []byte) (all [][]byte) {
	frames := sse.NewReader(bytes.NewReader(stream), 0)
	for {
		f, err := frames.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, bytes.Clone(f.Data))
	}
}

// verifier checks the order of events as AG-UI's own verifier does.
type verifier struct {
	running bool
	open    map[string]bool
}

func (v *verifier) take(t *testing.T, data []byte) {
	var e struct{ Type, MessageID, ToolCallID, StepName string }
	if err := json.Unmarshal(data, &e); err != nil {
		t.Fatal(err)
	}
	opens := map[string]string{"TEXT_MESSAGE_START": "m", "REASONING_START": "r", "REASONING_MESSAGE_START": "rm", "TOOL_CALL_START": "t", "STEP_STARTED": "s"}
	closes := map[string]string{"TEXT_MESSAGE_END": "m", "REASONING_END": "r", "REASONING_MESSAGE_END": "rm", "TOOL_CALL_END": "t", "STEP_FINISHED": "s"}
	continues := map[string]string{"TEXT_MESSAGE_CONTENT": "m", "REASONING_MESSAGE_CONTENT": "rm", "TOOL_CALL_ARGS": "t"}
	id := e.MessageID + "/" + e.ToolCallID + "/" + e.StepName
	switch {
	case e.Type == "RUN_STARTED":
		if v.running {
			t.Fatalf("a run begins within another: %s", data)
		}
		v.running, v.open = true, map[string]bool{}
		return
	case !v.running:
		t.Fatalf("no run: %s", data)
	}
	if e.Type == "RUN_FINISHED" || e.Type == "RUN_ERROR" {
		if len(v.open) > 0 {
			t.Fatalf("%v are open: %s", v.open, data)
		}
		v.running = false
	}
	if kind, is := opens[e.Type]; is {
		if v.open[kind+id] {
			t.Fatalf("open already: %s", data)
		}
		v.open[kind+id] = true
	}
	for _, needs := range []map[string]string{closes, continues} {
		if kind, is := needs[e.Type]; is && !v.open[kind+id] {
			t.Fatalf("not open: %s", data)
		}
	}
	if kind, is := closes[e.Type]; is {
		delete(v.open, kind+id)
	}
}

// TestBounds sends a stream with more of everything than is remembered.
func TestBounds(t *testing.T) {
	var b event.Batch
	out := &output{appendID: func(dst []byte, n uint64) []byte { return fmt.Append(dst, "e-", n) }}
	for _, w := range []writer{newAGUI(&Settings{}, out), newA2A(&Settings{}, out)} {
		stream := &replay.Stream{}
		for i := range 600 {
			name := fmt.Sprint(i)
			b = event.Batch{Run: "r", Agent: name, Partial: true, Events: b.Events[:0]}
			for _, k := range event.Kinds() {
				if k == event.KindRunEnded || k == event.KindRunStarted {
					continue
				}
				e := b.Add(k)
				e.Name, e.Model = name, name
				e.SetText([]byte(name))
				e.Usage.Input = event.Count{N: 1, Known: true}
				if k == event.KindInputRequested {
					e.CallID = name
				}
			}
			out.begin(uint64(i))
			w.frame(replay.Frame{Stream: stream}, &b)
			b.Run = "run " + name
			w.frame(replay.Frame{Stream: stream}, &b)
		}
		var known runs
		switch w := w.(type) {
		case *agui:
			known = w.runs
		case *a2a:
			known = w.runs
		}
		if n := known.byKey.Len(); n > maxRuns {
			t.Errorf("%d runs", n)
		}
		for _, r := range known.byKey.Values() {
			if len(r.texts.open) > maxTexts || len(r.steps) > maxSteps || len(r.calls) > maxCalls || len(r.revisables) > maxRevisables ||
				len(r.models) > maxModels || len(r.inputs) > maxInputs {
				t.Errorf("%d texts, %d steps, %d calls, %d things, %d models, %d questions", len(r.texts.open), len(r.steps), len(r.calls), len(r.revisables), len(r.models), len(r.inputs))
			}
		}
	}
}

// TestArtifactsInTheMiddle connects readers after an artifact has begun: only a reader that resumes has its beginning.
func TestArtifactsInTheMiddle(t *testing.T) {
	var doc strictjson.Doc
	if err := doc.Parse([]byte(`"x"`), 1); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		as                 Format
		back               bool
		begins, goes, next string
	}{
		{A2A, true, `"append":true`, `"append":true`, `"append":false`},
		{A2A, false, `"append":false`, `"append":true`, `"append":false`},
		{A2A03, true, `"append":true`, `"append":true`, `"append":false`},
		{A2A03, false, `"append":false`, `"append":true`, `"append":false`},
		{AGUI, true, "ACTIVITY_DELTA", "ACTIVITY_DELTA", "ACTIVITY_SNAPSHOT"},
		{AGUI, false, "ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA", "ACTIVITY_SNAPSHOT"},
	} {
		out := &output{appendID: func(dst []byte, n uint64) []byte { return fmt.Append(dst, "e-", n) }}
		w := newWriter(&Settings{Format: c.as, Resumed: c.back}, out)
		stream := &replay.Stream{}
		write := func(n uint64, artifact event.Artifact) string {
			b := event.Batch{Run: "r"}
			e := b.Add(event.KindArtifact)
			e.ID, e.Artifact = "f", artifact
			e.AddPiece(event.Piece{Kind: event.PieceText, Value: doc.Root()})
			out.begin(n)
			w.frame(replay.Frame{Stream: stream}, &b)
			return out.json.String()
		}
		w.setRereading(true)
		if said := write(1, event.Artifact{Kind: event.ArtifactFile}); said != "" {
			t.Errorf("%s: %s without an event", c.as, said)
		}
		w.setRereading(false)
		for n, want := range []string{c.begins, c.goes} {
			if said := write(uint64(n+2), event.Artifact{Kind: event.ArtifactFile, Append: true}); !strings.Contains(said, want) {
				t.Errorf("%s, back %v: write %d is %s, want %s", c.as, c.back, n, said, want)
			}
		}
		if said := write(4, event.Artifact{Kind: event.ArtifactFile}); !strings.Contains(said, c.next) {
			t.Errorf("%s, back %v: written anew it is %s", c.as, c.back, said)
		}
	}
}

// TestGapWithinRun loses frames while a run is open for the reader: the next event of the run reports it, once.
func TestGapWithinRun(t *testing.T) {
	for _, as := range []Format{A2A, A2A03, AGUI} {
		for _, kind := range []event.Kind{event.KindText, event.KindToolStarted, event.KindArtifact} {
			out := &output{appendID: func(dst []byte, n uint64) []byte { return fmt.Append(dst, "e-", n) }}
			w := newWriter(&Settings{Format: as}, out)
			stream := &replay.Stream{}
			write := func(n uint64) string {
				b := event.Batch{Run: "r", Partial: true}
				e := b.Add(kind)
				e.ID, e.Name, e.CallID = "f", "f", fmt.Sprint(n)
				e.SetText(fmt.Append(nil, n))
				out.begin(n)
				w.frame(replay.Frame{Stream: stream}, &b)
				return out.json.String()
			}
			if got := write(1); strings.Contains(got, gapName) {
				t.Errorf("%s: a gap without a loss: %s", as, got)
			}
			if w.noteGap(&replay.Gap{Reason: replay.GapLost}) {
				t.Errorf("%s: a gap has an event of its own", as)
			}
			if got := write(2); strings.Count(got, gapName) != 1 || !strings.Contains(got, `"lost"`) {
				t.Errorf("%s: after a gap, the next %s is %s", as, kind, got)
			}
			if got := write(3); strings.Contains(got, gapName) {
				t.Errorf("%s: the gap is reported again: %s", as, got)
			}
		}
	}
}
