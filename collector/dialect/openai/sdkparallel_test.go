package openai_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestParallelAgents reads agents of the Agents SDK that work at the same time. The SDK's events of two responses alternate, and most
// name only an item.
func TestParallelAgents(t *testing.T) {
	addedOf := func(id string) string {
		return raw(2, "output_item.added", `"output_index":0,"item":{"type":"function_call","id":"f`+id+`","call_id":"`+id+`","name":"w","arguments":""}`)
	}
	inProgress := func(id string) string { return raw(1, "in_progress", `"response":{"id":"`+id+`"}`) }
	callOf := func(id string) string {
		return `{"type":"function_call","id":"f` + id + `","call_id":"` + id + `","name":"w","arguments":""}`
	}
	const fake = "__fake_id__"
	for name, c := range map[string]struct {
		sent []string
		want string
	}{
		"in two calls": {[]string{begins("a"), callItem("a", "c", "ask"), callItem("a", "d", "ask"), begins("b"), begins("e"), createdOf("r"), inProgress("r"), createdOf("s"), inProgress("s"),
			addedOf("m"), calledOf(3, "m", "w"), completedOf(4, "r", callOf("m")), callItem("b", "m", "w"), addedOf("n"), calledOf(3, "n", "w"), completedOf(4, "s", callOf("n")), callItem("e", "n", "w"),
			outputItem("b", "m"), createdOf("u"), messageOf(2, "done", "i"), completedOf(3, "u", ""), messageItem("b", "i"),
			outputItem("e", "n"), createdOf("x"), messageOf(2, "done", "j"), completedOf(3, "x", ""), messageItem("e", "j"), outputItem("a", "c"), outputItem("a", "d"), createdOf("y"), completedOf(1, "y", "")},
			`a: tool_started name="ask" call="c"; a: tool_started name="ask" call="d"; ?: model_started; ?#1: model_started; ?#shared: tool_started name="w" call="m" ""; ?: model_ended; ` +
				`?#1: tool_started name="w" call="n" ""; ?#1: model_ended; b@?b#1: tool_ended name="w" call="m" "o"; b@?b#2: model_started; b@?b#2: text "i"; b@?b#2: model_ended; b@?b#2: final; ` +
				`e@?e#2: tool_ended name="w" call="n" "o"; e@?e#3: model_started; e@?e#3: text "j"; e@?e#3: model_ended; e@?e#3: final; a#3: tool_ended name="ask" call="c" "o"; a#3: tool_ended name="ask" call="d" "o"; ` +
				`a#4: model_started; a#4: model_ended; a#4: final`},
		"items in two calls": {[]string{begins("a"), callItem("a", "c", "ask"), callItem("a", "d", "ask"), begins("b"), begins("e"), callItem("b", "m", "w"), callItem("e", "n", "w"), outputItem("b", "m"), messageItem("b", "i"), outputItem("e", "n"), messageItem("e", "j"),
			outputItem("a", "c"), outputItem("a", "d"), messageItem("a", "k")},
			`a: tool_started name="ask" call="c"; a: tool_started name="ask" call="d"; b@?b: tool_started name="w" call="m"; e@?e: tool_started name="w" call="n"; b@?b: tool_ended name="w" call="m" "o"; b@?b: text "i"; e@?e: tool_ended name="w" call="n" "o"; e@?e: text "j"; a: tool_ended name="ask" call="c" "o"; a: tool_ended name="ask" call="d" "o"; a: text "k"`},
		"beside each other": {[]string{begins("a"), begins("b"), createdOf("r"), inProgress("r"), createdOf("s"), inProgress("s"), messageOf(2, "added", "i"), messageOf(3, "done", "i"), completedOf(4, "r", `{"type":"message","id":"i","role":"assistant"}`), messageItem("a", "i"),
			messageOf(2, "added", "j"), messageOf(3, "done", "j"), completedOf(4, "s", `{"type":"message","id":"j","role":"assistant"}`), messageItem("b", "j"), begins("e"), createdOf("u"), completedOf(1, "u", "")},
			`?: model_started; ?#1: model_started; ?#shared: text "i"; ?: model_ended; ?: final; ?#1: text "j"; ?#1: model_ended; ?#1: final; e#2: model_started; e#2: model_ended; e#2: final`},
		"without IDs": {[]string{begins("a"), begins("b"), createdOf(fake), createdOf(fake), messageOf(1, "added", fake), messageOf(2, "done", fake), completedOf(3, fake, ""), messageItem("a", fake), messageOf(1, "added", fake), messageOf(2, "done", fake), completedOf(3, fake, ""), messageItem("b", fake)},
			`?: model_started; ?#1: model_started; ?#shared: text "__fake_id__"; ?: model_ended; ?#1: text "__fake_id__"; ?#1: model_ended; ?#1: final`},
		"without IDs, one longer": {[]string{begins("a"), begins("b"), createdOf(fake), createdOf(fake), messageOf(1, "added", fake), messageOf(1, "added", fake), messageOf(2, "done", fake), completedOf(3, fake, ""), messageOf(2, "done", fake), completedOf(3, fake, "")},
			`?: model_started; ?#1: model_started; ?#shared: text "__fake_id__"; ?: model_ended; ?#1: text "__fake_id__"; ?#1: model_ended; ?#1: final`},
		"the first one again":   {[]string{begins("a"), callItem("a", "c", "ask"), callItem("a", "d", "w"), begins("b"), outputItem("a", "d"), createdOf("r"), completedOf(1, "r", "")}, `a: tool_started name="ask" call="c"; a: tool_started name="w" call="d"; a: tool_ended name="w" call="d" "o"; b@?b: model_started; b@?b: model_ended; b@?b: final`},
		"one begins again":      {[]string{begins("a"), createdOf("r"), completedOf(1, "r", ""), begins("b"), begins("a"), createdOf("s"), completedOf(1, "s", "")}, `a: model_started; a: model_ended; a: final; ?: model_started; ?: model_ended; ?: final`},
		"JavaScript, in a call": {[]string{called, ofModel(createdJS("s")), ofModel(strings.Replace(ended, `"id":"r"`, `"id":"s"`, 1))}, `A: tool_started name="w" call="c" {}; ?: model_started model="m"; ?: text "secret"; ?: model_ended model="m"; ?: final`},
		"nothing announces the second one": {[]string{callItem("a", "c", "ask"), createdOf("r"), calledOf(1, "m", "w"), completedOf(2, "r", callOf("m")), callItem("b", "m", "w"), outputItem("b", "m"), createdOf("s")},
			`a: tool_started name="ask" call="c"; ?: model_started; ?: tool_started name="w" call="m" ""; ?: model_ended; b@c: tool_ended name="w" call="m" "o"; b@c: model_started`},
		"only pieces, one after the other": {[]string{begins("a"), deltaOf(2, "i"), deltaOf(3, "i"), begins("b"), deltaOf(2, "j"), "[DONE]"},
			`a: model_started; a: text "i"; a: text "i"; a: model_ended; b: model_started; b: text "j"; b: model_ended`},
		"only pieces, beside each other": {[]string{begins("a"), deltaOf(2, "i"), begins("b"), deltaOf(3, "i"), deltaOf(2, "j"), deltaOf(4, "i")},
			`a: model_started; a: text "i"; a: model_ended; ?#shared: text "i"; ?#shared: text "j"; ?#shared: text "i"`},
		"an error": {[]string{begins("a"), begins("b"), createdOf("r"), inProgress("r"), createdOf("s"), inProgress("s"), messageOf(2, "added", "i"), `{"type":"error","error":{"message":"m"}}`}, `?: model_started; ?#1: model_started; ?#shared: error agent_error; ?#shared: run_ended agent_error`},
	} {
		if got := whoDid(c.sent...); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", name, got, c.want)
		}
		checkTruth(t, name, stream(c.sent...))
	}
}

