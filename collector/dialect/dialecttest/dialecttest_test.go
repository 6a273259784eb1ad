package dialecttest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// toy is a small dialect that keeps the contract: {"who":"a","say":"hi"}. Each of its fields breaks it in one way.
type toy struct {
	name     string
	paths    []string
	detect   func(dialect.Frame) dialect.Match
	identify func(strictjson.Value) event.Identity
	decode   func(dialect.Frame, *event.Batch)
}

func (d toy) Name() string { return d.name }

func (d toy) Paths() (paths []dialect.Path) {
	for _, glob := range d.paths {
		paths = append(paths, dialect.Path{Glob: glob})
	}
	return paths
}

func (d toy) Table() *event.Table {
	return &event.Table{Types: map[string]event.Type{"say": {Client: true}}}
}

func (d toy) New(*event.Stream) dialect.Decoder { return d }

func (d toy) Detect(f dialect.Frame) dialect.Match {
	if d.detect != nil {
		return d.detect(f)
	}
	if f.JSON.Get("who").Kind() == strictjson.String {
		return dialect.Yes
	}
	return dialect.No
}

func (d toy) Identify(r dialect.Request) event.Identity {
	body := r.Body
	if d.identify != nil {
		return d.identify(body)
	}
	id := event.Identity{Session: cut(body.Get("session").String())}
	for answer := range body.Get("answers").Elements() {
		if len(id.Answers) < MaxAnswers {
			id.Answers = append(id.Answers, cut(answer.String()))
		}
	}
	return id
}

func (d toy) Decode(f dialect.Frame, b *event.Batch) {
	if d.decode != nil {
		d.decode(f, b)
		return
	}
	say(f, b)
}

func say(f dialect.Frame, b *event.Batch) {
	who := f.JSON.Get("who")
	switch {
	case f.Malformed != "":
		b.Rejected = f.Malformed
	case who.Kind() != strictjson.String:
		b.Rejected = event.ReasonShape
	case who.Is("user"):
		b.Type = "say"
	default:
		b.Type, b.Agent = "say", cut(who.String())
		b.AddText(event.KindText, f.JSON.Get("say"))
	}
}

func cut(s string) string { return strings.ToValidUTF8(s[:min(len(s), MaxString)], "") }

