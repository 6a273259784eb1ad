package langgraph

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/event"
)

// TestSeveralSpeakers has a frame bring what several agents have said. Nothing may wait for a later frame, because there may be none.
func TestSeveralSpeakers(t *testing.T) {
	state := func(messages ...string) string {
		return frame("values", `{"messages":[`+strings.Join(messages, ",")+`]}`)
	}
	const user = `{"type":"human","id":"h1","content":"q"}`
	result := `{"type":"tool","id":"m1","tool_call_id":"c1","name":"add","content":"3"}`
	calls := `{"type":"ai","id":"run-a","name":"a","content":"","tool_calls":[{"name":"add","id":"c1","args":{}}]}`
	b, c := by("b", "run-b", "B"), by("c", "run-c", "C")
	for name, test := range map[string]struct {
		frames []string
		want   []string
	}{
		"in the last state": {[]string{state(user), state(user, calls, result, b, c)}, []string{
			`3 values agent="a" may be root`, `tool_started name="add" call="c1" {}`, `tool_ended name="add" call="c1" settled 3`,
			`values agent="b" may be root`, `text "B"`, `values agent="c" may be root`, `text "C"`,
		}},
		"in the order of the state": {[]string{state(user), state(user, b, calls, c, result)}, []string{
			`3 values agent="b" may be root`, `text "B"`, `values agent="a" may be root`, `tool_started name="add" call="c1" {}`,
			`values agent="c" may be root`, `text "C"`, `values agent="a" may be root`, `tool_ended name="add" call="c1" settled 3`,
		}},
		"in an update": {[]string{frame("updates", `{"x":{"messages":[`+b+`]},"y":{"messages":[`+c+`]}}`)}, []string{
			`2 updates agent="b" branch="x" may be root`, `text "B"`, `updates agent="c" branch="y" may be root may be beside`, `text "C"`,
		}},
	} {
		lines := slices.DeleteFunc(facts(nil, test.frames...), func(line string) bool {
			return strings.HasPrefix(line, "model_ended") || line == "final" || strings.HasPrefix(line, "2 values")
		})
		if diff := cmp.Diff(test.want, lines); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestLateEnd ends a run after the next run of the thread has begun. Another spelling of a run is no other run.
func TestLateEnd(t *testing.T) {
	const other = `33333333-2222-2222-2222-222222222222`
	got := facts(&event.Stream{Identity: event.Identity{Session: threadID, JoinedSession: threadID}},
		frame("metadata", begin), frame("metadata", nextRun), frame("metadata", `{"run_id":"`+joinedID+`","status":"run_done"}`), frame("updates", `{"a":{"n":1}}`),
		frame("metadata", `{"run_id":"{`+strings.ToUpper(other)+`}","status":"run_done"}`))
	if all := strings.Join(got, "\n"); strings.Count(all, "run_started") != 2 || strings.Count(all, "run_ended") != 2 {
		t.Errorf("facts are\n%s", all)
	}
	joined := &event.Stream{Identity: inThread(threadID, "{"+strings.ToUpper(other)+"}")}
	if all := dialecttest.Facts(Dialect{}, joined, frame("updates", `{"a":{"n":1}}`)+frame("metadata", nextRun)); strings.Count(all, "run_started") != 1 {
		t.Errorf("facts of a joined run are\n%s", all)
	}
}
