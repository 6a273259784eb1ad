package openai

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// TestResumedCalls reads the end of a response of which the client has missed the rest. The calls without an output are the client's.
func TestResumedCalls(t *testing.T) {
	const end = `data: {"type":"response.completed","response":{"id":"r","status":"completed","output":[` +
		`{"id":"i","type":"function_call","call_id":"c","name":"f","arguments":"{}"},` +
		`{"id":"j","type":"shell_call","call_id":"d","action":{"commands":["ls"]}},{"type":"shell_call_output","call_id":"d","output":[]},` +
		`{"id":"k","type":"web_search_call","status":"completed"}]}}` + "\n\n"
	facts := dialecttest.Facts(Dialect{}, &event.Stream{Identity: event.Identity{JoinedRun: "r", ReplayedRun: "r"}}, end)
	if strings.Count(facts, "tool_") != 2 || !strings.Contains(facts, `tool_started name="f" call="c"`) || !strings.Contains(facts, `tool_paused call="c"`) {
		t.Error(facts)
	}
}

// TestAnsweredApprovals reads a call that was approved, and the Agents SDK's item of an answer. Both answer the question, wherever it
// was asked.
func TestAnsweredApprovals(t *testing.T) {
	const begun = `data: {"type":"agent_updated_stream_event","new_agent":"a"}` + "\n\n"
	for name, c := range map[string]struct{ frame, want string }{
		"a call":                    {`{"type":"response.output_item.added","output_index":0,"item":{"id":"m","type":"mcp_call","name":"f","server_label":"s","arguments":"","approval_request_id":"q"}}`, "input_answered call=\"q\"\n  tool_started name=\"f\" call=\"m\""},
		"a call without a question": {`{"type":"response.output_item.added","output_index":0,"item":{"id":"m","type":"mcp_call","name":"f","server_label":"s","arguments":"","approval_request_id":null}}`, "\n  tool_started name=\"f\" call=\"m\""},
		"an answer":                 {`{"type":"run_item_stream_event","name":"mcp_approval_response","item":{"type":"mcp_approval_response_item","raw_item":{"type":"mcp_approval_response","approval_request_id":"q","approve":false}}}`, `input_answered call="q"`},
	} {
		facts := dialecttest.Facts(Dialect{}, &event.Stream{}, begun+"data: "+c.frame+"\n\n")
		if !strings.Contains(facts, c.want) || strings.Contains(facts, "input_answered") != strings.Contains(c.want, "input_answered") {
			t.Errorf("%s: want %s in\n%s", name, c.want, facts)
		}
	}
}

// TestConfiguredAgent checks that a response and a completion are of the configured agent, and that the Agents SDK names its own.
func TestConfiguredAgent(t *testing.T) {
	const sdk = `data: {"type":"agent_updated_stream_event","new_agent":"triage"}` + "\n\n"
	const raw = `data: {"type":"raw_response_event","data":{"type":"response.created","response":{"id":"r"}}}` + "\n\n"
	for frames, want := range map[string]string{
		`data: {"type":"response.created","response":{"id":"r"}}` + "\n\n":                                           `agent="root"`,
		`data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"x"}}]}` + "\n\n": `agent="root"`,
		sdk + raw: `agent="triage"`, raw: "",
	} {
		facts := dialecttest.Facts(Dialect{}, &event.Stream{ConfiguredAgent: "root"}, frames)
		if !strings.Contains(facts, want) || want == "" && strings.Contains(facts, "agent=") || want != `agent="root"` && strings.Contains(facts, `"root"`) {
			t.Errorf("want %s in\n%s", want, facts)
		}
	}
}

// TestBackground checks which responses go on when a stream of them breaks off.
func TestBackground(t *testing.T) {
	post, get := dialect.Request{Method: "POST", Path: "/v1/responses"}, dialect.Request{Method: "GET", Path: "/v1/responses/r"}
	for body, want := range map[string]bool{`{"background":true}`: true, `{"background":false}`: false, `{"background":"true"}`: false, `{}`: false} {
		var doc strictjson.Doc
		if err := doc.Parse([]byte(body), 10); err != nil {
			t.Fatal(err)
		}
		post.Body = doc.Root()
		if got := (Dialect{}).Identify(post).InBackground; got != want {
			t.Errorf("%s is in the background: %v", body, got)
		}
	}
	if !(Dialect{}).Identify(get).InBackground {
		t.Error("a response that is retrieved is not in the background")
	}
}

