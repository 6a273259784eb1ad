package adkstudio_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/adk"
	"github.com/delegraph/delegraph/collector/dialect/adkstudio"
	"github.com/delegraph/delegraph/collector/dialect/deepagents"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// TestErrorsFirst finds out whose a stream is that begins with an error, and whose it most likely is where nothing follows.
func TestErrorsFirst(t *testing.T) {
	const (
		studioDebug = `debug {"level":"error","category":"error","agent":"system","summary":"x","detail":{},"timestamp":1706400000000}`
		adkEvent    = ` {"author":"a","invocationId":"e-1","content":{"parts":[{"text":"hi"}]}}`
		deepEnd     = ` {"type":"end","id":"1","ts":"2025-10-14T10:30:00Z","status":"error","ms_total":1}`
	)
	for _, c := range []struct {
		name   string
		frames []string
		found  string // surely, or
		likely string
	}{
		{"Studio's", []string{"error No API key found.", studioDebug}, "adkstudio", ""},
		{"Studio's alone", []string{"error Failed to send input"}, "", "adkstudio"},
		{"Studio's after its copy", []string{studioDebug, "error Failed to start binary"}, "adkstudio", ""},
		{"of DeepAgents", []string{` {"v":2,"type":"error","id":"1","ts":"2025-10-14T10:30:00Z","error":"x"}`}, "deepagents", ""},
		{"of DeepAgents, version 1", []string{` {"type":"error","id":"1","ts":"2025-10-14T10:30:00Z","error":"x"}`, deepEnd}, "deepagents", ""},
		{"of DeepAgents, version 1, alone", []string{` {"type":"error","error":"x"}`}, "", "deepagents"},
		{"of the Go ADK", []string{`error {"error":"x"}`, adkEvent}, "adk", ""},
		{"of the Go ADK, alone", []string{`error {"error":"x"}`}, "", "adk"},
		{"of the Python ADK, broken", []string{` {"error": "said "x" and died"}`}, "", "adk"},
		{"of the Python ADK, broken and named", []string{`error {"error": "said "x" and died"}`}, "", "adk"},
		{"of AG-UI", []string{` {"type":"RUN_ERROR","message":"x"}`}, "", ""},
		{"of Looopy", []string{`task-status {"kind":"task-status","status":"failed","contextId":"c","taskId":"t"}`}, "", ""},
		{"of nobody", []string{"error ", " x"}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			detector := dialect.NewDetector([]dialect.Dialect{deepagents.Dialect{}, adkstudio.Dialect{}, adk.Dialect{}})
			found := ""
			for _, sent := range c.frames {
				name, data, _ := strings.Cut(sent, " ")
				f := dialect.Frame{Frame: sse.Frame{Event: []byte(name), Data: []byte(data)}}
				var doc strictjson.Doc
				if doc.Parse([]byte(data), 64) == nil {
					f.JSON = doc.Root()
				}
				if d := detector.Ask(f); d != nil && found == "" {
					found = d.Name()
				}
			}
			likely := ""
			if d := detector.Likely(); d != nil && found == "" {
				likely = d.Name()
			}
			if found != c.found || likely != c.likely {
				t.Errorf("found %q, likely %q; want %q, %q", found, likely, c.found, c.likely)
			}
		})
	}
}
