package deepagents

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// TestDetect checks how sure Detect is of single frames.
func TestDetect(t *testing.T) {
	const dated = `"id":"1729000000_0001_abc123","ts":"2025-10-14T10:30:00.000Z"`
	for data, want := range map[string]dialect.Match{
		`{"v":2,"type":"start",` + dated + `}`:                                dialect.Yes,
		`{"v":2,"type":"start",` + dated + `,"message_id":"m","chat_id":"c"}`: dialect.Sure,
		`{"v":1,"type":"end",` + dated + `,"status":"x"}`:                     dialect.Yes,
		`{"v":2,"type":"status",` + dated + `,"text":"Processing..."}`:        dialect.Yes,
		`{"v":2,"type":"error",` + dated + `,"error":"x"}`:                    dialect.Yes,
		`{"v":3,"type":"thinking",` + dated + `}`:                             dialect.Yes,
		`{"type":"start",` + dated + `,"message_id":"m","chat_id":"c"}`:       dialect.Sure,
		`{"type":"tool_start",` + dated + `,"name":"f","call_id":"1"}`:        dialect.Sure,
		`{"type":"tool_end",` + dated + `,"name":"f","call_id":"1"}`:          dialect.Sure,
		`{"type":"plan",` + dated + `,"items":[]}`:                            dialect.Sure,
		`{"type":"content",` + dated + `,"md":"x"}`:                           dialect.Sure,
		`{"type":"end",` + dated + `,"status":"completed","ms_total":1}`:      dialect.Sure,
		`{"type":"start",` + dated + `}`:                                      dialect.Maybe,
		`{"type":"status",` + dated + `,"text":"x"}`:                          dialect.Maybe,
		`{"type":"error",` + dated + `,"error":"x"}`:                          dialect.Maybe,
		`{"v":"2","type":"start",` + dated + `}`:                              dialect.Maybe,
		`{"type":"error","error":"x"}`:                                        dialect.Maybe,
		`{"type":"error","error":{"type":"overloaded_error","message":"x"}}`:  dialect.Maybe,
		`{"type":"error"}`:                                                              dialect.No,
		`{"v":2,"type":"start","id":"1"}`:                                               dialect.No,
		`{"v":2,"type":"start","id":"1","ts":"now"}`:                                    dialect.No,
		`{"v":2,"type":"start","id":1,"ts":"2025-10-14T10:30:00.000Z"}`:                 dialect.No,
		`{"v":2,"type":"surprise",` + dated + `}`:                                       dialect.No,
		`{"v":2,"type":["start"],` + dated + `}`:                                        dialect.No,
		`{"v":2,"type":"error","id":"1","ts":"2025-10-14T10:30:00.000Z","error":"a"b"}`: dialect.No,

		// Other protocols.
		`{"error":"x"}`: dialect.No,
		`{"author":"a","invocationId":"e-1","content":{"parts":[{"text":"hi"}]}}`:      dialect.No,
		`{"jsonrpc":"2.0","id":"1","result":{"kind":"message","messageId":"m"}}`:       dialect.No,
		`{"jsonrpc":"2.0","id":"1","error":{"code":-32603,"message":"x"}}`:             dialect.No,
		`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`:                            dialect.No,
		`{"type":"RUN_ERROR","message":"x"}`:                                           dialect.No,
		`{"kind":"task-created","contextId":"c","taskId":"t","timestamp":"x"}`:         dialect.No,
		`{"type":"node_start","node":"a","step":1}`:                                    dialect.No,
		`{"type":"interrupt","node_id":"a","message":"x","timestamp":1706400000000}`:   dialect.No,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta"}}`:       dialect.No,
		`{"type":"text-delta","id":"1","delta":"x"}`:                                   dialect.No,
		`{"type":"start","messageId":"m"}`:                                             dialect.No,
		`{"type":"message","ts":"1729000000.000100","user":"u","text":"x","team":"t"}`: dialect.No,
	} {
		f := dialect.Frame{Frame: sse.Frame{Data: []byte(data)}}
		var doc strictjson.Doc
		if doc.Parse([]byte(data), 64) == nil {
			f.JSON = doc.Root()
		}
		if got := (Dialect{}).Detect(f); got != want {
			t.Errorf("Detect(%s) = %d, want %d", data, got, want)
		}
	}
}

// TestIdentify checks the session in a path.
func TestIdentify(t *testing.T) {
	for path, want := range map[string]event.Identity{
		"/api/chats/c1/messages/m1/stream":                               {Session: "c1"},
		"/tenders/api/chats/c1/messages/m1/stream":                       {Session: "c1"},
		"/api/chats/" + strings.Repeat("x", 300) + "/messages/m1/stream": {Session: strings.Repeat("x", dialect.MaxName)},
		"/api/chats/c1/messages":                                         {},
		"/api/threads/t1/resume":                                         {},
		"/api/users/u1/chats":                                            {},
		"/":                                                              {},
		"":                                                               {},
	} {
		got := Dialect{}.Identify(dialect.Request{Method: http.MethodGet, Path: path, Header: http.Header{"Authorization": {"secret"}}})
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Errorf("Identify(%s) = %+v, want %+v", path, got, want)
		}
	}
}
