package langgraph

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
)

// responseIDs are the ids that LangChain gives to models' messages: its own, and those of the models' servers (Python with the
// Responses API, JavaScript with OpenAI and Anthropic).
var responseIDs = []string{"lc_run--1", "run-1", "resp_68af", "chatcmpl-BMK", "msg_01XF"}

const usedTokens = `"usage_metadata":{"input_tokens":7,"output_tokens":8}`

// TestResponseIDs reads the same response, whatever its id is, in each mode and in several.
func TestResponseIDs(t *testing.T) {
	piece := func(id, more string) string {
		return frame("messages", `[{"type":"AIMessageChunk","id":"`+id+`",`+more+`},{"langgraph_node":"model","langgraph_step":1,"langgraph_checkpoint_ns":"model:t1"}]`)
	}
	event := func(kind, data string) string {
		return frame("events", `{"event":"`+kind+`","run_id":"r","metadata":{"langgraph_checkpoint_ns":"model:t1","langgraph_step":1},"data":`+data+`}`)
	}
	for _, id := range responseIDs {
		later := id // the id of later pieces
		if strings.HasPrefix(id, "resp_") {
			later = "lc_run--9"
		}
		for _, ending := range []string{`{"finish_reason":"stop","model_name":"m"}`, `{"status":"completed","model_name":"m","object":"response"}`, `{"stopReason":"end_turn","model":"m"}`} {
			whole := `{"type":"ai","id":"` + id + `","content":"hello","response_metadata":` + ending + `,` + usedTokens + `}`
			asked := frame("values", `{"messages":[{"type":"human","id":"h1","content":"?"}]}`)
			pieces := piece(id, `"content":[],"response_metadata":{"id":"resp_1"}`) + piece(later, `"content":"hel"`) + piece(later, `"content":"lo"`)
			last := `"content":"","response_metadata":` + ending + `,` + usedTokens
			updates, values := frame("updates", `{"model":{"messages":[`+whole+`]}}`), frame("values", `{"messages":[{"type":"human","id":"h1","content":"?"},`+whole+`]}`)
			begun := event("on_chat_model_start", `{}`) + event("on_chat_model_stream", `{"chunk":{"type":"AIMessageChunk","id":"`+id+`","content":""}}`) + event("on_chat_model_stream", `{"chunk":{"type":"AIMessageChunk","id":"`+later+`","content":"hello"}}`)
			for name, stream := range map[string]string{
				"updates":               updates,
				"values":                asked + values,
				"tasks":                 frame("tasks", `{"id":"t1","name":"model","result":{"messages":[`+whole+`]},"interrupts":[]}`),
				"not streamed":          frame("messages", `[`+whole+`,{"langgraph_node":"model","langgraph_step":1,"langgraph_checkpoint_ns":"model:t1"}]`),
				"pieces":                pieces + piece(later, last+`,"chunk_position":"last"`),
				"pieces, older servers": pieces + piece(later, last),
				"partial":               frame("messages/partial", `[{"type":"ai","id":"`+id+`","content":"hel"}]`) + frame("messages/partial", `[`+whole+`]`),
				"partial, JavaScript":   frame("messages/partial", `[{"type":"AIMessageChunk","id":"`+id+`","content":"hel","chunk_position":null}]`) + frame("messages/partial", `[`+strings.Replace(whole, `"ai"`, `"AIMessageChunk"`, 1)+`]`),
				"events":                begun + event("on_chat_model_end", `{"output":`+whole+`}`),
				"all":                   asked + pieces + begun + piece(later, last+`,"chunk_position":"last"`) + event("on_chat_model_end", `{"output":`+whole+`}`) + updates + values,
			} {
				checkOneResponse(t, id+" in "+name, facts(nil, stream), true)
				checkOneResponse(t, id+" in public "+name, facts(nil, dialecttest.Filtered(Dialect{}, stream, through(public.Policy))), false)
			}
		}
	}
}

// checkOneResponse checks that facts have one response. The public has no tokens, and not all modes.
func checkOneResponse(t *testing.T, name string, facts []string, all bool) {
	t.Helper()
	count := func(prefix string) (n int) {
		for _, line := range facts {
			if strings.HasPrefix(line, prefix) {
				n++
			}
		}
		return n
	}
	if started, ended := count("model_started"), count("model_ended"); ended > 1 || started > ended || all && ended != 1 {
		t.Errorf("%s starts %d responses and ends %d: %q", name, started, ended, facts)
	}
	var pieces, last string // the last one is the whole text
	for _, line := range facts {
		if text, is := strings.CutPrefix(line, "text "); is {
			pieces, last = pieces+last, strings.Trim(text, `"`)
		}
	}
	if (last != "hello" || !strings.HasPrefix("hello", pieces)) && (all || last != "") {
		t.Errorf("%s says %q and then %q: %q", name, pieces, last, facts)
	}
	if used := count("usage") + len(slices.DeleteFunc(slices.Clone(facts), func(line string) bool {
		return !strings.HasPrefix(line, "model_ended") || !strings.Contains(line, "input=7 output=8")
	})); all && used != 1 {
		t.Errorf("%s states the tokens %d times: %q", name, used, facts)
	}
}

