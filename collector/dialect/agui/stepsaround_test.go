package agui_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestStepsAroundInternalOnes checks what leaves while ordinary steps are open around an internal one, or beside it.
func TestStepsAroundInternalOnes(t *testing.T) {
	step := func(name string) string { return `{"type":"STEP_STARTED","stepName":"` + name + `"}` }
	end := func(name string) string { return `{"type":"STEP_FINISHED","stepName":"` + name + `"}` }
	within := func(name, id, parent string) string {
		return `{"type":"STEP_STARTED","stepName":"` + name + `","rawEvent":{"attribution":{"boundary":"crew","step_id":"` + id + `","parent_step_id":"` + parent + `"}}}`
	}
	custom := func(value string) string { return `{"type":"CUSTOM","name":"out","value":` + value + `}` }
	activity := func(executor string) string {
		return `{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"executor","content":{"executor_id":"` + executor + `","data":"CANARY"}}`
	}
	const (
		piece = `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"CANARY"}`
		inner = `{"type":"RUN_STARTED","threadId":"t","runId":"q","parentRunId":"r"}`
		said  = `{"type":"TEXT_MESSAGE_CHUNK","messageId":"n","role":"assistant","delta":"CANARY"}`
	)
	crowd := []string{step("s")}
	for i := range 256 {
		crowd = append(crowd, step(fmt.Sprint("s", i)))
	}
	for what, c := range map[string]struct {
		sent   []string // the last frame has the canary
		leaves bool
	}{
		"a state beside many steps":                       {append(crowd, step("internal_x"), `{"type":"STATE_SNAPSHOT","snapshot":{"a":"CANARY"}}`), false},
		"an activity of the step beside":                  {[]string{step("internal_x"), step("editor"), activity("editor")}, true},
		"an activity of a step that ended":                {[]string{step("editor"), step("internal_x"), end("editor"), activity("editor")}, true},
		"an activity of the internal step":                {[]string{step("editor"), step("internal_x"), activity("internal_x")}, false},
		"an activity of an agent without a step":          {[]string{step("editor"), step("internal_x"), activity("other")}, false},
		"a custom event of the step beside":               {[]string{step("internal_x"), step("editor"), custom(`{"author_name":"editor","x":"CANARY"}`)}, true},
		"a custom event that names it within":             {[]string{step("internal_x"), step("editor"), custom(`{"x":"CANARY","y":{"author_name":"editor"}}`)}, false},
		"a custom event of a step within":                 {[]string{within("internal_x", "1", ""), within("editor", "2", "1"), custom(`{"author_name":"editor","x":"CANARY"}`)}, false},
		"a piece in a step within a stated one":           {[]string{within("crew", "1", ""), begun[0], within("internal_x", "2", "1"), piece}, false},
		"a piece in a step within an internal one":        {[]string{begun[0], within("internal_x", "1", ""), within("editor", "2", "1"), piece}, false},
		"a piece in a step beside a stated one":           {[]string{within("crew", "1", ""), begun[0], within("internal_x", "2", "3"), piece}, true},
		"a run within the step":                           {[]string{step("internal_x"), inner, said}, false},
		"a run within a step around it":                   {[]string{step("editor"), step("internal_x"), inner, said}, false},
		"a run after the step":                            {[]string{step("internal_x"), end("internal_x"), inner, said}, true},
		"a question after the step and that around it":    {[]string{step("editor"), step("internal_x"), end("internal_x"), end("editor"), customQuestion}, false},
		"the last question after these steps":             {[]string{step("editor"), step("internal_x"), end("internal_x"), end("editor"), endQuestion}, false},
		"a question after the next step":                  {[]string{step("editor"), step("internal_x"), end("internal_x"), end("editor"), step("writer"), end("writer"), customQuestion}, true},
		"a state of an ordinary subagent beside the step": {[]string{begun[7], step("internal_x"), `{"type":"STATE_SNAPSHOT","subagentRunId":"u","snapshot":{"a":"CANARY"}}`}, true},
	} {
		for i, s := range allSettings {
			got := last(filterFrames(t, s, slices.Concat([]string{run}, c.sent)...))
			if strings.Contains(got, "CANARY") != c.leaves && (i == 0 || !c.leaves) {
				t.Errorf("%s, %s: %s", what, s.Policy, got)
			}
		}
	}
}
