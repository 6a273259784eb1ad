// Package dialecttest is the contract that every dialect keeps, checked on the dialect's own captures.
package dialecttest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
)

// Run checks a dialect on the captures *.sse of its testdata folder. Beside NAME.sse stand NAME.golden, what it is decoded into,
// which the flag -update writes, and, if they were recorded, NAME.request.json, the body of the request that it answers, and
// NAME.target, its method, path and query, such as "GET /chats/c1/stream".
func Run(t *testing.T, d dialect.Dialect, dir string) {
	captures, requests := open(t, dir)
	t.Run("name", func(t *testing.T) { report(t, named(d, dir)) })
	t.Run("paths", func(t *testing.T) { report(t, placed(d)) })
	t.Run("identity", func(t *testing.T) { report(t, identifies(d, requests)) })
	t.Run("nothing", func(t *testing.T) { report(t, knowsNothing(d)) })
	t.Run("goldens", func(t *testing.T) { report(t, paired(dir)) })
	for _, c := range captures {
		t.Run(c.name, func(t *testing.T) {
			t.Run("golden", func(t *testing.T) { Golden(t, filepath.Join(dir, c.name+".golden"), c.facts(d)) })
			for _, check := range checks {
				t.Run(check.name, func(t *testing.T) { report(t, check.run(d, c)) })
			}
		})
	}
}

func report(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// Facts decodes a stream, given as it is on the wire, and writes down what it says: a line for each frame, and indented below
// it one for each of its facts.
func Facts(d dialect.Dialect, s *event.Stream, stream string) string {
	read, err := frames([]byte(stream))
	if err != nil {
		return err.Error()
	}
	c := capture{frames: read, source: s}
	return c.facts(d)
}

// capture is a recorded stream.
type capture struct {
	name   string
	stream []byte
	frames []sse.Frame
	asked  *request      // nil where it was not recorded
	source *event.Stream // nil: a file
}

func open(t testing.TB, dir string) (captures []*capture, requests []request) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.sse"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no captures *.sse in %s: record one of a real agent", dir)
	}
	for _, file := range files {
		stream, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		base := strings.TrimSuffix(file, ".sse")
		c := &capture{name: filepath.Base(base), stream: stream}
		if c.frames, err = frames(stream); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if c.asked = recorded(t, base); c.asked != nil {
			requests = append(requests, *c.asked)
		}
		captures = append(captures, c)
	}
	return captures, requests
}

// frames are a stream's, with bytes of their own.
func frames(stream []byte) (all []sse.Frame, err error) {
	r := sse.NewReader(bytes.NewReader(stream), 0)
	for {
		f, err := r.Next()
		if err != nil {
			break
		}
		all = append(all, sse.Frame{ID: bytes.Clone(f.ID), Event: bytes.Clone(f.Event), Data: bytes.Clone(f.Data), Size: f.Size})
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no frame in %d bytes: is this SSE, with a blank line after each frame?", len(stream))
	}
	return all, nil
}
