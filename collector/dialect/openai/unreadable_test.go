package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/dialect/openai"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestUnreadableBeginnings continues what an unreadable frame may have begun, under a number that something
// readable had before.
func TestUnreadableBeginnings(t *testing.T) {
	const unreadable = `{"a":1,"a":2}`
	other := strings.NewReplacer(`"id":"c"`, `"id":"d"`)
	bare := strings.NewReplacer(`"id":"c",`, ``)
	begun, call := choice(`{"index":0,"delta":{"role":"assistant","content":"hello"}}`), choice(`{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t","function":{"name":"f"}}]}}`)
	said, finished := choice(`{"index":0,"delta":{"content":"secret"}}`), choice(`{"index":0,"delta":{},"finish_reason":"stop"}`)
	args, blank := choice(`{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"secret"}}]}}`), choice(`{"index":0,"delta":{"role":"","content":"secret"}}`)
	output := `{"type":"response.output_item.done","output_index":0,"item":{"id":"o","type":"function_call_output","call_id":"x","output":"secret"}}`
	item := `{"type":"run_item_stream_event","name":"message_output_created","item":{"type":"message_output_item","raw_item":{"id":"j","type":"message","role":"assistant","content":[{"type":"output_text","text":"secret"}]}}}`
	for _, sent := range [][]string{
		{begun, unreadable, other.Replace(said)},
		{begun, unreadable, other.Replace(blank)},
		{begun, finished, unreadable, other.Replace(said)},
		{begun, call, unreadable, other.Replace(begun), other.Replace(args)},
		{bare.Replace(begun), unreadable, bare.Replace(said)},
		{begun, choice(`{"index":0,"delta":{"role":"system"}}`), `{"type":"raw_response_event","data":` + created + `}`, said},
		{created, added, unreadable, strings.Replace(delta, `"i"`, `"j"`, 1)},
		{created, added, unreadable, strings.Replace(delta, `"item_id":"i",`, "", 1)},
		{created, added, unreadable, output},
	} {
		checkStaysIn(t, []filter.Settings{client, public}, sent...)
	}
	for _, sent := range [][]string{
		{begun, unreadable, said},
		{begun, unreadable, other.Replace(begun), other.Replace(said)},
		{begun, other.Replace(begun), unreadable, said},
		{begun, unreadable, `{"type":"raw_response_event","data":{"type":"response.in_progress"}}`, said},
		{created, added, unreadable, delta},
		{created, added, unreadable, item},
	} {
		if out := leaving(t, client, stream(sent...)); !strings.Contains(out, "secret") {
			t.Errorf("the client does not get the end of %s", strings.Join(sent, "\n"))
		}
	}
}

// TestBeginningsWithoutType continues an item with a withheld beginning that has no type.
func TestBeginningsWithoutType(t *testing.T) {
	renamed := strings.Replace(added, `"type"`, `"kind"`, 1)
	marked := strings.Replace(renamed, `"kind":"`, `"kind":"internal:`, 1)
	quoted, _ := json.Marshal(added)
	for _, first := range []string{
		marked, "x\n\nevent: response.output_item.added\ndata: " + marked, strings.Replace(marked, "{", `{"type":7,`, 1), strings.Replace(marked, `"kind"`, `"event"`, 1),
		"x\n\nevent: internal:x\ndata: " + renamed, "[" + added + "]", "[[" + marked + "]]", string(quoted), "[" + string(quoted) + "]",
	} {
		checkStaysIn(t, []filter.Settings{client, public}, created, first, delta)
		checkStaysIn(t, []filter.Settings{client, public}, created, first, strings.Replace(strings.Replace(added, "added", "done", 1), `[]`, `[{"type":"output_text","text":"secret"}]`, 1))
	}
	if out := leaving(t, client, stream(created, renamed, added, delta)); !strings.Contains(out, "secret") {
		t.Errorf("the client does not get the item: %s", out)
	}
}

