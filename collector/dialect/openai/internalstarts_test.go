package openai_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// later begins another response, whose answer leaves.
var later = strings.NewReplacer(`"id":"r"`, `"id":"s"`, `"i"`, `"j"`, "secret", "answer")

// checkLeaves checks that an answer leaves, but nothing secret.
func checkLeaves(t *testing.T, answers int, sent ...string) {
	t.Helper()
	for _, s := range []filter.Settings{client, public} {
		for _, of := range []event.Stream{{SingleRun: true}, {}} {
			if out := leavingOf(t, s, &of, stream(sent...)); strings.Contains(out, "secret") || strings.Count(out, "answer") != answers {
				t.Errorf("under %s this leaves: %s\nof %s", s.Policy, out, strings.Join(sent, "\n"))
			}
		}
	}
}

// TestInternalResponses begins a response with an event that calls itself internal. Nothing of it leaves, but the next response does.
func TestInternalResponses(t *testing.T) {
	whole := strings.Replace(added, `[]`, `[{"type":"output_text","text":"secret"}]`, 1)
	done := strings.Replace(whole, "item.added", "item.done", 1)
	envelopes := []func(string) string{func(v string) string { return v }, func(v string) string { return `{"type":"raw_response_event","data":` + v + `}` }, ofModel}
	for _, mark := range []string{`"kind":"internal:x","response":{`, `"response":{"kind":"internal:x",`, `"response":{"role":"system",`, `"agent":{"agent_name":"/root/internal_x"},"response":{`, `"response":{"agent":{"agent_name":"/root/internal_x/y"},`} {
		internal := strings.Replace(created, `"response":{`, mark, 1)
		progress := strings.Replace(internal, "response.created", "response.in_progress", 1)
		queued := strings.Replace(internal, "response.created", "response.queued", 1)
		for _, begun := range [][]string{{internal}, {queued}, {progress}, {created, progress}, {queued, created}, {later.Replace(created), later.Replace(ended), internal}} {
			for i, wrap := range envelopes {
				var sent []string
				for _, v := range append(append([]string{}, begun...), whole, delta, done, ended, ended, later.Replace(created), later.Replace(added), later.Replace(delta), later.Replace(ended)) {
					sent = append(sent, wrap(v))
				}
				item := `{"type":"run_item_stream_event","name":"message_output_created","item":{"type":"message_output_item","raw_item":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"secret"}]}}}`
				if i > 0 {
					sent = append(sent[:len(begun)+4], append([]string{item}, sent[len(begun)+4:]...)...)
				}
				answers := 2
				if len(begun) == 3 {
					answers++
				}
				checkLeaves(t, answers, sent...)
			}
		}
	}
	checkStaysIn(t, []filter.Settings{client, public}, "x\n\nevent: internal:x\ndata: "+created, delta, added, delta, ended)
	onlyItem := strings.Replace(created, `"output":[]`, `"output":[{"id":"f","type":"function_call","kind":"internal"}]`, 1)
	if out := leaving(t, client, stream(onlyItem, strings.Replace(added, `:0`, `:1`, 1), strings.Replace(delta, `:0`, `:1`, 1))); !strings.Contains(out, "secret") {
		t.Errorf("of a response with an internal item this leaves: %s", out)
	}
}

// TestInternalResponsesElsewhere resumes an internal response on another stream.
func TestInternalResponsesElsewhere(t *testing.T) {
	var memory event.Withheld
	internal := strings.Replace(created, `"response":{`, `"kind":"internal","response":{`, 1)
	leavingOf(t, client, &event.Stream{Withheld: &memory}, stream(internal))
	for response, leaves := range map[string]bool{"r": false, "another": true} {
		of := &event.Stream{Withheld: &memory, Identity: event.Identity{JoinedRun: response}}
		for _, next := range [][]string{{strings.Replace(added, `[]`, `["secret"]`, 1)}, {strings.Replace(ended, `"r"`, `"`+response+`"`, 1)}} {
			if out := leavingOf(t, client, of, stream(next...)); strings.Contains(out, "secret") != leaves {
				t.Errorf("of %s this leaves: %s", response, out)
			}
		}
	}
}

