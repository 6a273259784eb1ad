package formats_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// a2aShapes has both versions of the protocol over both transports. A frame is the kind of an update with its members, as version
// 0.3 spells them over JSON-RPC, or an error. If it begins with a brace or an event name, it is the wire form itself.
var a2aShapes = []kindShape{
	{"0.3", func(n int, frame string) string {
		return a2aFrame(frame, func(kind, members string) string {
			return a2aCall(fmt.Sprintf(`"result":{"kind":%q,%s}`, kind, datedStatus(n, members)))
		}, a2aCall)
	}},
	{"1.0", func(n int, frame string) string {
		return a2aFrame(frame, func(kind, members string) string {
			return a2aCall(`"result":{` + a2aWrapped(kind, a2aOne.Replace(file10(datedStatus(n, members)))) + `}`)
		}, a2aCall)
	}},
	{"0.3 REST", func(n int, frame string) string {
		return a2aFrame(frame, func(kind, members string) string {
			members = messageParts.ReplaceAllString(datedStatus(n, members), `${1}"content":`)
			members = fileBytes.ReplaceAllString(members, `"file":{"name":$1,"mimeType":$2,"fileWithBytes":$3}`)
			members = fileURI.ReplaceAllString(members, `"file":{"name":$1,"mimeType":$2,"fileWithUri":$3}`)
			members = dataPart.ReplaceAllString(members, `"data":{"data":$1},"metadata":`)
			members = strings.ReplaceAll(a2aOne.Replace(members), "TASK_STATE_CANCELED", "TASK_STATE_CANCELLED")
			return "{" + a2aWrapped(kind, members) + "}"
		}, restFailure)
	}},
	{"1.0 REST", func(n int, frame string) string {
		return a2aFrame(frame, func(kind, members string) string {
			return "{" + a2aWrapped(kind, a2aOne.Replace(file10(datedStatus(n, members)))) + "}"
		}, restFailure)
	}},
}

func a2aFrame(frame string, update func(kind, members string) string, failure func(string) string) string {
	kind, members, _ := strings.Cut(frame, " ")
	switch {
	case strings.HasPrefix(frame, "event: "):
		return frame + "\n\n"
	case kind == "error":
		return "event: error\ndata: " + failure(`"error":`+members) + "\n\n"
	case strings.HasPrefix(frame, "{"):
		return "data: " + frame + "\n\n"
	}
	return "data: " + update(kind, members) + "\n\n"
}

// datedStatus adds a time to a status. Submitted tasks and artifacts have none.
func datedStatus(n int, members string) string {
	return regexp.MustCompile(`"status":\{("state":"[^s])`).ReplaceAllString(members, fmt.Sprintf(`"status":{"timestamp":"2026-05-03T10:00:%02dZ",$1`, n))
}

func a2aCall(member string) string { return `{"jsonrpc":"2.0","id":1,` + member + "}" }

func restFailure(member string) string { return "{" + member + "}" }

func a2aWrapped(kind, members string) string {
	first, second, is := strings.Cut(kind, "-")
	if is {
		kind = first + strings.ToUpper(second[:1]) + second[1:]
	}
	return fmt.Sprintf(`%q:{%s}`, kind, members)
}

// a2aOne converts the spelling to version 1.0.
var a2aOne = func() *strings.Replacer {
	pairs := []string{
		`"kind":"text",`, "", `"kind":"data",`, "", `"kind":"file",`, "", `"kind":"message",`, "", `,"final":true`, "", `,"final":false`, "",
		`"role":"agent"`, `"role":"ROLE_AGENT"`, `"role":"user"`, `"role":"ROLE_USER"`, `"state":"unknown"`, `"state":"TASK_STATE_UNSPECIFIED"`,
	}
	for _, state := range []string{"submitted", "working", "input-required", "auth-required", "completed", "failed", "canceled", "rejected"} {
		pairs = append(pairs, `"state":"`+state+`"`, `"state":"TASK_STATE_`+strings.ToUpper(strings.ReplaceAll(state, "-", "_"))+`"`)
	}
	return strings.NewReplacer(pairs...)
}()