// lent is what no dialect may do.
func lent(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

const recording = ": hello\n\ndata: {\"who\":\"a\",\"say\":\"one\"}\n\nid: 7\nevent: x\ndata: {\"who\":\"b\",\n" +
	"data: \"say\":\"two\",\"more\":[1,{\"x\":null}]}\n\ndata: {\"who\":\"user\"}\n\ndata: {}\n\n"

func toyCapture(t testing.TB) *capture {
	t.Helper()
	read, err := frames([]byte(recording))
	if err != nil {
		t.Fatal(err)
	}
	return &capture{name: "toy", stream: []byte(recording), frames: read}
}

// TestKept holds the contract against a dialect that keeps it.
func TestKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "toy", "testdata")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"talk.sse":          recording,
		"talk.request.json": `{"session":"s","answers":["q1",7]}`,
		"talk.golden": `request app="" user="" session="s" answers=["q1" ""]
1 say agent="a"
  text "one"
2 say agent="b"
  text "two"
3 say
4 - rejected=shape
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	Run(t, toy{name: "toy", paths: []string{"/run", "/talk/*"}}, dir)
}

// TestBroken breaks the contract in every way that it forbids.
func TestBroken(t *testing.T) {
	var keptText []byte
	var keptValue strictjson.Value
	var keptBatch *event.Batch
	asked := 0
	for name, c := range map[string]struct {
		dialect toy
		check   string
		want    string // a part of the complaint
	}{
		"knows nobody": {toy{detect: func(dialect.Frame) dialect.Match { return dialect.No }}, "detected", "no Yes and no Maybe"},
		"no match":     {toy{detect: func(dialect.Frame) dialect.Match { return 7 }}, "frame dropped", "no answer of Detect is 7"},
		"remembers in Detect": {toy{detect: func(dialect.Frame) dialect.Match {
			asked++
			return dialect.Match(min(asked, 2))
		}}, "detected", "keeps something"},
		"keeps text": {toy{decode: func(f dialect.Frame, b *event.Batch) {
			say(f, b)
			b.Branch = string(keptText)
			keptText = f.JSON.Get("who").Text()
		}}, "twice the same", "something of a frame is kept"},
		"keeps a value": {toy{decode: func(f dialect.Frame, b *event.Batch) {
			say(f, b)
			b.Branch = cut(keptValue.Get("who").String())
			keptValue = f.JSON
		}}, "twice the same", "something of a frame is kept"},
		"keeps a batch": {toy{decode: func(f dialect.Frame, b *event.Batch) {
			say(f, b)
			if keptBatch != nil && keptBatch != b {
				keptBatch.Agent = b.Agent
			}
			keptBatch = b
		}}, "all held", "a later frame changes what its batch holds"},
		"leaves it to chance": {toy{decode: func(f dialect.Frame, b *event.Batch) {
			say(f, b)
			asked++
			b.Branch = fmt.Sprint(asked)
		}}, "twice the same", "or chance decides"},
		"changes the frame": {toy{decode: func(f dialect.Frame, b *event.Batch) {
			say(f, b)
			f.Data[0] = ' '
		}}, "frame dropped", "bytes were changed"},
		"lends a name": {toy{decode: func(f dialect.Frame, b *event.Batch) {
			say(f, b)
			b.Run = lent(f.JSON.Get("who").Text())
		}}, "frame dropped", "borrowed from the frame"},
		"no bound": {toy{decode: func(f dialect.Frame, b *event.Batch) {
			say(f, b)
			b.Run = f.JSON.Get("who").String()
		}}, "frame spoiled", "run has 1025 bytes, 256 are allowed"},
		"cuts a character": {toy{decode: func(f dialect.Frame, b *event.Batch) {
			say(f, b)
			run := f.JSON.Get("who").String()
			b.Run = run[:min(len(run), MaxString)]
		}}, "frame spoiled", "run is not UTF-8"},
		"too many facts": {toy{decode: func(f dialect.Frame, b *event.Batch) {
			say(f, b)
			for range f.JSON.Get("more").Len() * 10 {
				if b.Rejected == "" {
					b.Add(event.KindOther)
				}
			}
		}}, "frame spoiled", "facts out of"},
		"takes anything": {toy{decode: func(f dialect.Frame, b *event.Batch) {}}, "frame spoiled", "not a JSON object any more"},
		"does not recover": {toy{decode: func(f dialect.Frame, b *event.Batch) {
			if say(f, b); f.Malformed != "" {
				asked = -1
			}
			if asked < 0 {
				*b = event.Batch{Rejected: event.ReasonShape}
			}
		}}, "frame spoiled", `rejected for "shape", want ""`},
		"the user as an agent": {toy{decode: func(f dialect.Frame, b *event.Batch) {
			b.Agent = cut(f.JSON.Get("who").String())
		}}, "frame dropped", "the user is taken for an agent"},
	} {
		t.Run(name, func(t *testing.T) {
			asked, keptText, keptValue, keptBatch = 0, nil, strictjson.Value{}, nil
			for _, check := range checks {
				if check.name != c.check {
					continue
				}
				if err := check.run(c.dialect, toyCapture(t)); err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %q", err, c.want)
				}
				return
			}
			t.Errorf("no check %q", c.check)
		})
	}
}

// TestReuse has a dialect use one buffer and one document for all of its frames: what it puts into a batch is the batch's own.
func TestReuse(t *testing.T) {
	var said []byte
	var doc strictjson.Doc
	d := toy{decode: func(f dialect.Frame, b *event.Batch) {
		said = append(said[:0], f.JSON.Get("who").Text()...)
		if say(f, b); b.Rejected != "" || len(said) == 0 {
			return
		}
		b.Add(event.KindThought).SetText(said)
		if err := doc.Parse(said, maxDepth); err != nil {
			_ = doc.Parse([]byte("["+strings.Repeat("0,", len(b.Events))+"0]"), maxDepth)
		}
		b.Add(event.KindToolEnded).SetPayload(doc.Root())
		b.Add(event.KindOther)
	}}
	for _, check := range checks {
		if err := check.run(d, toyCapture(t)); err != nil {
			t.Errorf("%s: %v", check.name, err)
		}
	}
}

// TestPanic makes sure that a panic is not caught, and names its frame.
func TestPanic(t *testing.T) {
	d := toy{decode: func(dialect.Frame, *event.Batch) { panic("at the disco") }}
	defer func() {
		if fault := fmt.Sprint(recover()); !strings.Contains(fault, "at the disco") || !strings.Contains(fault, `say\":\"two`) {
			t.Errorf("panic %q", fault)
		}
	}()
	_ = dropped(d, toyCapture(t))
	t.Error("no panic")
}

