package langgraph

import (
	"slices"
	"strings"
	"testing"

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
