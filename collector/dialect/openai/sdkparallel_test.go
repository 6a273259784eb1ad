package openai_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/dialect/openai"
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
	const fake, down = "__fake_id__", `{"type":"error","error":{"message":"m"}}`
	for name, c := range map[string]struct {
		sent []string
		want string
	}{
		"in two calls": {[]string{begins("a"), callItem("a", "c", "ask"), callItem("a", "d", "ask"), begins("b"), begins("e"), createdOf("r"), inProgress("r"), createdOf("s"), inProgress("s"),
			addedOf("m"), calledOf(3, "m", "w"), completedOf(4, "r", callOf("m")), callItem("b", "m", "w"), addedOf("n"), calledOf(3, "n", "w"), completedOf(4, "s", callOf("n")), callItem("e", "n", "w"),
			outputItem("b", "m"), createdOf("u"), messageOf(2, "done", "i"), completedOf(3, "u", ""), messageItem("b", "i"),
			outputItem("e", "n"), createdOf("x"), messageOf(2, "done", "j"), completedOf(3, "x", ""), messageItem("e", "j"), outputItem("a", "c"), outputItem("a", "d"), createdOf("y"), completedOf(1, "y", "")},
			`a: tool_started name="ask" call="c"; a: tool_started name="ask" call="d"; ?: model_started; ?#1: model_started uncertain; ?#shared: tool_started name="w" call="m" ""; ?: model_ended; ` +
				`?#1: tool_started name="w" call="n" ""; ?#1: model_ended; b@?b#1: tool_ended name="w" call="m" "o"; b@?b#2: model_started; b@?b#2: text "i"; b@?b#2: model_ended; b@?b#2: final; ` +
				`e@?e#2: tool_ended name="w" call="n" "o"; e@?e#3: model_started; e@?e#3: text "j"; e@?e#3: model_ended; e@?e#3: final; a#3: tool_ended name="ask" call="c" "o"; a#3: tool_ended name="ask" call="d" "o"; ` +
				`a#4: model_started; a#4: model_ended; a#4: final`},
		"items in two calls": {[]string{begins("a"), callItem("a", "c", "ask"), callItem("a", "d", "ask"), begins("b"), begins("e"), callItem("b", "m", "w"), callItem("e", "n", "w"), outputItem("b", "m"), messageItem("b", "i"), outputItem("e", "n"), messageItem("e", "j"),
			outputItem("a", "c"), outputItem("a", "d"), messageItem("a", "k")},
			`a: tool_started name="ask" call="c"; a: tool_started name="ask" call="d"; b@?b: tool_started name="w" call="m"; e@?e: tool_started name="w" call="n"; b@?b: tool_ended name="w" call="m" "o"; b@?b: text "i"; e@?e: tool_ended name="w" call="n" "o"; e@?e: text "j"; a: tool_ended name="ask" call="c" "o"; a: tool_ended name="ask" call="d" "o"; a: text "k"`},
		"beside each other": {[]string{begins("a"), begins("b"), createdOf("r"), inProgress("r"), createdOf("s"), inProgress("s"), messageOf(2, "added", "i"), messageOf(3, "done", "i"), completedOf(4, "r", `{"type":"message","id":"i","role":"assistant"}`), messageItem("a", "i"),
			messageOf(2, "added", "j"), messageOf(3, "done", "j"), completedOf(4, "s", `{"type":"message","id":"j","role":"assistant"}`), messageItem("b", "j"), begins("e"), createdOf("u"), completedOf(1, "u", "")},
			`?: model_started; ?#1: model_started uncertain; ?#shared: text "i"; ?: model_ended; ?: final; ?#1: text "j"; ?#1: model_ended; ?#1: final; e#2: model_started; e#2: model_ended; e#2: final`},
		"without IDs": {[]string{begins("a"), begins("b"), createdOf(fake), createdOf(fake), messageOf(1, "added", fake), messageOf(2, "done", fake), completedOf(3, fake, ""), messageItem("a", fake), messageOf(1, "added", fake), messageOf(2, "done", fake), completedOf(3, fake, ""), messageItem("b", fake)},
			`?: model_started; ?#1: model_started uncertain; ?#shared: text "__fake_id__"; ?: model_ended; ?#1: text "__fake_id__"; ?#1: model_ended; ?#1: final`},
		"without IDs, one longer": {[]string{begins("a"), begins("b"), createdOf(fake), createdOf(fake), messageOf(1, "added", fake), messageOf(1, "added", fake), messageOf(2, "done", fake), completedOf(3, fake, ""), messageOf(2, "done", fake), completedOf(3, fake, "")},
			`?: model_started; ?#1: model_started uncertain; ?#shared: text "__fake_id__"; ?: model_ended; ?#1: text "__fake_id__"; ?#1: model_ended; ?#1: final`},
		"without IDs, the first one has no end": {[]string{begins("a"), createdOf(fake), messageOf(1, "added", fake), createdOf(fake), messageOf(1, "added", fake), deltaOf(2, fake), completedOf(3, fake, ""), "[DONE]"},
			`a: model_started; a#1: model_started uncertain; a#1: text "__fake_id__"; a#1: model_ended; a#1: final`},
		"without IDs, a handoff has no end": {[]string{begins("a"), createdOf(fake), raw(1, "output_item.added", `"output_index":0,"item":{"type":"function_call","id":"`+fake+`","call_id":"h","name":"transfer_to_b"}`), begins("b"), createdOf(fake), messageOf(1, "added", fake), deltaOf(2, fake), completedOf(3, fake, "")},
			`a: model_started; a: transfer name="b"; b#1: model_started; b#1: text "__fake_id__"; b#1: model_ended; b#1: final`},
		"without IDs, one name": {[]string{begins("a"), begins("a"), createdOf(fake), createdOf(fake), messageOf(1, "added", fake), deltaOf(2, fake), completedOf(3, fake, ""), deltaOf(2, fake), completedOf(3, fake, "")},
			`a: model_started uncertain; a#1: model_started uncertain; a: model_ended; a: final; a#1: text "__fake_id__"; a#1: model_ended; a#1: final`},
		"without IDs, one name, two texts": {append([]string{begins("a"), begins("a")}, twoTexts...),
			`a: model_started uncertain; a: text "x "; a: text "one"; a#1: model_started uncertain; a#1: text "x "; a#1: text "two"; a#1: text "x two"; a#1: model_ended; a#1: final; a: text "x one"; a: model_ended; a: final`},
		"without IDs, one name, pieces of either": {[]string{begins("a"), begins("a"), createdOf(fake), createdOf(fake), messageOf(1, "added", fake), messageOf(1, "added", fake), pieceOf(2, "x"), pieceOf(2, "y"), wholePart(3, "y"), completedOf(4, fake, ""), wholePart(3, "x"), completedOf(4, fake, "")},
			`a: model_started uncertain; a#1: model_started uncertain; a#shared: text "y"; a: model_ended; a: final; a#1: text "x"; a#1: model_ended; a#1: final`},
		"without IDs, one name, some pieces of either": {[]string{begins("a"), begins("a"), createdOf(fake), messageOf(1, "added", fake), pieceOf(2, "x "), createdOf(fake), messageOf(1, "added", fake), pieceOf(2, "y "), pieceOf(3, "one"), pieceOf(3, "two"), wholePart(4, "x one"), completedOf(5, fake, ""), wholePart(4, "y two"), completedOf(5, fake, "")},
			`a: model_started uncertain; a: text "x "; a#1: model_started uncertain; a#1: text "y "; a: text "x one"; a: model_ended; a: final; a#1: text "y two"; a#1: model_ended; a#1: final`},
		"without IDs, two names, one text": {[]string{begins("a"), createdOf(fake), messageOf(1, "added", fake), pieceOf(2, "x"), begins("b"), createdOf(fake), messageOf(1, "added", fake), pieceOf(2, "x"), wholePart(3, "x")},
			`a: model_started; a: text "x"; ?#1: model_started uncertain; ?#1: text "x"; ?#shared: text "x"`},
		"one ID for all": {[]string{begins("a"), begins("a"), createdOf("r"), createdOf("r"), inProgress("r"), inProgress("r"), messageOf(2, "added", "i"), addedOf("h"), messageOf(3, "done", "i"), calledOf(3, "h", "transfer_to_b"), completedOf(4, "r", callOf("h")),
			item("handoff_requested", "a", `"type":"function_call","call_id":"h","name":"transfer_to_b"`), item("handoff_occurred", "a", `"type":"function_call_output","call_id":"h"`), begins("b"), createdOf("r"), completedOf(1, "r", ""), completedOf(4, "r", "")},
			`a: model_started uncertain; a#1: model_started uncertain; a#shared: text "i"; a#shared: tool_started name="transfer_to_b" call="h" ""; a#1: model_ended; a#1: tool_ended name="transfer_to_b" call="h" settled; a#1: transfer name="b" call="h"; b#2: model_started; b#2: model_ended; a: model_ended`},
		"one number":            {[]string{begins("a"), begins("b"), createdOf("r"), inProgress("r"), createdOf("s"), inProgress("s"), messageOf(2, "added", "i"), addedOf("m"), deltaOf(3, "i")}, `?: model_started; ?#1: model_started uncertain; ?#shared: text "i"`},
		"the first one again":   {[]string{begins("a"), callItem("a", "c", "ask"), callItem("a", "d", "w"), begins("b"), outputItem("a", "d"), createdOf("r"), completedOf(1, "r", "")}, `a: tool_started name="ask" call="c"; a: tool_started name="w" call="d"; a: tool_ended name="w" call="d" "o"; b@?b: model_started; b@?b: model_ended; b@?b: final`},
		"one begins again":      {[]string{begins("a"), createdOf("r"), completedOf(1, "r", ""), begins("b"), begins("a"), createdOf("s"), completedOf(1, "s", "")}, `a: model_started; a: model_ended; a: final; a: agent_started; ?: model_started; ?: model_ended; ?: final`},
		"JavaScript, in a call": {[]string{called, ofModel(createdJS("s")), ofModel(strings.Replace(ended, `"id":"r"`, `"id":"s"`, 1))}, `A: tool_started name="w" call="c" {}; ?: model_started model="m"; ?: text "secret"; ?: model_ended model="m"; ?: final`},
		"nothing announces the second one": {[]string{callItem("a", "c", "ask"), createdOf("r"), calledOf(1, "m", "w"), completedOf(2, "r", callOf("m")), callItem("b", "m", "w"), outputItem("b", "m"), createdOf("s")},
			`a: tool_started name="ask" call="c"; ?: model_started; ?: tool_started name="w" call="m" ""; ?: model_ended; b@c: tool_ended name="w" call="m" "o"; ?: model_started`},
		"only pieces, one after the other": {[]string{begins("a"), deltaOf(2, "i"), deltaOf(3, "i"), begins("b"), deltaOf(2, "j"), "[DONE]"},
			`a: model_started; a: text "i"; a: text "i"; a: model_ended uncertain; b: model_started uncertain; b: text "j"; b: model_ended uncertain`},
		"only pieces, beside each other": {[]string{begins("a"), deltaOf(2, "i"), begins("b"), deltaOf(3, "i"), deltaOf(2, "j"), deltaOf(4, "i")},
			`a: model_started; a: text "i"; a: model_ended uncertain; ?#shared: text "i"; ?#shared: text "j"; ?#shared: text "i"`},
		"an error":                          {[]string{begins("a"), begins("b"), createdOf("r"), inProgress("r"), createdOf("s"), inProgress("s"), messageOf(2, "added", "i"), `{"type":"error","error":{"message":"m"}}`}, `?: model_started; ?#1: model_started uncertain; ?#shared: error agent_error elsewhere`},
		"an error of one name":              {[]string{begins("a"), begins("a"), createdOf("r"), inProgress("r"), createdOf("s"), inProgress("s"), messageOf(2, "added", "i"), down}, `a: model_started uncertain; a#1: model_started uncertain; a#shared: error agent_error; a#shared: run_ended agent_error`},
		"one fails":                         {[]string{begins("a"), begins("b"), createdOf("r"), calledOf(1, "m", "w"), createdOf("s"), down, completedOf(2, "r", callOf("m")), callItem("a", "m", "w"), outputItem("a", "m"), createdOf("u"), messageOf(2, "done", "i"), completedOf(3, "u", `{"type":"message","id":"i","role":"assistant"}`), messageItem("a", "i"), "[DONE]"}, `?: model_started; ?: tool_started name="w" call="m" ""; ?#1: model_started uncertain; ?#1: error agent_error elsewhere; ?: model_ended; a: tool_ended name="w" call="m" "o"; ?#2: model_started uncertain; ?#shared: text "i"; ?#2: model_ended; ?#2: final; b#2: agent_ended agent_error`},
		"one fails that is known":           {[]string{begins("a"), begins("b"), createdOf("r"), calledOf(1, "m", "w"), createdOf("s"), calledOf(1, "n", "w"), completedOf(2, "r", callOf("m")), callItem("a", "m", "w"), completedOf(2, "s", callOf("n")), callItem("b", "n", "w"), outputItem("b", "n"), createdOf("u"), down, outputItem("a", "m"), createdOf("x"), completedOf(1, "x", ""), "[DONE]"}, `?: model_started; ?: tool_started name="w" call="m" ""; ?#1: model_started uncertain; ?#1: tool_started name="w" call="n" ""; ?: model_ended; ?#1: model_ended; b#1: tool_ended name="w" call="n" "o"; b#2: model_started; b#2: model_ended model_error; b#2: error agent_error; a#2: tool_ended name="w" call="m" "o"; a#3: model_started; a#3: model_ended; a#3: final`},
		"one fails, and another has no end": {[]string{begins("a"), begins("b"), createdOf("r"), calledOf(1, "m", "w"), completedOf(2, "r", callOf("m")), callItem("a", "m", "w"), createdOf("s"), down, "[DONE]"}, `?: model_started; ?: tool_started name="w" call="m" ""; ?: model_ended; b: model_started uncertain; b: model_ended model_error; b: error agent_error`},
		"one fails after another has ended": {[]string{begins("a"), begins("b"), createdOf("r"), messageOf(2, "done", "i"), completedOf(3, "r", `{"type":"message","id":"i","role":"assistant"}`), messageItem("a", "i"), down, createdOf("s"), completedOf(1, "s", "")}, `?: model_started; ?: text "i"; ?: model_ended; ?: final; b: error agent_error; b: run_ended agent_error; ?: model_started; ?: model_ended; ?: final`},
	} {
		if got := whoDid(c.sent...); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", name, got, c.want)
		}
		checkTruth(t, name, stream(c.sent...))
	}
}

