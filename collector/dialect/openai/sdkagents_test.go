package openai_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/dialect/openai"
	"github.com/delegraph/delegraph/collector/event"
)

// begins returns the event with which a run of an agent begins, and which follows a handoff.
func begins(agent string) string {
	return `{"type":"agent_updated_stream_event","new_agent":{"name":"` + agent + `"}}`
}

// item returns the event with an item of an agent. raw holds members of the item.
func item(name, agent, raw string) string {
	if agent != "" {
		agent = `"agent":{"name":"` + agent + `"},`
	}
	kind := map[string]string{"message_output_created": "message_output_item"}[name]
	return `{"type":"run_item_stream_event","name":"` + name + `","item":{"type":"` + kind + `",` + agent + `"raw_item":{` + raw + `}}}`
}

func callItem(agent, id, tool string) string {
	return item("tool_called", agent, `"type":"function_call","call_id":"`+id+`","name":"`+tool+`"`)
}

func outputItem(agent, id string) string {
	return item("tool_output", agent, `"type":"function_call_output","call_id":"`+id+`","output":"o"`)
}

func messageItem(agent, id string) string {
	return item("message_output_created", agent, `"type":"message","role":"assistant","id":"`+id+`","content":[{"type":"output_text","text":"`+id+`"}]`)
}

// raw returns an event of a response. n is its number in the response.
func raw(n int, kind, rest string) string {
	return fmt.Sprintf(`{"type":"raw_response_event","data":{"type":"response.%s","sequence_number":%d,%s}}`, kind, n, rest)
}

func createdOf(id string) string { return raw(0, "created", `"response":{"id":"`+id+`"}`) }

func completedOf(n int, id, output string) string {
	return raw(n, "completed", `"response":{"id":"`+id+`","output":[`+output+`]}`)
}

func calledOf(n int, id, tool string) string {
	return raw(n, "output_item.done", `"output_index":0,"item":{"type":"function_call","id":"f`+id+`","call_id":"`+id+`","name":"`+tool+`","arguments":""}`)
}

func messageOf(n int, kind, id string) string {
	return raw(n, "output_item."+kind, `"output_index":0,"item":{"type":"message","id":"`+id+`","role":"assistant","content":[{"type":"output_text","text":"`+id+`"}]}`)
}

func deltaOf(n int, id string) string {
	return raw(n, "output_text.delta", `"output_index":0,"item_id":"`+id+`","delta":"`+id+`"`)
}

// whoDid lists the events of a stream. Each has its agent, the call or branch in which the agent works, and its response.
func whoDid(sent ...string) string {
	var got []string
	var at string
	for line := range strings.SplitSeq(dialecttest.Facts(openai.Dialect{}, &event.Stream{SingleRun: true}, stream(sent...)), "\n") {
		if !strings.HasPrefix(line, " ") {
			at = "?"
			for _, name := range []string{"agent", "within", "branch", "response"} {
				if _, value, found := strings.Cut(line, " "+name+`="`); found {
					value, _, _ = strings.Cut(value, `"`)
					at = map[string]string{"agent": "", "within": at + "@", "branch": at + "@?", "response": at + "#"}[name] + value
				}
			}
			continue
		}
		fact := strings.TrimSpace(strings.NewReplacer(" unmetered", "", ` finish="completed"`, "").Replace(line))
		if fact != "other" && fact != "run_started" && fact != "run_ended" {
			got = append(got, at+": "+fact)
		}
	}
	return strings.Join(got, "; ")
}

