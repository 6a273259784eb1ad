package agui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestTextsAtEnds checks that each end of a run reports the whole text of a message in chunks, and in which agent's name.
func TestTextsAtEnds(t *testing.T) {
	chunk := func(id, delta string, members ...string) string {
		return ev("TEXT_MESSAGE_CHUNK", append(members, `"messageId":"`+id+`"`, `"delta":"`+delta+`"`)...)
	}
	ended := func(members ...string) string {
		return ev("RUN_FINISHED", append(members, `"threadId":"t"`, `"runId":"r"`)...)
	}
	asks := ended(`"outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"x"}]}`)
	step := ev("STEP_STARTED", `"stepName":"x"`)
	failed := ev("RUN_ERROR", `"message":"x"`)
	var crowd []string
	for i := range 9 {
		crowd = append(crowd, chunk(fmt.Sprintf("m%d", i), "x", fmt.Sprintf(`"subagentRunId":"s%d"`, i)))
	}
	for what, c := range map[string]struct {
		sent []string
		want string // the facts of the last frame
	}{
		"a question":             {[]string{start, chunk("m", "a"), asks}, "RUN_FINISHED" + runFields + `; text "a"; input_requested`},
		"a question, in a step":  {[]string{start, chunk("m", "a"), step, asks}, "RUN_FINISHED" + runFields + `; text "a"; input_requested`},
		"a canceled run":         {[]string{start, chunk("m", "a"), ended(`"outcome":"cancelled"`)}, "RUN_FINISHED" + runFields + `; text "a"; error canceled`},
		"an error":               {[]string{start, chunk("m", "a"), step, failed}, "RUN_ERROR" + runFields + `; text "a"; error agent_error`},
		"an error within":        {[]string{start, chunk("m", "a"), failed}, "RUN_ERROR" + runFields + `; error agent_error`},
		"an error of another":    {[]string{start, chunk("m", "a", `"subagentRunId":"s"`), ended(`"outcome":"error"`)}, "RUN_FINISHED" + runFields + `; error agent_error`},
		"an agent's name":        {[]string{start, chunk("m", "a", `"name":"writer"`), asks}, "RUN_FINISHED" + runFields + ` agent="writer"; text "a"; input_requested`},
		"a subagent":             {[]string{start, chunk("m", "a", `"subagentRunId":"s"`), finish}, "RUN_FINISHED" + runFields + ` agent="subagent" branch="s"; text "a"; run_ended`},
		"the own after a crowd":  {append(append([]string{start}, crowd...), chunk("m", "a"), finish), "RUN_FINISHED" + runFields + `; text "a"; run_ended`},
		"the own before another": {append([]string{start, chunk("m", "a")}, crowd[0], finish), "RUN_FINISHED" + runFields + `; text "a"; run_ended`},
	} {
		facts := strings.Split(factsOf(t, &event.Stream{}, c.sent...), "\n")
		if got := facts[len(facts)-1]; !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
}
