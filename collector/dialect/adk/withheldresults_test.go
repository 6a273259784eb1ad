package adk_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestCopiesInCalls checks results of calls, and arguments that ADK writes, which repeat an internal answer or event. The rest of the event
// leaves.
func TestCopiesInCalls(t *testing.T) {
	said := by("a", internal+`"id":"event-01",`+says(`the secret\nanswer`))
	short := by("a", internal+`"id":"1",`+says("secret"))
	object := by("w", internal+`"output":{"x":"the secret","y":"answer"}`)
	result := func(response string) string {
		return content(`{"functionResponse":{"id":"d","name":"look","response":{` + response + `}}}`)
	}
	asked := func(name, args string) string {
		return content(`{"functionCall":{"id":"d","name":"` + name + `","args":{` + args + `}}}`)
	}
	question := func(args string) string {
		return asked("adk_request_confirmation", `"originalFunctionCall":{"id":"e","name":"f","args":{"x":"the secret answer"}},"toolConfirmation":{"confirmed":false`+args+`}`)
	}
	remote := func(response string) string {
		return `"customMetadata":{"a2a:response":{"history":[{"messageId":"m","role":"agent","parts":[{"data":{"id":"d","name":"look","response":{` + response + `}},"metadata":{"adk_type":"function_response"}}]}]}}`
	}
	for name, c := range map[string]struct{ hidden, sent, want string }{
		"a text":                     {said, result(`"x":1,"y":"the secret answer"`), result(`"x":1`)},
		"a text in a text":           {said, result(`"x":[{"y":"no: the secret answer!","z":1}]`), result(`"x":[{"z":1}]`)},
		"an event":                   {said, result(`"memories":[{"id":"event-01","text":"the secret"}]`), result(`"memories":[]`)},
		"an object":                  {object, result(`"x":{"y":"answer","x":"the secret"}`), result(``)},
		"JSON in a string":           {object, result(`"x":"{\"y\":\"answer\",\"x\":\"the secret\"}","z":1`), result(`"z":1`)},
		"the output of code":         {said, content(`{"executableCode":{"code":"x"}}`, `{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"the secret answer"}}`), content(`{"executableCode":{"code":"x"}}`, `{"codeExecutionResult":{"outcome":"OUTCOME_OK"}}`)},
		"a payload":                  {said, question(`,"payload":{"x":"the secret answer","y":1}`), question(`,"payload":{"y":1}`)},
		"a hint":                     {said, question(`,"hint":"Send the secret answer?"`), question(``)},
		"a result of a remote agent": {said, remote(`"x":1,"y":"the secret answer"`), remote(`"x":1`)},
		"a short answer":             {short, result(`"id":"1","x":"secret"`), ""},
		"a part of an answer":        {said, result(`"x":"the secret"`), ""},
		"a member of an object":      {object, result(`"x":"the secret"`), ""},
		"arguments of a model":       {said, asked("look", `"x":"the secret answer"`), ""},
		"an unknown event":           {said, result(`"memories":[{"id":"event-02","text":"hi"}]`), ""},
		"of an answer without mark":  {by("a", says(`the secret answer`)), result(`"x":"the secret answer"`), ""},
	} {
		if c.want == "" {
			c.want = c.sent
		}
		for _, spelled := range []func(string) string{spellings["camel"], spellings["snake"]} {
			sent, want := spelled(by("b", c.sent)), spelled(by("b", c.want))
			if got := leavesOf(t, &event.Stream{}, event.PolicyClient, spelled(c.hidden), sent)[1]; got != want {
				t.Errorf("%s: the event leaves as %s, want %s", name, got, want)
			}
		}
	}
}

// TestMessagesOfFunctions checks what a function in a workflow says: its author is the workflow.
func TestMessagesOfFunctions(t *testing.T) {
	said := by("a", internal+at("w@1/a@1")+content(`{"text":"sec"}`, `{"text":"ret"}`))
	short := by("a", internal+at("w@1/a@1")+says("ok"))
	for name, c := range map[string]struct {
		hidden, sent string
		leaves       bool
	}{
		"its input":              {said, by("w", at("w@1/f@1")+says("secret")), false},
		"in JSON":                {said, by("w", at("w@1/f@1")+says(`{"x":"secret"}`)), false},
		"in a list":              {said, by("w", at("w@1/f@1")+content(`{"text":"hi"}`, `{"text":"secret"}`)), false},
		"in parts":               {said, by("w", at("w@1/f@1")+content(`{"text":"s"}`, `{"text":"ecret"}`)), true},
		"in parts, a long one":   {by("a", internal+at("w@1/a@1")+says("the secret answer")), by("w", at("w@1/f@1")+content(`{"text":"the secret "}`, `{"text":"answer"}`)), false},
		"at the same node":       {short, by("w", at("w@1/a@1")+says("ok")), false},
		"a short text by chance": {short, by("w", at("w@1/f@1")+says("ok")), true},
		"another text":           {said, by("w", at("w@1/f@1")+says("hi")), true},
		"an agent's text":        {said, by("b", at("w@1/b@1")+says("secret")), true},
		"a text without a place": {said, by("w", says("secret")), true},
		"a model's text":         {said, by("w", at("w@1/f@1")+`"usageMetadata":{"promptTokenCount":1},`+says("secret")), true},
		"a text after a public":  {by("a", at("w@1/a@1")+says("secret")), by("w", at("w@1/f@1")+says("secret")), true},
	} {
		checkLast(t, name, c.leaves, c.hidden, c.sent)
	}
}