func TestBrokenOutside(t *testing.T) {
	body := []request{{body: []byte(`{"session":"s","answers":["q"]}`)}}
	for name, c := range map[string]struct {
		got  error
		want string
	}{
		"name":           {named(toy{name: "Toy"}, "toy/testdata"), "lower-case"},
		"folder":         {named(toy{name: "toy"}, "boy/testdata"), `stands in the folder "boy"`},
		"relative path":  {placed(toy{paths: []string{"run"}}), `path "run"`},
		"broken path":    {placed(toy{paths: []string{"/run/["}}), `path "/run/["`},
		"every path":     {placed(toy{paths: []string{"/run", "/*/*"}}), `path "/*/*"`},
		"sure of nought": {knowsNothing(toy{detect: func(dialect.Frame) dialect.Match { return dialect.Maybe }}), "answers 1 in Detect"},
		"long session": {identifies(toy{identify: func(v strictjson.Value) event.Identity {
			return event.Identity{Session: v.Get("session").String()}
		}}, body), "a name of 1025 bytes"},
		"many answers": {identifies(toy{identify: func(v strictjson.Value) event.Identity {
			return event.Identity{Answers: make([]string, v.Get("answers").Len())}
		}}, body), "301 answers, 128 are allowed"},
		"borrowed session": {identifies(toy{identify: func(v strictjson.Value) event.Identity {
			return event.Identity{Session: lent(v.Get("session").Text())}
		}}, body), "borrowed from the body"},
	} {
		if c.got == nil || !strings.Contains(c.got.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, c.got, c.want)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "gone.golden"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := paired(dir); err == nil || !strings.Contains(err.Error(), "delete it") {
		t.Errorf("a golden file without a capture: %v", err)
	}
	if _, err := frames([]byte("data: no blank line\n")); err == nil || !strings.Contains(err.Error(), "is this SSE") {
		t.Errorf("no frame: %v", err)
	}
}

func TestVerify(t *testing.T) {
	fact := func(e event.Event) event.Batch { return event.Batch{Events: []event.Event{e}} }
	text := func(kind event.Kind, said string) event.Event {
		e := event.Event{Kind: kind}
		e.SetText([]byte(said))
		return e
	}
	known := event.Count{N: 1, Known: true}
	var doc strictjson.Doc
	if err := doc.Parse([]byte(`"x"`), 1); err != nil {
		t.Fatal(err)
	}
	piece := event.Piece{Kind: event.PieceText, Value: doc.Root()}
	written := func(more int, pieces ...event.Piece) event.Event {
		e := event.Event{Kind: event.KindArtifact, Artifact: event.Artifact{Kind: event.ArtifactFile}}
		for _, p := range pieces {
			e.AddPiece(p)
		}
		e.More = more
		return e
	}
	misplaced := fact(written(0, piece))
	misplaced.Events[0].Kind = event.KindFinal
	misplaced.Events[0].Artifact = event.Artifact{}
	for want, b := range map[string]event.Batch{
		"call has 257 bytes": fact(event.Event{CallID: strings.Repeat("x", MaxString+1)}),
		"model is not UTF-8": fact(event.Event{Model: "\xff"}),
		"source has 513":     fact(event.Event{Citation: event.Citation{Source: strings.Repeat("x", maxQuote+1)}}),
		"not in UTC":         {Time: time.Unix(1e9, 0).In(time.FixedZone("", 3600))},
		"no reason of ours":  {Rejected: "because"},
		"yet it states":      {Rejected: event.ReasonShape, Events: []event.Event{{Kind: event.KindFinal}}},
		"no kind of ours":    fact(event.Event{Kind: event.Kind(len(event.Kinds()))}),
		"has 0 bytes":        fact(event.Event{Kind: event.KindText}),
		"has 1 bytes":        fact(text(event.KindFinal, "x")),
		"text is not UTF-8":  fact(text(event.KindThought, "\xff")),
		"no failure of ours": fact(event.Event{Kind: event.KindError, Error: "boom"}),
		"without a class":    fact(event.Event{Kind: event.KindError}),
		"nothing that can":   fact(event.Event{Kind: event.KindFinal, Error: event.ToolError}),
		"of no error":        fact(event.Event{Kind: event.KindToolEnded, Code: "X"}),
		"has not the form":   fact(event.Event{Kind: event.KindError, Error: event.AgentError, Code: "some words"}),
		`input ""`:           fact(event.Event{Kind: event.KindInputRequested}),
		`input "data"`:       fact(event.Event{Kind: event.KindFinal, Input: event.InputData}),
		`artifact "map"`:     fact(event.Event{Kind: event.KindArtifact, Artifact: event.Artifact{Kind: "map"}}),
		"pieces of an":       misplaced,
		"1 pieces and 1":     fact(written(1, piece)),
		`a piece "rows"`:     fact(written(0, event.Piece{Kind: event.PieceRows, Value: doc.Root()})),
		`a piece "text"`:     fact(written(0, event.Piece{Kind: event.PieceText})),
		"a schema of no":     fact(written(0, event.Piece{Kind: event.PieceData, Value: doc.Root(), Schema: doc.Root()})),
		"file has 257":       fact(written(0, event.Piece{Kind: event.PieceText, Value: doc.Root(), Name: strings.Repeat("x", MaxString+1)})),
		"media type is not":  fact(written(0, event.Piece{Kind: event.PieceText, Value: doc.Root(), Media: "\xff"})),
		"a mark of another":  fact(event.Event{Kind: event.KindToolStarted, Settled: true}),
		"to nobody":          fact(event.Event{Kind: event.KindTransfer}),
		"tokens, which":      fact(event.Event{Kind: event.KindFinal, Usage: event.Usage{Input: known}}),
		"negative number":    fact(event.Event{Kind: event.KindReasoning, Steps: -1}),
		"count {N:-1":        fact(event.Event{Kind: event.KindModelEnded, Usage: event.Usage{Output: event.Count{N: -1, Known: true}}}),
		"count {N:3":         fact(event.Event{Kind: event.KindModelEnded, Usage: event.Usage{Output: event.Count{N: 3}}}),
	} {
		if err := Verify(&b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	good := event.Batch{Run: "r", Agent: "a", Time: time.Unix(1e9, 0).UTC(), Events: []event.Event{
		text(event.KindText, "hi"), {Kind: event.KindModelEnded, Usage: event.Usage{Input: known}, Error: event.ModelError},
		{Kind: event.KindToolStarted, LongRunning: true}, {Kind: event.KindToolEnded, Settled: true, Error: event.ToolError},
		{Kind: event.KindInputRequested, Input: event.InputData}, {Kind: event.KindArtifact, Artifact: event.Artifact{Kind: event.ArtifactFile, Bytes: known}},
		{Kind: event.KindTransfer, Name: "b"}, {Kind: event.KindError, Error: event.AgentError, Code: "SAFETY", FromCode: true}, {Kind: event.KindReasoning, Steps: 3}, written(0, piece),
		written(2, slices.Repeat([]event.Piece{piece}, event.MaxPieces)...),
	}}
	if err := Verify(&good); err != nil {
		t.Error(err)
	}
}

// TestRewritten makes sure that every value and every name is reached, and nothing else changes.
func TestRewritten(t *testing.T) {
	const doc = ` { "a" : [ 1 , { "b" : null } ] , "c" : "x" } `
	nulls, names := []string{}, []string{}
	for what, data := range rewritten([]byte(doc)) {
		switch by := what[strings.LastIndex(what, " ")+1:]; by {
		case `-1`:
			nulls = append(nulls, string(data))
		case `"x"`:
			if strings.HasPrefix(what, `"a"`) || strings.HasPrefix(what, `"b"`) || strings.HasPrefix(what, `"c"`) {
				names = append(names, string(data))
			}
		}
		if len(what) > 200 {
			t.Errorf("a long description: %s", what)
		}
	}
	want := []string{`-1`, `{"a":-1,"c":"x"}`, `{"a":[-1,{"b":null}],"c":"x"}`, `{"a":[1,-1],"c":"x"}`, `{"a":[1,{"b":-1}],"c":"x"}`, `{"a":[1,{"b":null}],"c":-1}`}
	if diff := cmp.Diff(want, nulls); diff != "" {
		t.Error(diff)
	}
	want = []string{`{"x":[1,{"b":null}],"c":"x"}`, `{"a":[1,{"x":null}],"c":"x"}`, `{"a":[1,{"b":null}],"x":"x"}`}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}

// TestSpoiled counts the ways, so that none is lost: a short frame is cut at every byte.
func TestSpoiled(t *testing.T) {
	f := sse.Frame{Data: []byte(`{"x":[1]}`)}
	cuts, grown := 0, 0
	for what, spoilt := range spoiled(f) {
		if strings.HasPrefix(what, "cut after") {
			cuts++
		}
		if strings.Count(string(spoilt.Data), "1,") == 300 {
			grown++
		}
	}
	if cuts != len(f.Data) || grown != 1 {
		t.Errorf("%d cuts of %d bytes, %d arrays grown", cuts, len(f.Data), grown)
	}
	cuts = 0
	for what := range spoiled(sse.Frame{Data: make([]byte, 1<<20)}) {
		if strings.HasPrefix(what, "cut after") {
			cuts++
		}
	}
	if cuts < 3<<10 || cuts > 5<<10 {
		t.Errorf("%d cuts of a MiB", cuts)
	}
}
