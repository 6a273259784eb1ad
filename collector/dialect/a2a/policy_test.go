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

// filterStream returns the filter's output for each frame: its data, or the reason why it is withheld.
func filterStream(t *testing.T, s filter.Settings, stream string) []string {
	t.Helper()
	return filterStreamOf(t, &event.Stream{}, s, stream)
}

// filterStreamOf is filterStream for a stream with an identity.
func filterStreamOf(t *testing.T, of *event.Stream, s filter.Settings, stream string) (output []string) {
	t.Helper()
	settings := collector.Settings{MaxFrame: 1 << 20, MaxJSONDepth: 128}
	input := collector.Input{Reader: strings.NewReader(stream), ReceivedAt: func() time.Time { return time.Time{} }}
	decoding := collector.New([]dialect.Dialect{a2a.Dialect{}}, settings, nil).Decode(of, input, "a2a")
	f := filter.New(s)
	for {
		b, err := decoding.Next()
		if err != nil {
			return output
		}
		frame, why := f.Apply(b)
		switch {
		case why != filter.Passed:
			output = append(output, withheld+": "+string(why))
		case frame.Name != "":
			output = append(output, "named "+frame.Name)
		default:
			output = append(output, string(frame.Data))
		}
	}
}

const withheld = "withheld"

// envelopes format an update for version 0.3 or 1.0, over JSON-RPC or over HTTP+JSON. kind is the name of the
// update in version 0.3, wrapper that in 1.0.
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

// policyCase is an update and its output under public, which must not contain "secret".
type policyCase struct{ kind, wrapper, sent, public string }

// update returns the case of an update.
func update(kind, sent, public string) policyCase {
	wrapper := map[string]string{"status-update": "statusUpdate", "artifact-update": "artifactUpdate"}[kind]
	if wrapper == "" {
		wrapper = kind
	}
	return policyCase{kind, wrapper, sent, public}
}

const (
	secrets       = `"metadata":{"adk_user_id":"secret","adk_usage_metadata":"secret","x":"secret"},"extensions":["secret"],"x":"secret"`
	ids           = `"taskId":"t","contextId":"c"`
	file          = `{"kind":"file","file":{"name":"n","mimeType":"m/t","bytes":"secret","uri":"secret","fileWithUri":"secret","fileWithBytes":"secret"}}`
	file10        = `{"raw":"secret","url":"secret","filename":"n","mediaType":"m/t","metadata":{"x":"secret"}}`
	data          = `{"kind":"data","data":{"id":"secret","name":"secret"},"metadata":{"x":"secret"}}`
	called        = `{"kind":"data","data":{"id":"c1","name":"f","args":{"x":"secret"}},"metadata":{"adk_type":"function_call","adk_is_long_running":true,"x":"secret"}}`
	toolResult    = `{"kind":"data","data":{"id":"c1","name":"f","response":{"x":"secret"}},"metadata":{"adk_type":"function_response","x":"secret"}}`
	thought       = `{"kind":"text","text":"secret","metadata":{"adk_thought":true,"x":"secret"}}`
	pendingResult = `{"kind":"data","data":{"id":"c1","name":"f","response":{"status":"pending","ticket":"secret"}},"metadata":{"adk_type":"function_response","x":"secret"}}`
	publicCalled  = `{"kind":"data","data":{"id":"c1","name":"f"},"metadata":{"adk_type":"function_call","adk_is_long_running":true}}`
	publicResult  = `{"kind":"data","data":{"id":"c1","name":"f"},"metadata":{"adk_type":"function_response"}}`
	publicPending = `{"kind":"data","data":{"id":"c1","name":"f","response":{"status":"pending"}},"metadata":{"adk_type":"function_response"}}`
	hi            = `{"kind":"text","text":"hi"}`
	secret        = `{"kind":"text","text":"secret"}`
	answer        = `{"artifactId":"a","parts":[` + hi + `]}`
	answered      = `"id":"t","status":{"state":"completed"},"artifacts":[` + answer + `]`
)

func status(state, message string) string {
	return ids + `,"status":{"state":"` + state + `","timestamp":"2026-01-01T00:00:00Z","message":` + message + `},"final":true`
}