var (
	messageParts = regexp.MustCompile(`("messageId":"[^"]*","role":"[^"]*",)"parts":`)
	fileBytes    = regexp.MustCompile(`"file":\{"name":("[^"]*"),"mimeType":("[^"]*"),"bytes":("[^"]*")\}`)
	fileURI      = regexp.MustCompile(`"file":\{"name":("[^"]*"),"mimeType":("[^"]*"),"uri":("[^"]*")\}`)
	dataPart     = regexp.MustCompile(`"data":(\{.*?\}),"metadata":`)
)

func file10(members string) string {
	members = fileBytes.ReplaceAllString(members, `"raw":$3,"filename":$1,"mediaType":$2`)
	return fileURI.ReplaceAllString(members, `"url":$3,"filename":$1,"mediaType":$2`)
}

// a2aStatus returns the status of task t1 with the parts of its message.
func a2aStatus(state string, said ...string) string {
	message := ""
	if len(said) > 0 {
		message = `,"message":{"kind":"message","messageId":"m2","role":"agent","parts":[` + strings.Join(said, ",") + `]}`
	}
	return `"status":{"state":"` + state + `"` + message + `}`
}

func a2aUpdate(state string, said ...string) string {
	final := "true"
	if state == "working" || state == "submitted" {
		final = "false"
	}
	return `status-update "taskId":"t1","contextId":"s1",` + a2aStatus(state, said...) + `,"final":` + final
}

func a2aArtifact(id string, parts ...string) string {
	return `artifact-update "taskId":"t1","contextId":"s1","artifact":{"artifactId":"` + id + `","name":"report","description":"secret","parts":[` + strings.Join(parts, ",") + `]}`
}

const (
	a2aTask = `task "id":"t1","contextId":"s1","history":[{"kind":"message","messageId":"m1","role":"user","parts":[{"kind":"text","text":"secret"}]}],"metadata":{"x":"secret"},`
	a2aHi   = `{"kind":"text","text":"Hi."}`
	a2aHush = `{"kind":"text","text":"secret"}`
	a2aWhy  = `{"kind":"text","text":"secret","metadata":{"adk_thought":true}}`
)

// TestKindsOfA2A checks each kind of update.
func TestKindsOfA2A(t *testing.T) { a2aKinds().test(t) }

