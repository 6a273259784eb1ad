package looopy

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
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
	for _, c := range []struct {
		name, data string
		want       dialect.Match
	}{
		{"task-created", `{"taskId":"t","initiator":"user"}`, dialect.Yes},
		{"", `{"kind":"content-delta","contextId":"c","taskId":"t","delta":"x"}`, dialect.Yes},
		{"content-delta", `{"kind":"content-delta","taskId":"t"}`, dialect.Yes},
		{"other", `{"kind":"content-delta","taskId":"t"}`, dialect.Yes},
		{"internal:llm-call", `{"taskId":"t"}`, dialect.Sure},
		{"Internal:thought-process", `{"taskId":"t"}`, dialect.Sure},
		{"llm-call", `{"kind":"internal:llm-call","taskId":"t"}`, dialect.Sure},
		{"llm-usage", `{"taskId":"t"}`, dialect.Yes},
		{"task-created", `{"taskId":"t","initiator":"user","timestamp":"2026-01-01T00:00:00Z"}`, dialect.Sure},
		{"task-status", `{"contextId":"c","taskId":"t","timestamp":"2026-01-01T00:00:00Z"}`, dialect.Sure},
		{"task-complete", `{"taskId":"t","timestamp":"2026-01-01T00:00:00Z"}`, dialect.Yes},

		{"checkpoint", `{"taskId":"t"}`, dialect.Maybe},
		{"internalEvent", `{"taskId":"t"}`, dialect.Maybe},
		{"message", `{"taskId":"t","message":{"role":"user"}}`, dialect.Maybe},
		{"file-write", `{"artifactId":"f","data":"x"}`, dialect.Maybe},

		{"", `{}`, dialect.No},
		{"task-created", `{}`, dialect.No},
		{"task-created", `{"taskId":7}`, dialect.No},
		{"task-created", `{"taskId":""}`, dialect.No},
		{"task-created", `[{"taskId":"t"}]`, dialect.No},
		{"undefined", `{"taskId":"t"}`, dialect.No},
		{"", `{"taskId":"t"}`, dialect.No},
		{"checkpoint", `{}`, dialect.No},
		{"tool-start", `{"kind":"status-update","taskId":"t","final":true}`, dialect.No},
		{"", `{"kind":"message","messageId":"m","taskId":"t","parts":[]}`, dialect.No},
		{"", `{"kind":"task","id":"t","contextId":"c"}`, dialect.No},
		{"", `{"kind":"artifact-update","taskId":"t","artifact":{}}`, dialect.No},
		{"", `{"jsonrpc":"2.0","id":1,"result":{"kind":"task-created","taskId":"t"}}`, dialect.No},
		{"task-status", `{"jsonrpc":"2.0","taskId":"t"}`, dialect.No},
		{"", `{"invocationId":"e-1","author":"a","content":{}}`, dialect.No},
		{"", `{"type":"TOOL_CALL_START","toolCallId":"c"}`, dialect.No},
		{"", `{"v":2,"type":"tool_start","id":"1","ts":"2026-01-01T00:00:00Z","call_id":"c"}`, dialect.No},
		{"tool_call", `{"name":"x","args":{}}`, dialect.No},
		{"trace", `{"type":"node_start"}`, dialect.No},
		{"error", `{"error":"x"}`, dialect.No},
		{"file-write", `{"data":"x"}`, dialect.No},
	} {
		f := dialect.Frame{Frame: sse.Frame{Event: []byte(c.name), Data: []byte(c.data)}, JSON: value(t, c.data)}
		if got := (Dialect{}).Detect(f); got != c.want {
			t.Errorf("Detect() = %d for the event %q with the data %s, want %d", got, c.name, c.data, c.want)
		}
	}
	if got := (Dialect{}).Detect(dialect.Frame{Frame: sse.Frame{Event: []byte("task-created"), Data: []byte("x")}}); got != dialect.No {
		t.Errorf("Detect() = %d without JSON, want No", got)
	}
}

