package a2a_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/a2a"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

var (
	public = filter.Settings{Policy: event.PolicyPublic}
	client = filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed}
)

// leave is what of a stream leaves by a policy: for each frame its data, or the reason why it stays in.
func leave(t *testing.T, s filter.Settings, stream string) (left []string) {
	t.Helper()
	settings := collector.Settings{Frame: 1 << 20, JSONDepth: 128}
	input := collector.Input{Reader: strings.NewReader(stream), Arrival: func() time.Time { return time.Time{} }}
	decoding := collector.New([]dialect.Dialect{a2a.Dialect{}}, settings, nil).Decode(&event.Stream{}, input, "a2a")
	f := filter.New(s)
	for {
		b, err := decoding.Next()
		if err != nil {
			return left
		}
		frame, why := f.Apply(b)
		switch {
		case why != filter.Passed:
			left = append(left, stays+": "+string(why))
		case frame.Name != "":
			left = append(left, "named "+frame.Name)
		default:
			left = append(left, string(frame.Data))
		}
	}
}

const stays = "stays in"

// envelopes are those of 0.3 and of 1.0, each over JSON-RPC and over HTTP+JSON; two take the name of the update in the way of 1.0.
var envelopes = map[string]func(kind, wrapper, members string) string{
	"0.3": func(kind, _, members string) string {
		return `{"jsonrpc":"2.0","id":1,"result":{"kind":"` + kind + `",` + members + `}}`
	},
	"0.3, bare": func(kind, _, members string) string { return `{"kind":"` + kind + `",` + members + `}` },
	"1.0": func(_, wrapper, members string) string {
		return `{"jsonrpc":"2.0","id":"a","result":{"` + wrapper + `":{` + members + `}}}`
	},
	"1.0, bare": func(_, wrapper, members string) string { return `{"` + wrapper + `":{` + members + `}}` },
}

// policyCase is an update, and what the public gets of it. Nothing that is called secret may be in that.
type policyCase struct{ kind, wrapper, sent, public string }

// of makes the case of an update.
func of(kind, sent, public string) policyCase {
	wrapper := map[string]string{"status-update": "statusUpdate", "artifact-update": "artifactUpdate"}[kind]
	if wrapper == "" {
		wrapper = kind
	}
	return policyCase{kind, wrapper, sent, public}
}

const (
	secrets = `"metadata":{"adk_user_id":"secret","adk_usage_metadata":"secret","x":"secret"},"extensions":["secret"],"x":"secret"`
	ids     = `"taskId":"t","contextId":"c"`
	file    = `{"kind":"file","file":{"name":"n","mimeType":"m/t","bytes":"secret","uri":"secret","fileWithUri":"secret","fileWithBytes":"secret"}}`
	file10  = `{"raw":"secret","url":"secret","filename":"n","mediaType":"m/t","metadata":{"x":"secret"}}`
	data    = `{"kind":"data","data":{"id":"secret","name":"secret"},"metadata":{"x":"secret"}}`
	called  = `{"kind":"data","data":{"id":"c1","name":"f","args":{"x":"secret"}},"metadata":{"adk_type":"function_call","adk_is_long_running":true,"x":"secret"}}`
	gave    = `{"kind":"data","data":{"id":"c1","name":"f","response":{"x":"secret"}},"metadata":{"adk_type":"function_response","x":"secret"}}`
	thought = `{"kind":"text","text":"secret","metadata":{"adk_thought":true,"x":"secret"}}`
	hi      = `{"kind":"text","text":"hi"}`
	secret  = `{"kind":"text","text":"secret"}`
)

func status(state, message string) string {
	return ids + `,"status":{"state":"` + state + `","timestamp":"2026-01-01T00:00:00Z","message":` + message + `},"final":true`
}

func message(role, parts string) string {
	return `{"kind":"message","messageId":"m","role":"` + role + `","contextId":"c","taskId":"t","parts":[` + parts + `],"referenceTaskIds":["secret"],` + secrets + `}`
}

