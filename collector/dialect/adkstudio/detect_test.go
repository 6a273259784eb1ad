package adkstudio

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// TestDetect checks how sure Detect is of single frames.
func TestDetect(t *testing.T) {
	for _, c := range []struct {
		frame string // "name data"
		want  dialect.Match
	}{
		{"session 3f2a7b0e-8d55-4a57-9a3c-0d2c9b1f7e11", dialect.Yes},
		{"session 42", dialect.Yes}, // JSON, but not an object
		{"session two words", dialect.No},
		{"session ", dialect.No},
		{`session {"id":"s"}`, dialect.No},
		{"session " + strings.Repeat("x", maxID+1), dialect.No},
		{"session \xff", dialect.No},
		{`trace {"type":"node_start","node":"a","step":1}`, dialect.Sure},
		{`trace {"type":"node_end","node":"a"}`, dialect.Sure},
		{`trace {"type":"done","total_steps":1}`, dialect.Sure},
		{`trace {"type":"state","state_snapshot":{"input":{},"output":{}}}`, dialect.Sure},
		{`trace {"type":"state","state":{}}`, dialect.Maybe},
		{`trace {"type":"message","node":"a","content":"x"}`, dialect.Maybe},
		{`trace {"type":"node_start"}`, dialect.Maybe},
		{`trace {"node":"a"}`, dialect.No},
		{`debug {"level":"error","category":"error","agent":"system","summary":"x","detail":{},"timestamp":1706400000000}`, dialect.Sure},
		{`debug {"level":"error","category":"error","agent":"system","summary":"x","detail":{}}`, dialect.Maybe},
		{`debug {"level":null,"category":"error","timestamp":"2026-01-01T00:00:00Z"}`, dialect.Maybe},
		{`debug {"summary":{}}`, dialect.Maybe},
		{`debug {"level":"error","message":"x"}`, dialect.No},
		{`debug {"level":"error","message":"x","timestamp":1706400000000}`, dialect.No},
		{`tool_call {"name":"f","args":"{}"}`, dialect.Maybe},
		{`tool_result {"name":"f","result":null}`, dialect.Maybe},
		{`tool_call {"id":"1"}`, dialect.No},
		{`log {"message":"x"}`, dialect.Maybe},
		{`thinking {"content":"x","agent":"a"}`, dialect.Maybe},
		{`interrupt {"type":"interrupt","node_id":"a"}`, dialect.Maybe},
		{"chunk Hello", dialect.Maybe},
		{"chunk ", dialect.No},
		{`chunk {"kind":"task-created","taskId":"t"}`, dialect.Maybe}, // text that looks like JSON
		{"error No binary available. Click 'Build' first.", dialect.Maybe},
		{"error ", dialect.No},
		{"end ", dialect.No},
		{"connected {\"project_id\":\"x\"}", dialect.No},

		// Other protocols.
		{`error {"error":"unexpected EOF"}`, dialect.No},
		{`error {"error": "got "x" and died"}`, dialect.No},
		{` {"author":"a","invocationId":"e-1","content":{"parts":[{"text":"hi"}]}}`, dialect.No},
		{` {"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t","contextId":"c"}}`, dialect.No},
		{` {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"internal error"}}`, dialect.No},
		{` {"type":"RUN_STARTED","threadId":"t","runId":"r"}`, dialect.No},
		{` {"type":"RUN_ERROR","message":"x"}`, dialect.No},
		{` {"v":2,"type":"start","id":"1","ts":"2025-10-14T10:30:00.000Z","message_id":"m","chat_id":"c"}`, dialect.No},
		{` {"v":2,"type":"error","id":"1","ts":"2025-10-14T10:30:00.000Z","error":"x"}`, dialect.No},
		{`task-created {"kind":"task-created","contextId":"c","taskId":"t"}`, dialect.No},
		{`tool-start {"taskId":"t","toolCallId":"c"}`, dialect.No},
		{`message {"type":"node_start","node":"a"}`, dialect.No},
		{` {"type":"node_start","node":"a"}`, dialect.No},
	} {
		name, data, _ := strings.Cut(c.frame, " ")
		f := dialect.Frame{Frame: sse.Frame{Event: []byte(name), Data: []byte(data)}}
		var doc strictjson.Doc
		if doc.Parse([]byte(data), 64) == nil {
			f.JSON = doc.Root()
		}
		if got := (Dialect{}).Detect(f); got != c.want {
			t.Errorf("Detect(%.80s) = %d, want %d", c.frame, got, c.want)
		}
	}
}

// TestIdentify checks the identity in a URL, and that no secret of the URL is in it.
func TestIdentify(t *testing.T) {
	const query = "?input=secret%20words&session_id=abc123&api_key=secret-key&binary_path=%2Fsecret%2Fflow"
	for target, want := range map[string]event.Identity{
		"/api/projects/p1/stream" + query:                        {App: "p1", Session: "abc123"},
		"/studio/api/projects/p1/stream?input=hi":                {App: "p1"},
		"/api/projects/p1/stream?session_id=":                    {App: "p1"},
		"/api/projects/p1/stream?session_id=a&session_id=secret": {App: "p1", Session: "a"},
		"/api/projects/p1/build-stream":                          {},
		"/api/sessions/abc123/resume":                            {},
		"/stream":                                                {},
		"/":                                                      {},
		"/api/projects/" + strings.Repeat("x", 300) + "/stream?session_id=a%FF%FE": {App: strings.Repeat("x", dialect.MaxName), Session: "a\uFFFD"},
	} {
		u, err := url.Parse(target)
		if err != nil {
			t.Fatal(err)
		}
		got := Dialect{}.Identify(dialect.Request{Method: http.MethodGet, Path: u.Path, Query: u.Query(), Header: http.Header{"Authorization": {"secret"}}})
		if got := fmt.Sprintf("%+v", got); got != fmt.Sprintf("%+v", want) || strings.Contains(got, "secret") {
			t.Errorf("Identify(%s) = %s, want %+v", target, got, want)
		}
	}
}
