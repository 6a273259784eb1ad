package openai_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/dialect/openai"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// Events of the Agents SDK for JavaScript, as JSON.stringify writes them.
const (
	agentA   = `{"type":"agent_updated_stream_event","agent":{"name":"A"}}`
	agentB   = `{"type":"agent_updated_stream_event","agent":{"name":"B"}}`
	called   = `{"type":"run_item_stream_event","name":"tool_called","item":{"type":"tool_call_item","rawItem":{"type":"function_call","id":"f","callId":"c","name":"w","status":"completed","arguments":"{}","providerData":{}},"agent":{"name":"A"}}}`
	output   = `{"type":"run_item_stream_event","name":"tool_output","item":{"type":"tool_call_output_item","rawItem":{"type":"function_call_result","name":"w","callId":"c","status":"completed","output":{"type":"text","text":"o"}},"agent":{"name":"A"},"output":"o"}}`
	rejected = `{"type":"run_item_stream_event","name":"tool_output","item":{"type":"tool_call_output_item","rawItem":{"type":"function_call_result","name":"w","callId":"c","status":"completed","output":{"type":"text","text":"Tool execution was not approved."}},"agent":{"name":"A"},"output":"Tool execution was not approved."}}`
	asksB    = `{"type":"run_item_stream_event","name":"handoff_requested","item":{"type":"handoff_call_item","rawItem":{"type":"function_call","id":"g","callId":"h","name":"transfer_to_B","status":"completed","arguments":"{}"},"agent":{"name":"A"}}}`
	toB      = `{"type":"run_item_stream_event","name":"handoff_occurred","item":{"type":"handoff_output_item","rawItem":{"type":"function_call_result","name":"transfer_to_B","callId":"h","status":"completed","output":{"type":"text","text":"{}"}},"sourceAgent":{"name":"A"},"targetAgent":{"name":"B"}}}`
	searched = `{"type":"run_item_stream_event","name":"tool_called","item":{"type":"tool_call_item","rawItem":{"type":"hosted_tool_call","id":"s","name":"web_search_call","status":"completed","output":"o","arguments":"o"},"agent":{"name":"A"}}}`
	usedMCP  = `{"type":"run_item_stream_event","name":"tool_called","item":{"type":"tool_call_item","rawItem":{"type":"hosted_tool_call","id":"t","name":"mcp_call","status":"completed","providerData":{"type":"mcp_call","name":"w","error":"o","server_label":"o"}},"agent":{"name":"A"}}}`
	asks     = `{"type":"run_item_stream_event","name":"tool_approval_requested","item":{"type":"tool_approval_item","rawItem":{"type":"function_call","id":"f","callId":"c","name":"w","status":"completed","arguments":"{}"},"agent":{"name":"A"},"toolName":"w"}}`
	message  = `{"type":"run_item_stream_event","name":"message_output_created","item":{"type":"message_output_item","rawItem":{"id":"i","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"secret","providerData":{}}]},"agent":{"name":"A"}}}`
	piece    = `{"type":"raw_model_stream_event","data":{"type":"output_text_delta","delta":"secret","itemId":"i","providerData":{"type":"response.output_text.delta","item_id":"i","output_index":0}}}`
	unnamed  = `{"type":"raw_model_stream_event","data":{"type":"response_started"}}`
	started  = `{"type":"raw_model_stream_event","data":{"type":"response_started","providerData":{"type":"response.created","response":{"id":"r","model":"m"}}}}`
	doneJS   = `{"type":"raw_model_stream_event","data":{"type":"response_done","response":{"id":"r","usage":{"inputTokens":5,"outputTokens":2},"output":[{"id":"i","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"secret"}]}]}}}`
)

// TestCallsWithMessageIDs sends a call that has the ID of messages, as of a server that gives all completions one ID. The messages leave.
func TestCallsWithMessageIDs(t *testing.T) {
	first := strings.Replace(message, "secret", "first", 1)
	if out := leaving(t, public, stream(agentA, first, strings.Replace(called, `"id":"f"`, `"id":"i"`, 1), output, message)); !strings.Contains(out, "first") || !strings.Contains(out, "secret") {
		t.Errorf("this leaves: %s", out)
	}
	thought := strings.Replace(called, `"type":"function_call","id":"f"`, `"type":"reasoning","id":"i"`, 1)
	for _, before := range []string{thought, strings.Replace(first, `"assistant"`, `"user"`, 1)} {
		checkStaysIn(t, []filter.Settings{public}, agentA, before, message)
	}
}

