// Package dialecttest checks that a dialect satisfies the contract of package dialect. A test of the
// dialect calls Run with the folder of its recorded streams.
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

// Run checks a dialect on the captures *.sse in its testdata folder. For each NAME.sse, NAME.golden
// has the decoded facts; the flag -update writes it. If they were recorded, NAME.request.json has the
// body of the request, and NAME.target its method, path and query, such as "GET /chats/c1/stream".
func Run(t *testing.T, d dialect.Dialect, dir string) {
	captures, requests := readCaptures(t, dir)
	t.Run("name", func(t *testing.T) { report(t, checkName(d, dir)) })
	t.Run("paths", func(t *testing.T) { report(t, checkPaths(d)) })
	t.Run("identity", func(t *testing.T) { report(t, checkIdentify(d, requests)) })
	t.Run("meaningless data", func(t *testing.T) { report(t, checkMeaninglessData(d)) })
	t.Run("goldens", func(t *testing.T) { report(t, checkGoldens(dir)) })
	for _, c := range captures {
		t.Run(c.name, func(t *testing.T) {
			t.Run("golden", func(t *testing.T) { compareGolden(t, filepath.Join(dir, c.name+".golden"), c.facts(d)) })
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

// Facts decodes an SSE stream and describes it: one line for each frame, followed by one indented line for
// each of its facts.
func Facts(d dialect.Dialect, s *event.Stream, stream string) string {
	frames, err := readFrames([]byte(stream))
	if err != nil {
		return err.Error()
	}
	c := capture{frames: frames, source: s}
	return c.facts(d)
}

// capture is a recorded stream.
type capture struct {
	name    string
	stream  []byte
	frames  []sse.Frame
	request *request      // nil if it was not recorded
	source  *event.Stream // nil for a file
}

func readCaptures(t testing.TB, dir string) (captures []*capture, requests []request) {
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
		if c.frames, err = readFrames(stream); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if c.request = readRequest(t, base); c.request != nil {
			requests = append(requests, *c.request)
		}
		captures = append(captures, c)
	}
	return captures, requests
}

// readFrames returns a stream's frames, which own their bytes.
func readFrames(stream []byte) (all []sse.Frame, err error) {
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
