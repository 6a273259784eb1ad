package a2a_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// of returns the metadata of an event of an ADK agent.
func of(author string) string { return `,"metadata":{"adk_author":"` + author + `"}` }

func adkPart(kind, data string) string {
	return `{"kind":"data","data":{` + data + `},"metadata":{"adk_type":"function_` + kind + `"}}`
}

// TestCopies checks the texts and results in which ADK repeats the answer of an internal event.
func TestCopies(t *testing.T) {
	text := func(text string) string {
		return `{"kind":"text","text":"` + strings.ReplaceAll(text, `"`, `\"`) + `"}`
	}
	response := adkPart("call", `"id":"s","name":"set_model_response","args":{"x":"CANARY"}`)
	hidden := stateOf("working", "m", response, markedEvent)
	marked := stateOf("working", "m", strings.Replace(response, `"metadata":{`, `"metadata":{"kind":"internal",`, 1), "")
	const repeated, branch = `{"x": "CANARY"}`, `{"adk_branch":"b@c","adk`
	answer := func(parts string) [3]string {
		return replaced(stateOf("working", "m", parts, markedEvent), `{"adk`, branch)
	}
	result := func(id, name, response string) [3]string {
		return stateOf("working", "n", adkPart("response", `"id":"`+id+`","name":"`+name+`","response":`+response), of("r"))
	}
	task := adkPart("call", `"id":"f","name":"finish_task","args":{"result":"CANARY"}`)
	for name, c := range map[string]struct {
		sent           [][3]string
		leaves, hasAll bool // the last frame leaves, with CANARY
	}{
		"a text":                        {[][3]string{hidden, stateOf("working", "n", text(repeated), of("a"))}, false, false},
		"a text in an artifact":         {[][3]string{hidden, artifactOf(text(repeated), of("a"))}, false, false},
		"a text without an author":      {[][3]string{hidden, stateOf("completed", "n", text(repeated), "")}, false, false},
		"a text in a snapshot":          {[][3]string{hidden, taskOf(`,"artifacts":[{"artifactId":"z","parts":[` + text(repeated) + `]}]` + of("z"))}, false, false},
		"a text after a marked part":    {[][3]string{marked, stateOf("working", "n", text(repeated), of("a"))}, false, false},
		"the result of the tool":        {[][3]string{replaced(hidden, `"x"`, `"y"`), result("s", "set_model_response", repeated), stateOf("working", "o", text(repeated), of("r"))}, false, false},
		"the text of another agent":     {[][3]string{hidden, stateOf("working", "n", text(repeated), of("b"))}, true, true},
		"another text":                  {[][3]string{hidden, stateOf("working", "n", text(`{"y":"CANARY"}`), of("a"))}, true, true},
		"a text without a mark":         {[][3]string{stateOf("working", "m", response, of("a")), stateOf("working", "n", text(repeated), of("a"))}, true, true},
		"an unreadable call":            {[][3]string{replaced(hidden, `"x"`, `"X":1,"x"`), stateOf("working", "n", text(repeated), of("a"))}, false, false},
		"a result":                      {[][3]string{answer(text("CANARY")), result("d", "a", `{"result":"CANARY"}`)}, true, false},
		"the result of a call":          {[][3]string{answer(text("CANARY")), result("c", "tool", `{"result":"CANARY"}`)}, true, false},
		"the result of its branch":      {[][3]string{answer(text("CANARY")), result("d", "b", `{"result":"CANARY"}`)}, true, false},
		"an object":                     {[][3]string{answer(text(repeated)), result("c", "a", repeated)}, true, false},
		"of a task":                     {[][3]string{answer(task), result("c", "a", `{"output":"CANARY"}`)}, true, false},
		"in an artifact":                {[][3]string{answer(text("CANARY")), artifactOf(adkPart("response", `"id":"c","name":"a","response":{"result":"CANARY"}`), of("r"))}, true, false},
		"in a history":                  {[][3]string{answer(text("CANARY")), taskOf(`,"history":[{"kind":"message","messageId":"h","role":"agent","parts":[` + adkPart("response", `"id":"c","name":"a","response":{"result":"CANARY"}`) + `]}]`)}, true, false},
		"the result of an unknown tool": {[][3]string{answer(text("CANARY")), result("d", "tool", `{"result":"CANARY"}`)}, true, true},
		"another result":                {[][3]string{answer(text("CANARY")), result("c", "a", `{"result":"no CANARY"}`)}, true, true},
		"a result without a mark":       {[][3]string{stateOf("working", "m", text("CANARY"), of("a")), result("c", "a", `{"result":"CANARY"}`)}, true, true},
	} {
		for envelope, wrap := range envelopes {
			var stream strings.Builder
			for _, one := range c.sent {
				stream.WriteString("data: " + wrap(one[0], one[1], one[2]) + "\n\n")
			}
			sent := c.sent[len(c.sent)-1]
			got := filterStream(t, client, stream.String())
			last := got[len(got)-1]
			if leaves := !strings.HasPrefix(last, withheld); leaves != c.leaves || strings.Contains(last, "CANARY") != c.hasAll || c.hasAll && last != wrap(sent[0], sent[1], sent[2]) {
				t.Errorf("%s, %s: the last frame leaves as %s", name, envelope, last)
			}
		}
	}
}

// TestCopiesOnOtherStreams repeats an answer on another stream of its task, or of another one.
func TestCopiesOnOtherStreams(t *testing.T) {
	wrap := envelopes["1.0"]
	hidden := stateOf("working", "m", `{"kind":"text","text":"CANARY"}`, markedEvent)
	copied := stateOf("working", "n", adkPart("response", `"id":"c","name":"a","response":{"result":"CANARY"}`), of("r"))
	for task, leaves := range map[string]bool{"t": false, "u": true} {
		memory := new(event.Withheld)
		filterStreamOf(t, &event.Stream{Withheld: memory}, client, "data: "+wrap(hidden[0], hidden[1], hidden[2])+"\n\n")
		sent := strings.ReplaceAll(wrap(copied[0], copied[1], copied[2]), `"taskId":"t"`, `"taskId":"`+task+`"`)
		if got := filterStreamOf(t, &event.Stream{Withheld: memory}, client, "data: "+sent+"\n\n")[0]; strings.Contains(got, "CANARY") != leaves {
			t.Errorf("on a stream of task %s, the result leaves as %s", task, got)
		}
	}
}