// TestInternalSDKAgents begins an agent of the Agents SDK with an event that calls itself internal. Nothing of the agent leaves, but what
// follows does.
func TestInternalSDKAgents(t *testing.T) {
	const message = `"type":"message","role":"assistant","content":[{"type":"output_text","text":"TEXT"}]`
	said := func(agent, text string) string {
		return item("message_output_created", agent, strings.Replace(message, "TEXT", text, 1))
	}
	work := func(id, text string) []string {
		return []string{
			createdOf("r" + id), messageOf(1, "added", id), raw(2, "output_text.delta", `"output_index":0,"item_id":"`+id+`","delta":"`+text+`"`),
			completedOf(3, "r"+id, `{"id":"`+id+`",`+strings.Replace(message, "TEXT", text, 1)+`}`),
		}
	}
	calls := []string{begins("a"), createdOf("ra"), strings.Replace(calledOf(1, "c", "ask"), "item.done", "item.added", 1), calledOf(2, "c", "ask"), completedOf(2, "ra", ""), callItem("a", "c", "ask")}
	for _, mark := range []string{`{"type":"internal:x","name":"h"}`, `{"type":"internal:x","name":""}`, `{"name":"h"},"kind":"internal"`} {
		internal := strings.Replace(begins("h"), `{"name":"h"}`, mark, 1)
		hidden := append(append([]string{internal}, work("i", "secret")...), said("h", "secret"), said("", "secret"))
		for _, next := range []string{"a", "h"} {
			checkLeaves(t, 2, slices.Concat(hidden, []string{begins(next)}, work("j", "answer"))...)
			checkLeaves(t, 2, slices.Concat([]string{begins("a"), createdOf("ra"), completedOf(1, "ra", "")}, hidden, []string{begins(next)}, work("j", "answer"))...)
		}
		checkLeaves(t, 0, begins("a"), internal, said("h", "secret"), said("", "secret"), `{"type":"raw_model_stream_event","data":{"type":"output_text_delta","delta":"secret"}}`)
		checkLeaves(t, 0, begins("a"), internal, raw(1, "output_item.added", `"output_index":0,"item":{`+strings.Replace(message, "TEXT", "secret", 1)+`}`), raw(2, "output_text.delta", `"output_index":0,"delta":"secret"`))
		if strings.Contains(mark, `"h"`) { // in a tool of a known name, whose caller goes on
			checkLeaves(t, 2, slices.Concat(calls, hidden[:len(hidden)-1], []string{outputItem("a", "c")}, work("j", "answer"))...)
		}
	}
	unnamed := strings.Replace(begins(""), `"new_agent"`, `"kind":"internal","new_agent"`, 1)
	if out := leaving(t, client, stream(append(calls, unnamed, strings.Replace(outputItem("a", "c"), `"o"`, `"answer"`, 1))...)); !strings.Contains(out, "answer") {
		t.Errorf("of a call that left before this leaves: %s", out)
	}
	const fake = "__fake_id__"
	marked := strings.Replace(createdOf(fake), `"response":{`, `"kind":"internal","response":{`, 1)
	checkLeaves(t, 0, begins("a"), marked, begins("b"), createdOf(fake), messageOf(1, "added", fake), pieceOf(2, "secret"), said("a", "secret"))
	checkLeaves(t, 0, begins("a"), marked, begins("b"), createdOf("s"), said("a", "secret"))
	if out := leaving(t, client, stream(begins("a"), marked, completedOf(1, fake, ""), said("b", "answer"))); !strings.Contains(out, "answer") {
		t.Errorf("beside an internal response of another agent this leaves: %s", out)
	}
	checkLeaves(t, 1, begins("a"), marked, completedOf(1, fake, ""), said("a", "secret"), createdOf(fake), messageOf(1, "added", fake), pieceOf(2, "answer"))
	withTool := []string{createdOf("ri"), calledOf(1, "c", "f"), completedOf(2, "ri", ""), callItem("h", "c", "f"), outputItem("h", "c"), createdOf("rj"), completedOf(1, "rj", ""), "[DONE]"}
	internal := strings.Replace(begins("h"), `"new_agent"`, `"kind":"internal","new_agent"`, 1)
	if plain, got := factsOf(stream(append([]string{begins("h")}, withTool...)...)), factsOf(stream(append([]string{internal}, withTool...)...)); got != plain {
		t.Errorf("the facts of an internal agent are\n%s, want\n%s", got, plain)
	}
}

