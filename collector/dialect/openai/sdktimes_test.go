package openai_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/dialect/openai"
	"github.com/delegraph/delegraph/collector/event"
)

// TestStartsOfResponses checks after which frames of the Agents SDK a response may have been requested: its start is uncertain if the last
// whole frame is not the cause.
func TestStartsOfResponses(t *testing.T) {
	call := func(id string) string {
		return `{"type":"function_call","id":"f` + id + `","call_id":"` + id + `","name":"w","arguments":""}`
	}
	last, text := []string{createdOf("x"), completedOf(1, "x", "")}, `{"type":"message","id":"i","role":"assistant"}`
	asked := []string{begins("a"), createdOf("r"), calledOf(1, "c", "w"), completedOf(2, "r", call("c"))}
	for name, c := range map[string]struct {
		sent []string
		want string // of the last response
	}{
		"the first one":                       {[]string{begins("a")}, "a: model_started"},
		"after a call without a result":       {asked, "a: model_started uncertain"},
		"after the result of a call":          {append(asked, outputItem("a", "c")), "a: model_started"},
		"after such a call of no agent":       {asked[1:], "?: model_started uncertain"},
		"after an agent in such a call":       {append(asked, begins("b"), createdOf("s"), completedOf(1, "s", "")), "a: model_started uncertain"},
		"after a handoff":                     {[]string{begins("a"), strings.Replace(item("handoff_occurred", "a", `"type":"function_call_output","call_id":"h"`), `"raw_item"`, `"target_agent":{"name":"b"},"raw_item"`, 1), begins("b")}, "b: model_started"},
		"after another run":                   {[]string{begins("a"), createdOf("r"), completedOf(1, "r", ""), begins("b")}, "b: model_started"},
		"after a frame of an agent beside it": {[]string{begins("a"), begins("b"), callItem("a", "c", "w")}, "b: model_started uncertain"},
		"beside an agent of the same name":    {[]string{begins("a"), begins("a")}, "a: model_started uncertain"},
		"beside one that has answered":        {[]string{begins("a"), begins("a"), createdOf("r"), completedOf(1, "r", text)}, "?: model_started uncertain"},
		"beside one that may be of it":        {append(asked[:4:4], callItem("a", "c", "w"), createdOf("s")), "?#1: model_started uncertain"},
		"beside another one of no agent":      {asked[1:3], "?#1: model_started uncertain"},
		"after one that replaced another":     {[]string{createdOf("r"), createdOf("s"), completedOf(1, "s", "")}, "?#2: model_started"},
		"after a part of the replaced one":    {[]string{createdOf("r"), messageOf(1, "added", "i"), createdOf("s"), completedOf(1, "s", ""), messageOf(2, "done", "i")}, "?#2: model_started uncertain"},
		"after one of a known agent":          {[]string{begins("a"), begins("b"), createdOf("r"), createdOf("s"), completedOf(1, "s", "")}, "?#2: model_started uncertain"},
		"beside another one of the agent":     {[]string{begins("a"), createdOf("r")}, "a#1: model_started uncertain"},
	} {
		got := ""
		for fact := range strings.SplitSeq(whoDid(append(c.sent, last...)...), "; ") {
			if strings.Contains(fact, "model_started") {
				got = fact
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestAgentAtEnd checks of which agent the end of the run is: of none if another agent had the last frame, because its own end is missing.
func TestAgentAtEnd(t *testing.T) {
	text := `{"type":"message","id":"i","role":"assistant"}`
	inCalls := []string{begins("a"), createdOf("r"), calledOf(1, "c", "w"), calledOf(2, "d", "w"), completedOf(3, "r", ""), begins("b"), begins("b"), createdOf("s"), createdOf("u"),
		completedOf(1, "s", ""), completedOf(1, "u", ""), createdOf("x"), completedOf(1, "x", "")}
	for name, c := range map[string]struct {
		sent []string
		want string
	}{
		"the agent with the last response":      {inCalls, `agent="a"`},
		"one that has not finished":             {[]string{begins("a"), createdOf("r")}, `agent="a"`},
		"one of which others had the last word": {[]string{begins("a"), callItem("a", "c", "w"), outputItem("a", "c"), begins("b"), createdOf("s"), messageOf(2, "done", "i"), completedOf(3, "s", text), messageItem("b", "i")}, "agent unknown"},
	} {
		facts := dialecttest.Facts(openai.Dialect{}, &event.Stream{SingleRun: true}, stream(append(c.sent, "[DONE]")...))
		if _, got, _ := strings.Cut(facts, "[DONE] "); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: the end is of %s, want %s", name, got, c.want)
		}
	}
}

// TestResponsesNamedLate names the agent of a response while another one is current.
func TestResponsesNamedLate(t *testing.T) {
	sent := stream(begins("a"), begins("g"), createdOf("r"), createdOf("s"), calledOf(2, "c", "w"), completedOf(3, "r", `{"type":"function_call","id":"fc","call_id":"c","name":"w"}`),
		messageOf(1, "added", "i"), callItem("a", "c", "w"), messageOf(2, "done", "i"), completedOf(3, "s", `{"type":"message","id":"i","role":"assistant"}`), messageItem("g", "i"), outputItem("a", "c"), createdOf("x"))
	facts := dialecttest.Facts(openai.Dialect{}, &event.Stream{SingleRun: true}, sent)
	for _, want := range []string{`agent="a" response="1" sent="c" may be root`, `agent="g" response="1" sent="1" may be root`, "  final\n", `response.created agent="a" response="2" may be root`} {
		if !strings.Contains(facts, want) {
			t.Errorf("the facts lack %s:\n%s", want, facts)
		}
	}
}

// TestStartsAfterCalls checks the starts of responses that an application or a server sends one after the other: after a call of which the
// stream shows no result, the start is uncertain.
func TestStartsAfterCalls(t *testing.T) {
	call := `{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"f","call_id":"c","name":"w","arguments":"{}"}}`
	result := `{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call_output","id":"o","call_id":"c","output":"x"}}`
	search := `{"type":"response.output_item.done","output_index":0,"item":{"type":"web_search_call","id":"s","status":"completed"}}`
	bare := strings.Replace(ended, `"output":[`, `"output":[],"x":[`, 1)
	next := []string{later.Replace(created), later.Replace(bare)}
	for name, c := range map[string]struct {
		sent []string
		want int // the number of uncertain starts
	}{
		"a call":               {append([]string{created, call, bare}, next...), 1},
		"its result":           {append([]string{created, call, bare, result}, next...), 0},
		"a call of the server": {append([]string{created, search, bare}, next...), 0},
		"the response after":   {append(append([]string{created, call, bare}, next...), strings.Replace(created, `"r"`, `"z"`, 1)), 1},
		"a completion":         {[]string{callOf("k", "t", "w"), callsEnd("k"), strings.Replace(choice(`{"index":0,"delta":{"role":"assistant","content":"x"}}`), `"c"`, `"l"`, 1)}, 1},
	} {
		facts := dialecttest.Facts(openai.Dialect{}, &event.Stream{SingleRun: true}, stream(c.sent...))
		if starts, n := strings.Count(facts, "model_started"), strings.Count(facts, " uncertain"); n != c.want || starts < 2 {
			t.Errorf("%s: %d of %d starts are uncertain:\n%s", name, n, starts, facts)
		}
		if facts := dialecttest.Facts(openai.Dialect{}, &event.Stream{}, stream(c.sent...)); strings.Contains(facts, " uncertain") {
			t.Errorf("%s: of several runs, a start is uncertain:\n%s", name, facts)
		}
	}
}
