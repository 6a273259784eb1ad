package langgraph

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestInterfacesBeforeMessages has the user interface of a message before the message in a frame, as a node that pushes it returns them.
func TestInterfacesBeforeMessages(t *testing.T) {
	card := func(id, message, text string) string {
		return `{"type":"ui","id":"` + id + `","name":"card","props":{"t":"` + text + `"},"metadata":{"merge":false,"message_id":"` + message + `"}}`
	}
	named := func(name, content string) string {
		return `{"type":"ai","id":"m1","name":` + name + `,"content":"` + content + `"}`
	}
	update := func(update string) sent { return sent{"updates", `{"b":` + update + `}`} }
	frames := func(element, message string) []sent {
		return []sent{
			update(`{"ui":` + element + `,"messages":[` + message + `]}`),
			update(`{"ui":[` + element + `],"messages":` + message + `}`),
			update(`[{"ui":` + element + `},{"ui":` + element + `},{"messages":[` + message + `]}]`),
			{"updates|a:1", `{"b":{"ui":` + element + `,"messages":[` + message + `]}}`},
			{"values", `{"ui":[` + element + `],"messages":[` + message + `]}`},
			{"tasks", `{"id":"t1","name":"b","result":{"ui":[` + element + `],"messages":[` + message + `]},"interrupts":[]}`},
			{"checkpoints", `{"values":{"ui":[` + element + `],"messages":[` + message + `]},"next":[],"tasks":[]}`},
			update(`{"rating":{"message_id":"m1","t":"secret"},"messages":[` + message + `]}`),
		}
	}
	later := []sent{{"values", `{"messages":[],"ui":[` + card("u1", "m9", "secret") + `]}`}, {"custom", card("u1", "m1", "secret")}}
	const system = `{"type":"system","id":"m1","content":"secret"}`
	inJavaScript := strings.NewReplacer(`"message_id"`, `"id"`)
	for _, message := range []string{named(`"internal_bot"`, "secret"), system} {
		for _, one := range append(frames(card("u1", "m1", "secret"), message)[:7], later[1]) {
			one.data = inJavaScript.Replace(one.data)
			checkStaysIn(t, []filter.Settings{client, public}, sent{"values", `{"messages":[` + message + `]}`}, one)
			checkStaysIn(t, []filter.Settings{client, public}, one)
		}
		for i, one := range frames(card("u1", "m1", "secret"), message) {
			checkStaysIn(t, []filter.Settings{client, public}, one)
			if out := leaving(client, one); one.name == "updates" && strings.Contains(out, one.name) {
				t.Errorf("an update of which nothing is left leaves:\n%s", out)
			}
			if i < 5 {
				checkStaysIn(t, []filter.Settings{client}, append([]sent{one}, later...)...)
			}
		}
	}
	for _, one := range frames(card("u1", "m1", "secret"), named("null", "hi")) {
		if out := leaving(client, one); !strings.Contains(out, one.data) {
			t.Errorf("beside an ordinary message, this leaves of %v:\n%s", one, out)
		}
	}
	beside := sent{"values", `{"ui":[` + card("u1", "m1", "secret") + `,` + card("u2", "m2", "shown") + `],"messages":[` + named(`"internal_bot"`, "secret") + `]}`}
	if out := leaving(client, beside); strings.Contains(out, "secret") || !strings.Contains(out, card("u2", "m2", "shown")) {
		t.Errorf("of a state with two elements, this leaves:\n%s", out)
	}
}