// TestAgentsOfRun checks which agent of the Agents SDK an event belongs to, and that only a handoff is a transfer.
func TestAgentsOfRun(t *testing.T) {
	message := func(id string) string {
		return `{"type":"message","id":"` + id + `","role":"assistant","content":[{"type":"output_text","text":"` + id + `"}]}`
	}
	const handsOff = `"type":"function_call","call_id":"h","name":"escalate"`
	for name, c := range map[string]struct {
		sent []string
		want string
	}{
		"one after the other": {[]string{begins("a"), createdOf("r"), completedOf(1, "r", ""), begins("b"), createdOf("s"), completedOf(1, "s", "")},
			"a: model_started; a: model_ended; a: final; b: model_started; b: model_ended; b: final"},
		"one after the other, twice": {[]string{begins("a"), createdOf("r"), completedOf(1, "r", ""), begins("b"), createdOf("s"), completedOf(1, "s", ""), begins("a"), createdOf("u"), completedOf(1, "u", ""), begins("b"), createdOf("x")},
			"a: model_started; a: model_ended; a: final; b: model_started; b: model_ended; b: final; a: agent_started; a: model_started; a: model_ended; a: final; b: agent_started; b: model_started"},
		"at the same time": {[]string{begins("a"), begins("b"), createdOf("r"), createdOf("s"), messageOf(1, "added", "i"), messageOf(2, "done", "i"), messageOf(1, "added", "j"), messageOf(2, "done", "j"),
			completedOf(3, "r", message("i")), completedOf(3, "s", message("j")), messageItem("a", "i"), messageItem("b", "j")},
			`?: model_started; ?#1: model_started uncertain; ?#shared: text "i"; ?#shared: text "j"; ?: model_ended; ?: final; ?#1: model_ended; ?#1: final`},
		"the second one begins later": {[]string{begins("a"), createdOf("r"), deltaOf(1, "i"), begins("b"), createdOf("s"), messageOf(2, "done", "i"), completedOf(3, "r", ""), completedOf(1, "s", "")},
			`a: model_started; a: text "i"; ?#1: model_started uncertain; a: text "i"; a: model_ended; a: final; ?#1: model_ended; ?#1: final`},
		"calls at the same time": {[]string{begins("a"), begins("b"), callItem("a", "c", "w"), callItem("b", "d", "w"), outputItem("a", "c"), outputItem("", "d"), messageItem("a", "i"), messageItem("b", "j")},
			`a: tool_started name="w" call="c"; b: tool_started name="w" call="d"; a: tool_ended name="w" call="c" "o"; b: tool_ended name="w" call="d" "o"; a: text "i"; b: text "j"`},
		"a handoff": {[]string{begins("a"), item("handoff_requested", "a", handsOff), item("handoff_occurred", "a", `"type":"function_call_output","call_id":"h"`), begins("b"), messageItem("b", "i")},
			`a: tool_started name="escalate" call="h"; a: tool_ended name="escalate" call="h" settled; a: transfer name="b" call="h"; b: text "i"`},
		"a handoff after pieces": {[]string{begins("a"), deltaOf(2, "i"), item("handoff_requested", "a", handsOff), item("handoff_occurred", "a", `"type":"function_call_output","call_id":"h"`), begins("b"), messageItem("b", "i")},
			`a: model_started; a: text "i"; a: tool_started name="escalate" call="h"; a: model_ended uncertain; a: tool_ended name="escalate" call="h" settled; a: transfer name="b" call="h"; b: text "i"`},
		"a handoff of one that works beside another": {[]string{begins("a"), begins("c"), item("handoff_requested", "a", handsOff), item("handoff_occurred", "a", `"type":"function_call_output","call_id":"h"`), messageItem("c", "j"), begins("b"), messageItem("b", "i")},
			`a: tool_started name="escalate" call="h"; a: tool_ended name="escalate" call="h" settled; c: text "j"; a: transfer name="b" call="h"; b: text "i"`},
		"a handoff that a person rejected": {[]string{begins("a"), createdOf("r"), strings.Replace(calledOf(1, "h", "transfer_to_b"), ".done", ".added", 1), calledOf(2, "h", "transfer_to_b"), completedOf(3, "r", ""), outputItem("a", "h"), begins("b")},
			`a: model_started; a: tool_started name="transfer_to_b" call="h" ""; a: model_ended; a: tool_ended name="transfer_to_b" call="h" "o"`},
		"a handoff that only began": {[]string{begins("a"), createdOf("r"), strings.Replace(calledOf(1, "h", "transfer_to_b"), ".done", ".added", 1), createdOf("s"), begins("b")},
			`a: model_started; a#1: model_started uncertain`},
		"a handoff of which the item was requested only": {[]string{begins("a"), item("handoff_requested", "a", `"type":"function_call"`), begins("b"), begins("c")}, `a: transfer name="b"`},
		"only the call of a handoff": {[]string{begins("a"), createdOf("r"), calledOf(1, "h", "transfer_to_b_1"), completedOf(2, "r", ""), begins("B 1"), createdOf("s"), completedOf(1, "s", ""), begins("c")},
			`a: model_started; a: tool_started name="transfer_to_b_1" call="h" ""; a: model_ended; a: transfer name="B 1"; B 1: model_started; B 1: model_ended; B 1: final`},
		"an earlier call, and a handoff": {[]string{begins("a"), createdOf("r"), calledOf(1, "c", "w"), completedOf(2, "r", ""), createdOf("s"), calledOf(1, "h", "transfer_to_x"), completedOf(2, "s", ""), begins("b")},
			`a: model_started; a: tool_started name="w" call="c" ""; a: model_ended; a: model_started uncertain; a: tool_started name="transfer_to_x" call="h" ""; a: model_ended; a: transfer name="b"`},
		"an agent in a call": {[]string{begins("a"), callItem("a", "c", "ask"), begins("b"), createdOf("r"), calledOf(1, "d", "w"), completedOf(2, "r", ""), callItem("b", "d", "w"), outputItem("b", "d"),
			createdOf("s"), completedOf(1, "s", ""), outputItem("a", "c"), createdOf("u"), completedOf(1, "u", "")},
			`a: tool_started name="ask" call="c"; b@c: model_started; b@c: tool_started name="w" call="d" ""; b@c: model_ended; b@c: tool_ended name="w" call="d" "o"; b@c: model_started; b@c: model_ended; b@c: final; ` +
				`a: tool_ended name="ask" call="c" "o"; a: model_started; a: model_ended; a: final`},
		"an agent in a call, and a handoff beside it": {[]string{begins("a"), callItem("a", "c", "ask"), item("handoff_requested", "a", handsOff), begins("b"), messageItem("b", "i"), outputItem("", "c"), begins("d")},
			`a: tool_started name="ask" call="c"; a: tool_started name="escalate" call="h"; b@c: text "i"; a: tool_ended name="ask" call="c" "o"; a: transfer name="d"`},
		"an agent in a call hands over": {[]string{begins("a"), callItem("a", "c", "ask"), begins("b"), item("handoff_requested", "b", handsOff), begins("d"), messageItem("d", "i"), outputItem("a", "c"), callItem("a", "e", "ask"), begins("b"), messageItem("b", "i")},
			`a: tool_started name="ask" call="c"; b@c: tool_started name="escalate" call="h"; b@c: transfer name="d"; d@c: text "i"; a: tool_ended name="ask" call="c" "o"; a: tool_started name="ask" call="e"; b@e: text "i"`},
		"agents in one of two calls": {[]string{begins("a"), callItem("a", "c", "ask"), callItem("a", "d", "ask"), begins("b"), messageItem("b", "i"), begins("e"), messageItem("e", "j"), outputItem("a", "c"), outputItem("a", "d"), createdOf("r")},
			`a: tool_started name="ask" call="c"; a: tool_started name="ask" call="d"; b@?b: text "i"; e@?e: text "j"; a: tool_ended name="ask" call="c" "o"; a: tool_ended name="ask" call="d" "o"; a: model_started`},
		"an agent in one of two calls of an agent in a call": {[]string{begins("a"), callItem("a", "c", "ask"), begins("b"), callItem("b", "d", "ask"), callItem("b", "e", "w"), begins("f"), messageItem("f", "i"), outputItem("b", "d"), outputItem("b", "e"), outputItem("a", "c")},
			`a: tool_started name="ask" call="c"; b@c: tool_started name="ask" call="d"; b@c: tool_started name="w" call="e"; f@c@?f: text "i"; b@c: tool_ended name="ask" call="d" "o"; b@c: tool_ended name="w" call="e" "o"; a: tool_ended name="ask" call="c" "o"`},
		"an agent in a call whose first response has two calls": {[]string{callItem("a", "c", "ask"), createdOf("r"), calledOf(1, "d", "w"), calledOf(2, "e", "w"), completedOf(3, "r", ""), callItem("b", "d", "w"), callItem("b", "e", "w"), outputItem("b", "d"), outputItem("b", "e")},
			`a: tool_started name="ask" call="c"; ?: model_started; ?: tool_started name="w" call="d" ""; ?: tool_started name="w" call="e" ""; ?: model_ended; b@c: tool_ended name="w" call="d" "o"; b@c: tool_ended name="w" call="e" "o"`},
		"an agent in a call whose first response has a text and two calls": {[]string{callItem("a", "c", "ask"), createdOf("r"), messageOf(1, "done", "i"), calledOf(2, "d", "w"), calledOf(3, "e", "w"), completedOf(4, "r", ""), messageItem("b", "i"), outputItem("b", "d")},
			`a: tool_started name="ask" call="c"; ?: model_started; ?: text "i"; ?: tool_started name="w" call="d" ""; ?: tool_started name="w" call="e" ""; ?: model_ended; b@c: tool_ended name="w" call="d" "o"`},
		"JavaScript": {[]string{called, strings.NewReplacer(`"A"`, `"B"`, `"c"`, `"d"`).Replace(called), strings.NewReplacer(`"A"`, `"B"`, `"c"`, `"d"`).Replace(output), ofModel(created), ofModel(strings.Replace(ended, `"secret"`, `""`, 1)), output, ofModel(created)},
			`A: tool_started name="w" call="c" {}; B@c: tool_started name="w" call="d" {}; B@c: tool_ended name="w" call="d" "o"; ?: model_started model="m"; ?: model_ended model="m"; ?: final; A: tool_ended name="w" call="c" "o"; ?: model_started model="m"`},
		"JavaScript, a handoff without a first agent": {[]string{asksB, toB, agentB, messageItem("B", "i")},
			`A: tool_started name="transfer_to_B" call="h" {}; A: tool_ended name="transfer_to_B" call="h" settled; A: transfer name="B" call="h"; B: text "i"`},
		"only pieces": {[]string{begins("a"), deltaOf(3, "i"), deltaOf(4, "i"), messageItem("a", "i"), callItem("a", "c", "w"), outputItem("a", "c"), deltaOf(3, "j"), messageItem("a", "j"), "[DONE]"},
			`a: model_started; a: text "i"; a: text "i"; a: text "i"; a: model_ended; a: tool_started name="w" call="c"; a: tool_ended name="w" call="c" "o"; a: model_started; a: text "j"; a: text "j"; a: model_ended`},
		"pieces and no messages": {[]string{begins("a"), deltaOf(3, "i"), callItem("a", "c", "w"), outputItem("a", "c"), deltaOf(3, "j"), "[DONE]"},
			`a: model_started; a: text "i"; a: tool_started name="w" call="c"; a: model_ended uncertain; a: tool_ended name="w" call="c" "o"; a: model_started; a: text "j"; a: model_ended uncertain`},
		"a response without its end": {[]string{begins("a"), createdOf("r"), deltaOf(3, "i"), "[DONE]"}, `a: model_started; a: text "i"; a: run_ended cuts`},
	} {
		if got := whoDid(c.sent...); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", name, got, c.want)
		}
		checkTruth(t, name, stream(c.sent...))
	}
}

