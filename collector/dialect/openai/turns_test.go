package openai_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestResponseAfterInternal shows only the start, the texts and the end of a response after those of an internal one. All of it leaves.
func TestResponseAfterInternal(t *testing.T) {
	internal := strings.Replace(created, `"response":{`, `"kind":"internal","response":{`, 1)
	next := []string{later.Replace(created), later.Replace(delta), later.Replace(ended)}
	for _, of := range []event.Stream{{SingleRun: true}, {}} {
		out := leavingOf(t, client, &of, stream(append([]string{internal, delta, ended}, next...)...))
		if strings.Contains(out, "secret") || strings.Count(out, "answer") != 2 {
			t.Errorf("after the end of the internal one this leaves: %s", out)
		}
		out = leavingOf(t, client, &of, stream(internal, delta, next[0], strings.Replace(delta, `"item_id":"i",`, "", 1), delta))
		if strings.Contains(out, "secret") {
			t.Errorf("if the internal one goes on this leaves: %s", out)
		}
	}
}

// TestNumbersUsedAgain passes on parts of responses, each of which counts its items from 0, and neither starts nor ends of responses.
func TestNumbersUsedAgain(t *testing.T) {
	const message = `"type":"message","role":"assistant","content":[{"type":"output_text","text":"answer"}]`
	text := strings.Replace(later.Replace(delta), `"item_id"`, `"content_index":0,"item_id"`, 1)
	whole := `{"type":"response.output_item.done","output_index":0,"item":{"id":"j",` + message + `}}`
	for name, c := range map[string]struct {
		first  string
		leaves bool // also under the policy `public`
	}{
		"a call":              {`{"type":"response.output_item.done","output_index":0,"item":{"id":"i","type":"function_call","call_id":"c","name":"f","arguments":"{}"}}`, true},
		"the start of a call": {`{"type":"response.output_item.added","output_index":0,"item":{"id":"i","type":"function_call","call_id":"c","name":"f","arguments":""}}`, true},
		"a thought":           {`{"type":"response.output_item.done","output_index":0,"item":{"id":"i","type":"reasoning","summary":[]}}`, true},
		"an open thought":     {`{"type":"response.output_item.added","output_index":0,"item":{"id":"i","type":"reasoning","summary":[]}}`, false},
		"a user's message":    {`{"type":"response.output_item.added","output_index":0,"item":{"id":"i","type":"message","role":"user","content":[]}}`, false},
	} {
		if out := leaving(t, client, stream(c.first, text, whole)); strings.Count(out, "\n") != 3 {
			t.Errorf("%s: the client gets: %s", name, out)
		}
		if out := leaving(t, public, stream(c.first, text)); strings.Contains(out, "answer") != c.leaves {
			t.Errorf("%s: the public gets: %s", name, out)
		}
		if facts := factsOf(stream(c.first, text, whole)); c.leaves && strings.Count(facts, `"answer"`) != 2 {
			t.Errorf("%s: the facts are: %s", name, facts)
		}
	}
}

// TestTurnsOfModels shows pieces of answers in the SDK for JavaScript, but not where an answer ends.
func TestTurnsOfModels(t *testing.T) {
	says := func(text string) string {
		return `{"type":"raw_model_stream_event","data":{"type":"output_text_delta","delta":"` + text + `"}}`
	}
	begun := `{"type":"raw_model_stream_event","data":{"type":"response_started"}}`
	out := leaving(t, client, stream(begins("a"), begun, says("answer"), callItem("a", "c", "f"), begins(hidden), says("secret"), begun, says("secret"), outputItem("a", "c"), begins("b"), begun, says("answer")))
	if strings.Contains(out, "secret") || strings.Count(out, "answer") != 2 {
		t.Errorf("this leaves: %s", out)
	}
}

// TestNamedAfterInternal names an agent in an item that was withheld because it could have been of the internal one.
func TestNamedAfterInternal(t *testing.T) {
	named := func(agent, id string) string {
		return item("message_output_created", agent, `"type":"message","role":"assistant","id":"`+id+`","content":[{"type":"output_text","text":"answer"}]`)
	}
	sent := []string{begins("a"), callItem("a", "c", "f"), begins(hidden), textOf("j", "secret"), textOf("k", "secret"), named("a", "k")}
	for _, s := range []string{stream(sent...), stream(append(sent, strings.ReplaceAll(named(hidden, "k"), "answer", "secret"))...)} {
		if out := leaving(t, client, s); strings.Contains(out, "secret") || strings.Count(out, "answer") != 1 {
			t.Errorf("this leaves: %s", out)
		}
		if out := leaving(t, public, s); strings.Contains(out, "secret") || strings.Count(out, "answer") != 1 {
			t.Errorf("the public gets: %s", out)
		}
	}
	if out := leaving(t, client, stream(append(sent[:5:5], named("", "k"), strings.Replace(named("a", "j"), `"raw_item"`, `"kind":"internal","raw_item"`, 1))...)); strings.Contains(out, `"k"`) || strings.Contains(out, `"j"`) {
		t.Errorf("without its agent, or with a mark, this leaves: %s", out)
	}
}