// a2aKinds has each kind of update with each state of a task.
func a2aKinds() kindTable {
	const (
		begun   = a2aTask + `"status":{"state":"submitted"}`
		file    = `{"kind":"file","file":{"name":"a.txt","mimeType":"text/plain","bytes":"c2VjcmV0"}}`
		remote  = `{"kind":"file","file":{"name":"b.png","mimeType":"image/png","uri":"https://example.org/?key=secret"}}`
		data    = `{"kind":"data","data":{"x":"secret"},"metadata":{"x":"secret"}}`
		message = `message "messageId":"m3","role":"agent","parts":`
	)
	of := func(state string, said ...string) string { return a2aTask + a2aStatus(state, said...) }
	report := `,"artifacts":[{"artifactId":"a1","name":"report","parts":[` + a2aHi + `]}]`
	working := []string{begun, a2aUpdate("working")}
	asking := []string{begun, a2aUpdate("input-required", a2aHi)}
	pieces := []string{begun, a2aUpdate("working"), a2aArtifact("a1", a2aHi) + `,"append":false`}
	done := []string{begun, a2aUpdate("working"), a2aUpdate("completed")}
	return kindTable{"a2a", a2aShapes, append([]kindCase{
		{"task submitted", nil, begun},
		{"task submitted again", done, begun},
		{"task working", nil, of("working", a2aHush) + `,"artifacts":[{"artifactId":"a1","parts":[` + a2aHi + `]}]`},
		{"task input-required", nil, of("input-required", a2aHi)},
		{"task auth-required", nil, of("auth-required", a2aHi)},
		{"task completed", nil, of("completed") + report},
		{"task completed, with a thought", nil, of("completed", a2aWhy, a2aHi)},
		{"task failed", nil, of("failed", a2aHush)},
		{"task canceled", nil, of("canceled", a2aHush)},
		{"task rejected", nil, of("rejected", a2aHush)},
		{"task of no state", nil, of("unknown", a2aHush)},

		{"message", nil, message + `[` + a2aHi + `],"contextId":"s1"`},
		{"message with a confidence and a source", nil, message + `[{"kind":"text","text":"Confidence: 90%\nSource: MTBS"}],"contextId":"s1"`},
		{"message with a thought, a file and data", nil, message + `[` + a2aWhy + `,` + file + `,` + data + `],"contextId":"s1"`},
		{"message while a task is worked on", working, message + `[` + a2aHi + `],"contextId":"s1"`},
		{"message of another context while a task is worked on", working, message + `[` + a2aHi + `],"contextId":"s2"`},
		{"message of a task", working, message + `[` + a2aHi + `],"contextId":"s1","taskId":"t1"`},
		{"message of a task, a thought", working, message + `[` + a2aHush + `],"contextId":"s1","taskId":"t1","metadata":{"agno_content_category":"reasoning"}`},
		{"message of the user", nil, `message "messageId":"m3","role":"user","parts":[` + a2aHush + `],"contextId":"s1"`},

		{"status-update submitted", nil, a2aUpdate("submitted")},
		{"status-update working", []string{begun}, a2aUpdate("working")},
		{"status-update working, with words", []string{begun}, a2aUpdate("working", a2aHush)},
		{"status-update working, with a thought", []string{begun}, a2aUpdate("working", a2aWhy)},
		{"status-update working, of the user", working, strings.Replace(a2aUpdate("working", a2aHush), `"role":"agent"`, `"role":"user"`, 1)},
		{"status-update input-required, of the user", working, strings.Replace(a2aUpdate("input-required", a2aHush), `"role":"agent"`, `"role":"user"`, 1)},
		{"status-update working, after a question", asking, a2aUpdate("working")},
		{"status-update input-required", working, a2aUpdate("input-required", a2aHi, file)},
		{"status-update auth-required", working, a2aUpdate("auth-required", a2aHi)},
		{"status-update completed", working, a2aUpdate("completed")},
		{"status-update completed, with words", working, a2aUpdate("completed", a2aHi)},
		{"status-update completed, with a thought alone", working, a2aUpdate("completed", a2aWhy)},
		{"status-update completed, with words in two ways", working, strings.Replace(a2aUpdate("completed", a2aHush), `"role":"agent",`, `"role":"agent","content":[`+a2aHush+`],"x":1,`, 1)},
		{"status-update completed, after pieces", pieces, a2aUpdate("completed")},
		{"status-update failed", working, a2aUpdate("failed", a2aHush)},
		{"status-update canceled", working, a2aUpdate("canceled", a2aHush)},
		{"status-update rejected", working, a2aUpdate("rejected", a2aHush)},
		{"status-update unknown", working, a2aUpdate("unknown", a2aHush)},
		{"status-update after the end", done, a2aUpdate("working", a2aHush)},
		{"status-update with an artifact beside it", working, a2aUpdate("completed") + `,"artifact":{"artifactId":"a1","parts":[` + a2aHush + `]}`},

		{"artifact-update", working, a2aArtifact("a1", a2aHi) + `,"append":false,"lastChunk":false`},
		{"artifact-update, whole", working, a2aArtifact("a1", a2aHi) + `,"lastChunk":true`},
		{"artifact-update, appended", pieces, a2aArtifact("a1", a2aHi) + `,"append":true`},
		{"artifact-update, appended, the last", pieces, a2aArtifact("a1", a2aHi) + `,"append":true,"lastChunk":true`},
		{"artifact-update, the last, with nothing", pieces, a2aArtifact("a1") + `,"append":true,"lastChunk":true`},
		{"artifact-update, appended to nothing", working, a2aArtifact("a1", a2aHi) + `,"append":true,"lastChunk":true`},
		{"artifact-update, written again", pieces, a2aArtifact("a1", a2aHi)},
		{"artifact-update, a file", working, a2aArtifact("a1", file) + `,"lastChunk":true`},
		{"artifact-update, a file elsewhere", working, a2aArtifact("a1", remote) + `,"lastChunk":true`},
		{"artifact-update, data", working, a2aArtifact("a1", data) + `,"lastChunk":true`},
		{"artifact-update with words beside it", working, a2aArtifact("a1", a2aHush) + `,"parts":[` + a2aHush + `]`},
		{"artifact-update, a summary", working, a2aArtifact("a1", a2aHush) + `,"lastChunk":true,"metadata":{"adk_author":"system","adk_invocation_id":""}`},
		{"artifact-update after a question", asking, a2aArtifact("a1", a2aHi)},

		{"error", working, `error {"code":-32603,"message":"secret","data":"secret"}`},
		{"error before anything", nil, `error {"code":-32001,"message":"secret"}`},
		{"error of HTTP", working, `error {"code":500,"status":"INTERNAL","message":"secret","details":[{"x":"secret"}]}`},
		{"error after the end", done, `error {"code":-32603,"message":"secret"}`},
		{"error that is no JSON", working, "event: error\ndata: CANARY"},

		{"a kind of tomorrow", working, `surprise-update "taskId":"t1","x":"CANARY"`},
		{"an internal kind", working, `internal:task "id":"t1","status":{"state":"working"},"x":"CANARY"`},
		{"an internal kind in metadata", working, a2aUpdate("completed", a2aHi) + `,"metadata":{"kind":"internal:x","x":"CANARY"}`},
		{"an internal part", working, a2aUpdate("completed", `{"type":"internal:x","text":"CANARY"}`)},
		{"an update without its members", working, `status-update "taskId":"t1","x":"CANARY"`},
		{"an event name of the server's own", working, "event: TaskStatusUpdateEvent\ndata: " + strings.TrimSpace(strings.TrimPrefix(a2aShapes[3].wire(3, a2aUpdate("completed", a2aHi)), "data: "))},
		{"an internal event name", working, "event: internal:x\ndata: " + strings.TrimSpace(strings.TrimPrefix(a2aShapes[3].wire(3, a2aUpdate("completed", `{"text":"CANARY"}`)), "data: "))},
		{"an answer of another protocol", working, `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"CANARY"}]}}`},
		{"a result and an error", working, `{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"CANARY","status":{"state":"working"}}},"error":{"code":1,"message":"x"}}`},
		{"no object", working, `{"task":{"id":"CANARY"`},
	}, adkCases(working)...)}
}