// failedTask returns a snapshot with the error text and an artifact of a task.
func failedTask(state, parts string) string {
	return `"id":"t","status":{"state":"` + state + `","message":{"messageId":"m","role":"agent","parts":[` + parts + `]}},"artifacts":[` + answer + `]`
}

func message(role, parts string) string {
	return `{"kind":"message","messageId":"m","role":"` + role + `","contextId":"c","taskId":"t","parts":[` + parts + `],"referenceTaskIds":["secret"],` + secrets + `}`
}

func publicMessage(role, rest string) string {
	return `{"kind":"message","messageId":"m","role":"` + role + `","contextId":"c","taskId":"t"` + rest + `}`
}

var policyCases = []policyCase{
	// States. A text leaves if it is the answer or the question.
	update("task", `"id":"t","contextId":"c","status":{"state":"submitted"},"history":[`+message("user", secret)+`],`+secrets, `"id":"t","contextId":"c","status":{"state":"submitted"}`),
	update("task", `"id":"t","contextId":"c","status":{"state":"working","message":`+message("agent", secret)+`},"artifacts":[`+answer+`]`, `"id":"t","contextId":"c","status":{"state":"working"},"artifacts":[`+answer+`]`),
	update("task", `"id":"t","status":{"state":"completed"},"artifacts":[{"artifactId":"a","name":"n","description":"secret","parts":[`+hi+`,`+file+`],`+secrets+`}]`,
		`"id":"t","status":{"state":"completed"},"artifacts":[{"artifactId":"a","name":"n","parts":[{"kind":"text","text":"hi"},{"kind":"file","file":{"name":"n","mimeType":"m/t","uri":"about:blank","fileWithUri":"about:blank"}}]}]`),
	update("task", `"id":"t","status":{"state":"completed"},"artifacts":[{"artifactId":"a","parts":[`+thought+`,`+hi+`]}]`,
		`"id":"t","status":{"state":"completed"},"artifacts":[{"artifactId":"a","parts":[{"kind":"text","text":"hi"}]}]`),
	update("status-update", status("working", message("agent", secret))+`,`+secrets, ids+`,"status":{"state":"working","timestamp":"2026-01-01T00:00:00Z"},"final":true`),
	update("status-update", status("TASK_STATE_WORKING", message("ROLE_AGENT", thought)), ids+`,"status":{"state":"TASK_STATE_WORKING","timestamp":"2026-01-01T00:00:00Z"},"final":true`),
	update("status-update", status("completed", message("agent", hi)), ids+`,"status":{"state":"completed","timestamp":"2026-01-01T00:00:00Z","message":`+publicMessage("agent", `,"parts":[`+hi+`]`)+`},"final":true`),
	update("status-update", status("completed", message("user", secret)), ids+`,"status":{"state":"completed","timestamp":"2026-01-01T00:00:00Z"},"final":true`),
	update("status-update", status("completed", `{"messageId":"m","role":"agent","parts":[`+hi+`],"content":[`+secret+`]}`), ids+`,"status":{"state":"completed","timestamp":"2026-01-01T00:00:00Z"},"final":true`),
	update("task", `"id":"t","status":{"state":"completed","message":{"messageId":"m","role":"agent","parts":[`+called+`]}},"artifacts":[{"artifactId":"a","parts":[`+data+`]},{"artifactId":"b","parts":[`+thought+`]}]`,
		`"id":"t","status":{"state":"completed","message":{"messageId":"m","role":"agent","parts":[`+publicCalled+`]}},"artifacts":[{"artifactId":"a","parts":[]},{"artifactId":"b","parts":[]}]`),
	update("task", `"id":"t","status":{"state":"completed","message":{"messageId":"m","role":"agent","parts":[`+called+`]}},"artifacts":[{"artifactId":"a","parts":[`+data+`]}]`,
		`"id":"t","status":{"state":"completed","message":{"messageId":"m","role":"agent","parts":[`+publicCalled+`]}},"artifacts":[{"artifactId":"a","parts":[{"kind":"data","data":{}}]}]`),
	update("task", `"id":"t","status":{"state":"working","message":{"messageId":"m","role":"agent","parts":[`+called+`]}},"artifacts":[{"artifactId":"a","parts":[`+data+`]}]`, `"id":"t","status":{"state":"working"},"artifacts":[{"artifactId":"a","parts":[{"kind":"data","data":{}}]}]`),

	// The artifacts of a task are an answer, whatever its status is.
	update("task", failedTask("failed", secret), `"id":"t","status":{"state":"failed"},"artifacts":[`+answer+`]`),
	update("task", failedTask("TASK_STATE_CANCELED", secret), `"id":"t","status":{"state":"TASK_STATE_CANCELED"},"artifacts":[`+answer+`]`),
	update("task", failedTask("rejected", thought+`,`+secret), `"id":"t","status":{"state":"rejected"},"artifacts":[`+answer+`]`),
	update("task", failedTask("failed", called), `"id":"t","status":{"state":"failed"},"artifacts":[`+answer+`]`),
	update("task", failedTask("weird", secret), `"id":"t","status":{"state":"weird"},"artifacts":[`+answer+`]`),
	update("task", failedTask("input-required", hi), `"id":"t","status":{"state":"input-required","message":{"messageId":"m","role":"agent","parts":[`+hi+`]}},"artifacts":[`+answer+`]`),
	update("task", failedTask("working", secret)+`,"metadata":{"thought":true}`, `"id":"t","status":{"state":"working"}`),
	update("task", failedTask("input-required", secret)+`,"metadata":{"thought":true}`, `"id":"t","status":{"state":"input-required"}`),
	update("task", `"id":"t","status":{"state":"working"},"artifacts":[{"artifactId":"a","parts":[`+thought+`,`+hi+`]}]`, `"id":"t","status":{"state":"working"},"artifacts":[`+answer+`]`),
	update("task", `"id":"t","status":{"state":"completed","message":`+message("user", secret)+`},"artifacts":[`+answer+`]`, `"id":"t","status":{"state":"completed"},"artifacts":[`+answer+`]`),
	update("task", `"id":"t","status":{"state":"failed","message":{"messageId":"m","parts":[`+secret+`],"content":[`+secret+`]}},"artifacts":[`+answer+`]`, `"id":"t","status":{"state":"failed"}`),

	// A thought in the history, or around a message of it, says nothing about the answer. One around the task does.
	update("task", answered+`,"history":[`+message("user", secret)+`,`+message("agent", thought)+`]`, answered),
	update("task", `"id":"t","status":{"state":"canceled"},"artifacts":[`+answer+`],"history":[`+message("agent", thought)+`]`, `"id":"t","status":{"state":"canceled"},"artifacts":[`+answer+`]`),
	update("task", answered+`,"history":[{"messageId":"n","role":"agent","metadata":{"thought":true},"parts":[`+secret+`]}]`, answered),
	update("task", answered+`,"history":[{"messageId":"n","role":"agent","parts":[{"text":"secret","metadata":{"kagent_thought":true}},`+called+`]}]`, answered),
	update("task", `"id":"t","status":{"state":"completed"},"artifacts":[{"artifactId":"a","parts":[`+secret+`]}],"metadata":{"thought":true},"history":[]`, `"id":"t","status":{"state":"completed"}`),

	// Unexpected members.
	update("status-update", ids+`,"status":{"state":"completed"},"artifact":{"artifactId":"a","parts":[`+secret+`]}`, ids+`,"status":{"state":"completed"}`),
	update("status-update", ids+`,"status":{"state":"completed"},"content":[`+secret+`]`, ids+`,"status":{"state":"completed"}`),
	update("artifact-update", ids+`,"artifact":{"artifactId":"a","parts":[`+hi+`]},"parts":[`+secret+`]`, withheld),

	update("status-update", status("failed", message("agent", `{"text":"secret"}`)), ids+`,"status":{"state":"failed","timestamp":"2026-01-01T00:00:00Z"},"final":true`),
	update("status-update", status("rejected", message("agent", `{"text":"secret"}`)), ids+`,"status":{"state":"rejected","timestamp":"2026-01-01T00:00:00Z"},"final":true`),
	update("status-update", status("canceled", message("agent", `{"text":"secret"}`)), ids+`,"status":{"state":"canceled","timestamp":"2026-01-01T00:00:00Z"},"final":true`),
	update("status-update", status("input-required", message("agent", hi+`,`+called+`,`+thought)), ids+`,"status":{"state":"input-required","timestamp":"2026-01-01T00:00:00Z","message":`+publicMessage("agent", `,"parts":[`+hi+`,`+publicCalled+`]`)+`},"final":true`),
	update("status-update", status("auth-required", message("agent", data)), ids+`,"status":{"state":"auth-required","timestamp":"2026-01-01T00:00:00Z"},"final":true`),

	// Answers.
	update("artifact-update", ids+`,"artifact":{"artifactId":"a","name":"n","description":"secret","parts":[`+hi+`],`+secrets+`},"append":false,"lastChunk":true,`+secrets, ids+`,"artifact":{"artifactId":"a","name":"n","parts":[`+hi+`]},"append":false,"lastChunk":true`),
	update("artifact-update", ids+`,"artifact":{"artifactId":"a","parts":[`+file10+`,`+data+`]}`, ids+`,"artifact":{"artifactId":"a","parts":[{"url":"about:blank","filename":"n","mediaType":"m/t"},{"kind":"data","data":{}}]}`),
	update("artifact-update", ids+`,"artifact":{"artifactId":"a","parts":[`+thought+`,`+hi+`]}`, ids+`,"artifact":{"artifactId":"a","parts":[`+hi+`]}`),
	update("message", `"messageId":"m","contextId":"c","role":"agent","parts":[`+hi+`,`+data+`],"referenceTaskIds":["secret"],`+secrets, `"messageId":"m","contextId":"c","role":"agent","parts":[`+hi+`,{"kind":"data","data":{}}]`),
	update("message", `"messageId":"m","role":"agent","parts":[`+thought+`,`+file+`]`, `"messageId":"m","role":"agent","parts":[{"kind":"file","file":{"name":"n","mimeType":"m/t","uri":"about:blank","fileWithUri":"about:blank"}}]`),
	update("message", `"messageId":"m","role":"agent","parts":[`+thought+`,{"raw":"secret","filename":"n","mediaType":"m/t"}]`, `"messageId":"m","role":"agent","parts":[{"url":"about:blank","filename":"n","mediaType":"m/t"}]`),
	update("message", `"messageId":"m","role":"ROLE_AGENT","content":[`+hi+`]`, `"messageId":"m","role":"ROLE_AGENT","content":[`+hi+`]`),

	// Messages of other roles.
	update("message", `"messageId":"m","role":"user","parts":[{"text":"secret"}]`, withheld),
	update("message", `"messageId":"m","role":"User","parts":[{"text":"secret"}]`, withheld),
	update("message", `"messageId":"m","role":"role_user","content":[{"text":"secret"},{"url":"secret","filename":"secret"}]`, withheld),
	update("message", `"messageId":"m","role":1,"parts":[{"text":"secret"}]`, withheld),
	update("message", `"messageId":"m","parts":[{"text":"secret"}]`, withheld),
	update("status-update", status("input-required", message("user", secret)), ids+`,"status":{"state":"input-required","timestamp":"2026-01-01T00:00:00Z"},"final":true`),
	update("status-update", status("TASK_STATE_AUTH_REQUIRED", message("ROLE_user", secret)), ids+`,"status":{"state":"TASK_STATE_AUTH_REQUIRED","timestamp":"2026-01-01T00:00:00Z"},"final":true`),
	update("status-update", status("completed", message("USER", secret)), ids+`,"status":{"state":"completed","timestamp":"2026-01-01T00:00:00Z"},"final":true`),

	// Metadata of ADK events.
	update("status-update", ids+`,"status":{"state":"working","message":`+message("agent", secret)+`},"metadata":{"adk_author":"a","adk_branch":"r.a","adk_invocation_id":"i","adk_partial":true,"adk_user_id":"secret"}`,
		ids+`,"status":{"state":"working"},"metadata":{"adk_author":"a","adk_branch":"r.a","adk_invocation_id":"i","adk_partial":true}`),
	update("artifact-update", ids+`,"artifact":{"artifactId":"a","parts":[`+hi+`],"metadata":{"adk_author":"a","adk_branch":{"x":"secret"},"adk_actions":"secret"}}`,
		ids+`,"artifact":{"artifactId":"a","parts":[`+hi+`],"metadata":{"adk_author":"a"}}`),
	update("message", `"messageId":"m","role":"user","parts":[{"text":"secret"}],"metadata":{"adk_author":"secret"}`, withheld),
}

