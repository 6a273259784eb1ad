package openai_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// textOf returns a piece of a text in the Agents SDK's envelope, as applications pass it on that show only texts.
func textOf(item, text string) string {
	return raw(4, "output_text.delta", `"output_index":0,"content_index":0,"item_id":"`+item+`","delta":"`+text+`"`)
}

// TestInternalAgentsInTexts passes on only the texts of the Agents SDK's agents, or these and items, as its documentation shows. What comes
// after an internal agent leaves as it would after another one.
func TestInternalAgentsInTexts(t *testing.T) {
	const fake = "__fake_id__"
	works := func(agent, id, text string) []string {
		call := "c" + agent
		return []string{
			begins(agent), strings.Replace(callItem(agent, call, "f"), `"call_id"`, `"id":"f`+call+`","arguments":"`+text+`","call_id"`, 1), strings.Replace(outputItem(agent, call), `"o"`, `"`+text+`"`, 1), textOf(id, text),
			item("message_output_created", agent, `"type":"message","role":"assistant","id":"`+id+`","content":[{"type":"output_text","text":"`+text+`"}]`),
		}
	}
	ends := func(id, text string) string {
		return completedOf(5, "r"+id, `{"type":"message","role":"assistant","id":"`+id+`","content":[{"type":"output_text","text":"`+text+`"}]}`)
	}
	for name, c := range map[string]struct {
		answers int // that the client gets
		sent    []string
	}{
		"texts":             {2, []string{begins("a"), textOf("i", "answer"), begins(hidden), textOf("j", "secret"), textOf("j", "secret"), begins("b"), textOf("k", "answer")}},
		"fake IDs":          {2, []string{begins("a"), textOf(fake, "answer"), begins(hidden), textOf(fake, "secret"), begins("b"), textOf(fake, "answer")}},
		"items":             {8, slices.Concat(works("a", "i", "answer"), works(hidden, "j", "secret"), works("b", "k", "answer"))},
		"fake items":        {8, slices.Concat(works("a", fake, "answer"), works(hidden, fake, "secret"), works("b", fake, "answer"))},
		"no work so far":    {0, []string{begins(hidden), begins("b"), textOf("j", "secret"), begins("b"), textOf("j", "secret")}},
		"ends":              {4, []string{begins("a"), textOf("i", "answer"), ends("i", "answer"), begins(hidden), textOf("j", "secret"), ends("j", "secret"), begins("b"), textOf("k", "answer"), ends("k", "answer")}},
		"only ends":         {2, []string{begins("a"), ends("i", "answer"), begins(hidden), ends("j", "secret"), begins("b"), ends("k", "answer")}},
		"in a call":         {2, []string{begins("a"), callItem("a", "c", "ask"), begins(hidden), textOf("j", "secret"), strings.Replace(outputItem("a", "c"), `"o"`, `"answer"`, 1), textOf("k", "answer")}},
		"in two calls":      {0, []string{begins("a"), callItem("a", "c", "ask"), callItem("a", "d", "ask"), begins(hidden), begins("b"), textOf("j", "secret")}},
		"an item":           {1, []string{begins("a"), strings.Replace(textOf("i", "secret"), `"data"`, `"kind":"internal","data"`, 1), textOf("i", "secret"), begins("b"), textOf("k", "answer")}},
		"agents of a run":   {2, []string{deltaOfAgent(0, "/root", "i", "answer"), deltaOfAgent(1, "/root/internal_x", "j", "secret"), deltaOfAgent(2, "/root", "k", "answer")}},
		"no number":         {0, []string{strings.Replace(deltaOfAgent(1, "/root/internal_x", "j", "secret"), `"item_id":"j",`, "", 1), `{"type":"response.output_text.delta","item_id":"k","delta":"secret"}`}},
		"no ID":             {0, []string{strings.Replace(deltaOfAgent(1, "/root/internal_x", "j", "secret"), `"output_index":1,`, "", 1), `{"type":"response.output_text.delta","output_index":2,"delta":"secret"}`}},
		"another item ends": {1, []string{deltaOfAgent(1, "/root/internal_x", "j", "secret"), `{"type":"response.completed","response":{"id":"r","object":"response","status":"completed","output":[{"type":"message","id":"k","role":"assistant","content":[{"type":"output_text","text":"answer"}]}]}}`}},
		"neither":           {0, []string{deltaOfAgent(1, "/root/internal_x", "j", "secret"), `{"type":"response.output_text.delta","delta":"secret"}`}},
	} {
		t.Run(name, func(t *testing.T) {
			checkTexts(t, c.answers, c.sent)
		})
	}
}

