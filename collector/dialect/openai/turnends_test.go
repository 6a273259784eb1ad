package openai_test

import (
	"slices"
	"strings"
	"testing"
)

// responseOf returns the events of a response with one message.
func responseOf(id, text string) []string {
	message := `{"type":"message","id":"` + id + `","role":"assistant","content":[{"type":"output_text","text":"` + text + `"}]}`
	return []string{createdOf("r" + id), raw(1, "output_item.added", `"output_index":0,"item":{"type":"message","id":"`+id+`","role":"assistant","content":[]}`), textOf(id, text), completedOf(5, "r"+id, message)}
}

// TestEndsOfInternalTurns ends the work of internal agents in ways other than an answer before the next agent begins.
func TestEndsOfInternalTurns(t *testing.T) {
	says, result := saysItem, resultItem
	secret, answer := responseOf("i", "secret"), responseOf("k", "answer")
	second := responseOf("j", "secret")
	called := []string{createdOf("rd"), calledOf(1, "d", "f"), completedOf(2, "rd", `{"type":"function_call","call_id":"d"}`), callItem(hidden, "d", "f"), outputItem(hidden, "d")}
	inCall := []string{begins("a"), callItem("a", "c", "ask"), begins(hidden)}
	failed := strings.Replace(outputItem("a", "c"), `"o"`, `"An error occurred while running the tool. Please try again. Error: answer"`, 1)
	for name, c := range map[string]atWork{
		"a response beside that of another":     {4, slices.Concat([]string{begins("a"), begins(hidden), secret[0], answer[0]}, secret[1:], []string{says(hidden, "i", "secret"), says("a", "k", "answer")}, responseOf("l", "answer"), []string{says("a", "l", "answer")})},
		"a message after another's call":        {4, slices.Concat([]string{begins("a"), begins(hidden), secret[0], createdOf("rc")}, secret[1:], []string{calledOf(1, "c", "f"), completedOf(2, "rc", `{"type":"function_call","call_id":"c"}`), says(hidden, "i", "secret"), callItem("a", "c", "f"), result("a", "c")}, answer, []string{says("a", "k", "answer")})},
		"responses and messages":                {2, slices.Concat([]string{begins("a"), createdOf("rc"), calledOf(1, "c", "f"), completedOf(2, "rc", `{"type":"function_call","call_id":"c"}`), begins(hidden)}, secret, []string{says(hidden, "i", "secret")}, answer)},
		"several in a row":                      {2, slices.Concat([]string{begins("a"), begins(hidden), begins("internal_y")}, secret, second, []string{says(hidden, "i", "secret"), says("internal_y", "j", "secret")}, answer)},
		"texts, before the first call":          {3, []string{begins("a"), begins(hidden), textOf("i", "secret"), says(hidden, "i", "secret"), textOf("j", "secret"), callItem("a", "c", "f"), result("a", "c"), textOf("k", "answer"), says("a", "k", "answer")}},
		"texts, and a call after the message":   {1, []string{begins("a"), begins(hidden), textOf("i", "secret"), says(hidden, "i", "secret"), callItem("a", "c", "f"), callItem(hidden, "d", "f"), result("a", "c"), textOf("j", "secret")}},
		"a call, another's text and a message":  {1, []string{begins("a"), callItem("a", "b", "f"), result("a", "b"), begins(hidden), textOf("i", "secret"), callItem(hidden, "d", "f"), textOf("l", "secret"), says(hidden, "i", "secret"), textOf("j", "secret")}},
		"no results":                            {1, []string{callItem("a", "c", "f"), begins(hidden), textOf("i", "secret"), callItem(hidden, "d", "f"), textOf("j", "secret"), says(hidden, "j", "secret"), textOf("k", "answer")}},
		"a message, and whose is the call":      {0, []string{begins("a"), begins(hidden), createdOf("ri"), createdOf("rj"), calledOf(1, "c", "f"), textOf("i", "secret"), completedOf(6, "ri", `{"type":"function_call","call_id":"c"}`), says(hidden, "i", "secret"), createdOf("rl"), textOf("l", "secret")}},
		"a call that stops it":                  {1, slices.Concat(inCall, called, []string{result("a", "c")}, answer)},
		"a call that stops it, after a message": {1, slices.Concat(inCall, secret, []string{says(hidden, "i", "secret")}, called, []string{result("a", "c")}, answer)},
		"texts, and a call that stops it":       {1, []string{inCall[0], inCall[1], inCall[2], textOf("i", "secret"), says(hidden, "i", "secret"), callItem(hidden, "d", "f"), outputItem(hidden, "d"), result("a", "c"), textOf("k", "answer")}},
		"an error at once":                      {3, slices.Concat(inCall, []string{failed}, answer)},
		"an error in its call":                  {3, slices.Concat(inCall, called[:4], []string{failed}, answer)},
		"a result of an agent beside it":        {3, slices.Concat(inCall, called, []string{result("a", "c")}, secret, []string{says(hidden, "i", "secret")}, answer)},
		"a result after another agent's answer": {3, slices.Concat(inCall, answer, []string{says("z", "k", "answer"), result("a", "c")}, secret, []string{says(hidden, "i", "secret")}, responseOf("l", "answer"))},
		"an error of one of two calls":          {1, slices.Concat([]string{inCall[0], inCall[1], callItem("a", "e", "ask"), inCall[2]}, called, []string{failed}, secret)},
		"an error, and the result of the other": {4, slices.Concat([]string{inCall[0], inCall[1], callItem("a", "e", "ask"), inCall[2]}, called, []string{failed, result("a", "e")}, answer)},
		"a rejected call":                       {0, slices.Concat(inCall, called, []string{strings.Replace(outputItem("a", "c"), `"o"`, `"Tool execution was not approved."`, 1)}, secret)},
		"an open response that fails":           {3, slices.Concat(inCall, secret[:3], []string{failed}, answer, []string{textOf("i", "secret")})},
		"the result of its last call":           {2, slices.Concat(inCall, called, []string{outputItem("a", "c")}, answer)},
		"the result of an earlier call":         {0, slices.Concat(inCall, called, []string{callItem(hidden, "e", "f"), strings.Replace(outputItem(hidden, "e"), `"o"`, `"x"`, 1), outputItem("a", "c")}, secret)},
		"an empty result":                       {0, slices.Concat(inCall, []string{callItem(hidden, "e", "f"), strings.Replace(outputItem(hidden, "e"), `"o"`, `""`, 1), strings.Replace(outputItem("a", "c"), `"o"`, `""`, 1)}, secret)},
		"an error of the agent around it":       {3, slices.Concat([]string{inCall[0], inCall[1], begins("b"), callItem("b", "d", "ask"), begins(hidden)}, secret[:3], []string{failed}, answer)},
		"a result before its first response":    {3, slices.Concat([]string{begins("a"), createdOf("rc"), calledOf(1, "c", "f"), begins(hidden), completedOf(2, "rc", `{"type":"function_call","call_id":"c"}`), callItem("a", "c", "f"), result("a", "c")}, secret, []string{says(hidden, "i", "secret")}, answer)},
		"a run that stops":                      {1, slices.Concat([]string{begins(hidden)}, called, []string{begins("b")}, responseOf("j", "secret"), []string{says("b", "k", "answer")})},
	} {
		checkAtWork(t, name, c)
	}
}

