package openai_test

import (
	"strconv"
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
		for _, of := range []*event.Stream{{SingleRun: true}, {}} {
			if out := leavingOf(t, s, of, stream(sent...)); strings.Contains(out, "secret") || strings.Count(out, "answer") != answers {
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
	for _, mark := range []string{`"kind":"internal:x","response":{`, `"response":{"kind":"internal:x",`, `"response":{"role":"system",`} {
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
	checkLeaves(t, 0, onlyItem, strings.Replace(added, `:0`, `:1`, 1), strings.Replace(delta, `:0`, `:1`, 1))
}

// TestInternalModels begins a model's answer in the SDK for JavaScript with an event that calls itself internal.
func TestInternalModels(t *testing.T) {
	marked := strings.Replace(started, `"type":"response_started"`, `"kind":"internal","type":"response_started"`, 1)
	chat := `{"type":"raw_model_stream_event","data":{"type":"response_started","kind":"internal","providerData":{}}}`
	unnamed := strings.Replace(message, `"id":"i",`, "", 1)
	checkLeaves(t, 0, agentA, marked, ofModel(created), ofModel(added), ofModel(delta), piece, ofModel(ended), doneJS, message, unnamed)
	checkLeaves(t, 0, agentA, chat, piece, strings.Replace(doneJS, `"id":"r",`, "", 1), message, unnamed)
}

// TestInternalCompletions begins a completion with a chunk that calls itself internal. Nothing of its choices leaves.
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
	next := stream(internal(choice(``)), choice(`{"index":0,"delta":{"role":"assistant","content":"secret"}}`), choice(`{"index":0,"delta":{},"finish_reason":"stop"}`), other.Replace(choice(`{"index":0,"delta":{"role":"assistant","content":"answer"}}`)))
	if out := leavingOf(t, public, &event.Stream{}, next); strings.Contains(out, "secret") || !strings.Contains(out, "answer") {
		t.Errorf("of the next completion this leaves: %s", out)
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

// TestWholeItemsAfterInternal shows only the start of a response and whole items. One is internal, and the others leave.
func TestWholeItemsAfterInternal(t *testing.T) {
	whole := func(n int, mark, id, text string) string {
		return `{"type":"response.output_item.done","output_index":` + strconv.Itoa(n) + `,"item":{` + mark + `"id":"` + id + `","type":"message","role":"assistant","content":[{"type":"output_text","text":"` + text + `"}]}}`
	}
	const mark = `"kind":"internal",`
	checkLeaves(t, 2, created, whole(0, "", "h", "answer"), whole(1, mark, "i", "secret"), whole(2, "", "j", "answer"))
	checkLeaves(t, 0, created, whole(1, mark, "i", "secret"), whole(1, "", "j", "secret"))
}

// TestResponseAfterInternal shows only the start, the texts and the end of a response after those of an internal one. All of it leaves.
func TestResponseAfterInternal(t *testing.T) {
	internal := strings.Replace(created, `"response":{`, `"kind":"internal","response":{`, 1)
	next := []string{later.Replace(created), later.Replace(delta), later.Replace(ended)}
	for _, of := range []*event.Stream{{SingleRun: true}, {}} {
		out := leavingOf(t, client, of, stream(append([]string{internal, delta, ended}, next...)...))
		if strings.Contains(out, "secret") || strings.Count(out, "answer") != 2 {
			t.Errorf("after the end of the internal one this leaves: %s", out)
		}
		out = leavingOf(t, client, of, stream(internal, delta, next[0], delta))
		if strings.Contains(out, "secret") {
			t.Errorf("if the internal one goes on this leaves: %s", out)
		}
	}
}
