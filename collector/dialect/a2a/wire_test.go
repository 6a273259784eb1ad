package a2a

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

func value(t testing.TB, data string) strictjson.Value {
	t.Helper()
	var doc strictjson.Doc
	if err := doc.Parse([]byte(data), 128); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return doc.Root()
}

// TestDetect checks how sure Detect is of single frames.
func TestDetect(t *testing.T) {
	const (
		aTask     = `"id":"t","contextId":"c","status":{"state":"submitted"}`
		aStatus   = `"taskId":"t","contextId":"c","status":{"state":"working"}`
		anUpdate  = `"taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[]}`
		aMessage  = `"messageId":"m","role":"agent","parts":[]`
		anError   = `{"code":-32603,"message":"x"}`
		aLongCode = `{"code":500,"status":"INTERNAL","message":"x","details":[]}`
	)
	rpc := func(result string) string { return `{"jsonrpc":"2.0","id":1,"result":` + result + `}` }
	for _, c := range []struct {
		data string
		want dialect.Match
	}{
		{rpc(`{"kind":"task",` + aTask + `}`), dialect.Sure},
		{rpc(`{"kind":"status-update",` + aStatus + `}`), dialect.Sure},
		{rpc(`{"kind":"artifact-update",` + anUpdate + `}`), dialect.Sure},
		{rpc(`{"kind":"message",` + aMessage + `}`), dialect.Sure},
		{rpc(`{"task":{` + aTask + `}}`), dialect.Sure},
		{rpc(`{"statusUpdate":{` + aStatus + `}}`), dialect.Sure},
		{rpc(`{"artifactUpdate":{` + anUpdate + `}}`), dialect.Sure},
		{rpc(`{"message":{` + aMessage + `},"task":null}`), dialect.Sure},
		{`{"task":{` + aTask + `}}`, dialect.Sure},
		{`{"statusUpdate":{` + aStatus + `}}`, dialect.Sure},
		{`{"artifactUpdate":{` + anUpdate + `}}`, dialect.Sure},
		{`{"message":{` + aMessage + `}}`, dialect.Sure},
		{`{"message":{"messageId":"m","content":[]}}`, dialect.Sure},
		{`{"kind":"status-update",` + aStatus + `}`, dialect.Sure},

		{`{"statusUpdate":{` + aStatus + `},"task":null}`, dialect.Sure},

		{`{"kind":"message",` + aMessage + `}`, dialect.Maybe},
		{`{"type":"CUSTOM","message":{` + aMessage + `}}`, dialect.Maybe},
		{`{"statusUpdate":{` + aStatus + `},"id":1}`, dialect.Maybe},
		{`{"kind":"status-update","type":"x",` + aStatus + `}`, dialect.Maybe},
		{`{"jsonrpc":"2.0","id":1,"error":` + anError + `}`, dialect.Maybe},
		{`{"jsonrpc":"2.0","id":1,"result":null,"error":` + anError + `}`, dialect.Maybe},
		{`{"error":` + aLongCode + `}`, dialect.Maybe},

		{`{}`, dialect.No},
		{rpc(`{}`), dialect.No},
		{rpc(`null`), dialect.No},
		{rpc(`{"tools":[]}`), dialect.No},
		{rpc(`{"task":{"taskId":"t","status":"working"}}`), dialect.No}, // the Model Context Protocol
		{rpc(`{"kind":"task","id":"t"}`), dialect.No},
		{rpc(`{"kind":"task-moved",` + aTask + `}`), dialect.No},
		{rpc(`{"kind":7,` + aTask + `}`), dialect.No},
		{rpc(`{"task":{` + aTask + `},"statusUpdate":{` + aStatus + `}}`), dialect.No},
		{`{"jsonrpc":"1.0","result":{"task":{` + aTask + `}}}`, dialect.No},
		{`{"jsonrpc":"2.0","result":{"task":{` + aTask + `}},"error":` + anError + `}`, dialect.No},
		{`{"jsonrpc":"2.0","method":"notifications/message"}`, dialect.No},
		{`{"error":"x"}`, dialect.No},
		{anError, dialect.No},
		{`{"type":"about:blank","title":"x","status":500}`, dialect.No},
		{`{"error":{"message":"x"}}`, dialect.No},
		{`{"error":` + aLongCode + `,"author":"a"}`, dialect.No},
		{`{"kind":"message","taskId":"t","message":{"role":"user","content":"x"}}`, dialect.No}, // Looopy
		{`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`, dialect.No},
		{`{"author":"a","invocationId":"e-1","content":{"parts":[]}}`, dialect.No},
		{`[]`, dialect.No},
	} {
		if got := (Dialect{}).Detect(dialect.Frame{JSON: value(t, c.data)}); got != c.want {
			t.Errorf("Detect(%s) = %d, want %d", c.data, got, c.want)
		}
	}
}

