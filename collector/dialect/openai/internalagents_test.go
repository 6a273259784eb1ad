package openai_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// hidden is the name of an internal agent.
const hidden = "internal_x"

// saidBy returns a message of an agent, which items show.
func saidBy(agent, text string) string {
	return item("message_output_created", agent, `"type":"message","role":"assistant","content":[{"type":"output_text","text":"`+text+`"}]`)
}

// workOf returns the events of a response of an agent, and of its item. Its text is in three of them.
func workOf(agent, id, text string) []string {
	message := `"type":"message","id":"` + id + `","role":"assistant","content":[{"type":"output_text","text":"` + text + `"}]`
	return []string{
		createdOf("r" + id), raw(1, "output_item.added", `"output_index":0,"item":{"type":"message","id":"`+id+`","role":"assistant","content":[]}`),
		raw(2, "output_text.delta", `"output_index":0,"item_id":"`+id+`","delta":"`+text+`"`), completedOf(3, "r"+id, "{"+message+"}"), item("message_output_created", agent, message),
	}
}

// handsOver returns the events with which an agent hands control over.
func handsOver(from, to, call string) []string {
	called := `"type":"function_call","call_id":"` + call + `","name":"transfer_to_` + strings.TrimPrefix(to, "internal_") + `"`
	occurred := item("handoff_occured", from, `"type":"function_call_output","call_id":"`+call+`","output":"secret"`) //nolint:misspell // as the SDK spells it
	return []string{
		createdOf("r" + call), raw(1, "output_item.done", `"output_index":0,"item":{"id":"f`+call+`",`+called+`}`), completedOf(2, "r"+call, `{`+called+`}`),
		item("handoff_requested", from, called),
		strings.Replace(occurred, `"item":{`, `"item":{"source_agent":{"name":"`+from+`"},"target_agent":{"name":"`+to+`"},`, 1),
	}
}

// flat puts the name of an event's or an item's agent in place of the agent, as applications do.
func flat(sent string) string { return agentObject.ReplaceAllString(sent, `"agent_name":$1`) }

var agentObject = regexp.MustCompile(`"(?:new_)?agent":\{"name":("[^"]*")\}`)

// TestInternalNames names agents of the Agents SDK internal, which has no other mark for them. Nothing of such an agent leaves, and no
// event that names it. What others do leaves.
func TestInternalNames(t *testing.T) {
	asks, told := callItem("a", "c", "ask"), strings.Replace(outputItem("a", "c"), `"o"`, `"answer"`, 1)
	call := []string{begins("a"), createdOf("ra"), strings.Replace(calledOf(1, "c", "ask"), "item.done", "item.added", 1), calledOf(2, "c", "ask"), completedOf(2, "ra", ""), asks}
	for name, c := range map[string]struct {
		answers int // in what the client gets
		sent    []string
	}{
		"first":   {3, slices.Concat([]string{begins(hidden)}, workOf(hidden, "i", "secret"), []string{begins("a")}, workOf("a", "j", "answer"))},
		"last":    {3, slices.Concat([]string{begins("a")}, workOf("a", "j", "answer"), []string{begins(hidden)}, workOf(hidden, "i", "secret"))},
		"between": {6, slices.Concat([]string{begins("a")}, workOf("a", "j", "answer"), []string{begins(hidden)}, workOf(hidden, "i", "secret"), []string{begins("a")}, workOf("a", "k", "answer"))},
		"handoffs": {3, slices.Concat([]string{begins("a")}, handsOver("a", hidden, "h"), []string{begins(hidden)}, workOf("", "i", "secret"),
			handsOver(hidden, "b", "g"), []string{begins("b")}, workOf("b", "j", "answer"))},
		"before two at once":    {1, slices.Concat([]string{begins(hidden)}, workOf(hidden, "i", "secret"), []string{begins("a"), begins("b"), createdOf("rj"), createdOf("rk"), messageOf(1, "added", "j"), raw(2, "output_text.delta", `"output_index":0,"item_id":"j","delta":"answer"`)})},
		"one of two at once":    {0, []string{begins("a"), begins(hidden), createdOf("rj"), createdOf("rk"), messageOf(1, "added", "j"), raw(2, "output_text.delta", `"output_index":0,"item_id":"j","delta":"secret"`)}},
		"after its answer":      {3, slices.Concat([]string{begins("a")}, workOf("a", "j", "answer"), []string{begins(hidden)}, workOf(hidden, "i", "secret"), workOf("", "k", "secret"))},
		"in a call, at its end": {3, slices.Concat(call[:5], []string{asks, begins(hidden)}, workOf("", "i", "secret"), workOf("", "j", "secret"), []string{outputItem("a", "c")}, workOf("a", "k", "answer"))},
		"in a call":             {4, slices.Concat(call, []string{begins(hidden)}, workOf("", "i", "secret"), []string{told}, workOf("a", "j", "answer"))},
		"only items":            {2, []string{saidBy("a", "answer"), saidBy(hidden, "secret"), saidBy("", "secret"), callItem(hidden, "secret", "f"), outputItem(hidden, "secret"), begins("a"), saidBy("a", "answer")}},
		"no beginning":          {3, slices.Concat([]string{saidBy(hidden, "secret")}, workOf("", "i", "secret"), []string{begins("a")}, workOf("a", "j", "answer"))},
		"agents as text": {1, []string{
			`{"type":"agent_updated_stream_event","new_agent":"internal secret"}`, `{"type":"run_item_stream_event","name":"message_output_created","item":"message_output_item","agent":"Internal:secret"}`,
			`{"type":"agent_updated_stream_event","new_agent":"Agent(name='internal_x', instructions='secret')"}`, deltaOf(1, "secret"), begins("a"), saidBy("a", "answer"),
		}},
		"only names": {1, []string{
			flat(begins("internal secret")), deltaOf(1, "secret"), flat(saidBy("internal secret", "x")), `{"type":"run_item_stream_event","name":"message_output_created","item":{"type":"message_output_item"},"agentName":"internal secret"}`,
			flat(begins("a")), flat(saidBy("a", "answer")),
		}},
		"other spellings": {1, []string{
			`{"type":"agent_updated_stream_event","agent":{"Name":"Internal secret"}}`, deltaOf(1, "secret"), `{"type":"agent_updated_stream_event","New_Agent":{"name":"internal secret"},"new_agent":{"name":"b"}}`,
			strings.Replace(toB, `"B"`, `"internal secret"`, 1), strings.Replace(toB, `"A"`, `"internal secret"`, 1), begins("a"), saidBy("a", "answer"),
		}},
	} {
		for _, of := range []event.Stream{{SingleRun: true}, {}} {
			out := leavingOf(t, client, &of, stream(c.sent...))
			if strings.Contains(out, "secret") || strings.Contains(out, hidden) || strings.Count(out, "answer") != c.answers {
				t.Errorf("%s: the client gets: %s", name, out)
			}
			if out := leavingOf(t, public, &of, stream(c.sent...)); strings.Contains(out, "secret") || strings.Contains(out, hidden) {
				t.Errorf("%s: the public gets: %s", name, out)
			}
		}
	}
}