func publicMessage(role, rest string) string {
	return `{"kind":"message","messageId":"m","role":"` + role + `","contextId":"c","taskId":"t"` + rest + `}`
}

var policyCases = []policyCase{
	// How a task stands. Words leave where they are its answer or its question.
	of("task", `"id":"t","contextId":"c","status":{"state":"submitted"},"history":[`+message("user", secret)+`],`+secrets, `"id":"t","contextId":"c","status":{"state":"submitted"}`),
	of("task", `"id":"t","contextId":"c","status":{"state":"working"},"artifacts":[{"artifactId":"a","parts":[`+secret+`]}]`, `"id":"t","contextId":"c","status":{"state":"working"}`),
	of("task", `"id":"t","status":{"state":"completed"},"artifacts":[{"artifactId":"a","name":"n","description":"secret","parts":[`+hi+`,`+file+`],`+secrets+`}]`,
		`"id":"t","status":{"state":"completed"},"artifacts":[{"artifactId":"a","name":"n","parts":[{"kind":"text","text":"hi"},{"kind":"file","file":{"name":"n","mimeType":"m/t","uri":"about:blank","fileWithUri":"about:blank"}}]}]`),
	of("task", `"id":"t","status":{"state":"completed"},"artifacts":[{"artifactId":"a","parts":[`+thought+`,`+hi+`]}]`,
		`"id":"t","status":{"state":"completed"},"artifacts":[{"artifactId":"a","parts":[{"kind":"text","text":"hi"}]}]`),
	of("status-update", status("working", message("agent", secret))+`,`+secrets, ids+`,"status":{"state":"working","timestamp":"2026-01-01T00:00:00Z"},"final":true`),
	of("status-update", status("TASK_STATE_WORKING", message("ROLE_AGENT", thought)), ids+`,"status":{"state":"TASK_STATE_WORKING","timestamp":"2026-01-01T00:00:00Z"},"final":true`),
	of("status-update", status("completed", message("agent", hi)), ids+`,"status":{"state":"completed","timestamp":"2026-01-01T00:00:00Z","message":`+publicMessage("agent", `,"parts":[`+hi+`]`)+`},"final":true`),
	of("status-update", status("completed", message("user", secret)), ids+`,"status":{"state":"completed","timestamp":"2026-01-01T00:00:00Z"},"final":true`),
	of("status-update", status("completed", `{"messageId":"m","role":"agent","parts":[`+hi+`],"content":[`+secret+`]}`), ids+`,"status":{"state":"completed","timestamp":"2026-01-01T00:00:00Z"},"final":true`),
	of("task", `"id":"t","status":{"state":"completed","message":{"messageId":"m","role":"agent","parts":[`+called+`]}},"artifacts":[{"artifactId":"a","parts":[`+data+`]},{"artifactId":"b","parts":[`+thought+`]}]`,
		`"id":"t","status":{"state":"completed"},"artifacts":[{"artifactId":"a","parts":[]},{"artifactId":"b","parts":[]}]`),
	of("task", `"id":"t","status":{"state":"completed","message":{"messageId":"m","role":"agent","parts":[`+called+`]}},"artifacts":[{"artifactId":"a","parts":[`+data+`]}]`,
		`"id":"t","status":{"state":"completed","message":{"messageId":"m","role":"agent","parts":[{"kind":"data","data":{}}]}},"artifacts":[{"artifactId":"a","parts":[{"kind":"data","data":{}}]}]`),
	of("task", `"id":"t","status":{"state":"working","message":{"messageId":"m","role":"agent","parts":[`+called+`]}},"artifacts":[{"artifactId":"a","parts":[`+data+`]}]`, `"id":"t","status":{"state":"working"}`),

	// What is said where nobody looks for it.
	of("status-update", ids+`,"status":{"state":"completed"},"artifact":{"artifactId":"a","parts":[`+secret+`]}`, ids+`,"status":{"state":"completed"}`),
	of("status-update", ids+`,"status":{"state":"completed"},"content":[`+secret+`]`, ids+`,"status":{"state":"completed"}`),
	of("artifact-update", ids+`,"artifact":{"artifactId":"a","parts":[`+hi+`]},"parts":[`+secret+`]`, stays),

	of("status-update", status("failed", message("agent", `{"text":"secret"}`)), ids+`,"status":{"state":"failed","timestamp":"2026-01-01T00:00:00Z"},"final":true`),
	of("status-update", status("rejected", message("agent", `{"text":"secret"}`)), ids+`,"status":{"state":"rejected","timestamp":"2026-01-01T00:00:00Z"},"final":true`),
	of("status-update", status("canceled", message("agent", `{"text":"secret"}`)), ids+`,"status":{"state":"canceled","timestamp":"2026-01-01T00:00:00Z"},"final":true`),
	of("status-update", status("input-required", message("agent", hi+`,`+called+`,`+thought)), ids+`,"status":{"state":"input-required","timestamp":"2026-01-01T00:00:00Z","message":`+publicMessage("agent", `,"parts":[`+hi+`]`)+`},"final":true`),
	of("status-update", status("auth-required", message("agent", data)), ids+`,"status":{"state":"auth-required","timestamp":"2026-01-01T00:00:00Z"},"final":true`),

	// What ADK agents do meanwhile: names and ids of tools, no arguments and results.
	of("status-update", status("working", message("agent", called)), ids+`,"status":{"state":"working","timestamp":"2026-01-01T00:00:00Z","message":`+publicMessage("agent", `,"parts":[{"kind":"data","data":{"id":"c1","name":"f"},"metadata":{"adk_type":"function_call","adk_is_long_running":true}}]`)+`},"final":true`),
	of("artifact-update", ids+`,"artifact":{"artifactId":"a","parts":[`+gave+`]},"append":true`, ids+`,"artifact":{"artifactId":"a","parts":[{"kind":"data","data":{"id":"c1","name":"f"},"metadata":{"adk_type":"function_response"}}]},"append":true`),
	of("artifact-update", ids+`,"artifact":{"artifactId":"a","parts":[`+hi+`,`+called+`]}`, ids+`,"artifact":{"artifactId":"a","parts":[`+hi+`,{"kind":"data","data":{}}]}`),

	// The answer.
	of("artifact-update", ids+`,"artifact":{"artifactId":"a","name":"n","description":"secret","parts":[`+hi+`],`+secrets+`},"append":false,"lastChunk":true,`+secrets, ids+`,"artifact":{"artifactId":"a","name":"n","parts":[`+hi+`]},"append":false,"lastChunk":true`),
	of("artifact-update", ids+`,"artifact":{"artifactId":"a","parts":[`+file10+`,`+data+`]}`, ids+`,"artifact":{"artifactId":"a","parts":[{"url":"about:blank","filename":"n","mediaType":"m/t"},{"kind":"data","data":{}}]}`),
	of("artifact-update", ids+`,"artifact":{"artifactId":"a","parts":[`+thought+`,`+hi+`]}`, ids+`,"artifact":{"artifactId":"a","parts":[`+hi+`]}`),
	of("message", `"messageId":"m","contextId":"c","role":"agent","parts":[`+hi+`,`+data+`],"referenceTaskIds":["secret"],`+secrets, `"messageId":"m","contextId":"c","role":"agent","parts":[`+hi+`,{"kind":"data","data":{}}]`),
	of("message", `"messageId":"m","role":"agent","parts":[`+thought+`,`+file+`]`, `"messageId":"m","role":"agent","parts":[{"kind":"file","file":{"name":"n","mimeType":"m/t","uri":"about:blank","fileWithUri":"about:blank"}}]`),
	of("message", `"messageId":"m","role":"agent","parts":[`+thought+`,{"raw":"secret","filename":"n","mediaType":"m/t"}]`, `"messageId":"m","role":"agent","parts":[{"url":"about:blank","filename":"n","mediaType":"m/t"}]`),
	of("message", `"messageId":"m","role":"ROLE_AGENT","content":[`+hi+`]`, `"messageId":"m","role":"ROLE_AGENT","content":[`+hi+`]`),

	// What no agent says.
	of("message", `"messageId":"m","role":"user","parts":[{"text":"secret"}]`, stays),
	of("message", `"messageId":"m","role":"User","parts":[{"text":"secret"}]`, stays),
	of("message", `"messageId":"m","role":"role_user","content":[{"text":"secret"},{"url":"secret","filename":"secret"}]`, stays),
	of("message", `"messageId":"m","role":1,"parts":[{"text":"secret"}]`, stays),
	of("message", `"messageId":"m","parts":[{"text":"secret"}]`, stays),
	of("status-update", status("input-required", message("user", secret)), ids+`,"status":{"state":"input-required","timestamp":"2026-01-01T00:00:00Z"},"final":true`),
	of("status-update", status("TASK_STATE_AUTH_REQUIRED", message("ROLE_user", secret)), ids+`,"status":{"state":"TASK_STATE_AUTH_REQUIRED","timestamp":"2026-01-01T00:00:00Z"},"final":true`),
	of("status-update", status("completed", message("USER", secret)), ids+`,"status":{"state":"completed","timestamp":"2026-01-01T00:00:00Z"},"final":true`),

	// Whose event it is.
	of("status-update", ids+`,"status":{"state":"working","message":`+message("agent", secret)+`},"metadata":{"adk_author":"a","adk_branch":"r.a","adk_invocation_id":"i","adk_partial":true,"adk_user_id":"secret"}`,
		ids+`,"status":{"state":"working"},"metadata":{"adk_author":"a","adk_branch":"r.a","adk_invocation_id":"i","adk_partial":true}`),
	of("artifact-update", ids+`,"artifact":{"artifactId":"a","parts":[`+hi+`],"metadata":{"adk_author":"a","adk_branch":{"x":"secret"},"adk_actions":"secret"}}`,
		ids+`,"artifact":{"artifactId":"a","parts":[`+hi+`],"metadata":{"adk_author":"a"}}`),
	of("message", `"messageId":"m","role":"user","parts":[{"text":"secret"}],"metadata":{"adk_author":"secret"}`, stays),
}