// TestIdentify checks the session, task and answers of a request.
func TestIdentify(t *testing.T) {
	for _, c := range []struct {
		body string
		want event.Identity
	}{
		{`{"jsonrpc":"2.0","method":"message/stream","params":{"message":{"messageId":"m","contextId":"c","taskId":"t","parts":[` + text("x") + `,` + toolResult("c1", "f", `{}`) + `,` + calls("c2", "f", true) + `]}}}`,
			event.Identity{Session: "c", Answers: []string{"t", "c1"}, RequestDialect: "a2a", InBackground: true}},
		{`{"message":{"messageId":"m","contextId":"c","content":[]}}`, event.Identity{Session: "c"}},
		{`{"message":{"messageId":"m","taskId":"t"}}`, event.Identity{Answers: []string{"t"}}},
		{`{"jsonrpc":"2.0","method":"tasks/resubscribe","params":{"id":"t"}}`, event.Identity{JoinedRun: "t", RequestDialect: "a2a", InBackground: true}},
		{`{"jsonrpc":"2.0","method":"SubscribeToTask","params":{"id":"t"}}`, event.Identity{JoinedRun: "t", RequestDialect: "a2a", InBackground: true}},
		{`{"jsonrpc":"2.0","method":"SendStreamingMessage","params":{"message":{"contextId":"c"}}}`, event.Identity{Session: "c", RequestDialect: "a2a", NewRun: true, InBackground: true}},
		{`{"jsonrpc":"2.0","method":"message/stream","params":{"message":{"task_id":"t","context_id":"c"}}}`, event.Identity{Session: "c", Answers: []string{"t"}, RequestDialect: "a2a", InBackground: true}},
		{`{"jsonrpc":"2.0","method":"message/stream","params":{"Message":{"taskId":"t"}},"message":{}}`, event.Identity{RequestDialect: "a2a", InBackground: true}},
		{`{"jsonrpc":"2.0","method":"SendStreamingMessage","params":{}}`, event.Identity{RequestDialect: "a2a", InBackground: true}},
		{`{"jsonrpc":"2.0","method":"tools/call","params":{}}`, event.Identity{}},
		{`{"method":"message/stream","params":{}}`, event.Identity{}},
		{`{"threadId":"x","runId":"y"}`, event.Identity{}},
		{`[]`, event.Identity{}},
	} {
		got := Dialect{}.Identify(dialect.Request{Method: "POST", Path: "/", Body: value(t, c.body)})
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("Identify(%s) differs (-want +got):\n%s", c.body, diff)
		}
	}
	for path, want := range map[string]string{"/v1/tasks/t-1:subscribe": "t-1", "/tasks/t-1:subscribe": "t-1", "/tasks/t-1": ""} {
		if got := (Dialect{}).Identify(dialect.Request{Method: "GET", Path: path}); got.JoinedRun != want {
			t.Errorf("the path %s joins the run %q", path, got.JoinedRun)
		}
	}
	for path, want := range map[string]bool{"/v1/message:stream": true, "/message:stream": true, "/tasks/t:subscribe/": false, "/tasks/t-1": false} {
		if got := (Dialect{}).Identify(dialect.Request{Method: "POST", Path: path, Body: value(t, `{"message":{"messageId":"m"}}`)}); got.NewRun != want {
			t.Errorf("the path %s starts a run: %t, want %t", path, got.NewRun, want)
		}
	}
	var many []string
	for i := range 2 * wire.MaxAnswers {
		many = append(many, toolResult(fmt.Sprint("c", i), "f", `{}`))
	}
	body := `{"message":{"taskId":"t","parts":[` + strings.Join(many, ",") + `]}}`
	if got := (Dialect{}).Identify(dialect.Request{Body: value(t, body)}); len(got.Answers) != wire.MaxAnswers {
		t.Errorf("a request has %d answers, want at most %d", len(got.Answers), wire.MaxAnswers)
	}
}