// TestAgentsAtOnce begins agents while an internal one may be at work, in a stream that shows no responses. Its texts stay in.
func TestAgentsAtOnce(t *testing.T) {
	says, result := saysItem, resultItem
	for name, c := range map[string]atWork{
		"two beginnings":           {1, []string{begins(hidden), begins("b"), textOf("i", "secret"), says(hidden, "i", "secret"), callItem(hidden, "d", "f"), says("b", "k", "answer")}},
		"three beginnings":         {0, []string{begins(hidden), begins("b"), textOf("i", "secret"), begins("e"), textOf("j", "secret")}},
		"calls that come late":     {1, []string{begins("a"), begins(hidden), begins("b"), textOf("i", "secret"), callItem("a", "c", "ask"), callItem("a", "d", "ask"), says(hidden, "i", "secret"), result("a", "c")}},
		"after calls":              {1, []string{begins("a"), callItem("a", "c", "f"), result("a", "c"), begins(hidden), textOf("i", "secret"), begins("b"), textOf("j", "secret")}},
		"after results":            {1, []string{begins("a"), result("a", "c"), begins(hidden), textOf("i", "secret"), begins("b"), textOf("j", "secret")}},
		"a text without a message": {2, []string{begins("a"), textOf("k", "answer"), says("a", "k", "answer"), begins(hidden), textOf("i", "secret"), begins("b"), textOf("j", "secret")}},
	} {
		checkAtWork(t, name, c)
	}
}

// TestInternalResponsesOfOneID opens responses of an internal and of an ordinary agent, of models that the SDK calls by the Chat Completions
// API. Nothing says of which of the two an event is, so all stay in until the internal one has ended.
func TestInternalResponsesOfOneID(t *testing.T) {
	const fake = "__fake_id__"
	says := saysItem
	ends := func(text string) string {
		return completedOf(4, fake, `{"type":"message","id":"`+fake+`","role":"assistant","content":[{"type":"output_text","text":"`+text+`"}]}`)
	}
	begun := []string{begins("a"), createdOf(fake), begins(hidden), createdOf(fake), pieceOf(1, "secret")}
	next := []string{createdOf(fake), messageOf(1, "added", fake), pieceOf(2, "answer"), ends("answer")}
	for name, c := range map[string]atWork{
		"its end":                  {0, append(slices.Clone(begun), ends("secret"))},
		"two ends":                 {0, append(slices.Clone(begun), ends("secret"), ends("secret"), pieceOf(1, "secret"))},
		"a piece after an end":     {0, append(slices.Clone(begun), ends("secret"), pieceOf(2, "secret"), raw(3, "in_progress", `"response":{"id":"`+fake+`","x":"secret"}`))},
		"its next response":        {0, append(slices.Clone(begun), ends("secret"), createdOf(fake), ends("secret"), pieceOf(2, "secret"), ends("secret"))},
		"its answer":               {4, slices.Concat(begun, []string{ends("secret"), says(hidden, fake, "secret"), ends("answer"), says("a", fake, "answer"), begins("b")}, next)},
		"another's answer":         {1, slices.Concat(begun, []string{ends("secret"), says("a", fake, "answer"), pieceOf(2, "secret"), ends("secret")})},
		"an internal one is first": {3, slices.Concat([]string{begins(hidden), createdOf(fake), begins("a"), createdOf(fake), ends("secret"), ends("secret"), says(hidden, fake, "secret"), says("a", fake, "answer"), begins("b")}, next)},
	} {
		checkAtWork(t, name, c)
		sent := strings.ReplaceAll(stream(c.sent...), `"response":{"id":"`+fake, `"response":{"id":"r`) // some servers give all responses another ID
		if out := leaving(t, client, sent); strings.Contains(out, "secret") {
			t.Errorf("%s: with another ID this leaves: %s", name, out)
		}
	}
}