// TestPolicies lets each update leave in each of its envelopes: to the public what the table says, to the protocol's own client
// all of it.
func TestPolicies(t *testing.T) {
	for _, c := range policyCases {
		for name, envelope := range envelopes {
			sent := envelope(c.kind, c.wrapper, c.sent)
			want := envelope(c.kind, c.wrapper, c.public)
			if got := leave(t, public, "data: "+sent+"\n\n")[0]; c.public == stays && !strings.HasPrefix(got, stays) || c.public != stays && got != want || strings.Contains(got, "secret") {
				t.Errorf("%s: the public gets of\n%s\n%s\nwant\n%s", name, sent, got, want)
			}
			if got := leave(t, client, "data: "+sent+"\n\n")[0]; got != sent {
				t.Errorf("%s: the client gets of\n%s\n%s", name, sent, got)
			}
		}
	}
}

// TestBesideEnvelopes lets nothing leave that is said beside an update.
func TestBesideEnvelopes(t *testing.T) {
	const update = `"statusUpdate":{` + ids + `,"status":{"state":"completed","message":{"messageId":"m","parts":[` + hi + `]}}}`
	const want = `"statusUpdate":{` + ids + `,"status":{"state":"completed"}}`
	const more = `,"artifacts":[{"artifactId":"a","parts":[` + secret + `]}]`
	for _, around := range [][2]string{{`{"jsonrpc":"2.0","id":1,"result":{`, `}}`}, {`{`, `}`}} {
		for _, sent := range []string{around[0] + update + more + around[1], strings.TrimSuffix(around[0]+update+around[1], "}") + more + "}"} {
			if got := leave(t, public, "data: "+sent+"\n\n")[0]; got != around[0]+want+around[1] {
				t.Errorf("the public gets of\n%s\n%s", sent, got)
			}
		}
	}
}

