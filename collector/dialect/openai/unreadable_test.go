package openai_test

import (
	"strings"
	"testing"

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
		{created, added, unreadable, item},
	} {
		checkStaysIn(t, []filter.Settings{client, public}, sent...)
	}
	for _, sent := range [][]string{
		{begun, unreadable, said},
		{begun, unreadable, other.Replace(begun), other.Replace(said)},
		{begun, other.Replace(begun), unreadable, said},
		{begun, unreadable, `{"type":"raw_response_event","data":{"type":"response.in_progress"}}`, said},
		{created, added, unreadable, delta},
		{item, unreadable, item},
		{created, strings.Replace(added, `"id":"i"`, `"id":"j"`, 1), unreadable, item},
	} {
		if out := leaving(t, client, stream(sent...)); !strings.Contains(out, "secret") {
			t.Errorf("the client does not get the end of %s", strings.Join(sent, "\n"))
		}
	}
}
