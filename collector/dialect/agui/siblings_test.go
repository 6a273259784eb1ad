package agui_test

import (
	"path/filepath"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/a2a"
	"github.com/delegraph/delegraph/collector/dialect/adk"
	"github.com/delegraph/delegraph/collector/dialect/adkstudio"
	"github.com/delegraph/delegraph/collector/dialect/agui"
	"github.com/delegraph/delegraph/collector/dialect/deepagents"
	"github.com/delegraph/delegraph/collector/dialect/looopy"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// siblings are all dialects.
var siblings = []dialect.Dialect{adk.Dialect{}, looopy.Dialect{}, adkstudio.Dialect{}, deepagents.Dialect{}, a2a.Dialect{}, agui.Dialect{}}

// TestSiblings reads every capture of every dialect, beginning at every frame: each is known as what it is or not yet, in whatever
// order the dialects are asked.
func TestSiblings(t *testing.T) {
	for _, owner := range siblings {
		captures, err := filepath.Glob("../" + owner.Name() + "/testdata/*.sse")
		if err != nil || len(captures) == 0 {
			t.Fatalf("%s: %d captures, %v", owner.Name(), len(captures), err)
		}
		for _, capture := range captures {
			frames, _ := captured(t, capture)
			for i, f := range frames {
				for _, asked := range siblings {
					if asked.Detect(f) == dialect.Yes && asked.Name() != owner.Name() && (asked.Name() == "agui" || owner.Name() == "agui") {
						t.Errorf("%s, frame %d: %s takes it for its own", capture, i+1, asked.Name())
					}
				}
			}
		}
	}
}

// TestErrorsFirst finds out whose a stream is that begins with an error, and whose it most likely is where nothing follows.
func TestErrorsFirst(t *testing.T) {
	const server, run, began = `{"error": "Agent execution failed"}`, `{"type":"RUN_ERROR","message":"x"}`, `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`
	for _, c := range []struct {
		name          string
		sent          []string
		found, likely string
	}{
		{"of the run", []string{run}, "", "agui"},
		{"of the run before", []string{run, began}, "agui", ""},
		{"of the server around the agent", []string{server, began}, "agui", ""},
		{"of the server alone", []string{server}, "", "adk"}, // whose server says the same
	} {
		detector := dialect.NewDetector(siblings)
		found := ""
		for _, sent := range c.sent {
			var doc strictjson.Doc
			if err := doc.Parse([]byte(sent), 64); err != nil {
				t.Fatal(err)
			}
			f := dialect.Frame{Frame: sse.Frame{Data: []byte(sent)}, JSON: doc.Root()}
			if d := detector.Ask(f); d != nil && found == "" {
				found = d.Name()
			}
		}
		likely := ""
		if d := detector.Likely(); d != nil && found == "" {
			likely = d.Name()
		}
		if found != c.found || likely != c.likely {
			t.Errorf("%s: found %q, likely %q; want %q, %q", c.name, found, likely, c.found, c.likely)
		}
	}
}