// TestPolicies checks each update in each envelope: the policy public lets out what the table allows, and the
// policy client everything.
func TestPolicies(t *testing.T) {
	for _, c := range slices.Concat(policyCases, callCases) {
		for name, envelope := range envelopes {
			sent := envelope(c.kind, c.wrapper, c.sent)
			want := envelope(c.kind, c.wrapper, c.public)
			if got := filterStream(t, public, "data: "+sent+"\n\n")[0]; c.public == withheld && !strings.HasPrefix(got, withheld) || c.public != withheld && got != want || strings.Contains(got, "secret") {
				t.Errorf("%s: under public, filtering\n%s\ngives\n%s\nwant\n%s", name, sent, got, want)
			}
			if got := filterStream(t, client, "data: "+sent+"\n\n")[0]; got != sent {
				t.Errorf("%s: under client, filtering\n%s\ngives\n%s\nwant it unchanged", name, sent, got)
			}
		}
	}
}

// TestBesideEnvelopes checks that members next to an update do not leave.
func TestBesideEnvelopes(t *testing.T) {
	const update = `"statusUpdate":{` + ids + `,"status":{"state":"completed","message":{"messageId":"m","parts":[` + hi + `]}}}`
	const want = `"statusUpdate":{` + ids + `,"status":{"state":"completed"}}`
	const more = `,"artifacts":[{"artifactId":"a","parts":[` + secret + `]}]`
	for _, around := range [][2]string{{`{"jsonrpc":"2.0","id":1,"result":{`, `}}`}, {`{`, `}`}} {
		for _, sent := range []string{around[0] + update + more + around[1], strings.TrimSuffix(around[0]+update+around[1], "}") + more + "}"} {
			if got := filterStream(t, public, "data: "+sent+"\n\n")[0]; got != around[0]+want+around[1] {
				t.Errorf("under public, filtering\n%s\ngives\n%s", sent, got)
			}
		}
	}
}