// TestAgentsInUnknownCalls checks of which agents it is said that they work in one of several calls.
func TestAgentsInUnknownCalls(t *testing.T) {
	sent := []string{begins("a"), callItem("a", "c", "ask"), begins("x"), outputItem("a", "c"), callItem("a", "d", "ask"), callItem("a", "e", "w"), begins("b")}
	var got []string
	for line := range strings.SplitSeq(dialecttest.Facts(openai.Dialect{}, &event.Stream{SingleRun: true}, stream(sent...)), "\n") {
		if strings.Contains(line, " unknown call") {
			_, agent, _ := strings.Cut(line, ` agent="`)
			got = append(got, agent[:1])
		}
	}
	if len(got) != 1 || got[0] != "b" {
		t.Errorf("these work in unknown calls: %q, want b", got)
	}
}

// TestFlatAgents has only the names of agents, in members of events and items.
func TestFlatAgents(t *testing.T) {
	for name, c := range map[string]struct {
		sent []string
		want string
	}{
		"of items":  {[]string{flat(callItem("a", "c", "ask")), flat(saidBy("b", "i")), flat(outputItem("a", "c"))}, `a: tool_started name="ask" call="c"; b@c: text "i"; a: tool_ended name="ask" call="c" "o"`},
		"of starts": {[]string{flat(begins("a")), createdOf("r"), completedOf(1, "r", "")}, `a: model_started; a: model_ended; a: final`},
	} {
		if got := whoDid(c.sent...); got != c.want {
			t.Errorf("%s: %s, want\n%s", name, got, c.want)
		}
		if out := leaving(t, public, stream(c.sent...)); !strings.Contains(out, `"agent_name":"`) {
			t.Errorf("%s: this leaves: %s", name, out)
		}
	}
}
