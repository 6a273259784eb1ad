package langgraph

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestStateOfWithheldCalls has an update with the result of a withheld call, and with what the call's tool wrote to the state.
func TestStateOfWithheldCalls(t *testing.T) {
	called := sent{"updates", `{"model":{"messages":[{"type":"ai","id":"m1","content":"","tool_calls":[{"id":"c1","name":"task","args":{"subagent_type":"internal_x"}},{"id":"c2","name":"task","args":{"subagent_type":"x"}}]}]}}`}
	result := func(call string) string {
		return `{"type":"tool","id":"m` + call + `","tool_call_id":"` + call + `","content":"done"}`
	}
	for _, update := range []string{`{"files":"secret","messages":[` + result("c1") + `]}`, `[{"files":"secret"},{"messages":[` + result("c1") + `]}]`} {
		checkStaysIn(t, []filter.Settings{client}, called, sent{"updates", `{"tools":` + update + `}`})
	}
	for _, messages := range []string{result("c2"), result("c1") + `,` + result("c2"), ""} {
		if out := leaving(client, called, sent{"updates", `{"tools":{"files":"shown","messages":[` + messages + `]}}`}); !strings.Contains(out, "shown") {
			t.Errorf("beside %q, the state does not leave:\n%s", messages, out)
		}
	}
}

// TestUpdatesLosePartsOnly checks that an update of a node leaves without its internal messages, and that a frame with nothing else does
// not leave.
func TestUpdatesLosePartsOnly(t *testing.T) {
	const answer = `{"type":"ai","id":"lc_run--2","content":"answer"}`
	result := `{"type":"tool","name":"internal_search","id":"m1","tool_call_id":"c1","content":"secret"}`
	for name, c := range map[string]struct {
		update string
		leaves bool
	}{
		"the result of an internal tool":  {`{"support":{"messages":[` + result + `,` + answer + `]}}`, true},
		"a message of an internal agent":  {`{"writer":{"messages":[` + said(`,"name":"internal_reviewer"`) + `,` + answer + `]}}`, true},
		"two nodes":                       {`{"a":{"messages":[` + result + `]},"b":{"messages":[` + answer + `]}}`, true},
		"a list of updates":               {`{"a":[{"messages":[` + result + `]},{"messages":[` + answer + `]}]}`, true},
		"a member of the state":           {`{"a":{"draft":` + said(`,"name":"internal_reviewer"`) + `,"messages":[` + answer + `]}}`, true},
		"an internal message alone":       {`{"a":{"messages":[` + result + `]}}`, false},
		"an internal message as a return": {`{"a":` + said(`,"name":"internal_reviewer"`) + `}`, false},
		"an internal node beside another": {`{"internal_a":{"x":"secret"},"b":{"messages":[` + answer + `]}}`, false},
	} {
		for _, reader := range []filter.Settings{client, public} {
			stream := []sent{{"updates", c.update}, {"values", `{"messages":[` + said(`,"name":"internal_reviewer"`) + `,` + result + `]}`}}
			checkStaysIn(t, []filter.Settings{reader}, stream...)
			if got := strings.Contains(leaving(reader, stream...), "updates"); got != c.leaves {
				t.Errorf("%s, %s: leaves is %t, want %t", name, reader.Policy, got, c.leaves)
			}
			if c.leaves && !strings.Contains(leaving(reader, stream...), "answer") {
				t.Errorf("%s, %s: the answer does not leave", name, reader.Policy)
			}
		}
	}
}
