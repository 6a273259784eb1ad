package openai_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/dialect/openai"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestShapes sends chunks in which the member object has the values of several servers. All are read and leave, as OpenAI's own do.
func TestShapes(t *testing.T) {
	sent := stream(choice(`{"index":0,"delta":{"role":"assistant","content":"Hel"}}`), choice(`{"index":0,"delta":{"content":"lo"}}`), choice(`{"index":0,"delta":{},"finish_reason":"stop"}`),
		choice(``), "[DONE]")
	facts := dialecttest.Facts(openai.Dialect{}, &event.Stream{SingleRun: true}, sent)
	for _, object := range []string{`"object":"extensions.chat.completion.chunk",`, `"object":"chat.completions.chunk",`, `"object":"text_completion",`, `"object":"chat.completion",`, `"object":"",`, `"object":null,`, ``} {
		other := strings.ReplaceAll(sent, `"object":"chat.completion.chunk",`, object)
		if got := dialecttest.Facts(openai.Dialect{}, &event.Stream{SingleRun: true}, other); got != facts {
			t.Errorf("with %q, the facts are\n%s", object, got)
		}
		if out := leaving(t, client, other); strings.Count(out, "\n") != strings.Count(sent, "\n\n") {
			t.Errorf("with %q, this leaves under client:\n%s", object, out)
		}
		if out := leaving(t, public, other); strings.Count(out, "\n") != strings.Count(sent, "\n\n") || !strings.Contains(out, `"lo"`) {
			t.Errorf("with %q, this leaves under public:\n%s", object, out)
		}
	}
	for data, want := range map[string]dialect.Match{
		`{"object":"chat.completion.chunk","choices":[]}`: dialect.Sure, `{"object":"extensions.chat.completion.chunk","choices":[]}`: dialect.Sure,
		`{"choices":[{"index":0,"delta":{}}]}`: dialect.Yes, `{"choices":[{"index":0,"text":"Hello"}]}`: dialect.Maybe, `{"choices":[]}`: dialect.Maybe, `{"choices":{"delta":{}}}`: dialect.No, `{"usage":{"total_tokens":1}}`: dialect.No,
	} {
		if got := detected(data); got != want {
			t.Errorf("%s is recognized with %d, want %d", data, got, want)
		}
	}
}

// detected returns how sure the dialect is of a frame.
func detected(data string) dialect.Match {
	var doc strictjson.Doc
	if err := doc.Parse([]byte(data), 32); err != nil {
		return dialect.No
	}
	return openai.Dialect{}.Detect(dialect.Frame{Frame: sse.Frame{Data: []byte(data)}, JSON: doc.Root()})
}

// TestChunksWithoutChoices sends the usage in chunks without choices, which leave.
func TestChunksWithoutChoices(t *testing.T) {
	begun, said := choice(`{"index":0,"delta":{"role":"assistant","content":"open"}}`), choice(`{"index":0,"delta":{"content":"open"}}`)
	for _, usage := range []string{`{"id":"c","object":"chat.completion.chunk","choices":null,"usage":{"prompt_tokens":5}}`, `{"id":"c","choices":null,"usage":{"prompt_tokens":5}}`, `{"usage":{"prompt_tokens":5}}`, `{"id":"c","object":"chat.completion.chunk"}`} {
		for _, sent := range [][]string{{begun, usage, said}, {begun, said, usage}} {
			if out := leaving(t, client, stream(sent...)); !strings.Contains(out, usage) || strings.Count(out, "open") != 2 {
				t.Errorf("of %s\nthis leaves:\n%s", strings.Join(sent, "\n"), out)
			}
		}
	}
	for _, other := range []string{`{"type":"x","usage":{"prompt_tokens":5}}`, `{"usage":5,"content":"secret"}`, `{"choices":"secret","usage":{}}`} {
		if out := leaving(t, client, stream(begun, other)); strings.Contains(out, other) {
			t.Errorf("this leaves: %s", out)
		}
	}
}

// TestUsageAfterDone sends the usage of a completion after [DONE]. It belongs to that completion, and begins none.
func TestUsageAfterDone(t *testing.T) {
	said, stop := choice(`{"index":0,"delta":{"role":"assistant","content":"a"}}`), choice(`{"index":0,"delta":{},"finish_reason":"stop"}`)
	for _, usage := range []string{`{"id":"c","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":5}}`, `{"id":"","choices":[],"usage":{"prompt_tokens":5}}`, `{"usage":{"prompt_tokens":5}}`} {
		for _, single := range []bool{true, false} {
			facts := dialecttest.Facts(openai.Dialect{}, &event.Stream{SingleRun: single}, stream(said, stop, "[DONE]", usage, "[DONE]"))
			if strings.Count(facts, "model_started") != 1 || strings.Count(facts, "run_ended") != 1 || !strings.Contains(facts, "input=5") {
				t.Errorf("of %s\nthese are the facts:\n%s", usage, facts)
			}
		}
	}
}