// TestPaths checks which paths start a run and which continue one.
func TestPaths(t *testing.T) {
	for at, want := range map[string]string{
		"/": "run", "/a2a": "run", "/a2a/invoke": "run", "/message:stream": "run", "/v1/message:stream": "run", "/tenant-7/message:stream": "run",
		"/tasks/t1:subscribe": "continues", "/v1/tasks/t1:subscribe": "continues", "/tenant-7/tasks/t1:subscribe": "continues",
		"/message:send": "", "/tasks/t1": "", "/tasks/t1:cancel": "", "/a/b/message:stream": "", "/rpc": "", "/a2a/x/y": "",
	} {
		got := ""
		for _, p := range (Dialect{}).Paths() {
			if ok, _ := path.Match(p.Glob, at); ok {
				if got = "run"; p.MultipleRuns {
					got = "continues"
				}
			}
		}
		if got != want {
			t.Errorf("the path %s is %q, want %q", at, got, want)
		}
	}
}

// TestTimes checks the formats of timestamps.
func TestTimes(t *testing.T) {
	for sent, want := range map[string]string{
		`"2026-11-21T02:31:18.935683403Z"`:   "2026-11-21T02:31:18.935683403Z",
		`"2026-11-21T04:31:18.5+02:00"`:      "2026-11-21T02:31:18.5Z",
		`"2026-11-21T12:22:47.909724+00:00"`: "2026-11-21T12:22:47.909724Z",
		`"2025-06-20T17:15:29.123456"`:       "", // local, in an unknown zone
		`"0001-01-01T00:00:00Z"`:             "",
		`"9999-01-01T00:00:00Z"`:             "",
		`1795228205183`:                      "",
		`""`:                                 "",
		`null`:                               "",
		`{"seconds":1}`:                      "",
	} {
		got := ""
		if at := readStatus(value(t, `{"status":{"timestamp":`+sent+`}}`)).time; !at.IsZero() {
			got = at.Format("2006-01-02T15:04:05.999999999Z07:00")
		}
		if got != want {
			t.Errorf("the time %s is read as %q, want %q", sent, got, want)
		}
	}
}

// TestRejected checks that frames without an update are rejected and that decoding continues.
func TestRejected(t *testing.T) {
	for _, sent := range []string{`{}`, `[]`, `"x"`, `{"jsonrpc":"2.0","id":1,"result":{}}`, `{"error":{"code":"x","message":"y"}}`, `{"task":{"id":7,"status":{}}}`} {
		got := strings.Split(factsOf(&event.Stream{}, taskIs("submitted", ""), data(sent), statusIs("completed", "", "")), "\n")
		if want := []string{"working; run_started", "- rejected=shape", "status-update; final; run_ended awaits_outcome"}; !slices.Equal(got, want) {
			t.Errorf("%s decodes to %q", sent, got)
		}
	}
}