// saysItem returns the item of a message of an agent.
func saysItem(agent, id, text string) string {
	return item("message_output_created", agent, `"type":"message","role":"assistant","id":"`+id+`","content":[{"type":"output_text","text":"`+text+`"}]`)
}

// resultItem returns the item of a call's result that leaves.
func resultItem(agent, call string) string {
	return strings.Replace(outputItem(agent, call), `"o"`, `"answer"`, 1)
}

// atWork is a stream of agents that work beside each other. What leaves contains answers, but nothing secret.
type atWork struct {
	answers int // under the policy `client`
	sent    []string
}

func checkAtWork(t *testing.T, name string, c atWork) {
	t.Helper()
	for _, s := range []filter.Settings{client, public} {
		out := leaving(t, s, stream(c.sent...))
		if strings.Contains(out, "secret") || s.Policy == event.PolicyClient && strings.Count(out, "answer") != c.answers {
			t.Errorf("%s: under %s this leaves: %s", name, s.Policy, out)
		}
		for _, sent := range c.sent {
			if isItem := strings.Contains(sent, "run_item"); isItem && !strings.Contains(sent, "internal_") && !strings.Contains(out, sent[:90]) {
				t.Errorf("%s: under %s an item does not leave: %s\nbut this: %s", name, s.Policy, sent, out)
			}
		}
	}
}