// TestLastPieces checks that the last piece of a text, in a frame that ends the message, is reported only within the whole text.
func TestLastPieces(t *testing.T) {
	chunk := func(content, more string) string {
		return `{"type":"AIMessageChunk","id":"lc_run--1","content":` + content + more + `}`
	}
	tuple := func(m string) string { return frame("messages", `[`+m+`,{"langgraph_node":"model"}]`) }
	grown := func(text, more string) string {
		return frame("messages/partial", `[{"type":"ai","id":"lc_run--1","content":"`+text+`"`+more+`}]`)
	}
	const finish, last = `,"response_metadata":{"finish_reason":"STOP"}`, `,"chunk_position":"last"`
	for name, c := range map[string]struct{ stream, want string }{
		"a finish reason":  {tuple(chunk(`"He"`, "")) + tuple(chunk(`"llo"`, finish)), `text "He"; text "Hello"`},
		"a position":       {tuple(chunk(`"He"`, "")) + tuple(chunk(`"llo"`, last)), `text "He"; text "Hello"`},
		"an empty reason":  {tuple(chunk(`"He"`, strings.ReplaceAll(finish, "STOP", ""))) + tuple(chunk(`"llo"`, finish)), `text "He"; text "Hello"`},
		"null as a reason": {tuple(chunk(`"He"`, strings.ReplaceAll(finish, "STOP", "null"))) + tuple(chunk(`"llo"`, finish)), `text "He"; text "Hello"`},
		"blocks":           {tuple(chunk(`"He"`, "")) + tuple(chunk(`[{"type":"text","text":"l"},{"type":"text","text":"lo"}]`, finish)), `text "He"; text "Hello"`},
		"the only piece":   {tuple(chunk(`"Hello"`, finish)), `text "Hello"`},
		"an empty piece":   {tuple(chunk(`"He"`, "")) + tuple(chunk(`"llo"`, "")) + tuple(chunk(`""`, finish)), `text "He"; text "llo"; text "Hello"`},
		"a thought":        {tuple(chunk(`[{"type":"thinking","thinking":"Hm"},{"type":"text","text":"Hello"}]`, finish)), `thought "Hm"; text "Hello"`},
		"messages/partial": {grown("He", "") + grown("Hello", finish), `text "He"; text "Hello"`},
	} {
		got := slices.DeleteFunc(facts(nil, c.stream), func(line string) bool {
			return !strings.HasPrefix(line, "text ") && !strings.HasPrefix(line, "thought ")
		})
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s: the facts are %q, want %s", name, got, c.want)
		}
	}
	long := strings.Repeat("x", 2*dialect.TextTailSize+1)
	if got := strings.Join(facts(nil, tuple(chunk(`"`+long+`"`, finish))), "; "); !strings.Contains(got, fmt.Sprint(len(long)+len(`""`), " bytes")) {
		t.Errorf("of a text of %d bytes in one piece, the facts are %s", len(long), got)
	}
}

// TestSimultaneousResponses has two models in one task: their pieces mix.
func TestSimultaneousResponses(t *testing.T) {
	piece := func(id, text string) string {
		return frame("messages", `[{"type":"AIMessageChunk","id":"`+id+`","content":"`+text+`"},{"langgraph_step":1,"langgraph_checkpoint_ns":"model:t1"}]`)
	}
	got := facts(nil, piece("lc_run--1", ""), piece("lc_run--2", ""), piece("lc_run--1", "a"), piece("resp_3", ""), piece("lc_run--2", "b"), piece("lc_run--3", "c"))
	got = slices.DeleteFunc(got, func(line string) bool { return line != "model_started" })
	if diff := cmp.Diff([]string{"model_started", "model_started", "model_started"}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestAfterCutOff has a model fail amid its response. A further one answers, in pieces or as a whole: its response is another one.
func TestAfterCutOff(t *testing.T) {
	piece := func(id, text, more string) string {
		return frame("messages", `[{"type":"AIMessageChunk","id":"`+id+`","content":"`+text+`"`+more+`},{"langgraph_node":"model","langgraph_step":1,"langgraph_checkpoint_ns":"model:t1"}]`)
	}
	grown := func(text, more string) string {
		return frame("messages/partial", `[{"type":"ai","id":"lc_run--2","content":"`+text+`"`+more+`}]`)
	}
	const finish = `,"response_metadata":{"finish_reason":"stop"}`
	whole := `{"type":"ai","id":"lc_run--2","content":"Hello"` + finish + `}`
	for name, stream := range map[string]string{
		"in pieces":            piece("lc_run--2", "Hel", "") + piece("lc_run--2", "lo", finish),
		"in messages/partial":  grown("Hel", "") + grown("Hello", finish),
		"whole in messages":    frame("messages", `[`+whole+`,{"langgraph_node":"model","langgraph_step":1,"langgraph_checkpoint_ns":"model:t1"}]`),
		"whole in complete":    frame("messages/complete", `[`+whole+`]`),
		"whole in updates":     frame("updates", `{"model":{"messages":[`+whole+`]}}`),
		"whole in a function":  frame("updates", `{"ask":`+whole+`}`),
		"whole in the task":    frame("tasks", `{"id":"t1","name":"model","result":{"messages":[`+whole+`]},"interrupts":[]}`),
		"the result of events": frame("events", `{"event":"on_chat_model_end","run_id":"2","metadata":{"langgraph_checkpoint_ns":"model:t1"},"data":{"output":`+whole+`}}`),
	} {
		for _, line := range facts(nil, piece("lc_run--1", "Hel", ""), stream)[3:] {
			if line != "" && line[0] >= '0' && line[0] <= '9' && !strings.Contains(line, ` response="`) {
				t.Errorf("%s: the frame %s continues the response that was cut off", name, line)
			}
		}
	}
	code := facts(nil, piece("lc_run--1", "Hel", ""), frame("updates", `{"model":{"messages":[{"type":"ai","id":"u1","content":"Sorry."}]}}`))
	if diff := cmp.Diff([]string{"2 messages partial", "model_started", `text "Hel"`, "3 updates", `text "Sorry."`, "final"}, code); diff != "" {
		t.Errorf("a node's own answer (-want +got):\n%s", diff)
	}
}