// TestThoughts checks that thoughts leave if the settings say so.
func TestThoughts(t *testing.T) {
	settings := filter.Settings{Policy: event.PolicyPublic, Thoughts: event.ThoughtsDetailed}
	const sent = `{"artifactUpdate":{` + ids + `,"artifact":{"artifactId":"a","parts":[{"text":"hm","metadata":{"adk_thought":true,"x":"secret"}},{"text":"hi"}]}}}`
	const want = `{"artifactUpdate":{` + ids + `,"artifact":{"artifactId":"a","parts":[{"text":"hm","metadata":{"adk_thought":true}},{"text":"hi"}]}}}`
	marked := func(s string) string {
		return strings.Replace(s, `"metadata":{"adk_thought":true`, `"thought":true,"metadata":{"y":"secret"`, 1)
	}
	for sent, want := range map[string]string{sent: want, marked(sent): strings.Replace(want, `"metadata":{"adk_thought":true}`, `"thought":true`, 1)} {
		if got := filterStream(t, settings, "data: "+sent+"\n\n")[0]; got != want {
			t.Errorf("with thoughts, the output is %s, want %s", got, want)
		}
	}
}

// TestSettings checks that what the settings exclude is withheld.
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
			got := filterStream(t, filter.Settings{Policy: policy, Exclude: []event.Kind{c.out}}, c.stream)[0]
			if strings.Contains(got, `"hi"`) || strings.Contains(got, "failed") || strings.Contains(got, "input-required") {
				t.Errorf("under %s with %v excluded, the output is %s", policy, c.out, got)
			}
		}
	}
}