// ofModel returns an event of a response as the SDK for JavaScript wraps it.
func ofModel(response string) string {
	return `{"type":"raw_model_stream_event","data":{"type":"model","event":` + response + `,"providerData":{"rawModelEventSource":"openai-responses"}},"source":"openai-responses"}`
}

// factsOf returns the facts of a stream in one line.
func factsOf(sent string) string {
	var all []string
	for line := range strings.SplitSeq(dialecttest.Facts(openai.Dialect{}, &event.Stream{SingleRun: true}, sent), "\n") {
		if fact := strings.TrimSpace(line); strings.HasPrefix(line, " ") && fact != "other" {
			all = append(all, fact)
		}
	}
	return strings.Join(all, "; ")
}

// TestJavaScript reads the events of the Agents SDK for JavaScript.
func TestJavaScript(t *testing.T) {
	const (
		begins = `run_started`
		tool   = `tool_started name="w" call="c" {}; tool_ended name="w" call="c" "o"`
		chat   = `model_started model="m"; text "secret"; text "secret"; model_ended model="m" finish="completed"; final; run_ended`
	)
	done := strings.Replace(ended, `"id":"r"`, `"id":"r","status":"completed"`, 1)
	startedNext, doneNext := strings.Replace(started, `"id":"r"`, `"id":"p"`, 1), strings.NewReplacer(`"id":"r"`, `"id":"p"`, `"id":"i","type":"message"`, `"id":"f","callId":"c","type":"function_call"`).Replace(doneJS)
	for name, c := range map[string]struct {
		sent []string
		want string
	}{
		"items": {[]string{agentA, called, output, message, "[DONE]"}, begins + "; " + tool + `; text "secret"; run_ended`},
		"a tool of the server": {[]string{agentA, searched, usedMCP, message, "[DONE]"},
			begins + `; tool_started name="web_search" call="s"; tool_ended name="web_search" call="s" settled "o"; tool_started name="w" call="t"; tool_ended name="w" call="t" tool_error settled; text "secret"; run_ended`},
		"a tool of the server in Python": {[]string{agentA, strings.NewReplacer(`rawItem`, `raw_item`, `hosted_tool_call`, `web_search_call`, `"name":"web_search_call",`, ``).Replace(searched), "[DONE]"},
			begins + `; tool_started name="web_search" call="s"; tool_ended name="web_search" call="s" settled "o"; run_ended`},
		"a tool of the server in a response": {[]string{ofModel(created), ofModel(`{"type":"response.output_item.done","output_index":0,"item":{"type":"web_search_call","id":"s","status":"completed"}}`), searched, ofModel(done), searched, "[DONE]"},
			begins + `; model_started model="m"; tool_started name="web_search" call="s"; tool_ended name="web_search" call="s" settled; model_ended model="m" finish="completed"; final; run_ended`},
		"an approval":      {[]string{agentA, called, asks, "[DONE]"}, begins + `; tool_started name="w" call="c" {}; input_requested call="c" confirmation; tool_paused call="c"; run_ended`},
		"an answer":        {[]string{agentA, called, asks, output, message, "[DONE]"}, begins + `; tool_started name="w" call="c" {}; input_requested call="c" confirmation; tool_paused call="c"; input_answered call="c"; tool_ended name="w" call="c" "o"; text "secret"; run_ended`},
		"an approved call": {[]string{agentA, output, message, "[DONE]"}, begins + `; tool_ended name="w" call="c" "o"; text "secret"; run_ended`},
		"an approved call that failed": {[]string{agentA, strings.Replace(output, `,"output":"o"}`, `,"output":"Tool 'w' timed out after 5 seconds."}`, 1), "[DONE]"},
			begins + `; tool_ended name="w" call="c" timeout "Tool 'w' timed out after 5 seconds."; run_ended`},
		"an approved call of a shell": {[]string{agentA, strings.NewReplacer(`function_call_result`, `shell_call_output`, `"name":"w",`, ``).Replace(output), "[DONE]"}, begins + `; tool_ended name="shell" call="c" "o"; run_ended`},
		"an approved call of a computer": {[]string{agentA, strings.NewReplacer(`function_call_result`, `computer_call_result`, `"name":"w",`, ``).Replace(output), "[DONE]"},
			begins + `; tool_ended name="computer" call="c" "o"; run_ended`},
		"an approved call in Python":     {[]string{agentA, strings.NewReplacer(`function_call_result`, `function_call_output`, `"name":"w",`, ``).Replace(output), "[DONE]"}, begins + `; tool_ended call="c" "o"; run_ended`},
		"a rejection":                    {[]string{agentA, called, asks, rejected, message, "[DONE]"}, begins + `; tool_started name="w" call="c" {}; input_requested call="c" confirmation; tool_paused call="c"; input_answered call="c"; tool_ended name="w" call="c" tool_error "Tool execution was not approved."; text "secret"; run_ended`},
		"a rejection of an earlier call": {[]string{agentA, rejected, message, "[DONE]"}, begins + `; text "secret"; run_ended`},
		"a rejection in the API's words": {[]string{agentA, strings.Replace(rejected, `,"output":"Tool execution was not approved."`, "", 1), message, "[DONE]"}, begins + `; text "secret"; run_ended`},
		"an MCP server":                  {[]string{agentA, asksMCP, answersMCP, message, "[DONE]"}, begins + `; input_requested call="q" confirmation; input_answered call="q"; text "secret"; run_ended`},
		"asked by a response": {[]string{ofModel(created), ofModel(`{"type":"response.output_item.done","output_index":0,"item":{"type":"mcp_approval_request","id":"q"}}`), ofModel(done), asksMCP, "[DONE]"},
			begins + `; model_started model="m"; input_requested call="q" confirmation; model_ended model="m" finish="completed"; final; run_ended`},
		"a handoff": {[]string{agentA, asksB, toB, agentB, message, "[DONE]"},
			begins + `; tool_started name="transfer_to_B" call="h" {}; tool_ended name="transfer_to_B" call="h" settled; transfer name="B" call="h"; text "secret"; run_ended`},
		"a handoff of an agent that only its items name": {[]string{started, asksB, toB, agentB, message, "[DONE]"},
			begins + `; model_started model="m"; tool_started name="transfer_to_B" call="h" {}; tool_ended name="transfer_to_B" call="h" settled; transfer name="B" call="h"; text "secret"; run_ended`},
		"the end of a handoff": {[]string{agentA, toB, agentB, message, "[DONE]"}, begins + `; tool_ended name="transfer_to_B" call="h" settled; transfer name="B" call="h"; text "secret"; run_ended`},
		"texts":                {[]string{agentA, started, piece, doneJS, message, "[DONE]"}, begins + `; model_started model="m"; text "secret"; model_ended model="m" input=5 output=2; final; text "secret"; run_ended`},
		"the SDK's own events and the end of the response": {[]string{agentA, started, piece, doneJS, ofModel(done), message, "[DONE]"},
			begins + `; model_started model="m"; text "secret"; model_ended model="m" input=5 output=2; final; text "secret"; run_ended`},
		"both forms, the first without an ID": {[]string{agentA, unnamed, ofModel(created), ofModel(added), ofModel(delta), ofModel(ended), doneJS, message, "[DONE]"},
			begins + `; model_started; text "secret"; text "secret"; model_ended model="m"; final; run_ended`},
		"two at once, the first forms without IDs": {[]string{agentA, unnamed, agentB, unnamed, ofModel(created), message, "[DONE]"},
			begins + `; model_started; model_started uncertain; model_started model="m" uncertain; text "secret"; run_ended`},
		"two at once, in both forms": {[]string{agentA, started, startedNext, ofModel(created), ofModel(strings.Replace(created, `"id":"r"`, `"id":"p"`, 1)), doneNext, ofModel(strings.Replace(ended, `"id":"r"`, `"id":"p"`, 1)), doneJS, ofModel(done), message, "[DONE]"},
			begins + `; model_started model="m"; model_started model="m" uncertain; text "secret"; model_ended model="m"; final; text "secret"; model_ended model="m" finish="completed"; final; run_ended`},
		"responses": {[]string{agentA, started, ofModel(created), ofModel(added), piece, ofModel(delta), doneJS, ofModel(done), message, "[DONE]"}, begins + "; " + chat},
		"two providers": {[]string{agentA, started, ofModel(created), ofModel(done), asksB, toB, agentB, startedNext, called, doneNext, output, started, piece, doneJS, message, "[DONE]"},
			begins + `; model_started model="m"; text "secret"; model_ended model="m" finish="completed"; final; tool_ended name="transfer_to_B" call="h" settled; transfer name="B" call="h"; model_started model="m"; ` +
				`tool_started name="w" call="c" {}; model_ended model="m" input=5 output=2; tool_ended name="w" call="c" "o"; model_started model="m"; text "secret"; model_ended model="m" input=5 output=2; final; text "secret"; run_ended`},
		"only responses": {[]string{ofModel(created), ofModel(added), ofModel(delta), ofModel(done), "[DONE]"}, begins + "; " + chat},
	} {
		if facts := factsOf(stream(c.sent...)); facts != c.want {
			t.Errorf("%s:\n%s, want\n%s", name, facts, c.want)
		}
		checkTruth(t, name, stream(c.sent...))
		if out := leaving(t, client, stream(c.sent...)); strings.Count(out, "\n") != len(c.sent) {
			t.Errorf("%s: under client this leaves: %s", name, out)
		}
		out := leaving(t, public, stream(c.sent...))
		if want := strings.Contains(c.want, `text "secret"`) || strings.Contains(strings.Join(c.sent, ""), `"event":`); strings.Contains(out, "secret") != want || strings.Contains(out, `"o"`) {
			t.Errorf("%s: under public this leaves: %s", name, out)
		}
	}
}

