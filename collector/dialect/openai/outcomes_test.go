package openai_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/dialect/openai"
	"github.com/delegraph/delegraph/collector/event"
)

// factLine matches the facts of a frame, but not its first line.
var factLine = regexp.MustCompile(`(?m)^ +(.*)$`)

// TestUnusualEnds reads calls, choices and responses that end in an unusual way.
func TestUnusualEnds(t *testing.T) {
	const begun, role = `run_started; model_started model="m"; `, `"role":"assistant"`
	done := func(item string) string {
		return `{"type":"response.output_item.done","output_index":0,"item":` + item + `}`
	}
	mcp := func(status string) string {
		return `{"type":"mcp_call","name":"search"` + status + `,"output":"o"}`
	}
	result := func(status string) string {
		return `{"type":"function_call_output","call_id":"k","status":"` + status + `","output":"o"}`
	}
	response := func(id, kind string) string {
		return `{"type":"response.` + kind + `","response":{"id":"` + id + `","model":"m","output":[]}}`
	}
	chunk := func(index, delta, reason string) string {
		return `{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":` + index + `,"delta":{` + delta + `},"finish_reason":` + reason + `}]}`
	}
	call := func(index, name string) string {
		return chunk(index, `"tool_calls":[{"index":0,"id":"`+name+`","function":{"name":"`+name+`","arguments":"{}"}}]`, "null")
	}
	const search, ended = `tool_started name="search"`, `tool_ended name="search" settled "o"`
	for name, c := range map[string]struct {
		single bool
		sent   []string
		want   string
	}{
		"a server's call without an ID": {true, []string{created, strings.Replace(done(mcp("")), "item.done", "item.added", 1), done(mcp(""))}, begun + search + "; " + ended},
		"a server's call twice":         {true, []string{created, done(mcp(`,"status":"in_progress"`)), done(mcp(`,"status":"completed"`))}, begun + search + "; " + ended},
		"a result that is not whole": {true, []string{created, done(`{"type":"function_call","call_id":"k","name":"f"}`), done(result("in_progress")), done(result("completed"))},
			begun + `tool_started name="f" call="k"; tool_ended name="f" call="k" "o"`},
		"choices one after the other": {true, []string{chunk("0", role, "null"), chunk("0", "", `"stop"`), chunk("1", `"content":"b"`, "null"), chunk("1", "", `"stop"`)},
			begun + `model_ended model="m" finish="stop" unmetered; final; text "b"; text "b"`},
		"calls of choices without a reason": {true, []string{call("0", "f"), call("1", "g"), call("2", "h"), "[DONE]"},
			begun + `tool_started name="f" call="f" {}; tool_started name="g" call="g" {}; tool_started name="h" call="h" {}; model_ended model="m" unmetered; tool_paused call="f"; tool_paused call="g"; tool_paused call="h"; run_ended`},
		"an error in a chunk": {true, []string{chunk("0", role, "null"), strings.Replace(chunk("0", "", "null"), `"object"`, `"error":{"code":"x"},"object"`, 1), chunk("0", "", "null"), "[DONE]"},
			begun + `model_ended model="m" model_error code="x" unmetered; error model_error code="x" from_code; run_ended model_error code="x"`},
		"an error in a chunk before a reason": {true, []string{strings.Replace(chunk("0", role, "null"), `"object"`, `"error":{"code":"x"},"object"`, 1), chunk("0", "", `"stop"`), "[DONE]"},
			begun + `model_ended model="m" finish="stop" unmetered; final; run_ended`},
		"numbers as texts": {true, []string{chunk(`"0"`, role+`,"content":"a"`, "null"), chunk(`"1"`, `"content":"b"`, "null"), chunk(`"0"`, "", `"stop"`), chunk(`"1"`, "", `"stop"`)},
			begun + `text "a"; text "b"; text "a"; text "b"; model_ended model="m" finish="stop" unmetered; final`},
		"an error with spaces": {true, []string{chunk("0", role, "null"), `{ "error": {"message":"bad "quote""}}`}, begun + `model_ended model="m" model_error; error agent_error; run_ended agent_error`},
		"the ID of a response only in an event": {false, []string{response("r", "created"), `{"type":"response.output_text.done","response_id":"z","item_id":"i","text":"a"}`},
			begun + `run_started; model_started; text "a"`},
		"[DONE] after a response that was cut off": {true, []string{response("r", "created"), response("s", "created"), response("s", "completed"), "[DONE]"},
			begun + `model_started model="m"; model_ended model="m"; final; run_ended`},
		"[DONE] after a failure beside one that was cut off": {true, []string{response("r", "created"), response("s", "created"), strings.Replace(response("s", "failed"), `"output"`, `"error":{"code":"x"},"output"`, 1), "[DONE]"},
			begun + `model_started model="m"; model_ended model="m" model_error code="x"; error agent_error code="x"; run_ended agent_error code="x"`},
		"an error beside another response": {true, []string{response("r", "created"), response("s", "created"), `{"type":"error","code":"x","message":"m"}`},
			begun + `model_started model="m"; model_ended model="m" model_error code="x"; error agent_error code="x"; run_ended agent_error code="x"`},
	} {
		var facts []string
		all := dialecttest.Facts(openai.Dialect{}, &event.Stream{SingleRun: c.single}, stream(c.sent...))
		for _, fact := range factLine.FindAllStringSubmatch(all, -1) {
			if fact[1] != "other" {
				facts = append(facts, fact[1])
			}
		}
		if got := strings.Join(facts, "; "); got != c.want {
			t.Errorf("%s: the facts are\n%s, want\n%s", name, got, c.want)
		}
		if !c.single && !strings.Contains(all, `run="z"`) {
			t.Errorf("%s: the run has not the ID of the response: %s", name, all)
		}
	}
}