// TestWithheld checks that internal and unknown frames are withheld under both policies.
func TestWithheld(t *testing.T) {
	rpc := func(result string) string { return `{"jsonrpc":"2.0","id":1,"result":` + result + `}` }
	inMetadata := func(members string) string {
		return rpc(`{"statusUpdate":{` + ids + `,"status":{"state":"working"},"metadata":{` + members + `}}}`)
	}
	for _, c := range []struct{ name, data, why string }{
		{"", rpc(`{"kind":"internal:x","taskId":"t"}`), "internal"},
		{"", rpc(`{"KIND":"internal:x","statusUpdate":{` + ids + `,"status":{"state":"working"}}}`), "internal"},
		{"", rpc(`{"statusUpdate":{` + ids + `,"status":{"state":"working"},"metadata":{"type":"internal:x"}}}`), "internal"},
		{"", rpc(`{"artifactUpdate":{` + ids + `,"artifact":{"parts":[{"kind":"internal","text":"secret"}]}}}`), "internal"},
		{"", `{"message":{"messageId":"m","role":"ROLE_AGENT","content":[{"type":"internal:x","text":"secret"}]}}`, "internal"},
		{"", `{"statusUpdate":{` + ids + `,"status":{"state":"completed","message":{"messageId":"m","content":[{"kind":"internal","text":"secret"}]}}}}`, "internal"},
		{"", rpc(`{"statusUpdate":{` + ids + `,"status":{"state":"working"},"metadata":{"adk_custom_metadata":{"a2a:response":{"result":{"kind":"internal:x"}}}}}}`), "internal"},
		{"", rpc(`{"statusUpdate":{` + ids + `,"status":{"state":"working"},"metadata":{"adk_custom_metadata":"{\"x\": [{\"kind\": \"internal\"}]}"}}}`), "internal"},
		{"", rpc(`{"artifactUpdate":{` + ids + `,"artifact":{"parts":[],"metadata":{"adk_custom_metadata":"{'kind': 'internal'}"}}}}`), "internal"},
		{"", rpc(`{"artifactUpdate":{` + ids + `,"artifact":{"parts":[],"metadata":{"adk_custom_metadata":[{"key":"a2a:response","stringValue":"{\"kind\":\"internal\"}"}]}}}}`), "internal"},
		{"", inMetadata(`"adk_custom_metadata":{"y":"{\"kind\":\"internal:x\"}"}`), "internal"},
		{"", inMetadata(`"adk_custom_metadata":"{\"q\":\"{\\\"kind\\\":\\\"internal:x\\\"}\"}"`), "internal"},
		{"", inMetadata(`"x":"{\"kind\":\"internal:x\"}"`), "internal"},
		{"", inMetadata(`"x":[{"y":" [{\"z\":[{\"type\":\"internal\"}]}]"}]`), "internal"},
		{"", inMetadata(`"x":"{'kind': 'internal'}"`), "internal"},
		{"", inMetadata(`"x":"\"{\\\"kind\\\":\\\"internal\\\"}\""`), "internal"},
		{"", inMetadata(`"adk_custom_metadata":[{"key":"kind","stringValue":"internal:x"}]`), "internal"},
		{"", inMetadata(`"x":[{"key":"y","stringValue":"{\"kind\":\"internal\"}"}]`), "internal"},
		{"", rpc(`{"statusUpdate":{` + ids + `,"status":{"state":"working"}},"event":{"kind":"internal:x"}}`), "internal"},
		{"", rpc(`{"statusUpdate":{` + ids + `,"status":{"state":"working"},"rawEvent":[{"type":"internal:x"}]}}`), "internal"},
		{"", `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"secret","kind":"internal:x"}}`, "internal"},
		{"", `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m","data":{"kind":"internal:x","y":"secret"}}}`, "internal"},
		{"", `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m","data":[{"x":{"type":"internal:x"}}]}}`, "internal"},
		{"", `{"jsonrpc":"2.0","method":"x","params":{"kind":"internal:x"},"result":{"statusUpdate":{` + ids + `,"status":{"state":"working"}}}}`, "internal"},
		{"", rpc(`{"statusUpdate":{` + ids + `,"status":{"state":"working"}},"internalEvent":{"x":"secret"}}`), "internal"},
		{"", rpc(`{"statusUpdate":{` + ids + `,"status":{"state":"working"}},"debugEvent":{"kind":"internal:x","y":"secret"}}`), "internal"},
		{"", `{"x":{"kind":"internal:x"},"statusUpdate":{` + ids + `,"status":{"state":"working"}}}`, "internal"},
		{"", rpc(`{"statusUpdate":{` + ids + `,"status":{"state":"working"},"metadata":{"event":"internal:x"}}}`), "internal"},
		{"", rpc(`{"artifactUpdate":{` + ids + `,"artifact":{"metadata":{"Event":"Internal"},"parts":[]}}}`), "internal"},
		{"", rpc(`{"statusUpdate":{` + ids + `,"status":{"state":"working"}},"event":"internal:x"}`), "internal"},
		{"", `{"event":["internal:x"],"statusUpdate":{` + ids + `,"status":{"state":"working"}}}`, "internal"},
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
			if got := filterStream(t, s, stream); !slices.Equal(got, []string{withheld + ": " + c.why}) {
				t.Errorf("under %s, filtering\n%sgives %q", s.Policy, stream, got)
			}
		}
	}
}