// TestCallsNamedLate names the agents of calls after the responses with the calls have ended, and after other responses have begun.
func TestCallsNamedLate(t *testing.T) {
	callOf := func(id string) string {
		return `{"type":"function_call","id":"f` + id + `","call_id":"` + id + `","name":"w","arguments":""}`
	}
	begun := []string{begins("a"), callItem("a", "c", "ask"), callItem("a", "d", "ask"), begins("b"), begins("e"),
		createdOf("r"), calledOf(1, "m", "w"), calledOf(2, "o", "w"), completedOf(3, "r", callOf("m")+","+callOf("o")), createdOf("s"), calledOf(1, "n", "w"), completedOf(2, "s", callOf("n"))}
	for name, c := range map[string]struct {
		sent []string
		want string // what Batch.Sent says of each frame that has it
	}{
		"by the calls":     {[]string{callItem("b", "m", "w"), callItem("b", "o", "w"), callItem("e", "n", "w"), outputItem("b", "m")}, `b "m" only call; b "o" only call; e "n"`},
		"by their results": {[]string{outputItem("e", "n"), outputItem("b", "m"), outputItem("b", "o")}, `e "n"; b "m" only call; b "o" only call`},
		"never":            {[]string{callItem("", "m", "w"), outputItem("", "m")}, ``},
	} {
		var got []string
		for line := range strings.SplitSeq(dialecttest.Facts(openai.Dialect{}, &event.Stream{SingleRun: true}, stream(append(slices.Clone(begun), c.sent...)...)), "\n") {
			if head, said, found := strings.Cut(line, " sent="); found {
				_, agent, _ := strings.Cut(head, `agent="`)
				got = append(got, agent[:1]+" "+said)
			}
		}
		if all := strings.Join(got, "; "); all != c.want {
			t.Errorf("%s:\n%s, want\n%s", name, all, c.want)
		}
		checkTruth(t, name, stream(append(slices.Clone(begun), c.sent...)...))
	}
}