// TestErrors tells that a run failed, and not why.
func TestErrors(t *testing.T) {
	for sent, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"secret","data":[{"x":"secret"}]}}`: `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the run failed"}}`,
		`{"error":{"code":500,"status":"INTERNAL","message":"secret","details":[{"x":"secret"}]}}`:    `{"error":{"code":500,"status":"INTERNAL","message":"the run failed"}}`,
	} {
		for _, name := range []string{"", "event: error\n"} {
			stream := name + "data: " + sent + "\n\n"
			if got := leave(t, public, stream)[0]; got != want {
				t.Errorf("the public gets of\n%s%s", stream, got)
			}
			if got := leave(t, client, stream)[0]; got != sent {
				t.Errorf("the client gets of\n%s%s", stream, got)
			}
		}
	}
}

// uncounted takes no count of what a relay withholds.
type uncounted struct{}

func (uncounted) Withheld(string, filter.Reason) {}
func (uncounted) IDWithheld(string)              {}

// TestInternalErrors tells a client that its run failed if the error itself may not leave: it would wait for it.
func TestInternalErrors(t *testing.T) {
	const sent = `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"secret","data":{"type":"InternalError"}}}`
	input := collector.Input{Reader: strings.NewReader("data: " + sent + "\n\n"), Arrival: func() time.Time { return time.Time{} }}
	settings := collector.Settings{Frame: 1 << 20, JSONDepth: 128}
	b, err := collector.New([]dialect.Dialect{a2a.Dialect{}}, settings, nil).Decode(&event.Stream{}, input, "a2a").Next()
	if err != nil {
		t.Fatal(err)
	}
	want := "data: " + (a2a.Dialect{}).Table().Failure + "\n\n"
	for _, s := range []filter.Settings{client, public} {
		if got := string(filter.NewRelay(s, uncounted{}).Append(nil, b)); got != want {
			t.Errorf("%s: %q, want %q", s.Policy, got, want)
		}
	}
}

