package a2a_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/a2a"
	"github.com/delegraph/delegraph/collector/dialect/adk"
	"github.com/delegraph/delegraph/collector/dialect/adkstudio"
	"github.com/delegraph/delegraph/collector/dialect/deepagents"
	"github.com/delegraph/delegraph/collector/dialect/looopy"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
)

var siblings = []dialect.Dialect{adk.Dialect{}, looopy.Dialect{}, adkstudio.Dialect{}, deepagents.Dialect{}}

// TestSiblings makes sure that no frame of a sibling's captures is surely ours, and none of ours surely a sibling's.
func TestSiblings(t *testing.T) {
	for _, sibling := range siblings {
		for _, c := range []struct {
			d    dialect.Dialect
			of   string
			sure bool
		}{{a2a.Dialect{}, sibling.Name(), false}, {sibling, "a2a", false}, {sibling, sibling.Name(), true}} {
			files, err := filepath.Glob("../" + c.of + "/testdata/*.sse")
			if err != nil || len(files) == 0 {
				t.Fatalf("no captures of %s: %v", c.of, err)
			}
			sure := false
			for _, file := range files {
				at := surely(t, c.d, file)
				if sure = sure || at > 0; at > 0 && !c.sure {
					t.Errorf("%s takes frame %d of %s for its own", c.d.Name(), at, file)
				}
			}
			if sure != c.sure {
				t.Errorf("%s is sure of captures of %s: %t", c.d.Name(), c.of, sure)
			}
		}
	}
}

// surely is the first frame of a capture to which a dialect says Yes, counted from 1; 0 for none.
func surely(t *testing.T, d dialect.Dialect, file string) int {
	t.Helper()
	stream, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	frames := sse.NewReader(stream, 0)
	for i := 1; ; i++ {
		f, err := frames.Next()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return 0
		case err != nil:
			t.Fatalf("%s: %v", file, err)
		case d.Detect(read(f)) == dialect.Yes:
			return i
		}
	}
}

func read(f sse.Frame) dialect.Frame {
	var doc strictjson.Doc
	if doc.Parse(f.Data, 128) != nil {
		return dialect.Frame{Frame: f}
	}
	return dialect.Frame{Frame: f, JSON: doc.Root()}
}

// TestErrorsFirst finds out whose a stream is that begins with an error, and whose it most likely is where nothing follows. The
// ADK would take any error for its own, so that we are asked before it.
func TestErrorsFirst(t *testing.T) {
	const (
		rpcError  = ` {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"x"}}`
		restError = `error {"error":{"code":500,"status":"INTERNAL","message":"x"}}`
		aTask     = ` {"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}}`
		adkEvent  = ` {"author":"a","invocationId":"e-1","content":{"parts":[{"text":"hi"}]}}`
	)
	for _, c := range []struct {
		name   string
		frames []string
		found  string // surely, or
		likely string
	}{
		{"ours", []string{rpcError, aTask}, "a2a", ""},
		{"ours alone", []string{rpcError}, "", "a2a"},
		{"ours over HTTP+JSON, alone", []string{restError}, "", "a2a"},
		{"of the Go ADK", []string{`error {"error":"x"}`, adkEvent}, "adk", ""},
		{"of the Go ADK, alone", []string{`error {"error":"x"}`}, "", "adk"},
		{"of ADK Studio", []string{"error No API key found."}, "", "adkstudio"},
		{"of DeepAgents", []string{` {"v":2,"type":"error","id":"1","ts":"2025-10-14T10:30:00Z","error":"x"}`}, "deepagents", ""},
		{"of Looopy", []string{`task-status {"kind":"task-status","status":"failed","contextId":"c","taskId":"t"}`}, "looopy", ""},
		{"of the Model Context Protocol", []string{` {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error"}}`, ` {"jsonrpc":"2.0","id":1,"result":{"content":[]}}`}, "", ""},
	} {
		detector := dialect.NewDetector(append([]dialect.Dialect{a2a.Dialect{}}, siblings...))
		found, likely := "", ""
		for _, sent := range c.frames {
			name, data, _ := strings.Cut(sent, " ")
			if d := detector.Ask(read(sse.Frame{Event: []byte(name), Data: []byte(data)})); d != nil && found == "" {
				found = d.Name()
			}
		}
		if d := detector.Likely(); d != nil && found == "" {
			likely = d.Name()
		}
		if found != c.found || likely != c.likely {
			t.Errorf("%s: found %q, likely %q; want %q, %q", c.name, found, likely, c.found, c.likely)
		}
	}
}