// checkTexts checks that answers leave as often as under the policy `client`, and that other agents than the internal one lose nothing.
func checkTexts(t *testing.T, answers int, sent []string) {
	t.Helper()
	out := leaving(t, client, stream(sent...))
	if strings.Contains(out, "secret") || strings.Count(out, "answer") != answers {
		t.Errorf("this leaves: %s", out)
	}
	if out := leaving(t, public, stream(sent...)); strings.Contains(out, "secret") || (answers == 0) != !strings.Contains(out, "answer") {
		t.Errorf("the public gets: %s", out)
	}
	sent = strings.Split(strings.NewReplacer(hidden, "q", `"kind":"internal",`, "").Replace(strings.Join(sent, "\n")), "\n")
	if out := leaving(t, client, stream(sent...)); strings.Count(strings.TrimSpace(out), "\n")+1 != len(sent) {
		t.Errorf("without a mark this leaves: %s", out)
	}
}

// deltaOfAgent returns a piece of a text of one of several agents of a response.
func deltaOfAgent(index int, agent, id, text string) string {
	return `{"type":"response.output_text.delta","output_index":` + string(rune('0'+index)) + `,"item_id":"` + id + `","delta":"` + text + `","agent":{"agent_name":"` + agent + `"}}`
}

// TestModelPiecesAfterInternalAgents shows pieces of a model's answer in the SDK for JavaScript after an internal agent has worked.
func TestModelPiecesAfterInternalAgents(t *testing.T) {
	begun := `{"type":"raw_model_stream_event","data":{"type":"response_started","providerData":{}}}`
	says := func(text string) string {
		return `{"type":"raw_model_stream_event","data":{"type":"output_text_delta","delta":"` + text + `"}}`
	}
	ended := `{"type":"raw_model_stream_event","data":{"type":"response_done","response":{"output":[]}}}`
	for _, sent := range [][]string{
		{begins(hidden), callItem(hidden, "c", "f"), outputItem(hidden, "c"), begun, says("secret"), ended, saidBy(hidden, "secret"), begins("b"), begun, says("answer")},
		{begins(hidden), callItem(hidden, "c", "f"), outputItem(hidden, "c"), says("secret"), saidBy(hidden, "secret"), begins("b"), says("answer")},
	} {
		if out := leaving(t, client, stream(sent...)); strings.Contains(out, "secret") || !strings.Contains(out, "answer") {
			t.Errorf("this leaves: %s", out)
		}
	}
	marked := strings.Replace(callItem("b", "c", "f"), `"name"`, `"kind":"internal","name"`, 1)
	if out := leaving(t, client, stream(begins("b"), begun, marked, says("secret"))); strings.Contains(out, "secret") {
		t.Errorf("after an internal item of the response this leaves: %s", out)
	}
	if out := leaving(t, client, stream(begins("b"), begun, marked, ended, outputItem("b", "c"), begun, says("answer"))); !strings.Contains(out, "answer") {
		t.Errorf("after an internal item of an earlier response only this leaves: %s", out)
	}
}

// TestAgentsAsText has only the name of a response's agent, as a text.
func TestAgentsAsText(t *testing.T) {
	text := func(s string) string { return strings.NewReplacer(`{"agent_name":`, "", `"}}`, `"}`).Replace(s) }
	checkTexts(t, 1, []string{text(deltaOfAgent(0, "/root/internal_x", "i", "secret")), text(deltaOfAgent(1, "/root/my_internal", "j", "answer"))})
	checkLeaves(t, 0, created, strings.Replace(added, `"role"`, `"agent":"/root/internal_x","role"`, 1), delta, ended)
	checkLeaves(t, 0, strings.Replace(created, `"response":{`, `"response":{"agent":"internal_x",`, 1), added, delta, ended)
}

// TestTextsAfterMessage sends texts of models that the SDK calls by the Chat Completions API after a message of an internal agent. Those that
// continue its response stay in. Those of the next response leave.
func TestTextsAfterMessage(t *testing.T) {
	const fake = "__fake_id__"
	text := func(n int, said string) string {
		return strings.Replace(deltaOf(n, fake), `"delta":"`+fake, `"delta":"`+said, 1)
	}
	begun := []string{begins("a"), callItem("a", "c", "ask"), begins("internal_x"), text(3, "secret"), text(4, "secret"), messageItem("internal_x", fake)}
	for _, next := range [][]string{
		{text(5, "secret"), messageItem("internal_x", fake)},
		{messageItem("internal_x", fake), text(5, "secret"), text(6, "secret")},
		{strings.Replace(text(5, "secret"), `"item_id":"`+fake+`",`, "", 1)},
	} {
		checkStaysIn(t, []filter.Settings{client, public}, append(begun[:6:6], next...)...)
	}
	for _, next := range [][]string{
		{text(3, "open"), text(4, "open"), text(5, "open"), text(6, "open")},
		{outputItem("a", "c"), text(5, "open"), text(6, "open"), text(7, "open"), text(8, "open")},
		{messageItem("b", "i"), text(3, "open"), text(4, "open"), text(5, "open"), text(6, "open")},
	} {
		if out := leaving(t, client, stream(append(begun[:6:6], next...)...)); strings.Count(out, `"open"`) != 4 || strings.Contains(out, "secret") {
			t.Errorf("of %s\nthis leaves: %s", strings.Join(next, "\n"), out)
		}
	}
}
