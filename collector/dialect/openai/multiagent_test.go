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

// ofAgent returns an event of an item. The event and the item name the agent, unless it is "".
func ofAgent(agent, kind, rest, item string) string {
	if agent != "" {
		agent = `,"agent":{"agent_name":"` + agent + `"}`
	}
	if item != "" {
		rest += `,"item":{` + item + agent + `}`
	}
	return `{"type":"response.` + kind + `",` + rest + agent + `}`
}

// messageOfAgent returns the events of a message. Only the first one names the agent.
func messageOfAgent(agent, number, id, text string) []string {
	at := `"output_index":` + number
	part := at + `,"content_index":0,"item_id":"` + id + `"`
	message := `"type":"message","id":"` + id + `","role":"assistant","phase":"final_answer","content":[`
	return []string{
		ofAgent(agent, "output_item.added", at, message+`]`),
		ofAgent("", "output_text.delta", part+`,"delta":"`+text+`"`, ""), ofAgent("", "output_text.done", part+`,"text":"`+text+`"`, ""),
		ofAgent("", "content_part.done", part+`,"part":{"type":"output_text","text":"`+text+`"}`, ""),
		ofAgent("", "output_item.done", at, message+`{"type":"output_text","text":"`+text+`"}]`),
	}
}

const (
	lead, helper, inner = "/root", "/root/a", "/root/a/b"

	spawns     = `"type":"multi_agent_call","id":"x","call_id":"s","action":"spawn_agent","arguments":"{}"`
	spawned    = `"type":"multi_agent_call_output","id":"y","call_id":"s","action":"spawn_agent","output":[{"type":"output_text","text":"o"}]`
	betweenOut = `"type":"agent_message","id":"m","author":"/root/a","recipient":"/root","content":[{"type":"output_text","text":"between"}]`
)

func endOf(output string) string {
	return `{"type":"response.completed","response":{"id":"r","model":"m","output":[` + output + `]}}`
}

// TestAgentOnlyByName has an agent of a response as a text.
func TestAgentOnlyByName(t *testing.T) {
	call := ofAgent(helper, "output_item.done", `"output_index":5`, `"type":"function_call","id":"f","call_id":"c","name":"w","arguments":""`)
	facts := dialecttest.Facts(openai.Dialect{}, &event.Stream{SingleRun: true}, stream(created, strings.NewReplacer(`{"agent_name":`, "", `"}}`, `"}`, `"},`, `",`).Replace(call)))
	if want := `agent="/root/a" branch="/root/a"` + "\n  tool_started name=\"w\" call=\"c\" \"\"\n"; !strings.Contains(facts, want) {
		t.Errorf("the facts are\n%s", facts)
	}
}

// TestMultiAgent reads a response of several agents.
func TestMultiAgent(t *testing.T) {
	text := `"type":"message","id":"t","role":"assistant","content":[{"type":"output_text","text":"out"}]`
	sent := slices.Concat([]string{created, ofAgent(lead, "output_item.done", `"output_index":0`, spawns), ofAgent(lead, "output_item.done", `"output_index":1`, spawned), ofAgent(lead, "output_item.done", `"output_index":7`, strings.NewReplacer(`"x"`, `"v"`, `"s"`, `"v"`, "spawn", "wait").Replace(spawns)), ofAgent(helper, "output_item.done", `"output_index":2`, betweenOut)},
		messageOfAgent(helper, "3", "i", "ai"), messageOfAgent(inner, "4", "j", "bi"),
		[]string{ofAgent(helper, "output_item.done", `"output_index":5`, `"type":"function_call","id":"f","call_id":"c","name":"w","arguments":""`)}, messageOfAgent(lead, "6", "t", "out"), []string{endOf(`{` + text + `}`)})
	for configured, root := range map[string]string{"": lead, "app": "app"} {
		facts := dialecttest.Facts(openai.Dialect{}, &event.Stream{SingleRun: true, ConfiguredAgent: configured}, stream(sent...))
		for _, want := range []string{
			`agent="` + root + `"` + "\n  tool_started name=\"spawn_agent\" call=\"s\" {}\n", "\n  tool_ended name=\"spawn_agent\" call=\"s\"",
			`agent="/root/a" branch="/root/a"` + "\n  tool_started name=\"w\" call=\"c\" \"\"\n", `agent="/root/a" branch="/root/a"` + "\n  final\n",
			`agent="/root/a/b" branch="/root/a/b"`, `parent="/root/a"`, "  tool_paused call=\"c\"\n", "run_ended",
		} {
			if !strings.Contains(facts, want) {
				t.Errorf("%q is not in\n%s", want, facts)
			}
		}
		if strings.Count(facts, "tool_paused") != 1 || strings.Contains(facts, "between") || strings.Contains(facts, "unknown=") {
			t.Errorf("the facts are\n%s", facts)
		}
	}
	checkTruth(t, "several agents", stream(sent...))
	if out := leaving(t, public, stream(sent...)); strings.Count(out, `"agent_name":"/root/a"`) != 4 || !strings.Contains(out, `"action":"spawn_agent"`) || strings.Contains(out, "between") {
		t.Errorf("under public, this leaves:\n%s", out)
	}
}

