package dialecttest

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/dialecttest/testdata/example"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// folder returns the folder of a dialect's captures.
func folder(d dialect.Dialect) string { return filepath.Join("..", d.Name(), "testdata") }

// TestDialects checks that each dialect of the list has a test of the contract and a reference page.
func TestDialects(t *testing.T) {
	var names []string
	for _, d := range collector.Dialects() {
		t.Run(d.Name(), func(t *testing.T) {
			if slices.Contains(names, d.Name()) {
				t.Error("the list has this dialect twice")
			}
			names = append(names, d.Name())
			contract, err := os.ReadFile(filepath.Join("..", d.Name(), "contract_test.go"))
			if call := "dialecttest.Run(t, Dialect{}, "; err != nil || !bytes.Contains(contract, []byte(call)) {
				t.Errorf("contract_test.go does not contain %q: %v", call, err)
			}
			page, err := os.ReadFile(filepath.Join("../../../docs/reference/dialects", d.Name()+".md"))
			if err != nil {
				t.Fatalf("the dialect has no reference page: %v", err)
			}
			for _, part := range []string{"\nRecognized by ", "\n## What becomes of it\n", "\n## What leaves\n", "\n## Limits\n", "dialect: " + d.Name() + "\n"} {
				if !bytes.Contains(page, []byte(part)) {
					t.Errorf("the reference page does not contain %q", part)
				}
			}
		})
	}
}

