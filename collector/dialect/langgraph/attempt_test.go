package langgraph

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestInternalWorkOfAttempts has another attempt go on with a node that has run an internal one. It begins with the state of the attempt before.
func TestInternalWorkOfAttempts(t *testing.T) {
	const graph = "|n:1"
	state, again := sent{"values", messagesState(askedBefore)}, sent{"metadata", strings.Replace(started, `"attempt":1`, `"attempt":2`, 1)}
	checkpoint := saved("", `"n"`, state.data)
	whole, returned := sent{"values", messagesState(askedBefore, wholeX)}, sent{"updates", `{"n":` + messagesState(wholeX) + `}`}
	custom := sent{"custom", `{"x":"shown"}`}
	inner := at("", "n:1|internal_x:U", "")
	for _, internal := range []sent{inner, begins(graph, "U", "internal_x"), {"updates|n:1|internal_x:U", `{"a":{}}`}} {
		for _, rest := range [][]sent{{returned}, {state, returned}, {checkpoint, returned}, {state, checkpoint, returned}, {at("", "n:1", ""), returned}} {
			checkStaysIn(t, []filter.Settings{client, public}, append([]sent{state, internal, again}, rest...)...)
		}
		if out := leaving(client, state, internal, again, custom, state, sent{"updates", `{"a":{"x":"shown"}}`}); strings.Count(out, "shown") != 2 {
			t.Errorf("after %v, of another attempt only this leaves:\n%s", internal, out)
		}
		checkStaysIn(t, []filter.Settings{client}, state, internal, again, internal, sent{"custom", `{"x":"secret"}`})
		if out := leaving(client, state, internal, again, state, sent{"updates", `{"n":{"y":1}}`}, state, sent{"updates", `{"n":{"x":"shown"}}`}); !strings.Contains(out, "shown") {
			t.Errorf("after %v and a step of another attempt, this leaves:\n%s", internal, out)
		}
	}
	next := saved("", `"internal_x"`, state.data)
	checkStaysIn(t, []filter.Settings{client}, next, again, next, sent{"custom", `{"x":"secret"}`})
	checkStaysIn(t, []filter.Settings{client, public}, state, inner, again, whole)
	checkStaysIn(t, []filter.Settings{client, public}, state, inner, again, state, whole)
}