// TestForeignFrames sends frames of an application, which begin no message, before and between messages. Only these frames are withheld.
func TestForeignFrames(t *testing.T) {
	said, stop := choice(`{"index":0,"delta":{"content":"secret"}}`), choice(`{"index":0,"delta":{},"finish_reason":"stop"}`)
	second := strings.NewReplacer(`"id":"c"`, `"id":"d"`)
	raw := func(data string) string { return `{"type":"raw_response_event","data":` + data + `}` }
	piece := `{"type":"raw_model_stream_event","data":{"type":"output_text_delta","delta":"secret"}}`
	for _, foreign := range []string{
		`{}`, `{"type":"ping"}`, `{"conversation_id":"c"}`, `{"sources":[{"document":["d"]}]}`, `{"event":{"type":"status"}}`, `{"id":"c","object":"status","created":1}`,
		`{"type":"user_message","message":{"role":"user","content":"hello"}}`, `[{"type":"ping"}]`, `{"type":"tool_result","output":{"a":1}}`,
		`{"type":"raw_model_stream_event","data":{"type":"progress"}}`, "{}\nevent: status",
	} {
		for _, c := range []struct {
			texts int
			sent  []string
		}{
			{1, []string{foreign, said, stop, "[DONE]"}},
			{2, []string{said, foreign, said, stop, "[DONE]"}},
			{2, []string{said, stop, foreign, second.Replace(said), second.Replace(stop), "[DONE]"}},
			{1, []string{foreign, delta}},
			{1, []string{foreign, raw(delta), "[DONE]"}},
			{1, []string{raw(created), foreign, raw(delta), "[DONE]"}},
			{1, []string{`{"type":"agent_updated_stream_event","agent":{"name":"a"}}`, foreign, piece}},
		} {
			if out := leaving(t, client, stream(c.sent...)); strings.Count(out, "secret") != c.texts {
				t.Errorf("of %s this leaves:\n%s", strings.Join(c.sent, "\n"), out)
			}
		}
	}
	checkStaysIn(t, []filter.Settings{client, public}, `{"a":1,"a":2}`, said)
}

// TestUnreadableFailures checks that an unreadable event of a failed response ends the run in a failure.
func TestUnreadableFailures(t *testing.T) {
	const data = `{"type":"response.failed","response":{"id":"r","status":"failed","a":1,"A":2}}`
	for _, failed := range []string{data, "{\"a\":1,\"A\":2}\nevent: response.failed", ` { "type" : "response.failed","a":1,"A":2}`} {
		facts := dialecttest.Facts(openai.Dialect{}, &event.Stream{}, stream(created, failed))
		if !strings.Contains(facts, "run_ended agent_error") {
			t.Errorf("%s states:\n%s", failed, facts)
		}
	}
	if facts := dialecttest.Facts(openai.Dialect{}, &event.Stream{}, stream(created, `{"type":"response.output_text.delta","delta":"\"type\":\"response.failed\"","a":1,"A":2}`)); strings.Contains(facts, "run_ended") {
		t.Errorf("a text fails the run:\n%s", facts)
	}
}

// TestPrintedAgents checks that an agent that the application has printed as text has no name.
func TestPrintedAgents(t *testing.T) {
	for _, printed := range []string{`Agent(name='A', instructions='secret')`, `Agent(tools=[], instructions=\"secret\")`} {
		for _, sent := range []string{
			`{"type":"agent_updated_stream_event","new_agent":"` + printed + `"}`,
			`{"type":"run_item_stream_event","name":"tool_called","item":{"type":"tool_call_item","agent":"` + printed + `","raw_item":{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}}}`,
		} {
			checkStaysIn(t, []filter.Settings{public}, sent)
			if facts := dialecttest.Facts(openai.Dialect{}, &event.Stream{}, stream(sent)); strings.Contains(facts, "secret") {
				t.Errorf("%s states:\n%s", sent, facts)
			}
		}
	}
	if out := leaving(t, public, stream(`{"type":"agent_updated_stream_event","new_agent":"Team (EU), a=b"}`)); !strings.Contains(out, "Team (EU), a=b") {
		t.Errorf("the name of an agent does not leave: %s", out)
	}
}
