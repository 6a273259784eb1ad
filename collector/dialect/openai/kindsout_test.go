package openai_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestExcludedItems excludes facts that calls and results state. Such an item does not leave, even if it states another fact too. The public
// gets it if other facts are excluded.
func TestExcludedItems(t *testing.T) {
	const started, ended, asked, answered = event.KindToolStarted, event.KindToolEnded, event.KindInputRequested, event.KindInputAnswered
	of := func(kind, item string) string {
		return `{"type":"response.output_item.` + kind + `","output_index":1,"item":{` + item + `,"id":"secret"}}`
	}
	whole := func(item string) string {
		return `{"type":"response.completed","response":{"id":"r","output":[{` + item + `,"id":"secret"}]}}`
	}
	call := func(kind string) string { return `"type":"` + kind + `","call_id":"c","status":"completed"` }
	secret := strings.NewReplacer(`"c"`, `"secret"`, `"f"`, `"secret"`, `"s"`, `"secret"`, `"h"`, `"secret"`, `"q"`, `"secret"`)
	for name, c := range map[string]struct {
		sent string
		out  []event.Kind // each of them excludes it
	}{
		"a call of the server":       {of("added", call("web_search_call")), []event.Kind{started}},
		"a call that has ended":      {of("done", call("file_search_call")), []event.Kind{started, ended}},
		"the end of a call":          {`{"type":"response.web_search_call.completed","item_id":"s","secret":0}`, []event.Kind{started, ended}},
		"the progress of a call":     {`{"type":"response.web_search_call.searching","item_id":"s","secret":0}`, []event.Kind{started}},
		"a call of the client":       {of("done", call("shell_call")), []event.Kind{started}},
		"a program":                  {of("added", call("program")), []event.Kind{started}},
		"a call among agents":        {of("done", call("multi_agent_call")), []event.Kind{started}},
		"a result":                   {of("added", call("function_call_output")), []event.Kind{ended}},
		"a result of a shell":        {of("done", call("shell_call_output")), []event.Kind{ended}},
		"a result of a search":       {of("done", call("tool_search_output")), []event.Kind{ended}},
		"a question":                 {of("added", call(`mcp_approval_request`)), []event.Kind{asked}},
		"an answer":                  {of("done", call(`mcp_approval_response`)), []event.Kind{answered}},
		"a call in a response":       {whole(call("image_generation_call")), []event.Kind{started, ended}},
		"a result in a response":     {whole(call("computer_call_output")), []event.Kind{ended}},
		"a call of the SDK":          {secret.Replace(called), []event.Kind{started}},
		"a call of the SDK's server": {secret.Replace(searched), []event.Kind{started, ended}},
		"a result of the SDK":        {secret.Replace(output), []event.Kind{ended}},
		"a question of the SDK":      {secret.Replace(asks), []event.Kind{asked}},
		"a handoff":                  {secret.Replace(toB), []event.Kind{ended}},
	} {
		before := []string{created}
		switch {
		case strings.Contains(c.sent, "item_id"):
			before = append(before, strings.Replace(of("added", call("web_search_call")), "secret", "s", 1))
		case strings.Contains(c.sent, "run_item"):
			before = []string{agentA}
		}
		sent := stream(append(before, c.sent)...)
		for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
			for _, kind := range []event.Kind{started, ended, asked, answered} {
				s := filter.Settings{Policy: policy, Thoughts: event.ThoughtsDetailed, Exclude: []event.Kind{kind}}
				isExcluded := slices.Contains(c.out, kind)
				out := leaving(t, s, sent)
				leaves := strings.Contains(out, "secret") || strings.Contains(out, "web_search_call.")
				if leaves && isExcluded || !leaves && !isExcluded && policy == event.PolicyPublic {
					t.Errorf("%s: under %s without %s: it leaves: %t", name, policy, kind, leaves)
				}
			}
		}
	}
	withoutCalls := filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed, Exclude: []event.Kind{started}}
	if out := leaving(t, withoutCalls, stream(agentA, output)); !strings.Contains(out, output) {
		t.Errorf("of a result with the name of its tool this leaves: %s", out)
	}
}

// TestExcludedTransfers excludes transfers, or all else. The update of the agent that follows a handoff is a transfer, that of the first agent is not.
func TestExcludedTransfers(t *testing.T) {
	inPython := strings.NewReplacer(`"agent":{"name"`, `"new_agent":{"name"`)
	inWords := strings.NewReplacer(`"agent":{"name":"A"}`, `"new_agent":"A"`, `"agent":{"name":"B"}`, `"new_agent":"B"`)
	toPython := `{"type":"run_item_stream_event","name":"handoff_occurred","item":{"type":"handoff_output_item","raw_item":{"type":"function_call_output","call_id":"h"},"source_agent":{"name":"A"},"target_agent":{"name":"B"}}}`
	for name, sent := range map[string][]string{
		"in JavaScript":     {agentA, asksB, toB, agentB},
		"in Python":         {inPython.Replace(agentA), asksB, toPython, inPython.Replace(agentB)},
		"without a target":  {agentA, asksB, strings.Replace(toB, `,"targetAgent":{"name":"B"}`, "", 1), agentB},
		"with a plain name": {inWords.Replace(agentA), asksB, toPython, inWords.Replace(agentB)},
	} {
		for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
			s := filter.Settings{Policy: policy, Thoughts: event.ThoughtsDetailed}
			if out := leaving(t, s, stream(sent...)); !strings.Contains(out, sent[3]) {
				t.Errorf("%s: under %s this leaves: %s", name, policy, out)
			}
			s.Exclude = []event.Kind{event.KindTransfer}
			out := leaving(t, s, stream(sent...))
			if !strings.Contains(out, sent[0]) || strings.Contains(out, `"B"`) || strings.Count(out, "agent_updated") != 1 {
				t.Errorf("%s: under %s without transfers this leaves: %s", name, policy, out)
			}
			s.Exclude, s.Include = nil, []event.Kind{event.KindTransfer}
			if out := leaving(t, s, stream(sent...)); out != sent[3]+"\n" && policy == event.PolicyPublic {
				t.Errorf("%s: with transfers only this leaves: %s", name, out)
			}
		}
	}
}
