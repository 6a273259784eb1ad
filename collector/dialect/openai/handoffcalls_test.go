package openai_test

import (
	"slices"
	"strings"
	"testing"
)

// handsOff returns the events of a response that calls a function.
func handsOff(id, tool string) []string {
	called := `{"type":"function_call","id":"f` + id + `","call_id":"c` + id + `","name":"` + tool + `","arguments":"{}"}`
	return []string{createdOf("r" + id), raw(1, "output_item.done", `"output_index":0,"item":`+called), completedOf(2, "r"+id, called)}
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
