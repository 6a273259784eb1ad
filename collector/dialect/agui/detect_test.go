package agui

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// TestDetect checks how sure Detect is of single frames.
func TestDetect(t *testing.T) {
	for data, want := range map[string]dialect.Match{
		`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`:                          dialect.Sure,
		`{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`:                         dialect.Sure,
		`{"type":"RUN_STARTED"}`:                                                     dialect.No,
		`{"type":"RUN_STARTED","threadId":1,"runId":"r"}`:                            dialect.No,
		`{"type":"RUN_ERROR","message":"x"}`:                                         dialect.Maybe,
		`{"type":"RUN_ERROR"}`:                                                       dialect.No,
		`{"type":"STEP_STARTED","stepName":"a"}`:                                     dialect.Sure,
		`{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n"}`:                 dialect.Sure,
		`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}`:           dialect.Sure,
		`{"type":"TEXT_MESSAGE_CHUNK","delta":"x"}`:                                  dialect.Sure,
		`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}`:             dialect.Sure,
		`{"type":"TOOL_CALL_START","toolCallId":"c"}`:                                dialect.No,
		`{"type":"STATE_SNAPSHOT","snapshot":{}}`:                                    dialect.Sure,
		`{"type":"ACTIVITY_DELTA","messageId":"m","activityType":"x","patch":[]}`:    dialect.Sure,
		`{"type":"THINKING_END"}`:                                                    dialect.Sure,
		`{"type":"RAW","event":{}}`:                                                  dialect.Maybe,
		`{"type":"CUSTOM","name":"x","value":1}`:                                     dialect.Maybe,
		`{"error":"Agent execution failed"}`:                                         dialect.Maybe,
		`{"error":{"message":"x"}}`:                                                  dialect.No,
		`{"error":"x","error_details":{}}`:                                           dialect.No,
		`{"type":"run_started","threadId":"t","runId":"r"}`:                          dialect.No,
		`{"type":["RUN_STARTED"],"threadId":"t","runId":"r"}`:                        dialect.No,
		`{"type":"NEVER_HEARD_OF"}`:                                                  dialect.No,
		`{"Type":"THINKING_END"}`:                                                    dialect.No,
		`[{"type":"THINKING_END"}]`:                                                  dialect.No,
		`{"type":"THINKING_END"`:                                                     dialect.No,
		`{"event":{"type":"RUN_STARTED","threadId":"t","runId":"r"}}`:                dialect.No,
		`{"author":"a","invocationId":"e-1","content":{"parts":[{"text":"hi"}]}}`:    dialect.No,
		`{"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t"}}`:                 dialect.No,
		`{"kind":"task-created","taskId":"t"}`:                                       dialect.No,
		`{"v":2,"type":"start","id":"1","ts":"2025-10-14T10:30:00Z"}`:                dialect.No,
		`{"type":"node_start","node":"a","step":1}`:                                  dialect.No,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta"}}`:     dialect.No,
		`{"type":"text-delta","id":"1","delta":"x"}`:                                 dialect.No,
		`{"type":"response.output_text.delta","item_id":"1","delta":"x"}`:            dialect.No,
		`{"ui_protocol":"ag-ui","event":{"type":"RUN_STARTED","threadId":"secret"}}`: dialect.No,
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

// TestIdentify checks the session of a request and the calls and interrupts that it answers.
func TestIdentify(t *testing.T) {
	tool := func(i int) string { return fmt.Sprintf(`{"role":"tool","toolCallId":"c%d","content":"secret"}`, i) }
	var many []string
	for i := range 3 * wire.MaxAnswers {
		many = append(many, tool(i))
	}
	for _, c := range []struct {
		name, body string
		session    string
		answers    int
		first      string
	}{
		{"a first request", `{"threadId":"t","runId":"r","messages":[{"role":"user","content":"secret"}]}`, "t", 0, ""},
		{"results at the end", `{"threadId":"t","messages":[` + tool(1) + `,{"role":"assistant","content":"secret"},` + tool(2) + `,` + tool(3) + `]}`, "t", 2, "c2"},
		{"results before a message", `{"threadId":"t","messages":[` + tool(1) + `,{"role":"user","content":"secret"}]}`, "t", 0, ""},
		{"a resumption", `{"threadId":"t","messages":[],"resume":[{"interruptId":"i","status":"resolved","payload":"secret"},{"interruptId":"j","status":"cancelled"},{"status":"resolved"}]}`, "t", 2, "i"},
		{"a resumption in forwardedProps", `{"threadId":"t","forwardedProps":{"command":{"resume":"secret"}}}`, "t", 1, onInterrupt},
		{"no resumption in forwardedProps", `{"threadId":"t","forwardedProps":{"command":{"resume":null}}}`, "t", 0, ""},
		{"too many", `{"threadId":"t","messages":[` + strings.Join(many, ",") + `]}`, "t", wire.MaxAnswers, "c0"},
		{"a long session", `{"threadId":"` + strings.Repeat("x", 300) + `"}`, strings.Repeat("x", dialect.MaxName), 0, ""},
		{"none", `{}`, "", 0, ""},
		{"no object", `[1]`, "", 0, ""},
		{"other shapes", `{"threadId":7,"messages":{"role":"tool"},"resume":"x","forwardedProps":[]}`, "", 0, ""},
	} {
		got := Dialect{}.Identify(dialect.Request{Method: http.MethodPost, Path: "/", Header: http.Header{"Authorization": {"secret"}}, Body: parse(t, c.body)})
		if got.Session != c.session || len(got.Answers) != c.answers || c.answers > 0 && got.Answers[0] != c.first || strings.Contains(fmt.Sprint(got), "secret") {
			t.Errorf("%s: Identify() = %+v, want session %q and %d answers", c.name, got, c.session, c.answers)
		}
	}
	if got := (Dialect{}).Identify(dialect.Request{}); got.Session != "" || got.Answers != nil {
		t.Errorf("Identify() = %+v without a body, want nothing", got)
	}
}

// TestIdentifyCopilotKit checks requests to CopilotKit's runtime, which repeats the runs of a thread to clients that
// connect again.
func TestIdentifyCopilotKit(t *testing.T) {
	const input = `{"threadId":"t","runId":"r","messages":[{"role":"tool","toolCallId":"c","content":""}]}`
	run := event.Identity{Session: "t", Answers: []string{"c"}, InBackground: true}
	connect := event.Identity{Session: "t", InBackground: true, JoinedSession: "t", Replays: true}
	for _, c := range []struct {
		path, body string
		want       event.Identity
	}{
		{"/api/copilotkit/agent/default/run", input, run},
		{"/api/copilotkit/agent/default/connect", input, connect},
		{"/api/copilotkit", `{"method":"agent/run","params":{"agentId":"default"},"body":` + input + `}`, run},
		{"/api/copilotkit", `{"method":"agent/connect","params":{"agentId":"default"},"body":` + input + `}`, connect},
		{"/agent/default", input, event.Identity{Session: "t", Answers: []string{"c"}}},
		{"/agents/default/connect", input, event.Identity{Session: "t", Answers: []string{"c"}}},
	} {
		got := Dialect{}.Identify(dialect.Request{Method: http.MethodPost, Path: c.path, Body: parse(t, c.body)})
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %s: Identify() = %+v, want %+v", c.path, c.body, got, c.want)
		}
	}
}

// TestSharedRuns checks that frames of a run have a hash if another stream may bring them.
func TestSharedRuns(t *testing.T) {
	for _, shared := range []bool{false, true} {
		stream, b := &event.Stream{Identity: event.Identity{InBackground: shared}}, &event.Batch{}
		b.Begin(stream, sse.Frame{Data: []byte(`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`)}, time.Time{})
		b.Table = Dialect{}.Table()
		if refused := b.Parse(8); refused != "" {
			t.Fatal(refused)
		}
		Dialect{}.New(stream).Decode(dialect.Frame{Frame: b.Frame, JSON: b.JSON}, b)
		if got := b.ContentHash != 0; got != shared {
			t.Errorf("a frame has a hash: %t, want %t", got, shared)
		}
	}
}

// TestPaths checks that no stream of a default path has multiple runs, because each answers one request.
func TestPaths(t *testing.T) {
	for _, at := range (Dialect{}).Paths() {
		if at.MultipleRuns {
			t.Errorf("MultipleRuns is set for the path %s", at.Glob)
		}
	}
}