// TestInternalModels begins a model's answer in the SDK for JavaScript with an event that calls itself internal.
func TestInternalModels(t *testing.T) {
	marked := strings.Replace(started, `"type":"response_started"`, `"kind":"internal","type":"response_started"`, 1)
	chat := `{"type":"raw_model_stream_event","data":{"type":"response_started","kind":"internal","providerData":{}}}`
	unnamed := strings.Replace(message, `"id":"i",`, "", 1)
	checkLeaves(t, 0, agentA, marked, ofModel(created), ofModel(added), ofModel(delta), piece, ofModel(ended), doneJS, message, unnamed)
	checkLeaves(t, 0, agentA, chat, piece, strings.Replace(doneJS, `"id":"r",`, "", 1), message, unnamed)
}

// TestInternalCompletions begins a completion with a chunk that calls itself internal. Nothing of its choices leaves, and an internal
// choice does not withhold the others.
func TestInternalCompletions(t *testing.T) {
	internal := func(chunk string) string {
		return strings.Replace(chunk, `"object"`, `"kind":"internal:x","object"`, 1)
	}
	other := strings.NewReplacer(`"id":"c"`, `"id":"d"`)
	for _, first := range []string{choice(``), choice(`{"index":0,"delta":{"role":"assistant","content":"secret"}}`), choice(`{"index":0,"kind":"internal","delta":{"role":"assistant"}}`), strings.Replace(choice(``), `"id":"c"`, `"id":""`, 1)} {
		checkLeaves(t, 0, internal(first), choice(`{"index":1,"delta":{"role":"assistant","content":"secret"}}`), choice(`{"index":0,"delta":{"content":"secret"}}`),
			choice(`{"index":1,"delta":{},"finish_reason":"stop"}`), choice(`{"index":0,"delta":{"role":"tool","content":"secret"}}`), `{"id":"c","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":1,"x":"secret"}}`, "[DONE]",
			`{"id":"c","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":1,"x":"secret"}}`)
	}
	checkLeaves(t, 1, choice(`{"index":0,"kind":"internal","delta":{"role":"assistant"}}`), choice(`{"index":0,"delta":{"content":"secret"}}`), choice(`{"index":1,"delta":{"role":"assistant","content":"answer"}}`))
	next := stream(internal(choice(``)), choice(`{"index":0,"delta":{"role":"assistant","content":"secret"}}`), choice(`{"index":0,"delta":{},"finish_reason":"stop"}`), other.Replace(choice(`{"index":0,"delta":{"role":"assistant","content":"answer"}}`)))
	if out := leavingOf(t, public, &event.Stream{}, next); strings.Contains(out, "secret") || !strings.Contains(out, "answer") {
		t.Errorf("of the next completion this leaves: %s", out)
	}
}

// TestErrorsOfInternalWork sends errors while something internal is open. They leave without their text.
func TestErrorsOfInternalWork(t *testing.T) {
	internal := strings.Replace(created, `"response":{`, `"kind":"internal","response":{`, 1)
	for _, first := range [][]string{
		{internal}, {internal, later.Replace(created)}, {strings.Replace(begins("h"), `"name"`, `"type":"internal","name"`, 1)}, {strings.Replace(choice(``), `"object"`, `"kind":"internal","object"`, 1)},
		{begins("a"), `{"type":"raw_response_event","data":` + internal + `}`, begins("b"), createdOf("s")},
	} {
		for _, failed := range []string{`{"type":"error","code":"x","message":"secret"}`, `{"error":{"message":"secret","type":"x","param":null,"code":"x"}}`} {
			for _, of := range []event.Stream{{SingleRun: true}, {}} {
				if out := leavingOf(t, client, &of, stream(append(append([]string{}, first...), failed)...)); strings.Contains(out, "secret") || !strings.Contains(out, "the run failed") {
					t.Errorf("after %s this leaves: %s", first, out)
				}
			}
		}
	}
	if out := leaving(t, client, stream(created, `{"type":"error","code":"x","message":"secret"}`)); !strings.Contains(out, "secret") {
		t.Errorf("of the error of another response this leaves: %s", out)
	}
}

// TestFactsOfInternalResponses checks that internal responses are reported like others.
func TestFactsOfInternalResponses(t *testing.T) {
	sent := []string{created, added, delta, strings.Replace(ended, `"output":`, `"usage":{"input_tokens":1},"output":`, 1)}
	plain := factsOf(stream(sent...))
	sent[0] = strings.Replace(created, `"response":{`, `"kind":"internal","response":{`, 1)
	if got := factsOf(stream(sent...)); got != plain {
		t.Errorf("the facts are\n%s, want\n%s", got, plain)
	}
}
