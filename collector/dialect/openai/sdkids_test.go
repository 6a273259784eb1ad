package openai_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

func markInternal(sent string) string { return strings.Replace(sent, `{`, `{"kind":"internal",`, 1) }

// TestSharedIDs marks one item of a response. All items of the response have the same ID. Other calls leave, because they have IDs of their
// own. A message leaves if a call is marked.
func TestSharedIDs(t *testing.T) {
	callOf := strings.NewReplacer(`"f"`, `"i"`)
	otherOf := strings.NewReplacer(`"f"`, `"i"`, `"c"`, `"d"`, `"o"`, `"secret"`, `"w"`, `"secret"`)
	for name, sent := range map[string][]string{
		"a call after a call":      {markInternal(callOf.Replace(called)), otherOf.Replace(called)},
		"a result after a call":    {markInternal(callOf.Replace(called)), otherOf.Replace(called), otherOf.Replace(output)},
		"a message after a call":   {markInternal(callOf.Replace(called)), message},
		"a call after a message":   {markInternal(message), otherOf.Replace(called)},
		"a result after a message": {markInternal(message), otherOf.Replace(called), otherOf.Replace(output)},
	} {
		for _, s := range []filter.Settings{client, public} {
			if out := leaving(t, s, stream(append([]string{agentA}, sent...)...)); !strings.Contains(out, sent[len(sent)-1][1:60]) {
				t.Errorf("%s: under %s this leaves: %s", name, s.Policy, out)
			}
		}
	}
	for _, sent := range [][]string{
		{markInternal(called), strings.Replace(called, `"{}"`, `"secret"`, 1)},
		{markInternal(called), strings.ReplaceAll(output, `"o"`, `"secret"`)},
		{markInternal(callOf.Replace(called)), delta},
		{markInternal(message), message},
		{markInternal(message), delta},
		{created, markInternal(added), callOf.Replace(strings.Replace(called, `"{}"`, `"secret"`, 1))},
	} {
		checkStaysIn(t, []filter.Settings{client, public}, append([]string{agentA}, sent...)...)
	}
}

// TestItemsWithoutIDs withholds parts of a response. Its items have no unique IDs. So the SDK's items that may repeat them stay in, until
// the next response of the agent.
func TestItemsWithoutIDs(t *testing.T) {
	const fake = "__fake_id__"
	asFake := strings.NewReplacer(`"i"`, `"`+fake+`"`, `"j"`, `"`+fake+`"`, `"r"`, `"`+fake+`"`)
	answer := []string{createdOf("r"), messageOf(1, "added", "i"), textOf("i", "x"), messageOf(3, "done", "i"), completedOf(4, "r", "")}
	says := func(agent string) string { return saysItem(agent, "i", "secret") }
	thinks := strings.NewReplacer("message_output", "reasoning_item", `"type":"message"`, `"type":"reasoning"`)
	marked := func(i int) []string {
		sent := slices.Clone(answer)
		sent[i] = markInternal(sent[i])
		return sent
	}
	thought := slices.Insert(slices.Clone(answer), 1, strings.NewReplacer(`"message"`, `"reasoning"`, `"output_index":0`, `"output_index":5`).Replace(markInternal(answer[1])))
	beside := slices.Concat([]string{begins("a"), begins("b")}, marked(0), answer)
	const call = `"output_index":1,"item":{"type":"function_call","id":"i","call_id":"c","name":"f","arguments":""}`
	calls := slices.Insert(slices.Clone(answer), 3, markInternal(raw(5, "output_item.added", call)), raw(6, "function_call_arguments.delta", `"output_index":1,"item_id":"i","delta":"{}"`), raw(7, "output_item.done", call))
	marksMessage := markInternal(raw(8, "output_text.delta", `"output_index":1,"item_id":"i","delta":"x"`))
	for name, c := range map[string]struct {
		leaves bool
		sent   []string
	}{
		"its beginning":                 {false, slices.Concat([]string{begins("a")}, marked(1), []string{says("a")})},
		"a piece":                       {false, slices.Concat([]string{begins("a")}, marked(2), []string{says("a")})},
		"its response":                  {false, slices.Concat([]string{begins("a")}, marked(0), []string{says("a")})},
		"an unknown type":               {false, slices.Concat([]string{begins("a")}, answer[:2], []string{strings.Replace(answer[2], "response.output_text.delta", "internal.response.output_text.delta", 1)}, answer[3:], []string{says("a")})},
		"no agents":                     {false, append(marked(1), says("a"))},
		"an item without an agent":      {false, slices.Concat([]string{begins("a")}, marked(1), []string{strings.Replace(says("a"), `"agent":{"name":"a"}`, `"x":0`, 1)})},
		"a printed item":                {false, slices.Concat([]string{begins("a")}, marked(1), []string{`{"type":"run_item_stream_event","name":"message_output_created","item":"secret"}`})},
		"reasoning":                     {false, slices.Concat([]string{begins("a")}, thought, []string{thinks.Replace(says("a"))})},
		"several agents":                {false, append(slices.Clone(beside), says("a"))},
		"a call of its response":        {false, []string{begins("a"), markInternal(answer[0]), `{"type":"run_item_stream_event","name":"tool_called","item":"secret"}`}},
		"a response without items":      {false, []string{begins("a"), begins("b"), markInternal(answer[0]), answer[4], answer[0], says("a")}},
		"a part of no item":             {true, []string{begins("a"), answer[0], markInternal(raw(1, "output_text.annotation.added", `"annotation":{}`)), says("a")}},
		"a message after reasoning":     {true, slices.Concat([]string{begins("a")}, thought, []string{says("a")})},
		"the next response":             {true, slices.Concat([]string{begins("a")}, marked(1), []string{says("a")}, answer, []string{says("a")})},
		"the next one, and no agents":   {true, slices.Concat(marked(1), answer, []string{says("a")})},
		"only items":                    {true, []string{begins("a"), markInternal(saysItem("a", "i", "x")), says("a")}},
		"a message beside a call":       {true, slices.Concat([]string{begins("a")}, calls, []string{says("a")})},
		"a number after a gap":          {false, slices.Concat([]string{begins("a")}, calls[:4], []string{`{"type":`, marksMessage, says("a")})},
		"a number of parts":             {false, slices.Concat([]string{begins("a")}, calls[3:4], []string{marksMessage, says("a")})},
		"after a replaced one":          {true, slices.Concat([]string{answer[0]}, answer, marked(1), answer, []string{says("a")})},
		"after a withheld one":          {false, slices.Concat([]string{markInternal(answer[0])}, answer, answer, []string{says("a")})},
		"after one that began withheld": {false, []string{markInternal(answer[0]), answer[0], answer[4], answer[0], answer[4], says("a")}},
		"an unknown agent's":            {false, []string{begins("a"), begins("b"), markInternal(answer[0]), answer[4], strings.Replace(answer[0], `{`, `{"agent_name":"a",`, 1), answer[4], says("b")}},
		"a message of an agent beside":  {true, slices.Concat([]string{begins("a")}, marked(1), []string{begins("b")}, answer, []string{says("b")})},
	} {
		var sent []string
		for _, one := range c.sent {
			sent = append(sent, asFake.Replace(one))
		}
		for _, s := range []filter.Settings{client, public} {
			if out := leaving(t, s, stream(sent...)); strings.Contains(out, "secret") != c.leaves && (c.leaves || s.Policy == client.Policy || !strings.Contains(name, "reasoning")) {
				t.Errorf("%s: under %s this leaves: %s", name, s.Policy, out)
			}
		}
	}
}