// TestOutcomes reads the results of tools, as items of a response and as the Agents SDK's. An item may state a failure, or that the
// result is not whole.
func TestOutcomes(t *testing.T) {
	const begun = `data: {"type":"response.created","response":{"id":"r"}}` + "\n\n"
	const sdk = `data: {"type":"agent_updated_stream_event","new_agent":"a"}` + "\n\n"
	for members, want := range map[string]string{
		`"type":"apply_patch_call_output","status":"completed","output":"done"`:                                                    "ok",
		`"type":"apply_patch_call_output","status":"failed","output":"invalid context"`:                                            "tool_error",
		`"type":"computer_call_output","status":"failed","output":{"type":"computer_screenshot"}`:                                  "tool_error",
		`"type":"shell_call_output","status":"failed","output":[{"outcome":{"type":"exit","exit_code":1}}]`:                        "tool_error",
		`"type":"shell_call_output","status":"completed","output":[{"outcome":{"type":"exit","exit_code":1}}]`:                     "ok",
		`"type":"shell_call_output","status":"completed","output":[{"outcome":{"type":"exit"}},{"outcome":{"type":"timeout"}}]`:    "timeout",
		`"type":"shell_call_output","status":"failed","output":[{"outcome":{"type":"timeout"}}]`:                                   "timeout",
		`"type":"shell_call_output","output":[]`:                                                                                   "ok",
		`"type":"function_call_output","status":"incomplete","output":"par"`:                                                       "",
		`"type":"local_shell_call_output","status":"in_progress","output":""`:                                                      "",
		`"type":"custom_tool_call_output","error":{"code":"too_large"},"output":""`:                                                `tool_error code="too_large"`,
		`"type":"mcp_call","name":"f","error":"boom","output":null`:                                                                "tool_error",
		`"type":"web_search_call","status":"failed"`:                                                                               "tool_error",
		`"type":"file_search_call","status":"incomplete","results":null`:                                                           "",
		`"type":"function_call_output","output":"An error occurred while running the tool. Please try again. Error: no such user"`: "tool_error",
		`"type":"function_call_output","output":"Multiple handoffs detected, ignoring this one."`:                                  "tool_error",
		`"type":"function_call_output","status":"completed","error":null,"output":[{"type":"input_text","text":"two results"}]`:    "ok",
	} {
		item := `{"call_id":"c","id":"c",` + members + `}`
		streams := []string{begun + `data: {"type":"response.output_item.done","output_index":0,"item":` + item + `}` + "\n\n"}
		if strings.Contains(members, "_output\"") {
			streams = append(streams, sdk+`data: {"type":"run_item_stream_event","name":"tool_output","item":{"type":"tool_call_output_item","raw_item":`+item+`}}`+"\n\n",
				begun+`data: {"type":"response.completed","response":{"id":"r","output":[`+item+`]}}`+"\n\n")
		}
		for _, stream := range streams {
			facts := dialecttest.Facts(Dialect{}, &event.Stream{}, stream)
			_, end, ended := strings.Cut(facts, "tool_ended")
			end, _, _ = strings.Cut(end, "\n")
			if ended != (want != "") || ended && strings.Contains(end, "error") != strings.Contains(want, "error") || !strings.Contains(end, strings.TrimSuffix(want, "ok")) {
				t.Errorf("%s: want %q in\n%s", members, want, facts)
			}
		}
	}
}

// TestAnsweredResponse reads which response a request answers.
func TestAnsweredResponse(t *testing.T) {
	for body, want := range map[string]string{
		`{"previous_response_id":"r","input":[{"type":"function_call_output","call_id":"c"}]}`: "r", `{"previous_response_id":null}`: "", `{"previous_response_id":1}`: "", `{}`: "",
	} {
		var doc strictjson.Doc
		if err := doc.Parse([]byte(body), 10); err != nil {
			t.Fatal(err)
		}
		if got := (Dialect{}).Identify(dialect.Request{Method: "POST", Path: "/v1/responses", Body: doc.Root()}).AnsweredRun; got != want {
			t.Errorf("%s answers %q", body, got)
		}
	}
}

// TestAnsweredCalls reads which calls a request answers.
func TestAnsweredCalls(t *testing.T) {
	for item, want := range map[string]string{
		`{"type":"function_call_output","id":"i","call_id":"c"}`:                        "c",
		`{"type":"local_shell_call_output","id":"c","output":""}`:                       "c",
		`{"type":"local_shell_call_output","call_id":"c","output":""}`:                  "c",
		`{"type":"mcp_approval_response","id":"i","approval_request_id":"c"}`:           "c",
		`{"type":"function_call","id":"i","call_id":"c"}`:                               "",
		`{"type":"message","role":"user","id":"i","content":"local_shell_call_output"}`: "",
	} {
		var doc strictjson.Doc
		if err := doc.Parse([]byte(`{"input":[`+item+`]}`), 10); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join((Dialect{}).Identify(dialect.Request{Method: "POST", Path: "/v1/responses", Body: doc.Root()}).Answers, " "); got != want {
			t.Errorf("%s answers %q, want %q", item, got, want)
		}
	}
}