// TestThoughts lets thoughts out where the settings say so.
func TestThoughts(t *testing.T) {
	settings := filter.Settings{Policy: event.PolicyPublic, Thoughts: event.ThoughtsDetailed}
	const sent = `{"artifactUpdate":{` + ids + `,"artifact":{"artifactId":"a","parts":[{"text":"hm","metadata":{"adk_thought":true,"x":"secret"}},{"text":"hi"}]}}}`
	const want = `{"artifactUpdate":{` + ids + `,"artifact":{"artifactId":"a","parts":[{"text":"hm","metadata":{"adk_thought":true}},{"text":"hi"}]}}}`
	marked := func(s string) string {
		return strings.Replace(s, `"metadata":{"adk_thought":true`, `"thought":true,"metadata":{"y":"secret"`, 1)
	}
	for sent, want := range map[string]string{sent: want, marked(sent): strings.Replace(want, `"metadata":{"adk_thought":true}`, `"thought":true`, 1)} {
		if got := leave(t, settings, "data: "+sent+"\n\n")[0]; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestSettings keeps in what the settings name.
func TestSettings(t *testing.T) {
	stream := func(kind, members string) string { return "data: " + envelopes["1.0"]("", kind, members) + "\n\n" }
	answer := stream("artifactUpdate", ids+`,"artifact":{"artifactId":"a","parts":[`+hi+`]}`)
	question := stream("statusUpdate", status("input-required", message("agent", hi)))
	failed := stream("statusUpdate", ids+`,"status":{"state":"failed"}`)
	for _, c := range []struct {
		out    event.Kind
		stream string
	}{{event.KindText, answer}, {event.KindInputRequested, question}, {event.KindError, failed}} {
		for _, policy := range []event.Policy{event.PolicyPublic, event.PolicyClient} {
			got := leave(t, filter.Settings{Policy: policy, Out: []event.Kind{c.out}}, c.stream)[0]
			if strings.Contains(got, `"hi"`) || strings.Contains(got, "failed") || strings.Contains(got, "input-required") {
				t.Errorf("%s without %v: %s", policy, c.out, got)
			}
		}
	}
}

// TestStaysIn keeps in what is internal or not known, under either policy.
func TestStaysIn(t *testing.T) {
	rpc := func(result string) string { return `{"jsonrpc":"2.0","id":1,"result":` + result + `}` }
	for _, c := range []struct{ name, data, why string }{
		{"", rpc(`{"kind":"internal:x","taskId":"t"}`), "internal"},
		{"", rpc(`{"KIND":"internal:x","statusUpdate":{` + ids + `,"status":{"state":"working"}}}`), "internal"},
		{"", rpc(`{"statusUpdate":{` + ids + `,"status":{"state":"working"},"metadata":{"type":"internal:x"}}}`), "internal"},
		{"", rpc(`{"artifactUpdate":{` + ids + `,"artifact":{"parts":[{"kind":"internal","text":"secret"}]}}}`), "internal"},
		{"", `{"message":{"messageId":"m","role":"ROLE_AGENT","content":[{"type":"internal:x","text":"secret"}]}}`, "internal"},
		{"", `{"statusUpdate":{` + ids + `,"status":{"state":"completed","message":{"messageId":"m","content":[{"kind":"internal","text":"secret"}]}}}}`, "internal"},
		{"", rpc(`{"statusUpdate":{` + ids + `,"status":{"state":"working"},"metadata":{"adk_custom_metadata":{"a2a:response":{"result":{"kind":"internal:x"}}}}}}`), "internal"},
		{"", rpc(`{"statusUpdate":{` + ids + `,"status":{"state":"working"}},"event":{"kind":"internal:x"}}`), "internal"},
		{"", rpc(`{"statusUpdate":{` + ids + `,"status":{"state":"working"},"rawEvent":[{"type":"internal:x"}]}}`), "internal"},
		{"", `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"secret","kind":"internal:x"}}`, "internal"},
		{"", `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m","data":{"kind":"internal:x","y":"secret"}}}`, "internal"},
		{"", `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m","data":[{"x":{"type":"internal:x"}}]}}`, "internal"},
		{"", `{"jsonrpc":"2.0","method":"x","params":{"kind":"internal:x"},"result":{"statusUpdate":{` + ids + `,"status":{"state":"working"}}}}`, "internal"},
		{"", rpc(`{"statusUpdate":{` + ids + `,"status":{"state":"working"}},"internalEvent":{"x":"secret"}}`), "internal"},
		{"", rpc(`{"statusUpdate":{` + ids + `,"status":{"state":"working"}},"debugEvent":{"kind":"internal:x","y":"secret"}}`), "internal"},
		{"", `{"x":{"kind":"internal:x"},"statusUpdate":{` + ids + `,"status":{"state":"working"}}}`, "internal"},
		{"internal:x", rpc(`{"statusUpdate":{` + ids + `,"status":{"state":"working"}}}`), "internal"},
		{"Internal_Message", rpc(`{"statusUpdate":{` + ids + `,"status":{"state":"working"}}}`), "internal"},
		{"TaskStatusUpdateEvent", rpc(`{"kind":"task-moved","taskId":"t"}`), "unknown"},
		{"", rpc(`{"kind":"task-moved","taskId":"t"}`), "unknown"},
		{"", `{"kind":"task-moved","taskId":"t"}`, "unknown"},
		{"", `{"type":"x","statusUpdate":{` + ids + `,"status":{"state":"working"}}}`, "unknown"},
		{"", rpc(`{"tools":["secret"]}`), "unreadable"},
		{"", `{"statusUpdate":{` + ids + `,"status":{"state":"working"}},"statusupdate":{}}`, "unreadable"},
		{"", `{"statusUpdate":{` + ids, "unreadable"},
		{"", `[]`, "unreadable"},
	} {
		stream := "data: " + c.data + "\n\n"
		if c.name != "" {
			stream = "event: " + c.name + "\n" + stream
		}
		for _, s := range []filter.Settings{public, client} {
			if got := leave(t, s, stream); !slices.Equal(got, []string{stays + ": " + c.why}) {
				t.Errorf("%s of\n%s%q", s.Policy, stream, got)
			}
		}
	}
}

// TestNames relays frames under SSE event names. A frame goes by its JSON; a name reaches the client only where clients act on it.
func TestNames(t *testing.T) {
	for _, c := range []struct{ name, data, want string }{
		{"", working, ""},
		{"message", working, ""},
		{"TaskStatusUpdateEvent", working, ""},
		{"Error", working, ""},
		{"error", `{"error":{"code":500,"status":"INTERNAL","message":"secret"}}`, "error"},
		{"error", `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"secret"}}`, "error"},
		{"failed", `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"secret"}}`, ""},
		{"error", "the agent is down", "error"}, // in whose place we say that the run failed
	} {
		for _, s := range []filter.Settings{public, client} {
			input := collector.Input{Reader: strings.NewReader("event: " + c.name + "\ndata: " + c.data + "\n\n"), Arrival: func() time.Time { return time.Time{} }}
			decoding := collector.New([]dialect.Dialect{a2a.Dialect{}}, collector.Settings{Frame: 1 << 20, JSONDepth: 128}, nil).Decode(&event.Stream{}, input, "a2a")
			b, err := decoding.Next()
			if err != nil {
				t.Fatal(err)
			}
			relayed := filter.NewRelay(s, nobody{}).Append(nil, b)
			frame, err := sse.NewReader(bytes.NewReader(relayed), 0).Next()
			if err != nil || string(frame.Event) != c.want || len(frame.Data) == 0 {
				t.Errorf("%s of %s: %s becomes %q, want the name %q", s.Policy, c.name, c.data, relayed, c.want)
			}
		}
	}
}

const working = `{"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{` + ids + `,"status":{"state":"TASK_STATE_WORKING"}}}}`

// nobody is told what a relay kept in.
type nobody struct{}

func (nobody) Withheld(string, filter.Reason) {}
func (nobody) IDWithheld(string)              {}

// elsewhere takes out what stands in the place of files.
var elsewhere = strings.NewReplacer(`"uri":"about:blank"`, "", `"url":"about:blank"`, "")

// TestPoliciesOfCaptures lets recorded streams leave: to the client whole, to the public without what tools were given and gave
// back, thoughts, words of errors, contents and places of files, the user's words, usage.
func TestPoliciesOfCaptures(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.sse")
	if len(files) == 0 {
		t.Fatal("no captures")
	}
	frame := regexp.MustCompile(`(?m)^data: (.*?)\r?$`)
	kept := regexp.MustCompile(`"(args|response|adk_usage_metadata|adk_user_id|raw|url|bytes|uri|history|adk_actions)"|Let me think|boom|secret|case:\w+"|overloaded|blocked|model down|Looking it up`)
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		toPublic, toClient := leave(t, public, string(content)), leave(t, client, string(content))
		for i, sent := range frame.FindAllStringSubmatch(string(content), -1) {
			if toClient[i] != sent[1] {
				t.Errorf("%s, frame %d: the client gets of\n%s\n%s", file, i+1, sent[1], toClient[i])
			}
			if found := kept.FindString(elsewhere.Replace(toPublic[i])); found != "" {
				t.Errorf("%s, frame %d: the public gets %s in\n%s", file, i+1, found, toPublic[i])
			}
		}
	}
}