// adkCases are the events of an ADK agent: as statuses, as sent by Python's servers without the extension, and as artifacts.
func adkCases(working []string) (all []kindCase) {
	const (
		usage   = `,"adk_usage_metadata":{"promptTokenCount":7,"candidatesTokenCount":3,"totalTokenCount":10}`
		call    = `{"kind":"data","data":{"id":"c1","name":"look","args":{"q":"secret"}},"metadata":{"adk_type":"function_call","adk_is_long_running":false}}`
		long    = `{"kind":"data","data":{"id":"c1","name":"look","args":{"q":"secret"}},"metadata":{"adk_type":"function_call","adk_is_long_running":true}}`
		answer  = `{"kind":"data","data":{"id":"c1","name":"look","response":{"x":"secret"}},"metadata":{"adk_type":"function_response"}}`
		failed  = `{"kind":"data","data":{"id":"c1","name":"look","response":{"error":"secret"}},"metadata":{"adk_type":"function_response"}}`
		code    = `{"kind":"data","data":{"code":"secret","language":"PYTHON"},"metadata":{"adk_type":"executable_code"}}`
		confirm = `{"kind":"data","data":{"id":"q1","name":"adk_request_confirmation","args":{"x":"secret"}},"metadata":{"adk_type":"function_call","adk_is_long_running":true}}`
		handing = `{"kind":"data","data":{"id":"c2","name":"transfer_to_agent","args":{"agent_name":"advisor"}},"metadata":{"adk_type":"function_call"}}`
		handed  = `{"kind":"data","data":{"id":"c2","name":"transfer_to_agent"},"metadata":{"adk_type":"function_response"}}`
	)
	by := func(author, event string) string {
		return `,"metadata":{"adk_author":"` + author + `","adk_invocation_id":"e1","adk_session_id":"secret","adk_user_id":"secret","adk_event_id":"` + event + `"`
	}
	for _, as := range []struct {
		name string
		of   func(parts ...string) string
	}{
		{"status", func(parts ...string) string { return a2aUpdate("working", parts...) }},
		{"artifact", func(parts ...string) string { return a2aArtifact("a1", parts...) + `,"lastChunk":true` }},
	} {
		event := func(more string, parts ...string) string { return as.of(parts...) + by("helper", "f2") + more + "}" }
		called := append(working[:2:2], as.of(call)+by("helper", "f1")+usage+"}")
		waiting := append(working[:2:2], as.of(long)+by("helper", "f1")+usage+"}")
		public := a2aHi
		if as.name == "status" {
			public = a2aHush // messages while a task is working
		}
		for _, c := range []kindCase{
			{"text", working, event(usage, public)},
			{"text, partial", working, event(`,"adk_partial":true`, public)},
			{"text, whole after partial", append(working[:2:2], as.of(public)+by("helper", "f1")+`,"adk_partial":true}`), event(`,"adk_partial":false`+usage, public)},
			{"text in a branch", called, as.of(public) + by("advisor", "f2") + `,"adk_branch":"helper.advisor"` + usage + "}"},
			{"text cut at its limit", working, event(`,"adk_error_code":"MAX_TOKENS"`+usage, public)},
			{"thought", working, event(usage, a2aWhy)},
			{"code", working, event(usage, code)},
			{"call", working, event(usage, call)},
			{"call, of a long-running tool", working, event(usage, long)},
			{"response", called, event("", answer)},
			{"response, failed", called, event("", failed)},
			{"response that waits for a confirmation", called, event(`,"adk_actions":{"requestedToolConfirmations":{"c1":{"payload":"secret"}}}`, failed)},
			{"response that waits for a credential", called, event(`,"adk_actions":{"requestedAuthConfigs":{"c1":{"x":"secret"}}}`, failed)},
			{"request for a confirmation", called, event(usage, confirm)},
			{"thought and call", working, event(usage, a2aWhy, call)},
			{"text and call", working, event(usage, public, call)},
			{"text and response", called, event("", public, answer)},
			{"text and a request for a confirmation", called, event(usage, public, confirm)},
			{"transfer, called", working, event(usage, handing)},
			{"transfer", append(working[:2:2], as.of(handing)+by("helper", "f1")+usage+"}"), event(`,"adk_actions":{"transferToAgent":"advisor"}`, handed)},
			{"error code", working, event(`,"adk_error_code":"SAFETY"`+usage, a2aHush)},
			{"input-required for a call", waiting, a2aUpdate("input-required", long, answer)},
		} {
			if c.kind == "error code" && as.name == "artifact" {
				continue // a task fails in a status
			}
			c.kind = "ADK, " + as.name + ": " + c.kind
			all = append(all, c)
		}
	}
	return append(all,
		kindCase{"ADK: failed with an error code", working, a2aUpdate("failed", a2aHush) + by("helper", "f2") + `,"adk_error_code":"SAFETY"` + usage + "}"},
		kindCase{"ADK: input-required for a call that was not shown", working, a2aUpdate("input-required", long, answer)},
		kindCase{"ADK: pieces cleared away", working, a2aArtifact("a2", `{"kind":"data","data":{},"metadata":{"adk_partial":true}}`) + `,"lastChunk":true,"metadata":{"adk_partial":true}`},
	)
}