// TestAuthorsOfItems checks that a text leaves only if the settings list each agent that its events name.
func TestAuthorsOfItems(t *testing.T) {
	onlyRoot := []filter.Settings{{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed, Authors: []string{lead}}, {Policy: event.PolicyPublic, Authors: []string{lead}}}
	whole := func(agent string) string {
		return endOf(`{"type":"message","id":"i","role":"assistant","content":[{"type":"output_text","text":"secret"}],` + agent + `}`)
	}
	const named, root = `"agent":{"agent_name":"/root/a"}`, `"agent":{"agent_name":"/root"}`
	secret := messageOfAgent(helper, "0", "i", "secret")
	begun := ofAgent(lead, "output_item.added", `"output_index":9`, `"type":"message","id":"z","role":"assistant","content":[]`)
	for _, sent := range [][]string{
		secret,
		{begun, secret[0], whole(named)},
		{begun, whole(named)}, {begun, strings.Replace(whole(root), "secret", "open", 1), whole(named)}, {begun, whole(`"status":"completed"`)},
		{begun, secret[0], strings.Replace(secret[1], `"output_index"`, root+`,"output_index"`, 1)},
		{begun, secret[0], strings.Replace(secret[4], `"output_index"`, root+`,"output_index"`, 1)},
		{begun, strings.Replace(secret[4], `"output_index"`, named+`,"output_index"`, 1)},
		{begun, strings.Replace(secret[4], `"output_index"`, `"Agent":{"agentName":"/root/a"},"output_index"`, 1)},
		{begun, secret[4]}, {begun, secret[3]}, // the response names agents, but not that of the item
		{begun, strings.Replace(secret[4], `"output_index"`, `"agent":{"agent_name":5},"output_index"`, 1)},
		{begun, ofAgent(lead, "output_item.done", `"output_index":0`, strings.ReplaceAll(betweenOut, "between", "secret"))},
		{begun, endOf(`{` + strings.ReplaceAll(betweenOut, "between", "secret") + `}`)},
	} {
		checkStaysIn(t, onlyRoot, append([]string{created}, sent...)...)
	}
	for _, s := range onlyRoot {
		if out := leaving(t, s, stream(slices.Concat([]string{created}, messageOfAgent(lead, "0", "i", "open"))...)); strings.Count(out, "open") < 2 {
			t.Errorf("the text of the root does not leave under %s: %s", s.Policy, out)
		}
	}
}

// TestExcludedResults checks that the end of a response does not repeat what the settings exclude.
func TestExcludedResults(t *testing.T) {
	const text = `[{"type":"output_text","text":"secret"}]`
	for item, kind := range map[string]event.Kind{
		`{"type":"multi_agent_call_output","id":"y","call_id":"s","action":"spawn_agent","output":` + text + `}`: event.KindToolEnded,
		`{"type":"function_call_output","id":"y","call_id":"s","output":` + text + `}`:                           event.KindToolEnded,
		`{"type":"function_call_output","id":"y","call_id":"s","output":"secret"}`:                               event.KindToolEnded,
		`{"type":"multi_agent_call","id":"x","call_id":"s","action":"spawn_agent","arguments":"secret"}`:         event.KindToolStarted,
		`{` + strings.ReplaceAll(betweenOut, "between", "secret") + `}`:                                          event.KindText,
	} {
		sent := []string{created, `{"type":"response.output_item.done","output_index":0,"item":` + item + `}`, endOf(item)}
		checkStaysIn(t, []filter.Settings{{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed, Exclude: []event.Kind{kind}}}, sent...)
		const reasoning = `{"type":"reasoning","id":"h","summary":[{"type":"summary_text","text":"open"}]},`
		checkStaysIn(t, []filter.Settings{{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed, Exclude: []event.Kind{kind}}}, created, `{"type":"response.output_item.done","output_index":1,"item":`+item+`}`, endOf(reasoning+item))
		if out := leaving(t, client, stream(sent...)); strings.Count(out, "secret") != 2 {
			t.Errorf("the client gets: %s", out)
		}
	}
}