// TestAzurePaths checks the paths of Azure's APIs, and that a retrieved response is read from them.
func TestAzurePaths(t *testing.T) {
	for _, r := range []dialect.Request{
		{Method: "POST", Path: "/openai/v1/responses"}, {Method: "POST", Path: "/openai/responses"}, {Method: "POST", Path: "/openai/v1/chat/completions"},
		{Method: "POST", Path: "/openai/deployments/gpt/chat/completions"}, {Method: "GET", Path: "/openai/v1/responses/r"}, {Method: "GET", Path: "/openai/responses/r"},
	} {
		known := slices.ContainsFunc(Dialect{}.Paths(), func(p dialect.Path) bool {
			ok, _ := path.Match(p.Glob, r.Path)
			return ok && p.Method == r.Method
		})
		if joined := (Dialect{}).Identify(r).JoinedRun; !known || joined == "r" != (r.Method == "GET") {
			t.Errorf("%s %s: known %v, retrieves %q", r.Method, r.Path, known, joined)
		}
	}
}

// TestPartsOfResponses reads streams that show only parts of responses, as a ResponsesAgent of MLflow sends them. The result of a call ends
// the response with the call, and [DONE] the last one. A response that a client resumes has its own end.
func TestPartsOfResponses(t *testing.T) {
	const (
		called = `{"type":"response.output_item.done","item":{"id":"f","type":"function_call","call_id":"c","name":"w","arguments":"{}"}}`
		other  = `{"type":"response.output_item.done","item":{"id":"g","type":"function_call","call_id":"d","name":"w","arguments":"{}"}}`
		result = `{"type":"response.output_item.done","item":{"type":"function_call_output","call_id":"c","output":"r"}}`
		second = `{"type":"response.output_item.done","item":{"type":"function_call_output","call_id":"d","output":"r"}}`
		piece  = `{"type":"response.output_text.delta","item_id":"i","delta":"Hi"}`
		whole  = `{"type":"response.output_item.done","item":{"id":"i","type":"message","role":"assistant","content":[{"type":"output_text","text":"Hi"}]}}`
		ended  = `{"type":"response.completed","response":{"id":"r","status":"completed","output":[]}}`

		starts, says           = `model_started; `, `text "Hi"; text "Hi"; `
		calls, calls2, returns = `tool_started name="w" call="c" {}; `, `tool_started name="w" call="d" {}; `, `tool_ended name="w" call="c" "r"; `
	)
	for _, c := range []struct {
		sent   []string
		joined string
		want   string
	}{
		{[]string{called, result, piece, whole, "[DONE]"}, "", starts + calls + `model_ended; ` + returns + starts + says + `model_ended; run_ended`},
		{[]string{called, other, result, second, piece, whole, "[DONE]"}, "", starts + calls + calls2 + `model_ended; ` + returns + `tool_ended name="w" call="d" "r"; ` + starts + says + `model_ended; run_ended`},
		{[]string{piece, whole, called, result, "[DONE]"}, "", starts + says + calls + `model_ended; ` + returns + `run_ended`},
		{[]string{called, "[DONE]"}, "", starts + calls + `model_ended; tool_paused call="c"; run_ended`},
		{[]string{result, piece, whole, "[DONE]"}, "", `tool_ended call="c" "r"; ` + starts + says + `model_ended; run_ended`},
		{[]string{piece, whole, ended, "[DONE]"}, "", starts + says + `model_ended finish="completed"; final; run_ended`},
		{[]string{piece, whole}, "", starts + strings.TrimSuffix(says, "; ")},
		{[]string{called, result, piece, whole, "[DONE]"}, "r", starts + calls + returns + strings.TrimSuffix(says, "; ")},
		{[]string{called, piece, whole, "[DONE]"}, "", starts + calls + says + `model_ended; tool_paused call="c"; run_ended`},
	} {
		s := &event.Stream{SingleRun: true, Identity: event.Identity{JoinedRun: c.joined, ReplayedRun: c.joined}}
		facts := dialecttest.Facts(Dialect{}, s, "data: "+strings.Join(c.sent, "\n\ndata: ")+"\n\n")
		var got []string
		for line := range strings.SplitSeq(facts, "\n") {
			if fact := strings.TrimSpace(line); strings.HasPrefix(line, " ") && fact != "other" && fact != "run_started" {
				got = append(got, fact)
			}
		}
		if diff := cmp.Diff(c.want, strings.Join(got, "; ")); diff != "" {
			t.Errorf("%s: %s", strings.Join(c.sent, "\n"), diff)
		}
	}
}