func pieceOf(n int, text string) string {
	return raw(n, "output_text.delta", `"output_index":0,"item_id":"__fake_id__","delta":"`+text+`"`)
}

func wholePart(n int, text string) string {
	return raw(n, "content_part.done", `"output_index":0,"item_id":"__fake_id__","content_index":0,"part":{"type":"output_text","text":"`+text+`"}`)
}

// twoTexts are two responses at the same time of models that the SDK calls by the Chat Completions API.
var twoTexts = func() []string {
	fake := "__fake_id__"
	return []string{
		createdOf(fake), messageOf(1, "added", fake), pieceOf(2, "x "), pieceOf(3, "one"), createdOf(fake), messageOf(1, "added", fake), pieceOf(2, "x "), pieceOf(3, "two"),
		wholePart(4, "x two"), completedOf(5, fake, ""), item("message_output_created", "a", ""), wholePart(4, "x one"), completedOf(5, fake, ""), item("message_output_created", "a", ""),
	}
}()

// TestParallelTexts checks that the texts of responses at the same time are no thoughts, whatever calls came before.
func TestParallelTexts(t *testing.T) {
	sent := append([]string{begins("b"), callItem("b", "c", "ask"), begins("a"), begins("a")}, twoTexts...)
	for _, settings := range []filter.Settings{public, withoutThoughts} {
		if out := leaving(t, settings, stream(sent...)); !strings.Contains(out, `"text":"x one"`) || !strings.Contains(out, `"text":"x two"`) {
			t.Errorf("the answers do not leave: %s", out)
		}
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
		{begins("a"), callItem("a", "c", "ask"), callItem("a", "d", "w"), begins("b"), outputItem("a", "d"), createdOf("r"), secret(messageOf(1, "added", "j")), secret(deltaOf(2, "j"))},
		{begins("a"), createdOf("r"), completedOf(1, "r", ""), begins("b"), begins("a"), createdOf("s"), secret(messageOf(1, "added", "j")), secret(deltaOf(2, "j"))},
		{called, ofModel(createdJS("s")), ofModel(added), ofModel(delta)},
		{agentA, ofModel(created), ofModel(strings.Replace(ended, "secret", "", 1)), ofModel(createdJS("s")), ofModel(added), ofModel(delta)},
	} {
		checkStaysIn(t, []filter.Settings{onlyA, {Policy: event.PolicyClient, Authors: []string{"A"}}}, sent...)
	}
	const open = "open"
	if out := leaving(t, onlyA, stream(begins("a"), begins("b"), createdOf("r"), messageItem("a", open))); !strings.Contains(out, `"text":"open"`) {
		t.Errorf("the text of the agent does not leave: %s", out)
	}
}

