package langgraph

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/event"
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
		checkStaysIn(t, []filter.Settings{public}, sent{"updates", write(`{"type":"tool","id":"t","tool_call_id":"c","content":"secret"}`)})
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

// TestExcludedAnywhere puts messages into any part of a state, where settings exclude their author or what they show.
func TestExcludedAnywhere(t *testing.T) {
	ofAlice, withoutText, withoutCalls := client, client, client
	ofAlice.Authors = []string{"alice"}
	withoutText.Exclude = []event.Kind{event.KindText}
	withoutCalls.Exclude = []event.Kind{event.KindToolStarted, event.KindToolEnded}
	const (
		call   = `{"type":"ai","id":"m1","name":"alice","content":"","tool_calls":[{"name":"f","args":{"q":"secret"},"id":"c1"}]}`
		block  = `{"type":"ai","id":"m1","name":"alice","content":[{"type":"tool_use","id":"c1","name":"f","input":{"q":"secret"}}]}`
		result = `{"type":"tool","id":"t1","name":"f","tool_call_id":"c1","content":"secret"}`
		class  = `{"lc":1,"type":"constructor","id":["langchain_core","messages","AIMessage"],"kwargs":{"content":"secret","name":"bob"}}`
	)
	places := append([]string{`{"draft":MESSAGE}`, `{"draft":[MESSAGE]}`, `{"out":{"draft":[MESSAGE]}}`, `[{"draft":MESSAGE}]`}, writtenForms...)
	for i, form := range places {
		if i >= len(places)-len(writtenForms) {
			form = `{"messages":` + form + `}`
		}
		in := func(message string) []sent {
			value := strings.Replace(form, "MESSAGE", message, 1)
			return []sent{{"updates", `{"n":` + value + `}`}, {"updates|n:1", `{"n":` + value + `}`}, {"values", `{"messages":[],"state":` + value + `}`}}
		}
		for reader, messages := range map[*filter.Settings][]string{
			&ofAlice: {by("bob", "m1", "secret"), class, `{"type":"human","id":"h","content":"secret"}`}, &withoutText: {by("alice", "m1", "secret"), strings.Replace(class, `,"name":"bob"`, "", 1)}, &withoutCalls: {call, block, result},
		} {
			for _, message := range messages {
				for _, frame := range in(message) {
					checkStaysIn(t, []filter.Settings{*reader}, frame)
				}
			}
		}
		for _, reader := range []filter.Settings{ofAlice, withoutCalls} {
			for _, frame := range in(by("alice", "m1", "shown")) {
				if out := leaving(reader, frame); !strings.Contains(out, "shown") {
					t.Errorf("%v of a listed author does not leave", frame)
				}
			}
		}
	}
	for _, message := range []string{`["ai","secret"]`, `["human","secret"]`, `"secret"`} {
		for _, form := range []string{"MESSAGE", "[MESSAGE]"} {
			update := `{"n":{"messages":` + strings.Replace(form, "MESSAGE", message, 1) + `}}`
			checkStaysIn(t, []filter.Settings{ofAlice, withoutText}, sent{"updates", update})
			if out := leaving(withoutCalls, sent{"updates", update}); !strings.Contains(out, "secret") {
				t.Errorf("%s does not leave", update)
			}
		}
	}
	for _, reader := range []filter.Settings{ofAlice, withoutText, withoutCalls} {
		if out := leaving(reader, sent{"updates", `{"tools":{"todos":[{"content":"shown","status":"pending"}],"title":"x"}}`}); !strings.Contains(out, "shown") {
			t.Error("a plan does not leave")
		}
	}
}