// TestIdentify checks the session and answers of a request.
func TestIdentify(t *testing.T) {
	many := `{"inputs":[` + strings.TrimSuffix(strings.Repeat(`{"inputId":"i"},`, 300), ",") + `]}`
	for name, c := range map[string]struct {
		method, target, header, body string
		want                         event.Identity
	}{
		"prompt": {"POST", "/invocations?qualifier=DEFAULT", "ctx-1", `{"prompt":"hi"}`, event.Identity{Session: "ctx-1"}},
		"resume": {"POST", "/invocations", "ctx-1", `{"type":"resume","credentials":[{"authId":"a1","credential":"secret"}],"inputs":[{"inputId":"i1","value":"x"},{"toolCallId":"c1"},{"inputId":7},{}]}`,
			event.Identity{Session: "ctx-1", Answers: []string{"i1", "c1", "a1"}}},
		"resume without a type":         {"POST", "/invocations", "ctx-1", `{"inputs":[{"inputId":"i1","value":null}]}`, event.Identity{Session: "ctx-1", Answers: []string{"i1"}}},
		"prompt with its type":          {"POST", "/invocations", "ctx-1", `{"type":"prompt","prompt":"hi","inputs":[{"inputId":"i1"}]}`, event.Identity{Session: "ctx-1"}},
		"too many answers":              {"POST", "/invocations", "ctx-1", many, event.Identity{Session: "ctx-1", Answers: slices.Repeat([]string{"i"}, wire.MaxAnswers)}},
		"the design document's request": {"POST", "/run", "", `{"contextId":"ctx-2","message":"hi"}`, event.Identity{Session: "ctx-2"}},
		"context stream":                {"GET", "/events/ctx-3", "", ``, event.Identity{Session: "ctx-3", JoinedSession: "ctx-3"}},
		"context stream below api":      {"GET", "/api/contexts/ctx-3/stream", "", ``, event.Identity{Session: "ctx-3", JoinedSession: "ctx-3"}},
		"example":                       {"POST", "/sse/ctx-3", "", `{"message":"hi"}`, event.Identity{Session: "ctx-3"}},
		"example by query":              {"GET", "/sse/stream?contextId=ctx-4&filterInternal=false", "", ``, event.Identity{Session: "ctx-4", JoinedSession: "ctx-4"}},
		"example without a context":     {"GET", "/sse/stream", "", ``, event.Identity{}},
		"another path":                  {"GET", "/other/ctx-3", "", ``, event.Identity{}},
		"another dialect":               {"POST", "/run_sse", "", `{"appName":"a","userId":"u","sessionId":"s"}`, event.Identity{}},
		"no UTF-8":                      {"POST", "/invocations", "a\xffb", `{}`, event.Identity{Session: "a\uFFFDb"}}, // "ab" is another session
		"too long":                      {"POST", "/invocations", strings.Repeat("x", 300), `{}`, event.Identity{Session: strings.Repeat("x", dialect.MaxName)}},
	} {
		u, err := url.Parse(c.target)
		if err != nil {
			t.Fatal(err)
		}
		r := dialect.Request{Method: c.method, Path: u.Path, Query: u.Query(), Header: http.Header{}}
		if c.header != "" {
			r.Header.Set("x-amzn-bedrock-agentcore-runtime-session-id", c.header)
		}
		if c.body != "" {
			r.Body = value(t, c.body)
		}
		if diff := cmp.Diff(c.want, (Dialect{}).Identify(r)); diff != "" {
			t.Errorf("%s: Identify() differs (-want +got):\n%s", name, diff)
		}
	}
	if got := (Dialect{}).Identify(dialect.Request{}); !cmp.Equal(got, event.Identity{}) {
		t.Errorf("Identify() = %+v for an empty request, want nothing", got)
	}
}

// TestContext checks that the session is the context in the latest id with one.
func TestContext(t *testing.T) {
	frame := func(id string) string { return "id: " + id + "\n" + by("task-status", working) }
	stream := &event.Stream{Identity: event.Identity{Session: "asked"}}
	got := factsOf(stream, by("task-status", working), frame("ctx-a-b-12"), by("task-status", working), frame("x"), frame("-5"), frame("ctx-"), frame("ctx-1x"), frame("\xff-1"), frame("ctx-2-1"))
	var sessions []string
	for line := range strings.Lines(got) {
		_, rest, _ := strings.Cut(line, `session="`)
		session, _, _ := strings.Cut(rest, `"`)
		sessions = append(sessions, session)
	}
	want := []string{"asked", "ctx-a-b", "ctx-a-b", "ctx-a-b", "ctx-a-b", "ctx-a-b", "ctx-a-b", "ctx-a-b", "ctx-2"}
	if diff := cmp.Diff(want, sessions); diff != "" {
		t.Errorf("the sessions differ (-want +got):\n%s", diff)
	}
}

