package openai_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// unreadable returns a frame that cannot be read, because it also has two members that differ only by case.
func unreadable(sent string) string { return strings.TrimSuffix(sent, "}") + `,"z":1,"Z":2}` }

// numbered adds the number of an event.
func numbered(n int, sent string) string {
	return strings.Replace(sent, "{", fmt.Sprintf(`{"sequence_number":%d,`, n), 1)
}

// TestLostStarts makes frames unreadable that begin an internal agent, response or completion. What they began stays in.
func TestLostStarts(t *testing.T) {
	x, a := begins(hidden), begins("a")
	call := []string{a, createdOf("ra"), calledOf(1, "c", "ask"), completedOf(2, "ra", ""), callItem("a", "c", "ask")}
	internal := `{"type":"response.created","sequence_number":0,"response":{"id":"rs","kind":"internal"}}`
	begun := choice(`{"index":0,"delta":{"role":"assistant","content":"hello"}}`)
	second := strings.NewReplacer(`"id":"c"`, `"id":"s"`)
	said := second.Replace(choice(`{"index":0,"delta":{"role":"assistant","content":"secret"}}`))
	chunk := strings.Replace(second.Replace(begun), `{`, `{"kind":"internal",`, 1)
	other := strings.NewReplacer(`"i"`, `"j"`, `"output_index":0`, `"output_index":1`)
	work := workOf(hidden, "i", "secret")
	for _, broken := range []string{unreadable(x), strings.TrimSuffix(x, "}"), strings.Replace(x, "{", `{"n":NaN,`, 1), unreadable(strings.Replace(x, "internal", `\u0069nternal`, 1)), unreadable(flat(x))} {
		checkStaysIn(t, []filter.Settings{client, public}, append([]string{broken}, work...)...)
		checkStaysIn(t, []filter.Settings{client, public}, slices.Concat(call, []string{broken}, work)...)
		checkStaysIn(t, []filter.Settings{client, public}, slices.Concat([]string{broken}, work[:4], []string{unreadable(work[4])}, work[:4])...)
	}
	for _, sent := range [][]string{
		{unreadable(internal), raw(1, "in_progress", `"response":{"id":"rs","instructions":"secret"}`), messageOf(2, "added", "i"), delta},
		{unreadable(internal), `{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"i","type":"message","role":"assistant","content":[]}}`, numbered(2, delta), numbered(3, other.Replace(added)), numbered(4, other.Replace(delta))},
		{created, unreadable(internal), strings.Replace(added, `"i"`, `"s"`, 1), strings.Replace(delta, `"i"`, `"s"`, 1)},
		{created, added, `{"type":"response.completed","response":{"id":"r"}}`, unreadable(internal), strings.Replace(added, `"i"`, `"s"`, 1), strings.Replace(delta, `"i"`, `"s"`, 1)},
		{unreadable(chunk), said, said},
		{begun, unreadable(chunk), said, said},
	} {
		checkStaysIn(t, []filter.Settings{client, public}, sent...)
	}
	next := strings.NewReplacer(`"r"`, `"s"`).Replace(created)
	for _, sent := range [][]string{ // an agent that a frame names, and what follows the internal response
		slices.Concat([]string{unreadable(x)}, work, []string{a}, workOf("a", "j", "answer")),
		slices.Concat(call, []string{unreadable(x)}, work[:4], []string{unreadable(work[4]), outputItem("a", "c")}, workOf("a", "j", "answer")),
		{unreadable(internal), next, added, strings.Replace(delta, "secret", "answer", 1)},
		{unreadable(chunk), said, second.Replace(choice(`{"index":0,"delta":{},"finish_reason":"stop"}`)), choice(`{"index":0,"delta":{"role":"assistant","content":"answer"}}`)},
		slices.Concat([]string{unreadable(strings.Replace(a, `"a"`, `"a","handoffs":["internal_x"]`, 1)), item("tool_called", "a", `"type":"function_call","call_id":"d","name":"f"`), outputItem("a", "d")}, workOf("a", "j", "answer")[:4]),
		{begun, unreadable(choice(`{"index":0,"delta":{"content":"internal"}}`)), choice(`{"index":0,"delta":{},"finish_reason":"stop"}`), second.Replace(choice(`{"index":0,"delta":{"role":"assistant","content":"answer"}}`))},
		// without a trace of internal work
		slices.Concat([]string{unreadable(a)}, workOf("a", "j", "answer")),
		slices.Concat([]string{a}, workOf("a", "j", "answer")[:2], []string{unreadable(raw(2, "output_text.delta", `"output_index":0,"item_id":"j","delta":"internal"`))}, workOf("a", "j", "answer")[2:]),
		// members that users choose
		slices.Concat([]string{strings.Replace(a, `"a"`, `"a","handoffs":[{"name":"internal_x"}],"tools":[{"name":"f","params_json_schema":{"properties":{"Q":{},"q":{}}}}]`, 1)}, workOf("a", "j", "answer")),
	} {
		for _, reader := range []filter.Settings{client, public} {
			if out := leaving(t, reader, stream(sent...)); !strings.Contains(out, "answer") || strings.Contains(out, "secret") {
				t.Errorf("of %s this leaves:\n%s", strings.Join(sent, "\n"), out)
			}
		}
	}
}