// TestOtherTexts sends chunks with texts beside those of the delta: what a search found (Azure), the steps of a research (Perplexity), and
// the text of a completion without messages.
func TestOtherTexts(t *testing.T) {
	without := func(kind event.Kind) filter.Settings {
		return filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed, Exclude: []event.Kind{kind}}
	}
	for piece, hidden := range map[string]filter.Settings{
		`{"index":0,"delta":{"role":"assistant","context":{"citations":[{"content":"secret"}],"intent":"[]"}}}`:                    without(event.KindToolEnded),
		`{"index":0,"delta":{"role":"assistant","context":{"messages":[{"role":"tool","content":"secret"}]}}}`:                     without(event.KindToolEnded),
		`{"index":0,"delta":{},"messages":[{"role":"tool","content":"secret"},{"role":"assistant","content":""}]}`:                 without(event.KindToolEnded),
		`{"index":0,"messages":[{"role":"assistant","content":"secret"}]}`:                                                         without(event.KindText),
		`{"index":0,"messages":[{"role":"assistant","reasoning_content":"secret"}]}`:                                               withoutThoughts,
		`{"index":0,"delta":{"role":"assistant","content":"","reasoning_steps":[{"thought":"secret","type":"web_search"}]}}`:       withoutThoughts,
		`{"index":0,"delta":{"role":"assistant","content":""},"message":{"role":"assistant","reasoning_steps":[{"x":"secret"}]}}`:  withoutThoughts,
		`{"index":0,"delta":{"text":"secret"}}`:                                                                                    without(event.KindText),
		`{"index":0,"text":"secret"}`:                                                                                              without(event.KindText),
		`{"index":0,"thought":true,"text":"secret"}`:                                                                               withoutThoughts,
		`{"index":0,"delta":{"executed_tools":[{"index":0,"type":"search","arguments":"secret"}]}}`:                                without(event.KindToolStarted),
		`{"index":0,"delta":{"executed_tools":[{"index":0,"type":"search","arguments":"","output":"secret"}]}}`:                    without(event.KindToolEnded),
		`{"index":0,"message":{"executed_tools":[{"index":0,"type":"search","search_results":{"results":[{"title":"secret"}]}}]}}`: without(event.KindToolEnded),
		`{"index":0,"channel":"analysis","text":"secret"}`:                                                                         withoutThoughts,
	} {
		sent := []string{strings.Replace(choice(piece), "chat.completion.chunk", "another", 1), choice(`{"index":0,"delta":{},"finish_reason":"stop"}`)}
		checkStaysIn(t, []filter.Settings{public, hidden}, sent...)
		if out := leaving(t, client, stream(sent...)); !strings.Contains(out, "secret") {
			t.Errorf("the client does not get %s", sent[0])
		}
	}
	checkStaysIn(t, []filter.Settings{client, public}, choice(`{"index":0,"messages":[{"role":"system","content":"secret"}]}`))
	checkStaysIn(t, []filter.Settings{client, public}, choice(`{"index":0,"role":"system","text":"secret"}`), choice(`{"index":0,"text":"secret"}`))
	facts := dialecttest.Facts(openai.Dialect{}, &event.Stream{SingleRun: true}, stream(choice(`{"index":0,"text":"Hel","finish_reason":null}`), choice(`{"index":0,"text":"lo","finish_reason":"stop"}`)))
	if !strings.Contains(facts, `text "Hello"`) {
		t.Errorf("of a completion without messages, these are the facts:\n%s", facts)
	}
}

// TestPrefaces sends what Azure's filter found in the prompt, before each of two completions. It is no whole frame, so the model was asked
// before it.
func TestPrefaces(t *testing.T) {
	const preface = `{"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0,"content_filter_results":{}}]}`
	said, stop := choice(`{"index":0,"delta":{"role":"assistant","content":"a"}}`), choice(`{"index":0,"delta":{},"finish_reason":"stop"}`)
	usage := `{"choices":[],"id":"","usage":{"prompt_tokens":5}}`
	for _, sent := range []string{
		stream(preface, said, stop, usage, preface, strings.ReplaceAll(said, `"c"`, `"d"`), stop, "[DONE]"),
		leavingAsSent(t, preface, said),
	} {
		facts := dialecttest.Facts(openai.Dialect{}, &event.Stream{SingleRun: true}, sent)
		if strings.Contains(facts, " partial\n  usage") {
			t.Errorf("the usage is partial:\n%s", facts)
		}
		if want := strings.Count(sent, `"choices":[]`) - strings.Count(sent, "usage"); strings.Count(facts, " partial\n  other\n") != want {
			t.Errorf("of %s\nnot %d prefaces are partial:\n%s", sent, want, facts)
		}
	}
}

// leavingAsSent returns what leaves of frames under public, as on the wire.
func leavingAsSent(t *testing.T, sent ...string) string {
	t.Helper()
	return stream(strings.Split(strings.TrimSpace(leaving(t, public, stream(sent...))), "\n")...)
}
