package openai_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// handsOff returns the events of a response that calls a function.
func handsOff(id, tool string) []string {
	called := `{"type":"function_call","id":"f` + id + `","call_id":"c` + id + `","name":"` + tool + `","arguments":"{}"}`
	return []string{createdOf("r" + id), raw(1, "output_item.done", `"output_index":0,"item":`+called), completedOf(2, "r"+id, called)}
}

// TestIgnoredHandoffs calls several functions that hand over. The Agents SDK takes the first one, and ignores the others.
func TestIgnoredHandoffs(t *testing.T) {
	const x, y = "transfer_to_internal_x", "transfer_to_internal_y"
	secret, answer := responseOf("i", "secret"), responseOf("k", "answer")
	called := func(id, tool string) string {
		return `{"type":"function_call","id":"f` + id + `","call_id":"c` + id + `","name":"` + tool + `","arguments":"{}"}`
	}
	response := func(tools ...string) []string {
		sent := []string{createdOf("rf")}
		var all []string
		for i, tool := range tools {
			n := strconv.Itoa(i)
			all = append(all, called(n, tool))
			sent = append(sent, raw(i+1, "output_item.done", `"output_index":`+n+`,"item":`+all[i]))
		}
		return append(sent, completedOf(len(tools)+1, "rf", strings.Join(all, ",")))
	}
	requested := func(id, tool string) string {
		return strings.Replace(item("handoff_requested", "a", `"call_id":"c`+id+`"`), `{"call_id":"c`+id+`"}`, called(id, tool), 1)
	}
	ignored := func(id string) string {
		return strings.Replace(outputItem("a", "c"+id), `"o"`, `"Multiple handoffs detected, ignoring this one."`, 1)
	}
	occurred := item("handoff_occured", "a", `"type":"function_call_output","call_id":"c0","output":"{}"`) //nolint:misspell // as the SDK spells it
	anonymous := strings.NewReplacer(`"call_id":"c1",`, "")
	a := []string{begins("a")}
	items := []string{requested("0", "transfer_to_b"), requested("1", x), ignored("1"), occurred}
	for name, c := range map[string]atWork{
		"items":                      {2, slices.Concat(a, response("transfer_to_b", x), items, []string{begins("b")}, answer)},
		"only items":                 {2, slices.Concat(a, items, []string{begins("b")}, answer)},
		"only the result":            {2, slices.Concat(a, response("transfer_to_b", x), []string{ignored("1")}, answer)},
		"pieces of a response":       {1, slices.Concat(a, response("transfer_to_b", x)[1:3], []string{ignored("1"), textOf("k", "answer")})},
		"two that are ignored":       {2, slices.Concat(a, response("transfer_to_b", x, x), []string{ignored("1"), ignored("2")}, answer)},
		"an internal one is first":   {0, slices.Concat(a, response(x, y), []string{ignored("1")}, secret)},
		"the first one again":        {0, slices.Concat(a, response(x, x), []string{ignored("1")}, secret)},
		"the first one in items":     {0, slices.Concat(a, []string{requested("0", x), requested("1", x), ignored("1")}, secret)},
		"another call":               {0, slices.Concat(a, response("transfer_to_b", x), []string{ignored("0")}, secret)},
		"no IDs":                     {0, slices.Concat(a, []string{requested("0", "transfer_to_b"), anonymous.Replace(requested("1", x)), anonymous.Replace(ignored("1"))}, secret)},
		"after an event":             {0, slices.Concat(a, response("transfer_to_b", x), secret[:2], []string{ignored("1")}, secret[2:])},
		"of an internal agent":       {0, slices.Concat([]string{begins(hidden)}, response("transfer_to_b", x), []string{strings.Replace(ignored("1"), `"a"`, `"`+hidden+`"`, 1)}, secret)},
		"more than are remembered":   {0, slices.Concat(a, response(append(slices.Repeat([]string{x}, 64), y)...), many(ignored), secret)},
		"more items than remembered": {0, slices.Concat(a, many(func(id string) string { return requested(id, x) }), []string{requested("64", x)}, many(ignored), secret)},
	} {
		checkAtWork(t, name, c)
	}
}

// many returns the items of as many calls as are remembered.
func many(itemOf func(id string) string) (sent []string) {
	for i := range 64 {
		sent = append(sent, itemOf(strconv.Itoa(i)))
	}
	return sent
}

// TestHandoffCalls hands over to an internal agent. Only the name of the function says so, because the application does not pass on the event
// with the next agent.
func TestHandoffCalls(t *testing.T) {
	const tool = "transfer_to_internal_checker"
	secret, answer := responseOf("i", "secret"), responseOf("k", "answer")
	requested := item("handoff_requested", "a", `"type":"function_call","call_id":"cf","name":"`+tool+`","arguments":"{}"`)
	called := strings.Replace(requested, "handoff_requested", "tool_called", 1)
	occurred := item("handoff_occured", "a", `"type":"function_call_output","call_id":"cf","output":"{}"`) //nolint:misspell // as the SDK spells it
	for name, c := range map[string]atWork{
		"a response":                     {0, slices.Concat(handsOff("f", tool), secret)},
		"of an agent":                    {0, slices.Concat([]string{begins("a")}, handsOff("f", tool), secret)},
		"after an answer":                {2, slices.Concat([]string{begins("a")}, answer, handsOff("f", tool), secret)},
		"only the end of the response":   {0, slices.Concat(handsOff("f", tool)[2:], secret)},
		"only the item of the response":  {0, slices.Concat(handsOff("f", tool)[1:2], secret[1:3])},
		"capital letters":                {0, slices.Concat(handsOff("f", "Transfer_To_Internal_Checker"), secret)},
		"an item":                        {0, slices.Concat([]string{begins("a"), requested}, secret)},
		"an item after its response":     {0, slices.Concat([]string{begins("a")}, handsOff("f", tool), []string{requested}, secret)},
		"items with their response":      {0, slices.Concat([]string{begins("a")}, handsOff("f", tool), []string{requested, occurred}, secret)},
		"the agent of another spelling":  {2, slices.Concat([]string{begins("a")}, handsOff("f", "transfer_to_internal__x"), []string{begins("internal_-x")}, secret, []string{saysItem("internal_-x", "i", "secret"), begins("b")}, answer)},
		"beside another agent":           {2, slices.Concat([]string{begins("a"), begins("z")}, handsOff("f", "transfer_to_internal__x"), []string{begins("internal_-x")}, secret, []string{saysItem("internal_-x", "i", "secret")}, answer)},
		"an ordinary agent takes over":   {2, slices.Concat([]string{begins("a")}, handsOff("f", tool), secret, handsOff("g", "transfer_to_b"), []string{begins("b")}, answer)},
		"a function that does not":       {4, slices.Concat([]string{begins("a")}, handsOff("f", tool), []string{called}, answer, handsOff("g", tool), answer)},
		"before the end of its response": {2, slices.Concat([]string{begins("a")}, handsOff("f", tool)[:2], []string{called}, handsOff("f", tool)[2:], answer)},
		"an ordinary agent":              {2, slices.Concat([]string{begins("a")}, handsOff("f", "transfer_to_checker"), answer)},
		"a function with a similar name": {2, slices.Concat([]string{begins("a")}, handsOff("f", "transfer_internal"), answer)},
	} {
		checkAtWork(t, name, c)
	}
}
