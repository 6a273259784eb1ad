package openai_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/dialect/openai"
	"github.com/delegraph/delegraph/collector/event"
)

// TestErrorsAfterEnds sends errors after the end of a run, while something internal is open or was the last to end. They leave without
// their text.
func TestErrorsAfterEnds(t *testing.T) {
	const failed, done = `{"error":{"message":"m"}}`, `[DONE]`
	internal := strings.Replace(created, `"response":{`, `"kind":"internal","response":{`, 1)
	completion := func(id, delta string) string {
		return strings.Replace(choice(`{"index":0,"delta":{`+delta+`}}`), `"id":"c"`, `"id":"`+id+`"`, 1)
	}
	finished := func(id string) string {
		return strings.Replace(choice(`{"index":0,"delta":{},"finish_reason":"stop"}`), `"id":"c"`, `"id":"`+id+`"`, 1)
	}
	hidden := strings.Replace(completion("x", `"role":"assistant"`), `"object"`, `"kind":"internal","object"`, 1)
	for name, sent := range map[string][]string{
		"a second error":                     {begins("internal_x"), failed},
		"a response beside one that ended":   {internal, later.Replace(created), later.Replace(ended)},
		"a completion beside one that ended": {hidden, completion("y", `"role":"assistant"`), finished("y"), done},
		"a second error of a response":       {internal, failed},
		"an agent of a run that ended":       {begins("internal_x"), done},
		"a response that ended":              {internal, ended},
		"a response and a second error":      {internal, later.Replace(created), later.Replace(ended), failed},
		"an ordinary response beside it":     {internal, later.Replace(created), ended, failed},
	} {
		for _, last := range []string{`{"type":"error","code":"x","message":"secret"}`, `{"error":{"message":"secret","type":"x","param":null,"code":"x"}}`} {
			for _, of := range []event.Stream{{SingleRun: true}, {}} {
				if out := leavingOf(t, client, &of, stream(append(sent[:len(sent):len(sent)], last)...)); strings.Contains(out, "secret") || !strings.Contains(out, "the run failed") {
					t.Errorf("after %s this leaves: %s", name, out)
				}
			}
		}
	}
	for name, sent := range map[string][]string{
		"an ordinary response":            {created, ended},
		"a response after an internal":    {internal, failed, later.Replace(created), later.Replace(ended)},
		"a completion after an internal":  {hidden, finished("x"), done, completion("y", `"role":"assistant"`), finished("y"), done},
		"a run of agents after one ended": {begins("internal_x"), done, begins("a")},
	} {
		if out := leavingOf(t, client, &event.Stream{}, stream(append(sent, `{"type":"error","code":"x","message":"said"}`)...)); !strings.Contains(out, "said") {
			t.Errorf("after %s this leaves: %s", name, out)
		}
	}
}

// TestErrorsOfOtherRuns sends an error after the end of a response while another one is open. It fails that one.
func TestErrorsOfOtherRuns(t *testing.T) {
	sent := stream(created, later.Replace(created), later.Replace(ended), `{"type":"error","code":"x","message":"m"}`)
	const want = `model_ended model="m" model_error code="x"` + "\n  " + `error agent_error code="x"` + "\n  " + `run_ended agent_error code="x"`
	for _, single := range []bool{true, false} {
		if facts := dialecttest.Facts(openai.Dialect{}, &event.Stream{SingleRun: single}, sent); strings.Count(facts, want) != 1 || strings.Count(facts, "model_ended") != 2 {
			t.Errorf("the facts are\n%s", facts)
		}
	}
}
