package readers_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/subprocess"
)

// startExample runs an example with the stream and the token of a stand. It prints frames as JSON or as they are. It runs until the test
// ends, and is killed then.
func startExample(t *testing.T, s *stand, name string, args ...string) reader {
	t.Helper()
	ctx, kill := context.WithCancel(context.Background())
	command := subprocess.CommandContext(ctx, name, append(args, s.stream)...)
	command.Env = append(os.Environ(), "DELEGRAPH_TOKEN="+s.token)
	var complaints bytes.Buffer
	command.Stderr = &complaints
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	all := make(chan receivedFrame)
	go func() {
		defer close(all)
		text := bufio.NewReader(output)
		if first, _ := text.Peek(1); string(first) == "{" {
			for lines := json.NewDecoder(text); ; {
				var h receivedFrame
				if lines.Decode(&h) != nil {
					return
				}
				h.Event = cmp.Or(h.Event, "message")
				all <- h
			}
		}
		for frames := sse.NewReader(text, 0); ; {
			f, err := frames.Next()
			if err != nil {
				return
			}
			all <- receivedFrame{string(f.ID), cmp.Or(string(f.Event), "message"), string(f.Data)}
		}
	}()
	t.Cleanup(func() {
		kill()
		for h := range all {
			t.Errorf("then came %+.300v", h)
		}
		_ = command.Wait() // it was killed
		if t.Failed() {
			t.Logf("%s said: %s", name, &complaints)
		}
	})
	return all
}

// buildExample builds the example in Go.
func buildExample(t *testing.T) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "reader")
	command := subprocess.CommandContext(t.Context(), harness.Program(t, "go", "readers"), "build", "-o", to, examples+"/reader.go")
	if said, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return to
}

// TestExamplesAreShown checks that the document of the stream leads to the examples, and that each stays short.
func TestExamplesAreShown(t *testing.T) {
	const most = 80 // lines
	document, err := os.ReadFile("../../../docs/reference/events.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"reader.py", "reader.go", "reader.sh", "reader.html"} {
		content, err := os.ReadFile(filepath.Join(examples, name))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(content), "\n"); n > most {
			t.Errorf("%s has %d lines", name, n)
		}
		if !strings.Contains(string(document), "(../../examples/readers/"+name+")") {
			t.Errorf("docs/reference/events.md does not lead to %s", name)
		}
	}
}