// TestJavaScriptStaysIn sends events of the SDK for JavaScript that do not leave.
func TestJavaScriptStaysIn(t *testing.T) {
	both := []filter.Settings{client, public}
	for _, sent := range [][]string{
		{agentA, strings.Replace(message, `"message"`, `"internal"`, 1)},
		{agentA, strings.Replace(message, `"assistant"`, `"system"`, 1), piece, doneJS},
		{agentA, strings.Replace(piece, `"type":"output`, `"role":"system","type":"output`, 1), piece},
		{agentA, strings.Replace(piece, `"type":"response.`, `"type":"internal.`, 1), piece},
		{agentA, strings.Replace(piece, `{"type":"output`, `{"type":"output","type":"output`, 1), piece},
		{ofModel(created), ofModel(strings.Replace(added, `"message"`, `"internal_note"`, 1)), ofModel(delta), piece, message, doneJS},
		{ofModel(created), ofModel(strings.Replace(added, `"assistant"`, `"developer"`, 1)), ofModel(delta), piece},
		{ofModel(created), strings.Replace(ofModel(added), `"type":"model"`, `"type":"model","role":"system"`, 1), ofModel(delta)},
	} {
		checkStaysIn(t, both, sent...)
	}
	noText := filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed, Exclude: []event.Kind{event.KindText}}
	checkStaysIn(t, []filter.Settings{noText}, agentA, ofModel(created), ofModel(added), piece, ofModel(delta), message, doneJS)
	noThoughts := filter.Settings{Policy: event.PolicyClient, Exclude: []event.Kind{event.KindThought}}
	checkStaysIn(t, []filter.Settings{noThoughts}, agentA, strings.NewReplacer(`"message"`, `"reasoning"`, `"role":"assistant",`, "").Replace(message), piece)
	noCalls := filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed, Exclude: []event.Kind{event.KindToolStarted, event.KindToolEnded}}
	call := strings.NewReplacer(`"{}"`, `"secret"`, `"o"`, `"secret"`)
	checkStaysIn(t, []filter.Settings{noCalls}, agentA, call.Replace(called), call.Replace(output), call.Replace(asksB))
}