// TestAgentsAtWork lets internal agents work beside ordinary ones. What names no agent stays in until the stream shows that the internal one
// has ended. Items of ordinary agents leave.
func TestAgentsAtWork(t *testing.T) {
	says, result := saysItem, resultItem
	call := func(id string) string {
		return strings.Replace(calledOf(3, id, "f"), `"arguments":""`, `"arguments":"secret"`, 1)
	}
	for name, c := range map[string]atWork{
		"two runs":                        {1, []string{begins(hidden), begins("b"), createdOf("ri"), createdOf("rj"), textOf("i", "secret"), textOf("j", "secret"), completedOf(3, "ri", ""), completedOf(3, "rj", ""), says(hidden, "i", "secret"), says("b", "j", "answer"), textOf("k", "answer")}},
		"a guardrail that starts late":    {1, []string{begins("a"), begins(hidden), callItem("a", "c", "f"), result("a", "c"), createdOf("ri"), textOf("i", "secret"), completedOf(3, "ri", "")}},
		"a guardrail and then the agent":  {3, []string{begins("a"), begins(hidden), callItem("a", "c", "f"), textOf("i", "secret"), says(hidden, "i", "secret"), result("a", "c"), textOf("j", "answer"), says("a", "j", "answer")}},
		"a task that outlives its call":   {1, []string{begins("a"), callItem("a", "c", "f"), begins(hidden), result("a", "c"), textOf("i", "secret"), callItem(hidden, "d", "f"), textOf("j", "secret")}},
		"a call before the result":        {1, []string{begins("a"), callItem("a", "c", "f"), begins(hidden), textOf("i", "secret"), callItem(hidden, "d", "f"), result("a", "c"), textOf("j", "secret")}},
		"a response before the result":    {1, []string{begins("a"), callItem("a", "c", "f"), begins(hidden), textOf("i", "secret"), createdOf("ri"), result("a", "c"), createdOf("rj"), textOf("j", "secret")}},
		"a response with a call":          {1, []string{begins("a"), callItem("a", "c", "f"), begins(hidden), createdOf("ri"), call("d"), completedOf(4, "ri", `{"type":"function_call","call_id":"d"}`), result("a", "c"), createdOf("rj"), textOf("j", "secret")}},
		"in a call of an internal one":    {1, []string{begins("a"), callItem("a", "c", "f"), begins(hidden), callItem(hidden, "d", "f"), begins("internal_y"), textOf("i", "secret"), result(hidden, "d"), textOf("j", "secret"), result("a", "c"), textOf("k", "answer")}},
		"items after their events":        {2, []string{begins("a"), begins(hidden), createdOf("ri"), call("d"), completedOf(4, "ri", `{"type":"function_call","call_id":"d"}`), callItem("a", "c", "f"), callItem(hidden, "d", "f"), result("a", "c"), outputItem(hidden, "d"), textOf("j", "secret"), says(hidden, "j", "secret"), textOf("k", "answer")}},
		"one name twice":                  {1, []string{begins("a"), callItem("a", "c", "f"), begins(hidden), begins(hidden), textOf("i", "secret"), says(hidden, "i", "secret"), textOf("j", "secret"), says(hidden, "j", "secret"), textOf("k", "answer")}},
		"a message and a call":            {0, []string{begins("a"), callItem("a", "c", "f"), begins(hidden), textOf("i", "secret"), says(hidden, "i", "secret"), callItem(hidden, "d", "f"), textOf("j", "secret")}},
		"a call and a message":            {0, []string{begins("a"), callItem("a", "c", "f"), begins(hidden), textOf("i", "secret"), callItem(hidden, "d", "f"), says(hidden, "i", "secret"), textOf("j", "secret")}},
		"only texts":                      {1, []string{begins(hidden), textOf("i", "secret"), begins("b"), textOf("j", "answer")}},
		"only texts, and then an item":    {1, []string{begins("a"), begins(hidden), textOf("i", "secret"), begins("b"), textOf("k", "answer"), callItem("a", "c", "f"), textOf("j", "secret")}},
		"only texts, and then a response": {1, []string{begins(hidden), textOf("i", "secret"), begins("b"), textOf("k", "answer"), createdOf("rj"), textOf("j", "secret")}},
		"only pieces":                     {0, []string{begins(hidden), begins("b"), raw(3, "function_call_arguments.delta", `"output_index":0,"item_id":"i","delta":"secret"`), textOf("j", "secret")}},
		"a tool of another name":          {0, []string{begins(hidden), createdOf("ri"), calledOf(1, "c", "transfer_to_accounts"), completedOf(2, "ri", ""), begins("b"), createdOf("rj"), textOf("j", "secret")}},
		"a handoff":                       {1, []string{begins(hidden), createdOf("ri"), calledOf(1, "c", "transfer_to_b"), completedOf(2, "ri", ""), begins("b"), createdOf("rj"), messageOf(1, "added", "j"), textOf("j", "answer")}},
		"a handoff beside an agent":       {0, []string{begins("a"), createdOf("ra"), begins(hidden), createdOf("ri"), calledOf(1, "c", "transfer_to_b"), completedOf(2, "ri", ""), begins("b"), createdOf("rj"), messageOf(1, "added", "j"), textOf("j", "secret")}},
		"a handoff around an agent":       {1, []string{begins(hidden), callItem(hidden, "d", "f"), begins("a"), createdOf("ra"), handsOver("a", "b", "h")[3], begins("b"), createdOf("rj"), messageOf(1, "added", "j"), textOf("j", "secret"), says("b", "j", "answer")}},
		"a number of another response":    {0, []string{begins("a"), createdOf("ra"), raw(1, "in_progress", `"response":{"id":"ra"}`), begins(hidden), createdOf("ri"), raw(2, "output_text.delta", `"output_index":0,"item_id":"i","delta":"secret"`)}},
		"after an error":                  {0, []string{begins(hidden), createdOf("ri"), `{"type":"error","error":{"message":"m"}}`, begins("b"), createdOf("rj"), textOf("j", "secret")}},
	} {
		checkAtWork(t, name, c)
	}
}

// TestManyAgentsAtWork lets more agents work at the same time than are remembered.
func TestManyAgentsAtWork(t *testing.T) {
	var sent []string
	for i := range 100 {
		sent = append(sent, begins("a"+strconv.Itoa(i)), createdOf("r"+strconv.Itoa(i)))
	}
	sent = append(sent, begins(hidden), createdOf("r"), begins("b"), createdOf("s"), textOf("j", "secret"))
	if out := leaving(t, client, stream(sent...)); strings.Contains(out, "secret") {
		t.Errorf("this leaves: %s", out[len(out)-500:])
	}
}

// TestWholeItemsAfterInternal shows only the start of a response and whole items. One is internal, and the others leave.
func TestWholeItemsAfterInternal(t *testing.T) {
	whole := func(n int, mark, id, text string) string {
		return `{"type":"response.output_item.done","output_index":` + strconv.Itoa(n) + `,"item":{` + mark + `"id":"` + id + `","type":"message","role":"assistant","content":[{"type":"output_text","text":"` + text + `"}]}}`
	}
	for _, mark := range []string{`"kind":"internal",`, `"agent":{"agent_name":"/root/internal_x"},`} {
		checkLeaves(t, 2, created, whole(0, "", "h", "answer"), whole(1, mark, "i", "secret"), whole(2, "", "j", "answer"))
		checkLeaves(t, 0, created, whole(1, mark, "i", "secret"), whole(1, "", "j", "secret"))
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