// TestNamesThatLeave checks that events leave if an internal name is no agent's, or a name is not internal.
func TestNamesThatLeave(t *testing.T) {
	sent := slices.Concat([]string{begins("my_internal")}, workOf("my_internal", "i", "answer"), []string{
		callItem("my_internal", "c", "internal_search"), strings.Replace(outputItem("my_internal", "c"), `"o"`, `"answer"`, 1),
		`{"type":"agent_updated_stream_event","new_agent":{"name":"b","handoffs":[{"name":"internal_x"}],"tools":[{"name":"internal_search"}]}}`, saidBy("b", "answer"),
	})
	if out := leaving(t, client, stream(sent...)); strings.Count(strings.TrimSpace(out), "\n")+1 != len(sent) || strings.Count(out, "answer") != 5 {
		t.Errorf("this leaves: %s", out)
	}
}

// TestFactsOfInternalNames checks that internal agents are reported like others.
func TestFactsOfInternalNames(t *testing.T) {
	sent := slices.Concat([]string{begins("a")}, handsOver("a", hidden, "h"), []string{begins(hidden)}, workOf(hidden, "i", "x"), []string{"[DONE]"})
	got := strings.ReplaceAll(whoDid(sent...), hidden, "Q")
	for i := range sent {
		sent[i] = strings.ReplaceAll(sent[i], hidden, "Q")
	}
	if want := whoDid(sent...); got != want {
		t.Errorf("the facts are\n%s, want\n%s", got, want)
	}
}

// TestInternalNamesInRecordings names an agent of a recording internal.
func TestInternalNamesInRecordings(t *testing.T) {
	for _, name := range []string{"sdk-handoff", "sdk-wrapped"} {
		recorded, err := os.ReadFile("testdata/" + name + ".sse")
		if err != nil {
			t.Fatal(err)
		}
		for agent, speaks := range map[string]bool{"boss": true, "expert": false} {
			out := leavingOf(t, client, &event.Stream{SingleRun: true}, strings.ReplaceAll(string(recorded), `"`+agent+`"`, `"`+hidden+`"`))
			if strings.Contains(out, hidden) || strings.Contains(out, "speaks") != speaks || strings.Contains(out, `"handoff_requested"`) == speaks {
				t.Errorf("of %s this leaves if %s is internal: %s", name, agent, out)
			}
		}
	}
}

// TestItemsWithoutIDs repeats an internal item of a response in an item of the Agents SDK. Models that the SDK calls by the Chat
// Completions API give all items one ID. The items of other responses and agents leave.
func TestItemsWithoutIDs(t *testing.T) {
	const fake = "__fake_id__"
	says := func(agent, text string) string {
		return item("message_output_created", agent, `"type":"message","role":"assistant","id":"`+fake+`","content":[{"type":"output_text","text":"`+text+`"}]`)
	}
	marked := strings.Replace(messageOf(1, "added", fake), `"role"`, `"kind":"internal","role"`, 1)
	withheld := []string{begins("a"), createdOf(fake), marked, completedOf(2, fake, "")}
	next := []string{createdOf(fake), messageOf(1, "added", fake), completedOf(2, fake, "")}
	for _, c := range []struct {
		answers int
		sent    []string
	}{
		{0, slices.Concat(withheld, []string{says("a", "secret"), says("", "secret"), begins("b"), says("a", "secret")})},
		{1, slices.Concat(withheld, next, []string{says("a", "answer")})},
		{1, slices.Concat([]string{begins("a"), strings.Replace(says("a", "secret"), `"name"`, `"kind":"internal","name"`, 1), strings.ReplaceAll(strings.Replace(says("a", "secret"), `"name"`, `"kind":"internal","name"`, 1), fake, "i")}, next, []string{says("a", "answer")})},
		{1, slices.Concat(withheld, []string{begins("b"), says("b", "answer")})},
	} {
		out := leavingOf(t, client, &event.Stream{SingleRun: true}, stream(c.sent...))
		if strings.Contains(out, "secret") || strings.Count(out, "answer") != c.answers {
			t.Errorf("this leaves: %s", out)
		}
	}
}