// TestResultOfInternalItem checks that the result of a call stays in if only the item of the call says that it is internal.
func TestResultOfInternalItem(t *testing.T) {
	for _, names := range []struct{ raw, id, result string }{{"raw_item", "call_id", "function_call_output"}, {"rawItem", "callId", "function_call_result"}} {
		called := `{"type":"run_item_stream_event","name":"tool_called","item":{"type":"tool_call_item","kind":"internal","` + names.raw + `":{"type":"function_call","` + names.id + `":"c9","name":"f","arguments":"secret"}}}`
		output := `{"type":"run_item_stream_event","name":"tool_output","item":{"type":"tool_call_output_item","output":"secret","` + names.raw + `":{"type":"` + names.result + `","` + names.id + `":"c9","output":"secret"}}}`
		checkStaysIn(t, []filter.Settings{client, public}, agentA, called, output)
	}
}

// TestLateNames checks that an item names the agent of a response that has already ended.
func TestLateNames(t *testing.T) {
	asked := ofModel(`{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"f","call_id":"c","name":"w","arguments":"{}"}}`)
	called2 := strings.NewReplacer(`"A"`, `"B"`, `"f"`, `"g"`, `"c"`, `"d"`)
	for name, c := range map[string]struct {
		sent []string
		want string // for each frame: the agent (? if it is not known yet), and the response and call that it has sent before, or (!) only the call
	}{
		"the first agent":             {[]string{ofModel(created), asked, ofModel(ended), called, output}, `? ? ? A="c" A="c"`},
		"a message":                   {[]string{ofModel(created), ofModel(added), ofModel(ended), message}, `? ? ? A=""`},
		"an agent in a call":          {[]string{called, ofModel(createdJS("s")), called2.Replace(asked), ofModel(strings.Replace(ended, `"id":"r"`, `"id":"s"`, 1)), called2.Replace(called)}, `A ? ? ? B="d"`},
		"an item of another":          {[]string{ofModel(created), asked, ofModel(ended), called2.Replace(called)}, `? ? ? B`},
		"one of two at the same time": {[]string{begins("a"), begins("b"), createdOf("r"), createdOf("s"), calledOf(1, "m", "w"), completedOf(2, "r", `{"type":"function_call","id":"fm","call_id":"m","name":"w"}`), callItem("a", "m", "w")}, `a b ? ? ? ? a="m"`},
		"before its end":              {[]string{ofModel(created), asked, called}, `? ? A="c"!`},
		"of a known agent":            {[]string{agentA, ofModel(created), asked, ofModel(ended), called}, `A A A A A`},
	} {
		var got []string
		for line := range strings.SplitSeq(dialecttest.Facts(openai.Dialect{}, &event.Stream{SingleRun: true}, stream(c.sent...)), "\n") {
			if line == "" || strings.HasPrefix(line, " ") {
				continue
			}
			_, agent, _ := strings.Cut(line, ` agent="`)
			agent, _, _ = strings.Cut(agent, `"`)
			if strings.Contains(line, " agent unknown") {
				agent = "?"
			}
			if _, what, sent := strings.Cut(line, ` sent="`); sent {
				what, _, _ = strings.Cut(what, `"`)
				agent += `="` + what + `"`
				if strings.Contains(line, " only call") {
					agent += "!"
				}
			}
			got = append(got, agent)
		}
		if all := strings.Join(got, " "); all != c.want {
			t.Errorf("%s: %s, want %s", name, all, c.want)
		}
	}
}

