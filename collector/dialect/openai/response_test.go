package openai

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/event"
)

// TestResumedCalls reads the end of a response of which the client has missed the rest. The calls without an output are the client's.
func TestResumedCalls(t *testing.T) {
	const end = `data: {"type":"response.completed","response":{"id":"r","status":"completed","output":[` +
		`{"id":"i","type":"function_call","call_id":"c","name":"f","arguments":"{}"},` +
		`{"id":"j","type":"shell_call","call_id":"d","action":{"commands":["ls"]}},{"type":"shell_call_output","call_id":"d","output":[]},` +
		`{"id":"k","type":"web_search_call","status":"completed"}]}}` + "\n\n"
	facts := dialecttest.Facts(Dialect{}, &event.Stream{Identity: event.Identity{JoinedRun: "r", ReplayedRun: "r"}}, end)
	if strings.Count(facts, "tool_") != 2 || !strings.Contains(facts, `tool_started name="f" call="c"`) || !strings.Contains(facts, `tool_paused call="c"`) {
		t.Error(facts)
	}
}
