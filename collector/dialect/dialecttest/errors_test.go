package dialecttest

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/sse"
)

// TestErrorFirst checks the dialect of streams that start with an error, and the most likely dialect if
// nothing follows, which depends on the order of the list.
func TestErrorFirst(t *testing.T) {
	const (
		studioDebug = `debug {"level":"error","category":"error","agent":"system","summary":"x","detail":{},"timestamp":1706400000000}`
		adkEvent    = ` {"author":"a","invocationId":"e-1","content":{"parts":[{"text":"hi"}]}}`
		deepEnd     = ` {"type":"end","id":"1","ts":"2025-10-14T10:30:00Z","status":"error","ms_total":1}`
		looopyEnd   = `task-status {"kind":"task-status","status":"failed","contextId":"c","taskId":"t"}`
		rpcError    = ` {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"x"}}`
		restError   = `error {"error":{"code":500,"status":"INTERNAL","message":"x"}}`
		task        = ` {"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}}`
		runError    = ` {"type":"RUN_ERROR","message":"x"}`
		runStarted  = ` {"type":"RUN_STARTED","threadId":"t","runId":"r"}`
	)
	for _, c := range []struct {
		name   string
		frames []string // "NAME DATA"
		found  string   // the detected dialect
		likely string   // the most likely dialect if none is detected
	}{
		{"of the Go ADK", []string{`error {"error":"x"}`, adkEvent}, "adk", ""},
		{"of the Go ADK, alone", []string{`error {"error":"x"}`}, "", "adk"},
		{"of the Python ADK, broken", []string{` {"error": "said "x" and died"}`}, "", "adk"},
		{"of the Python ADK, broken and named", []string{`error {"error": "said "x" and died"}`}, "", "adk"},
		{"of Looopy", []string{looopyEnd}, "looopy", ""},
		{"of ADK Studio", []string{"error No API key found.", studioDebug}, "adkstudio", ""},
		{"of ADK Studio, alone", []string{"error Failed to send input"}, "", "adkstudio"},
		{"of ADK Studio, after its debug event", []string{studioDebug, "error Failed to start binary"}, "adkstudio", ""},
		{"of DeepAgents", []string{` {"v":2,"type":"error","id":"1","ts":"2025-10-14T10:30:00Z","error":"x"}`}, "deepagents", ""},
		{"of DeepAgents, version 1", []string{` {"type":"error","id":"1","ts":"2025-10-14T10:30:00Z","error":"x"}`, deepEnd}, "deepagents", ""},
		{"of DeepAgents, version 1, without a time", []string{` {"type":"error","error":"x"}`}, "", "adk"}, // a server might send this too
		{"of A2A", []string{rpcError, task}, "a2a", ""},
		{"of A2A, alone", []string{rpcError}, "", "a2a"},
		{"of A2A over HTTP+JSON, alone", []string{restError}, "", "a2a"},
		{"of AG-UI, alone", []string{runError}, "", "agui"},
		{"of AG-UI, before the run", []string{runError, runStarted}, "agui", ""},
		{"of the server around an agent", []string{` {"error":"x"}`, runStarted}, "agui", ""},
		{"of the Model Context Protocol", []string{
			` {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error"}}`, ` {"jsonrpc":"2.0","id":1,"result":{"content":[]}}`}, "", ""},
		{"of no dialect", []string{"error ", " x"}, "", ""},
	} {
		detector := dialect.NewDetector(collector.Dialects(), dialect.Yes)
		found, likely := "", ""
		for _, sent := range c.frames {
			name, data, _ := strings.Cut(sent, " ")
			frame := parseFrames(&capture{frames: []sse.Frame{{Event: []byte(name), Data: []byte(data)}}})[0]
			if d := detector.Detect(frame); d != nil && found == "" {
				found = d.Name()
			}
		}
		if d := detector.MostLikely(); d != nil && found == "" {
			likely = d.Name()
		}
		if found != c.found || likely != c.likely {
			t.Errorf("%s: found %q, likely %q; want %q, %q", c.name, found, likely, c.found, c.likely)
		}
	}
}