// TestAgentNames reads streams that name their agents late or never.
func TestAgentNames(t *testing.T) {
	fake := strings.Replace(created, `"id":"r"`, `"id":"__fake_id__"`, 1)
	wrapped := `{"type":"raw_response_event","data":` + fake + `}`
	for name, c := range map[string]struct {
		sent []string
		want string // the agent of each frame
	}{
		"a response":                          {[]string{created, ended, "[DONE]"}, "own own own"},
		"a response of the SDK for Python":    {[]string{fake, strings.Replace(ended, `"id":"r"`, `"id":"__fake_id__"`, 1), "[DONE]"}, "own own own"},
		"an agent that comes later":           {[]string{wrapped, called, output, wrapped, agentB, wrapped}, " A A  B "},
		"an agent that only items name":       {[]string{started, ofModel(created), called, output, started, ofModel(strings.Replace(created, `"id":"r"`, `"id":"s"`, 1))}, "  A A  "},
		"the next run of the same connection": {[]string{agentA, "[DONE]", fake}, "A A own"},
	} {
		var got []string
		for line := range strings.SplitSeq(dialecttest.Facts(openai.Dialect{}, &event.Stream{SingleRun: true, ConfiguredAgent: "own"}, stream(c.sent...)), "\n") {
			if line != "" && !strings.HasPrefix(line, " ") {
				_, agent, _ := strings.Cut(line, `agent="`)
				agent, _, _ = strings.Cut(agent, `"`)
				got = append(got, agent)
			}
		}
		if all := strings.Join(got, " "); all != c.want {
			t.Errorf("%s: the agents are %q, want %q", name, all, c.want)
		}
	}
}
