package openai_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestResponseAfterInternal shows only the start, the texts and the end of a response after those of an internal one. All of it leaves.
func TestResponseAfterInternal(t *testing.T) {
	internal := strings.Replace(created, `"response":{`, `"kind":"internal","response":{`, 1)
	next := []string{later.Replace(created), later.Replace(delta), later.Replace(ended)}
	for _, of := range []event.Stream{{SingleRun: true}, {}} {
		out := leavingOf(t, client, &of, stream(append([]string{internal, delta, ended}, next...)...))
		if strings.Contains(out, "secret") || strings.Count(out, "answer") != 2 {
			t.Errorf("after the end of the internal one this leaves: %s", out)
		}
		out = leavingOf(t, client, &of, stream(internal, delta, next[0], strings.Replace(delta, `"item_id":"i",`, "", 1), delta))
		if strings.Contains(out, "secret") {
			t.Errorf("if the internal one goes on this leaves: %s", out)
		}
	}
}

// TestNumbersUsedAgain passes on parts of responses, each of which counts its items from 0, and neither starts nor ends of responses.
func TestNumbersUsedAgain(t *testing.T) {
	const message = `"type":"message","role":"assistant","content":[{"type":"output_text","text":"answer"}]`
	text := strings.Replace(later.Replace(delta), `"item_id"`, `"content_index":0,"item_id"`, 1)
	whole := `{"type":"response.output_item.done","output_index":0,"item":{"id":"j",` + message + `}}`
	for name, c := range map[string]struct {
		first  string
		leaves bool // also under the policy `public`
	}{
		"a call":              {`{"type":"response.output_item.done","output_index":0,"item":{"id":"i","type":"function_call","call_id":"c","name":"f","arguments":"{}"}}`, true},
		"the start of a call": {`{"type":"response.output_item.added","output_index":0,"item":{"id":"i","type":"function_call","call_id":"c","name":"f","arguments":""}}`, true},
		"a thought":           {`{"type":"response.output_item.done","output_index":0,"item":{"id":"i","type":"reasoning","summary":[]}}`, true},
		"an open thought":     {`{"type":"response.output_item.added","output_index":0,"item":{"id":"i","type":"reasoning","summary":[]}}`, false},
		"a user's message":    {`{"type":"response.output_item.added","output_index":0,"item":{"id":"i","type":"message","role":"user","content":[]}}`, false},
	} {
		if out := leaving(t, client, stream(c.first, text, whole)); strings.Count(out, "\n") != 3 {
			t.Errorf("%s: the client gets: %s", name, out)
		}
		if out := leaving(t, public, stream(c.first, text)); strings.Contains(out, "answer") != c.leaves {
			t.Errorf("%s: the public gets: %s", name, out)
		}
		if facts := factsOf(stream(c.first, text, whole)); c.leaves && strings.Count(facts, `"answer"`) != 2 {
			t.Errorf("%s: the facts are: %s", name, facts)
		}
	}
}

// TestTurnsOfModels shows pieces of answers in the SDK for JavaScript, but not where an answer ends.
func TestTurnsOfModels(t *testing.T) {
	says := func(text string) string {
		return `{"type":"raw_model_stream_event","data":{"type":"output_text_delta","delta":"` + text + `"}}`
	}
	begun := `{"type":"raw_model_stream_event","data":{"type":"response_started"}}`
	out := leaving(t, client, stream(begins("a"), begun, says("answer"), callItem("a", "c", "f"), begins(hidden), says("secret"), begun, says("secret"), begins("b"), begun, says("answer")))
	if strings.Contains(out, "secret") || strings.Count(out, "answer") != 2 {
		t.Errorf("this leaves: %s", out)
	}
}

// TestNamedAfterInternal names an agent in an item that was withheld because it could have been of the internal one.
func TestNamedAfterInternal(t *testing.T) {
	named := func(agent, id string) string {
		return item("message_output_created", agent, `"type":"message","role":"assistant","id":"`+id+`","content":[{"type":"output_text","text":"answer"}]`)
	}
	sent := []string{begins("a"), callItem("a", "c", "f"), begins(hidden), textOf("j", "secret"), textOf("k", "secret"), named("a", "k")}
	for _, s := range []string{stream(sent...), stream(append(sent, strings.ReplaceAll(named(hidden, "k"), "answer", "secret"))...)} {
		if out := leaving(t, client, s); strings.Contains(out, "secret") || strings.Count(out, "answer") != 1 {
			t.Errorf("this leaves: %s", out)
		}
		if out := leaving(t, public, s); strings.Contains(out, "secret") || strings.Count(out, "answer") != 1 {
			t.Errorf("the public gets: %s", out)
		}
	}
	if out := leaving(t, client, stream(append(sent[:5:5], named("", "k"), strings.Replace(named("a", "j"), `"raw_item"`, `"kind":"internal","raw_item"`, 1))...)); strings.Contains(out, `"k"`) || strings.Contains(out, `"j"`) {
		t.Errorf("without its agent, or with a mark, this leaves: %s", out)
	}
}
