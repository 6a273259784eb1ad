package dialecttest

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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

// folder is where a dialect's captures are.
func folder(d dialect.Dialect) string { return filepath.Join("..", d.Name(), "testdata") }

// TestDialects holds every dialect of the list to the contract, and to having a page for its users.
func TestDialects(t *testing.T) {
	var names []string
	for _, d := range collector.Dialects() {
		t.Run(d.Name(), func(t *testing.T) {
			if slices.Contains(names, d.Name()) {
				t.Error("it stands twice in the list")
			}
			names = append(names, d.Name())
			Run(t, d, folder(d))
			page, err := os.ReadFile(filepath.Join("../../../docs/reference/dialects", d.Name()+".md"))
			if err != nil {
				t.Fatalf("users have no page of it: %v", err)
			}
			for _, part := range []string{"\n## How it is recognised\n", "\n## What becomes of it\n", "\n## What leaves\n", "\n## What to know\n", "dialect: " + d.Name() + "\n"} {
				if !bytes.Contains(page, []byte(part)) {
					t.Errorf("its page has no %q", part)
				}
			}
		})
	}
}

// FuzzDialects decodes arbitrary bytes in every dialect of the list, beginning with their captures.
func FuzzDialects(f *testing.F) {
	list := collector.Dialects()
	for i, d := range list {
		captures, _ := open(f, folder(d))
		for _, c := range captures {
			f.Add(c.stream, uint8(i), true)
			f.Add(c.stream, uint8(i), false)
		}
	}
	f.Fuzz(func(t *testing.T, stream []byte, which uint8, answer bool) {
		withstand(t, list[int(which)%len(list)], stream, answer)
	})
}

// FuzzRequests reads arbitrary run requests in every dialect of the list, beginning with those of their captures.
func FuzzRequests(f *testing.F) {
	list := collector.Dialects()
	for i, d := range list {
		_, requests := open(f, folder(d))
		for _, r := range requests {
			f.Add(r.target, r.body, uint8(i))
		}
		for _, body := range broken {
			f.Add("", []byte(body), uint8(i))
		}
	}
	f.Fuzz(func(t *testing.T, target string, body []byte, which uint8) {
		r := request{target, body}
		if _, err := r.asking(slices.Clone(body)); err != nil {
			t.Skip("no target of a request")
		}
		if _, err := r.identify(list[int(which)%len(list)]); err != nil {
			t.Error(err)
		}
	})
}

// withstand decodes whatever it is given.
func withstand(t *testing.T, d dialect.Dialect, stream []byte, answer bool) {
	t.Helper()
	frames, err := frames(stream)
	if err != nil {
		t.Skip("no SSE")
	}
	s := begin(d, answer)
	for i, frame := range frames {
		if _, err := s.decode(frame); err != nil {
			t.Fatalf("dialect %s, frame %d, %q: %v", d.Name(), i+1, frame.Data, err)
		}
	}
}

// families are all captures of the repository, by the dialect in whose folder they are.
func families(t *testing.T) map[string][]*capture {
	t.Helper()
	all := map[string][]*capture{}
	add := func(family, file string) {
		stream, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if read, err := frames(stream); err == nil { // else the body of an error
			all[family] = append(all[family], &capture{name: file, stream: stream, frames: read})
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
	others, err := filepath.Glob("../../../cmd/delegraph/testdata/adk-go/*.sse")
	if err != nil || len(others) == 0 {
		t.Fatal("no captures of the Go ADK: ", err)
	}
	for _, file := range others {
		add("adk", file)
	}
	return all
}

// TestDetection begins and ends every capture at each of its frames: the stream is known as what it is, or as nothing yet, and once
// it is whole it is known. No other dialect is ever sure of any of its frames.
func TestDetection(t *testing.T) {
	detection(t, collector.Dialects(), families(t))
}

func detection(t *testing.T, list []dialect.Dialect, families map[string][]*capture) {
	t.Helper()
	for _, d := range list {
		captures := families[d.Name()]
		if len(captures) == 0 {
			t.Errorf("no capture of %s", d.Name())
		}
		cuts := 0
		for _, c := range captures {
			for n := range c.frames {
				cuts += 2
				if got := known(t, list, c.frames[:n]); got != d.Name() && got != "" {
					t.Errorf("%s, cut after frame %d, is taken for %s", c.name, n, got)
				}
				// A lone error may be anybody's.
				if got := known(t, list, c.frames[n:]); got != d.Name() && got != "" && sure(d, c.frames[n:]) > 0 {
					t.Errorf("%s, from frame %d on, is taken for %s", c.name, n+1, got)
				}
			}
			if got := known(t, list, c.frames); got != d.Name() {
				t.Errorf("%s is taken for %q", c.name, got)
			}
		}
		t.Logf("%s: %d captures, cut at %d places", d.Name(), len(captures), cuts)
		for family, captures := range families {
			for _, c := range captures {
				if frame := sure(d, c.frames); frame > 0 && family != d.Name() {
					t.Errorf("%s is sure of frame %d of %s", d.Name(), frame, c.name)
				}
			}
		}
	}
}

// sure is the first frame to which a dialect says Yes, counted from 1; 0 for none.
func sure(d dialect.Dialect, frames []sse.Frame) int {
	s := begin(d, false)
	return 1 + slices.IndexFunc(frames, func(f sse.Frame) bool { return d.Detect(s.read(f)) >= dialect.Yes })
}

// known is the dialect for which the pipeline takes frames.
func known(t *testing.T, list []dialect.Dialect, frames []sse.Frame) string {
	t.Helper()
	var stream []byte
	for _, f := range frames {
		var err error
		if stream, err = sse.AppendFrame(stream, f); err != nil {
			t.Fatal(err)
		}
	}
	s, _ := piped(t, list, stream)
	return s.Dialect
}

// piped sends a stream through the pipeline, and returns what leaves of it for the public.
func piped(t *testing.T, list []dialect.Dialect, stream []byte) (*event.Stream, []string) {
	t.Helper()
	s := &event.Stream{}
	in := collector.Input{Reader: bytes.NewReader(stream), Arrival: func() time.Time { return time.Time{} }}
	decoding := collector.New(list, collector.Settings{Frame: 8 << 20, JSONDepth: maxDepth}, nil).Decode(s, in)
	public := filter.New(filter.Settings{Policy: event.PolicyPublic})
	var left []string
	for {
		b, err := decoding.Next()
		if err != nil {
			return s, left
		}
		if frame, why := public.Apply(b); why == filter.Passed {
			left = append(left, string(frame.Data))
		}
	}
}

// TestAddingADialect adds one with one folder and one line: it keeps the contract, is known among the others, which stay what they
// were, and what it says leaves by its own table.
func TestAddingADialect(t *testing.T) {
	list := append(collector.Dialects(),
		example.Dialect{},
	)
	const own = "testdata/example/testdata"
	Run(t, example.Dialect{}, own)
	all := families(t)
	all["example"], _ = open(t, own)
	detection(t, list, all)
	for _, c := range all["example"] {
		s, left := piped(t, list, c.stream)
		want := []string{`{"toy":"bear","say":"Hello."}`, `{"toy":"bear","say":"Bye.","last":true}`}
		if diff := cmp.Diff(want, left); diff != "" || s.Dialect != "example" {
			t.Errorf("%s, known as %q:\n%s", c.name, s.Dialect, diff)
		}
	}
}