// TestParallelItems sends responses at the same time whose items have only numbers, or numbers and IDs. What continues a withheld item
// stays in, and an item with an ID leaves, whatever the other response has under its number.
func TestParallelItems(t *testing.T) {
	const fake = "__fake_id__"
	system := func(id string) string { return strings.Replace(messageOf(1, "added", id), "assistant", "system", 1) }
	thought := strings.Replace(messageOf(1, "added", fake), `"role"`, `"phase":"analysis","role"`, 1)
	secret := func(n int, id string) string {
		return strings.Replace(deltaOf(n, id), `"delta":"`+id, `"delta":"secret`, 1)
	}
	bare := strings.Replace(secret(2, "j"), `"item_id":"j",`, "", 1)
	for _, sent := range [][]string{
		{createdOf(fake), system(fake), createdOf(fake), messageOf(1, "added", fake), secret(2, fake)},
		{createdOf(fake), system(fake), createdOf(fake), secret(2, fake)},
		{createdOf(fake), system(fake), createdOf(fake), messageOf(1, "added", fake), deltaOf(2, fake), secret(2, fake)},
		{createdOf(fake), createdOf(fake), messageOf(1, "added", fake), system(fake), secret(2, fake), secret(2, fake)},
		{createdOf("r"), system(fake), createdOf("r"), messageOf(1, "added", fake), secret(2, fake)},
		{createdOf("r"), createdOf("s"), messageOf(1, "added", "i"), system("j"), secret(2, "j")},
		{createdOf("r"), createdOf("s"), messageOf(1, "added", "i"), system("j"), bare},
		{createdOf("r"), strings.Replace(system("j"), `"id":"j",`, "", 1), createdOf("s"), bare},
		{createdOf("r"), strings.Replace(system("j"), `"id":"j",`, "", 1), createdOf("s"), messageOf(1, "added", "i"), bare},
	} {
		for _, second := range []string{"a", "b"} {
			checkStaysIn(t, []filter.Settings{public, withoutThoughts, client}, append([]string{begins("a"), begins(second)}, sent...)...)
		}
	}
	checkStaysIn(t, []filter.Settings{public, withoutThoughts}, begins("a"), begins("b"), createdOf(fake), thought, createdOf(fake), messageOf(1, "added", fake), secret(2, fake))
	for _, role := range []string{"tool", "user"} {
		checkStaysIn(t, []filter.Settings{public}, begins("a"), begins("b"), createdOf(fake), strings.Replace(system(fake), "system", role, 1), createdOf(fake), messageOf(1, "added", fake), secret(2, fake))
	}
	call := raw(2, "output_item.added", `"output_index":0,"item":{"type":"function_call","id":"c","call_id":"c","name":"w","arguments":""}`)
	for _, sent := range [][]string{
		{begins("a"), begins("b"), createdOf("r"), createdOf("s"), messageOf(1, "added", "i"), call, secret(2, "i")},
		{begins("a"), createdOf(fake), `{`, createdOf(fake), messageOf(1, "added", fake), secret(2, fake)},
		{begins("a"), createdOf(fake), strings.ReplaceAll(call, `"id":"c"`, `"id":"`+fake+`"`), `{`, createdOf(fake), messageOf(1, "added", fake), secret(2, fake)},
	} {
		if out := leaving(t, public, stream(sent...)); !strings.Contains(out, "secret") {
			t.Errorf("the answer does not leave of %s\nbut this: %s", strings.Join(sent, "\n"), out)
		}
	}
}

// TestWholeTextsOnce shows the text of an item more than once. It is reported once.
func TestWholeTextsOnce(t *testing.T) {
	text := raw(5, "output_text.done", `"output_index":0,"item_id":"i","content_index":0,"text":"i"`)
	for _, sent := range [][]string{{text}, {messageOf(5, "done", "i")}, {wholePartOf("i", "i")}, {text, messageOf(6, "done", "i")}} {
		sent = append(append([]string{begins("a"), deltaOf(4, "i")}, sent...), messageItem("a", "i"))
		if facts := whoDid(sent...); strings.Count(facts, `a: text "i"`) != 2 {
			t.Errorf("of %s\nthe facts are: %s", strings.Join(sent, "\n"), facts)
		}
	}
	const fake = "__fake_id__"
	if facts := whoDid(begins("a"), pieceOf(4, fake), messageOf(5, "done", fake), messageItem("a", fake), pieceOf(4, "x"), messageItem("a", fake)); strings.Count(facts, `a: text "`+fake+`"`) != 3 {
		t.Errorf("without IDs the facts are: %s", facts)
	}
}

func wholePartOf(id, text string) string {
	return strings.Replace(wholePart(5, text), "__fake_id__", id, 1)
}
