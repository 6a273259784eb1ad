package dialecttest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// toy is a small dialect that satisfies the contract. Its frames are like {"who":"a","say":"hi"}. Tests
// set its fields to break the contract.
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
		if len(id.Answers) < maxAnswers {
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

func cut(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxString)], "") }

// borrow returns a string that shares the memory of b. A dialect must not do this with a frame.
func borrow(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

const recording = ": hello\n\ndata: {\"who\":\"a\",\"say\":\"one\"}\n\nid: 7\nevent: x\ndata: {\"who\":\"b\",\n" +
	"data: \"say\":\"two\",\"more\":[1,{\"x\":null}]}\n\ndata: {\"who\":\"user\"}\n\ndata: {}\n\n"

func toyCapture(t testing.TB) *capture {
	t.Helper()
	frames, err := readFrames([]byte(recording))
	if err != nil {
		t.Fatal(err)
	}
	return &capture{name: "toy", stream: []byte(recording), frames: frames}
}

// TestRun checks that a dialect that satisfies the contract passes.
func TestRun(t *testing.T) {
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

// TestChecks checks that each violation of the contract on a capture is reported.
func TestChecks(t *testing.T) {
	var keptText []byte
	var keptValue strictjson.Value
	var keptBatch *event.Batch
	calls := 0
	for name, c := range map[string]struct {
		dialect toy
		check   string
		want    string // a part of the error
	}{
		"detects nothing":     {toy{detect: func(dialect.Frame) dialect.Match { return dialect.No }}, "detected", "no Yes and no Maybe"},
		"answer out of range": {toy{detect: func(dialect.Frame) dialect.Match { return 7 }}, "frame dropped", "Detect = 7, which is not a Match"},
		"keeps state in Detect": {toy{detect: func(dialect.Frame) dialect.Match {
			calls++
			return dialect.Match(min(calls, 2))
		}}, "detected", "must not keep state"},
		"keeps text": {toy{decode: func(f dialect.Frame, b *event.Batch) {
			say(f, b)
			b.Branch = string(keptText)
			keptText = f.JSON.Get("who").Text()
		}}, "deterministic", "keeps a reference to a frame"},
		"keeps a value": {toy{decode: func(f dialect.Frame, b *event.Batch) {
			say(f, b)
			b.Branch = cut(keptValue.Get("who").String())
			keptValue = f.JSON
		}}, "deterministic", "keeps a reference to a frame"},
		"keeps a batch": {toy{decode: func(f dialect.Frame, b *event.Batch) {
			say(f, b)
			if keptBatch != nil && keptBatch != b {
				keptBatch.Agent = b.Agent
			}
			keptBatch = b
		}}, "independent", "a later frame changes the batch"},
		"not deterministic": {toy{decode: func(f dialect.Frame, b *event.Batch) {
			say(f, b)
			calls++
			b.Branch = fmt.Sprint(calls)
		}}, "deterministic", "or is not deterministic"},
		"changes the frame": {toy{decode: func(f dialect.Frame, b *event.Batch) {
			say(f, b)
			f.Data[0] = ' '
		}}, "frame dropped", "changed the frame's bytes"},
		"borrows a name": {toy{decode: func(f dialect.Frame, b *event.Batch) {
			say(f, b)
			b.Run = borrow(f.JSON.Get("who").Text())
		}}, "frame dropped", "borrowed from the frame"},
		"name without a limit": {toy{decode: func(f dialect.Frame, b *event.Batch) {
			say(f, b)
			b.Run = f.JSON.Get("who").String()
		}}, "frame altered", "run has 1025 bytes, 256 are allowed"},
		"splits a rune": {toy{decode: func(f dialect.Frame, b *event.Batch) {
			say(f, b)
			run := f.JSON.Get("who").String()
			b.Run = run[:min(len(run), maxString)]
		}}, "frame altered", "run is not UTF-8"},
		"too many facts": {toy{decode: func(f dialect.Frame, b *event.Batch) {
			say(f, b)
			for range f.JSON.Get("more").Len() * 10 {
				if b.Rejected == "" {
					b.Add(event.KindOther)
				}
			}
		}}, "frame altered", "facts from"},
		"accepts any data": {toy{decode: func(f dialect.Frame, b *event.Batch) {}}, "frame altered", "no longer a JSON object"},
		"rejects frames after a malformed one": {toy{decode: func(f dialect.Frame, b *event.Batch) {
			if say(f, b); f.Malformed != "" {
				calls = -1
			}
			if calls < 0 {
				*b = event.Batch{Rejected: event.ReasonShape}
			}
		}}, "frame altered", `rejected for "shape", want ""`},
		"reports the user as an agent": {toy{decode: func(f dialect.Frame, b *event.Batch) {
			b.Agent = cut(f.JSON.Get("who").String())
		}}, "frame dropped", "the user is taken for an agent"},
	} {
		t.Run(name, func(t *testing.T) {
			calls, keptText, keptValue, keptBatch = 0, nil, strictjson.Value{}, nil
			for _, check := range checks {
				if check.name != c.check {
					continue
				}
				if err := check.run(c.dialect, toyCapture(t)); err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("error = %v, want one that contains %q", err, c.want)
				}
				return
			}
			t.Errorf("no check %q", c.check)
		})
	}
}

// TestReuse checks that a dialect may use one buffer and one document for all frames, because a batch
// copies what it gets.
func TestReuse(t *testing.T) {
	var name []byte
	var doc strictjson.Doc
	d := toy{decode: func(f dialect.Frame, b *event.Batch) {
		name = append(name[:0], f.JSON.Get("who").Text()...)
		if say(f, b); b.Rejected != "" || len(name) == 0 {
			return
		}
		b.Add(event.KindThought).SetText(name)
		if err := doc.Parse(name, maxDepth); err != nil {
			_ = doc.Parse([]byte("["+strings.Repeat("0,", len(b.Events))+"0]"), maxDepth)
		}
		b.Add(event.KindToolEnded).SetPayload(doc.Root())
		b.Add(event.KindOther)
	}}
	for _, check := range checks {
		if err := check.run(d, toyCapture(t)); err != nil {
			t.Errorf("the check %s fails: %v", check.name, err)
		}
	}
}

// TestPanic checks that a decoder's panic is not suppressed and that its message contains the frame.
func TestPanic(t *testing.T) {
	d := toy{decode: func(dialect.Frame, *event.Batch) { panic("boom") }}
	defer func() {
		if fault := fmt.Sprint(recover()); !strings.Contains(fault, "boom") || !strings.Contains(fault, `say\":\"two`) {
			t.Errorf("panic = %q, want the original value and the frame", fault)
		}
	}()
	_ = checkDroppedFrame(d, toyCapture(t))
	t.Error("no panic")
}

// TestChecksWithoutCapture checks that an invalid name, path, request or golden file is reported.
func TestChecksWithoutCapture(t *testing.T) {
	body := []request{{body: []byte(`{"session":"s","answers":["q"]}`)}}
	for name, c := range map[string]struct {
		got  error
		want string
	}{
		"name":                     {checkName(toy{name: "Toy"}, "toy/testdata"), "lower-case"},
		"folder":                   {checkName(toy{name: "toy"}, "boy/testdata"), `is in the folder "boy"`},
		"relative path":            {checkPaths(toy{paths: []string{"run"}}), `path "run"`},
		"malformed path":           {checkPaths(toy{paths: []string{"/run/["}}), `path "/run/["`},
		"every path":               {checkPaths(toy{paths: []string{"/run", "/*/*"}}), `path "/*/*"`},
		"detects meaningless data": {checkMeaninglessData(toy{detect: func(dialect.Frame) dialect.Match { return dialect.Maybe }}), "Detect = 1"},
		"long session": {checkIdentify(toy{identify: func(v strictjson.Value) event.Identity {
			return event.Identity{Session: v.Get("session").String()}
		}}, body), "a name of 1025 bytes"},
		"many answers": {checkIdentify(toy{identify: func(v strictjson.Value) event.Identity {
			return event.Identity{Answers: make([]string, v.Get("answers").Len())}
		}}, body), "301 answers, 128 are allowed"},
		"borrowed session": {checkIdentify(toy{identify: func(v strictjson.Value) event.Identity {
			return event.Identity{Session: borrow(v.Get("session").Text())}
		}}, body), "borrowed from the body"},
	} {
		if c.got == nil || !strings.Contains(c.got.Error(), c.want) {
			t.Errorf("%s: error = %v, want one that contains %q", name, c.got, c.want)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "missing.golden"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := checkGoldens(dir); err == nil || !strings.Contains(err.Error(), "delete it") {
		t.Errorf("checkGoldens() = %v for a golden file without a capture, want an error", err)
	}
	if _, err := readFrames([]byte("data: no blank line\n")); err == nil || !strings.Contains(err.Error(), "is this SSE") {
		t.Errorf("readFrames() = %v without a frame, want an error", err)
	}
}

// TestJSONVariants checks that jsonVariants replaces each value and each name, and changes nothing else.
func TestJSONVariants(t *testing.T) {
	const doc = ` { "a" : [ 1 , { "b" : null } ] , "c" : "x" } `
	values, names := []string{}, []string{}
	for what, data := range jsonVariants([]byte(doc)) {
		switch by := what[strings.LastIndex(what, " ")+1:]; by {
		case `-1`:
			values = append(values, string(data))
		case `"x"`:
			if strings.HasPrefix(what, `"a"`) || strings.HasPrefix(what, `"b"`) || strings.HasPrefix(what, `"c"`) {
				names = append(names, string(data))
			}
		}
		if len(what) > 200 {
			t.Errorf("the description has %d bytes, want at most 200: %s", len(what), what)
		}
	}
	want := []string{`-1`, `{"a":-1,"c":"x"}`, `{"a":[-1,{"b":null}],"c":"x"}`, `{"a":[1,-1],"c":"x"}`, `{"a":[1,{"b":-1}],"c":"x"}`, `{"a":[1,{"b":null}],"c":-1}`}
	if diff := cmp.Diff(want, values); diff != "" {
		t.Errorf("the variants differ (-want +got):\n%s", diff)
	}
	want = []string{`{"x":[1,{"b":null}],"c":"x"}`, `{"a":[1,{"x":null}],"c":"x"}`, `{"a":[1,{"b":null}],"x":"x"}`}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("the variants differ (-want +got):\n%s", diff)
	}
}

// TestHostileVariants checks that a short frame is cut after every byte, a long one at a limited number of
// places, and that arrays are extended.
func TestHostileVariants(t *testing.T) {
	f := sse.Frame{Data: []byte(`{"x":[1]}`)}
	cuts, extended := 0, 0
	for what, altered := range hostileVariants(f) {
		if strings.HasPrefix(what, "cut after") {
			cuts++
		}
		if strings.Count(string(altered.Data), "1,") == 300 {
			extended++
		}
	}
	if cuts != len(f.Data) || extended != 1 {
		t.Errorf("%d cuts of %d bytes and %d extended arrays, want one cut per byte and one array", cuts, len(f.Data), extended)
	}
	cuts = 0
	for what := range hostileVariants(sse.Frame{Data: make([]byte, 1<<20)}) {
		if strings.HasPrefix(what, "cut after") {
			cuts++
		}
	}
	if cuts < 3<<10 || cuts > 5<<10 {
		t.Errorf("%d cuts of 1 MiB, want about 4096", cuts)
	}
}
