package openai_test

import (
	"slices"
	"strings"
	"testing"
)

// TestResultsWhileAnswering shows the result of an ordinary agent's call while an internal agent answers that began when the call was open. No
// message has shown yet that the application passes on messages.
func TestResultsWhileAnswering(t *testing.T) {
	const fake = "__fake_id__"
	says, result := saysItem, resultItem
	calling := func(response string) []string {
		return []string{begins("a"), createdOf(response), calledOf(2, "c", "f"), completedOf(3, response, `{"type":"function_call","call_id":"c"}`), callItem("a", "c", "f"), begins(hidden)}
	}
	second := func(n int, text string) string {
		return raw(n, "output_text.delta", `"output_index":1,"content_index":0,"item_id":"`+text+`","delta":"`+text+`"`)
	}
	ending := func(id, message, text string) string {
		return completedOf(12, id, `{"type":"message","id":"`+message+`","role":"assistant","content":[{"type":"output_text","text":"`+text+`"}]}`)
	}
	js := func(kind, rest string) string {
		return `{"type":"raw_model_stream_event","data":{"type":"` + kind + `",` + rest + `}}`
	}
	pieceJS := js("output_text_delta", `"delta":"secret","providerData":{"id":"ri"}`)
	own, of := responseOf("i", "secret"), responseOf("k", "answer")
	texts := []string{begins("a"), callItem("a", "c", "f"), begins(hidden)}
	for name, c := range map[string]atWork{
		"all events":                 {2, slices.Concat(calling("r"), own[:3], []string{result("a", "c")}, of[:2], []string{second(8, "secret")}, own[3:], []string{says(hidden, "i", "secret")}, of[2:], []string{says("a", "k", "answer")})},
		"all events, without IDs":    {2, slices.Concat(calling(fake), []string{createdOf(fake), messageOf(1, "added", fake), result("a", "c"), pieceOf(2, "secret"), ending(fake, fake, "secret"), says(hidden, fake, "secret"), says("a", fake, "answer")})},
		"texts and ends":             {2, slices.Concat(calling("r")[2:], []string{textOf("i", "secret"), result("a", "c"), second(8, "secret"), ending("ri", "i", "secret"), says(hidden, "i", "secret"), textOf("k", "answer")})},
		"no messages":                {3, slices.Concat(calling("r"), own, []string{result("a", "c")}, of)},
		"texts":                      {3, append(slices.Clone(texts), textOf("i", "secret"), result("a", "c"), second(10, "secret"), says(hidden, "i", "secret"), textOf("k", "answer"), says("a", "k", "answer"))},
		"texts, and beside another":  {3, append(slices.Clone(texts), textOf("i", "secret"), result("a", "c"), textOf("k", "answer"), second(10, "secret"), raw(5, "output_text.delta", `"output_index":0,"content_index":0,"item_id":"k","delta":"answer"`))},
		"texts without IDs":          {3, append(slices.Clone(texts), pieceOf(3, "secret"), pieceOf(4, "secret"), result("a", "c"), pieceOf(5, "secret"), pieceOf(3, "answer"), pieceOf(4, "answer"), pieceOf(6, "secret"))},
		"a message of another agent": {2, append(slices.Clone(texts), pieceOf(3, "secret"), result("a", "c"), says("a", fake, "answer"), pieceOf(3, "secret"), pieceOf(4, "secret"))},
		"JavaScript": {1, []string{begins("a"), js("response_started", `"providerData":{"id":"r"}`), js("response_done", `"response":{"id":"r","output":[{"type":"function_call","callId":"c","name":"f"}]}`), callItem("a", "c", "f"), begins(hidden),
			js("response_started", `"providerData":{"id":"ri"}`), pieceJS, result("a", "c"), pieceJS, js("response_started", `"providerData":{"id":"rk"}`), pieceJS, js("response_done", `"response":{"id":"ri","output":[{"type":"message","text":"secret"}]}`), says(hidden, "i", "secret")}},
	} {
		checkAtWork(t, name, c)
	}
}

// TestTextsAfterTools passes on only texts and calls. What an ordinary agent says after an internal one in its tool leaves.
func TestTextsAfterTools(t *testing.T) {
	texts := []string{begins("a"), callItem("a", "c", "f"), begins(hidden)}
	later := func(n int) string {
		return raw(n, "output_text.delta", `"output_index":0,"content_index":0,"item_id":"k","delta":"answer"`)
	}
	next := func(n int) string { return strings.Replace(later(n), `index":0`, `index":1`, 1) }
	asTool := strings.Replace(outputItem("a", "c"), `"o"`, `"secret"`, 1) // as Agent.as_tool returns it
	for name, sent := range map[string][]string{
		"longer, with IDs":        append(slices.Clone(texts), textOf("i", "secret"), outputItem("a", "c"), later(4), later(5), later(6)),
		"longer, of the result":   append(slices.Clone(texts), pieceOf(3, "sec"), pieceOf(4, "ret"), asTool, pieceOf(3, "answer"), pieceOf(4, "answer"), pieceOf(5, "answer")),
		"longer, after a thought": append(slices.Clone(texts), textOf("i", "secret"), outputItem("a", "c"), next(4), next(5), next(6)),
		"begins late":             append(slices.Clone(texts), textOf("i", "secret"), outputItem("a", "c"), later(9), later(10), later(11)),
	} {
		if out := leaving(t, client, stream(sent...)); strings.Count(out, "answer") != 3 || strings.Contains(out, "sec") {
			t.Errorf("%s: this leaves: %s", name, out)
		}
	}
}