// TestChartSchema checks that the chart accepts each dialect of the list. The flag -update writes the names.
func TestChartSchema(t *testing.T) {
	const file, start, end = "../../../helm/delegraph/values.schema.json", `"dialect": {"enum": [`, `]}`
	names := []string{`"auto"`, `"custom"`}
	for _, d := range collector.Dialects() {
		names = append(names, strconv.Quote(d.Name()))
	}
	schema, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(schema), start)
	got, after, closed := strings.Cut(rest, end)
	want := strings.Join(names, ", ")
	switch {
	case !found || !closed:
		t.Fatalf("%s has no %s", file, start)
	case *update:
		if err := os.WriteFile(file, []byte(before+start+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	case got != want:
		t.Errorf("the chart takes %s, want %s: run this test with -update", got, want)
	}
}

// FuzzDialects decodes arbitrary bytes in each dialect of the list. Its seeds are the captures.
func FuzzDialects(f *testing.F) {
	list := collector.Dialects()
	for i, d := range list {
		captures, _ := readCaptures(f, folder(d))
		for _, c := range captures {
			f.Add(c.stream, uint8(i), true)
			f.Add(c.stream, uint8(i), false)
		}
	}
	f.Fuzz(func(t *testing.T, stream []byte, which uint8, answer bool) {
		decodeStream(t, list[int(which)%len(list)], stream, answer)
	})
}

// FuzzRequests reads arbitrary run requests in each dialect of the list. Its seeds are the requests of the
// captures.
func FuzzRequests(f *testing.F) {
	list := collector.Dialects()
	for i, d := range list {
		_, requests := readCaptures(f, folder(d))
		for _, r := range requests {
			f.Add(r.target, r.body, uint8(i))
		}
		for _, body := range meaningless {
			f.Add("", []byte(body), uint8(i))
		}
	}
	f.Fuzz(func(t *testing.T, target string, body []byte, which uint8) {
		r := request{target, body}
		if _, err := r.toDialect(slices.Clone(body)); err != nil {
			t.Skip("not a request target")
		}
		if _, err := r.identify(list[int(which)%len(list)]); err != nil {
			t.Error(err)
		}
	})
}

// decodeStream checks that arbitrary bytes decode without a violation of the contract.
func decodeStream(t *testing.T, d dialect.Dialect, stream []byte, answer bool) {
	t.Helper()
	frames, err := readFrames(stream)
	if err != nil {
		t.Skip("not SSE")
	}
	s := newSession(d, answer)
	for i, frame := range frames {
		if _, err := s.decode(frame); err != nil {
			t.Fatalf("dialect %s, frame %d, %q: %v", d.Name(), i+1, frame.Data, err)
		}
	}
}

// allCaptures returns all captures of the repository by dialect.
func allCaptures(t *testing.T) map[string][]*capture {
	t.Helper()
	all := map[string][]*capture{}
	add := func(name, file string) {
		stream, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if frames, err := readFrames(stream); err == nil { // some files have the body of an error
			all[name] = append(all[name], &capture{name: file, stream: stream, frames: frames})
		}
	}
	err := filepath.WalkDir("..", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.Name() == "dialecttest" || entry.Name() == "node_modules":
			return fs.SkipDir
		case strings.HasSuffix(file, ".sse"):
			add(strings.Split(filepath.ToSlash(file), "/")[1], file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	others, err := filepath.Glob("../../../test/agents/adk-go/*.sse")
	if err != nil || len(others) == 0 {
		t.Fatal("no captures of the Go ADK: ", err)
	}
	for _, file := range others {
		add("adk", file)
	}
	return all
}

// TestDetection checks that each whole capture is recognized as its dialect. A part that starts or ends at
// any frame must be recognized as the same dialect or not at all. No other dialect may answer Yes to any of
// the capture's frames.
func TestDetection(t *testing.T) {
	checkDetection(t, collector.Dialects(), allCaptures(t))
}

func checkDetection(t *testing.T, list []dialect.Dialect, all map[string][]*capture) {
	t.Helper()
	for _, d := range list {
		captures := all[d.Name()]
		if len(captures) == 0 {
			t.Errorf("no capture of %s", d.Name())
		}
		cuts := 0
		for _, c := range captures {
			for n := range c.frames {
				cuts += 2
				if got := detectedDialect(t, list, c.frames[:n]); got != d.Name() && got != "" {
					t.Errorf("%s, cut after frame %d, is recognized as %s, want %s or none", c.name, n, got, d.Name())
				}
				// An error without other frames may be of any dialect.
				if got := detectedDialect(t, list, c.frames[n:]); got != d.Name() && got != "" && firstYes(d, c.frames[n:]) > 0 {
					t.Errorf("%s, from frame %d on, is recognized as %s, want %s or none", c.name, n+1, got, d.Name())
				}
			}
			if got := detectedDialect(t, list, c.frames); got != d.Name() {
				t.Errorf("%s is recognized as %q, want %s", c.name, got, d.Name())
			}
		}
		t.Logf("%s: %d captures, cut at %d places", d.Name(), len(captures), cuts)
		for name, captures := range all {
			for _, c := range captures {
				if frame := firstYes(d, c.frames); frame > 0 && name != d.Name() {
					t.Errorf("%s answers Yes to frame %d of %s", d.Name(), frame, c.name)
				}
			}
		}
	}
}

// firstYes returns the number of the first frame to which a dialect answers at least Yes, or 0.
func firstYes(d dialect.Dialect, frames []sse.Frame) int {
	s := newSession(d, false)
	return 1 + slices.IndexFunc(frames, func(f sse.Frame) bool { return d.Detect(s.read(f)) >= dialect.Yes })
}

// detectedDialect returns the name of the dialect that the pipeline detects in frames.
func detectedDialect(t *testing.T, list []dialect.Dialect, frames []sse.Frame) string {
	t.Helper()
	var stream []byte
	for _, f := range frames {
		var err error
		if stream, err = sse.AppendFrame(stream, f); err != nil {
			t.Fatal(err)
		}
	}
	s, _ := runPipeline(t, list, stream)
	return s.Dialect
}

// runPipeline decodes a stream and returns the data of the frames that the policy public lets out.
func runPipeline(t *testing.T, list []dialect.Dialect, stream []byte) (*event.Stream, []string) {
	t.Helper()
	s := &event.Stream{}
	in := collector.Input{Reader: bytes.NewReader(stream), ReceivedAt: func() time.Time { return time.Time{} }}
	decoding := collector.New(list, collector.Settings{MaxFrame: 8 << 20, MaxJSONDepth: maxDepth}, nil).Decode(s, in)
	public := filter.New(filter.Settings{Policy: event.PolicyPublic})
	var passed []string
	for {
		b, err := decoding.Next()
		if err != nil {
			return s, passed
		}
		if frame, why := public.Apply(b); why == filter.Passed {
			passed = append(passed, string(frame.Data))
		}
	}
}

// TestAddingADialect checks that one folder and one line add a dialect. The dialect must satisfy the
// contract and must not disturb the detection of the others. Its own table must let its frames out.
func TestAddingADialect(t *testing.T) {
	list := append(collector.Dialects(),
		example.Dialect{},
	)
	const own = "testdata/example/testdata"
	Run(t, example.Dialect{}, own)
	all := allCaptures(t)
	all["example"], _ = readCaptures(t, own)
	checkDetection(t, list, all)
	for _, c := range all["example"] {
		s, passed := runPipeline(t, list, c.stream)
		want := []string{`{"toy":"bear","say":"Hello."}`, `{"toy":"bear","say":"Bye.","last":true}`}
		if diff := cmp.Diff(want, passed); diff != "" || s.Dialect != "example" {
			t.Errorf("%s is recognized as %q, want example; the passed frames differ (-want +got):\n%s", c.name, s.Dialect, diff)
		}
	}
}