// TestNames checks the SSE event names of relayed frames. The JSON determines the type of a frame, and a name
// is kept only if clients act on it.
func TestNames(t *testing.T) {
	for _, c := range []struct{ name, data, want string }{
		{"", working, ""},
		{"message", working, ""},
		{"TaskStatusUpdateEvent", working, ""},
		{"Error", working, ""},
		{"error", `{"error":{"code":500,"status":"INTERNAL","message":"secret"}}`, "error"},
		{"error", `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"secret"}}`, "error"},
		{"failed", `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"secret"}}`, ""},
		{"error", "the agent is down", "error"}, // replaced by an error
	} {
		for _, s := range []filter.Settings{public, client} {
			input := collector.Input{Reader: strings.NewReader("event: " + c.name + "\ndata: " + c.data + "\n\n"), ReceivedAt: func() time.Time { return time.Time{} }}
			decoding := collector.New([]dialect.Dialect{a2a.Dialect{}}, collector.Settings{MaxFrame: 1 << 20, MaxJSONDepth: 128}, nil).Decode(&event.Stream{}, input, "a2a")
			b, err := decoding.Next()
			if err != nil {
				t.Fatal(err)
			}
			relayed := filter.NewRelay(s, noCounters{}).Append(nil, b)
			frame, err := sse.NewReader(bytes.NewReader(relayed), 0).Next()
			if err != nil || string(frame.Event) != c.want || len(frame.Data) == 0 {
				t.Errorf("under %s, the frame %q with %s becomes %q, want the name %q", s.Policy, c.name, c.data, relayed, c.want)
			}
		}
	}
}

