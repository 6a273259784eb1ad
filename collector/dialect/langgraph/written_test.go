package langgraph

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// writtenForms are the forms in which a node writes a message.
var writtenForms = []string{`MESSAGE`, `[MESSAGE]`, `{"type":"__overwrite__","value":[MESSAGE]}`, `{"__overwrite__":[MESSAGE]}`, `{"value":[MESSAGE]}`}

// TestWrittenForms writes an answer in each form.
func TestWrittenForms(t *testing.T) {
	for _, form := range writtenForms {
		write := func(message string) string {
			return `{"n":{"messages":` + strings.Replace(form, "MESSAGE", message, 1) + `}}`
		}
		answer := write(by("", "lc_run--1", "shown"))
		if got := facts(nil, frame("updates", answer)); !slices.Contains(got, `text "shown"`) || !slices.Contains(got, "model_ended") {
			t.Errorf("%s states %q", answer, got)
		}
		if out := leaving(public, sent{"updates", answer}); !strings.Contains(out, "shown") {
			t.Errorf("of %s this leaves: %s", answer, out)
		}
		for _, role := range []string{"human", "system", "remove"} {
			checkStaysIn(t, []filter.Settings{public}, sent{"updates", write(`{"type":"` + role + `","id":"h","content":"secret"}`)})
		}
		checkStaysIn(t, []filter.Settings{public}, sent{"updates", write(`{"type":"tool","id":"t","tool_call_id":"c","content":"secret"}`)}, sent{"updates", write(by("internal_x", "m", "secret"))})
	}
}

// TestHistory has a node return the messages of earlier runs too: these are nothing that this run does.
func TestHistory(t *testing.T) {
	asks := func(id string) string { return `{"type":"human","id":"` + id + `","content":"?"}` }
	const called = `{"type":"ai","id":"run-1","name":"Alice","content":"","tool_calls":[{"name":"transfer_to_bob","id":"c1","args":{}}]},` +
		`{"type":"tool","id":"t1","name":"transfer_to_bob","tool_call_id":"c1","content":"Successfully transferred to Bob"}`
	old := asks("h0") + "," + called + "," + by("Bob", "run-2", "old")
	input, answer := old+","+asks("h1"), by("Bob", "run-3", "new")
	state := func(messages string) string { return `{"messages":[` + messages + `],"active_agent":"Bob"}` }
	task := func(kind, more string) string { return `{"id":"1","name":"n",` + kind + `:` + more + `}` }
	debug := func(kind, payload string) string {
		return frame("debug", `{"step":1,"timestamp":"2026-01-01T00:00:00Z","type":"`+kind+`","payload":`+payload+`}`)
	}
	whole := state(input + "," + answer)
	for _, c := range []struct {
		name   string
		frames []string
		want   []string // texts, calls and transfers
	}{
		{"a second turn", []string{frame("updates", `{"n":`+whole+`}`)}, []string{`text "new"`}},
		{"several updates of a node", []string{frame("updates", `{"n":[`+whole+`]}`)}, []string{`text "new"`}},
		{"a task", []string{frame("tasks", task(`"result"`, whole))}, []string{`text "new"`}},
		{"a task whose input is known", []string{frame("tasks", task(`"input"`, state(input))), frame("tasks", task(`"result"`, whole))}, []string{`text "new"`}},
		{"a task of debug", []string{debug("task", task(`"input"`, state(input))), debug("task_result", task(`"result"`, whole))}, []string{`text "new"`}},
		{"the only message of a user", []string{frame("tasks", task(`"input"`, state(called+","+asks("h1")))), frame("updates", `{"n":`+state(called+","+asks("h1")+","+answer)+`}`)}, []string{`text "new"`}},
		{"an evaluator that speaks as a user", []string{frame("values", state(input)), frame("updates", `{"n":`+state(input+","+answer+","+asks("h2")+","+by("Bob", "run-4", "newer"))+`}`)},
			[]string{`text "new"`, `text "newer"`}},
		{"a result for which this run waits", []string{
			frame("updates", `{"n":`+state(`{"type":"ai","id":"run-5","name":"Bob","content":"","tool_calls":[{"name":"f","id":"c2","args":{}}]}`)+`}`),
			frame("updates", `{"n":`+state(old+`,{"type":"tool","id":"t2","name":"f","tool_call_id":"c2","content":""},`+asks("h1")+","+answer)+`}`),
		}, []string{`tool_started name="f" call="c2" {}`, `tool_ended name="f" call="c2" settled ""`, `text "new"`}},
		{"a first turn", []string{frame("updates", `{"n":`+state(asks("h0")+","+answer)+`}`)}, []string{`text "new"`}},
	} {
		var got []string
		for _, line := range facts(nil, c.frames...) {
			switch kind, _, _ := strings.Cut(line, " "); kind {
			case "text", "tool_started", "tool_ended", "transfer":
				got = append(got, line)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
	}
}