// TestUsage checks the counts of llm-usage.
func TestUsage(t *testing.T) {
	known := func(n int64) event.Count { return event.Count{N: n, Known: true} }
	for data, want := range map[string]event.Usage{
		`{}`: {},
		`{"prompt_tokens":120,"completion_tokens":18,"total_tokens":138,"cache_read_input_tokens":0}`:                                                                                             {Input: known(120), Output: known(18), CacheRead: known(0)},
		`{"prompt_tokens":40,"completion_tokens":9,"completion_tokens_details":{"reasoning_tokens":3},"prompt_tokens_details":{"cached_tokens":8},"cache_read_input_tokens":7,"total_tokens":49}`: {Input: known(40), Output: known(9), CacheRead: known(8), Reasoning: known(3)},
		`{"prompt_tokens":40,"total_tokens":49}`:                     {Input: known(40), Output: known(9)},
		`{"prompt_tokens":40,"total_tokens":9}`:                      {Input: known(40)},
		`{"prompt_tokens":-1,"completion_tokens":1.5}`:               {},
		`{"prompt_tokens":1e300,"completion_tokens":"7"}`:            {},
		`{"prompt_tokens_details":[],"completion_tokens_details":7}`: {},
	} {
		if got := readUsage(value(t, data)); got != want {
			t.Errorf("the usage %s is read as %+v", data, got)
		}
	}
}

// TestTimes checks the formats of timestamps and durations.
func TestTimes(t *testing.T) {
	for data, want := range map[string]string{
		`"2025-11-06T10:30:00.123Z"`:  "2025-11-06T10:30:00.123Z",
		`"2025-11-06T12:30:00+02:00"`: "2025-11-06T10:30:00Z",
		`"1999-11-06T10:30:00Z"`:      "",
		`"2300-11-06T10:30:00Z"`:      "",
		`"soon"`:                      "",
		`1767081391059`:               "",
		`null`:                        "",
	} {
		got := ""
		if at := dialect.TextTime(value(t, data)); !at.IsZero() {
			got = at.Format(time.RFC3339Nano)
		}
		if got != want {
			t.Errorf("the time %s is read as %q", data, got)
		}
	}
	for data, want := range map[string]event.Duration{
		`0`: {Known: true}, `1.5`: {D: 1500 * time.Microsecond, Known: true}, `-1`: {}, `1e300`: {}, `1e999`: {}, `"7"`: {}, `null`: {},
	} {
		if got := dialect.Duration(value(t, data), time.Millisecond); got != want {
			t.Errorf("%s ms are read as %+v", data, got)
		}
	}
}

// TestSanitize checks the names of agents in tool names.
func TestSanitize(t *testing.T) {
	for name, want := range map[string]string{"weather-bot": "weather-bot", "Weather  Bot": "weather-bot", "a_b": "a-b", "ünï": "-n-", "": ""} {
		if got := sanitize(name); got != want {
			t.Errorf("sanitize(%q) = %q, want %q", name, got, want)
		}
	}
}

// TestKindsAndTable compares the decoded kinds with those in the policy table.
func TestKindsAndTable(t *testing.T) {
	for name := range kinds {
		if rules, known := table.Types[name]; !known || !rules.Client {
			t.Errorf("the policy client does not let out the kind %s", name)
		}
	}
	for name := range table.Types {
		if kinds[name] == nil || isInternal([]byte(name)) {
			t.Errorf("the policy table has %s, which is unknown or internal", name)
		}
	}
	if len(kinds) != 21 {
		t.Errorf("there are %d kinds, want 21", len(kinds))
	}
}

// TestPaths checks which paths have streams with multiple runs.
func TestPaths(t *testing.T) {
	got := map[string]bool{}
	for _, p := range (Dialect{}).Paths() {
		got[p.Glob] = p.MultipleRuns
	}
	if diff := cmp.Diff(map[string]bool{"/invocations": false, "/events/*": true, "/api/contexts/*/stream": true, "/sse/*": true}, got); diff != "" {
		t.Errorf("MultipleRuns by path differs (-want +got):\n%s", diff)
	}
}

// TestLongNames checks that names are cut at the boundary of a character.
func TestLongNames(t *testing.T) {
	long := "x" + strings.Repeat("é", dialect.MaxName)
	got := dialecttest.Facts(Dialect{}, &event.Stream{}, of(long, "tool-start", `"toolName":"`+long+`"`))
	if name := `name="x` + strings.Repeat("é", 127) + `"`; !strings.Contains(got, name) || !strings.Contains(got, strings.Replace(name, "name", "run", 1)) {
		t.Errorf("the facts are %s, want names cut to %d bytes", got, dialect.MaxName)
	}
}