const working = `{"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{` + ids + `,"status":{"state":"TASK_STATE_WORKING"}}}}`

// noCounters is a filter.Counters that ignores everything.
type noCounters struct{}

func (noCounters) CountWithheld(string, filter.Reason) {}
func (noCounters) CountRemovedID(string)               {}

// allowed removes the placeholders of files, and what leaves of a tool's response.
var allowed = strings.NewReplacer(`"uri":"about:blank"`, "", `"url":"about:blank"`, "", `"response":{"status":"pending"}`, "")

// TestPoliciesOfCaptures checks recorded streams: the policy client lets everything out, and the policy public
// no arguments and results of tools, thoughts, error messages, contents and locations of files, texts of the
// user, or usage.
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
		toPublic, toClient := filterStream(t, public, string(content)), filterStream(t, client, string(content))
		for i, sent := range frame.FindAllStringSubmatch(string(content), -1) {
			if toClient[i] != sent[1] {
				t.Errorf("%s, frame %d: under client, filtering\n%s\ngives\n%s", file, i+1, sent[1], toClient[i])
			}
			if found := kept.FindString(allowed.Replace(toPublic[i])); found != "" {
				t.Errorf("%s, frame %d: under public, %s is in the output\n%s", file, i+1, found, toPublic[i])
			}
		}
	}
}