func createdJS(id string) string { return strings.Replace(created, `"id":"r"`, `"id":"`+id+`"`, 1) }

// TestParallelAuthors checks that the text of an agent stays in that may be of another one.
func TestParallelAuthors(t *testing.T) {
	onlyA, secret := filter.Settings{Policy: event.PolicyClient, Authors: []string{"a"}}, func(s string) string { return strings.ReplaceAll(s, `"j"`, `"secret"`) }
	for _, sent := range [][]string{
		{begins("a"), begins("b"), createdOf("r"), createdOf("s"), messageOf(1, "added", "i"), deltaOf(2, "i"), completedOf(3, "r", ""), messageItem("a", "i"), secret(messageOf(1, "added", "j")), secret(deltaOf(2, "j")), secret(messageOf(3, "done", "j"))},
		{begins("a"), begins("b"), messageItem("a", "i"), secret(deltaOf(2, "j"))},
		{begins("a"), deltaOf(2, "i"), begins("b"), secret(deltaOf(2, "j"))},
		{begins("b"), deltaOf(2, "i"), begins("a"), strings.Replace(deltaOf(3, "i"), `"delta":"i"`, `"delta":"secret"`, 1)},
		{begins("a"), callItem("a", "c", "ask"), callItem("a", "d", "w"), begins("b"), outputItem("a", "d"), createdOf("r"), secret(deltaOf(1, "j"))},
		{begins("a"), createdOf("r"), completedOf(1, "r", ""), begins("b"), begins("a"), createdOf("s"), secret(deltaOf(1, "j"))},
		{called, ofModel(createdJS("s")), ofModel(delta)},
		{agentA, ofModel(created), ofModel(strings.Replace(ended, "secret", "", 1)), ofModel(createdJS("s")), ofModel(delta)},
	} {
		checkStaysIn(t, []filter.Settings{onlyA, {Policy: event.PolicyClient, Authors: []string{"A"}}}, sent...)
	}
	const open = "open"
	if out := leaving(t, onlyA, stream(begins("a"), begins("b"), createdOf("r"), messageItem("a", open))); !strings.Contains(out, `"text":"open"`) {
		t.Errorf("the text of the agent does not leave: %s", out)
	}
}
