package langgraph

import (
	"net/http"
	"slices"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
)

const (
	runID   = `"01a204d6-61ce-7764-baa8-a473e0f329d7"`
	started = `{"run_id":` + runID + `,"attempt":1}`
)

// frameOf returns a frame as a decoder gets it.
func frameOf(name, data string) dialect.Frame {
	f := dialect.Frame{Frame: sse.Frame{Event: []byte(name), Data: []byte(data)}}
	var doc strictjson.Doc
	if err := doc.Parse([]byte(data), 200); err == nil {
		f.JSON = doc.Root()
	} else {
		f.Malformed = event.Reason("json")
	}
	return f
}

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		event, data string
		want        dialect.Match
	}{
		{"metadata", started, dialect.Sure},
		{"metadata", `{"run_id":` + runID + `,"status":"run_done"}`, dialect.Sure},
		{"messages", `[{"type":"ai","content":"x","id":"1"},{"langgraph_node":"model"}]`, dialect.Sure},
		{"messages|tools:1", `[{"type":"ai","content":"x","id":"1"},{"langgraph_node":"model"}]`, dialect.Sure},
		{"messages/partial", `[{"type":"ai","content":"x","id":"1"}]`, dialect.Sure},
		{"messages/metadata", `{"1":{"metadata":{"langgraph_node":"model"}}}`, dialect.Sure},
		{"events", `{"event":"on_chain_start","metadata":{"langgraph_api_version":"0.16.7"}}`, dialect.Sure},
		{"debug", `{"step":1,"timestamp":"2026-11-22T06:09:22.876143+00:00","type":"task","payload":{}}`, dialect.Sure},
		{"tasks", `{"id":"1","name":"model","triggers":["x"]}`, dialect.Yes},
		{"checkpoints", `{"config":{"configurable":{"thread_id":"t"}},"values":{}}`, dialect.Yes},
		{"values", `{"messages":[]}`, dialect.Maybe},
		{"updates|a:1", `{"a":null}`, dialect.Maybe},
		{"error", `{"error":"ValueError","message":"x"}`, dialect.Maybe},

		// What others send.
		{"metadata", `{"run_id":` + runID + `}`, dialect.No}, // LangServe
		{"data", `{"event":"on_chain_start","metadata":{}}`, dialect.No},
		{"events", `{"event":"on_chain_start","metadata":{}}`, dialect.No},
		{"", started, dialect.No},
		{"message", `{"v":2,"type":"start","id":"1","ts":"2025-10-14T10:30:00.000Z"}`, dialect.No},
		{"values", `[1]`, dialect.No},
		{"messages", `[{"type":"ai","content":"x","id":"1"}]`, dialect.No},
		{"error", `{"error":"x"}`, dialect.No},
		{"custom", `{}`, dialect.No},
		{"values", `{"type":"event","seq":1,"method":"values","params":{"namespace":[],"data":{"messages":[]}}}`, dialect.No}, // the newer protocol
	} {
		if got := (Dialect{}).Detect(frameOf(c.event, c.data)); got != c.want {
			t.Errorf("%s %s: %d, want %d", c.event, c.data, got, c.want)
		}
	}
}

func TestIdentify(t *testing.T) {
	const question = "2a00ac1be6ec3dd486167da8fe76ef34"
	for _, c := range []struct {
		method, path, body string
		want               event.Identity
	}{
		{http.MethodPost, "/runs/stream", `{"assistant_id":"a","input":{}}`, event.Identity{}},
		{http.MethodPost, "/threads/t/runs/stream", `{"input":{}}`, event.Identity{Session: "t"}},
		{http.MethodPost, "/api/threads/t/runs/stream", `{"input":{}}`, event.Identity{Session: "t"}},
		{http.MethodPost, "/threads/t/runs/stream", `{"input":null,"command":{"resume":"yes"}}`, event.Identity{Session: "t", Answers: []string{resumes}}},
		{http.MethodPost, "/threads/t/runs/stream", `{"input":null}`, event.Identity{Session: "t", Answers: []string{resumes}}},
		{http.MethodPost, "/threads/t/runs/stream", `{"command":{"resume":{"` + question + `":1,"other":2}}}`, event.Identity{Session: "t", Answers: []string{question, resumes}}},
		{http.MethodGet, "/threads/t/runs/r/stream", ``, event.Identity{Session: "t", JoinedRun: "r", ReplayedRun: "r"}},
		{http.MethodGet, "/threads/t/stream", ``, event.Identity{Session: "t", JoinedSession: "t"}},
		{http.MethodPost, "/threads/t/stream/events", ``, event.Identity{}},
		{http.MethodPost, "/threads", `{"thread_id":"t"}`, event.Identity{}},
	} {
		var doc strictjson.Doc
		_ = doc.Parse([]byte(c.body), 8)
		got := (Dialect{}).Identify(dialect.Request{Method: c.method, Path: c.path, Body: doc.Root()})
		if got.Session != c.want.Session || got.JoinedRun != c.want.JoinedRun || got.ReplayedRun != c.want.ReplayedRun || got.JoinedSession != c.want.JoinedSession || !slices.Equal(got.Answers, c.want.Answers) {
			t.Errorf("%s %s %s: %+v, want %+v", c.method, c.path, c.body, got, c.want)
		}
	}
}
