package a2a

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// TestChangedTasks checks that an answer that changes the ID of its task stays one run. A task that certainly begins, or
// that follows the end of another or a question, is a run of its own.
func TestChangedTasks(t *testing.T) {
	second := strings.NewReplacer(`"taskId":"t"`, `"taskId":"t2"`, `"id":"t"`, `"id":"t2"`).Replace
	works, completes := statusIs("working", "", ""), statusIs("completed", "", "")
	changed := second(works)
	for _, c := range []struct {
		name   string
		of     event.Stream
		frames []string
		want   string // the run of each frame
	}{
		{"in one answer", event.Stream{}, []string{works, changed, second(completes)}, "t t t"},
		{"in one answer, back and forth", event.Stream{}, []string{works, changed, works, changed}, "t t t t"},
		{"in one answer, before an error", event.Stream{}, []string{works, changed, data(failure)}, "t t t"},
		{"in a live answer", event.Stream{SingleRun: true}, []string{works, changed, data(failure)}, "t t t"},
		{"in a live answer without a request or context", event.Stream{SingleRun: true}, []string{strings.Replace(works, `"id":1`, `"id":null`, 1), strings.Replace(changed, `"contextId":"c"`, `"x":"c"`, 1)}, "t t"},
		{"in a live answer, after the end", event.Stream{SingleRun: true}, []string{completes, changed}, "t t2"},
		{"in the answer to another request", event.Stream{}, []string{works, strings.Replace(changed, `"id":1`, `"id":2`, 1)}, "t t2"},
		{"in answers without the ID of a request", event.Stream{}, []string{strings.Replace(works, `"id":1`, `"id":null`, 1), strings.Replace(changed, `"id":1`, `"id":null`, 1)}, "t t2"},
		{"in another context", event.Stream{}, []string{works, strings.Replace(changed, `"contextId":"c"`, `"contextId":"d"`, 1)}, "t t2"},
		{"without a context", event.Stream{}, []string{works, strings.Replace(changed, `"contextId":"c"`, `"x":"c"`, 1)}, "t t2"},
		{"after the end", event.Stream{}, []string{completes, changed}, "t t2"},
		{"after a question", event.Stream{}, []string{statusIs("input-required", "", ""), changed}, "t t2"},
		{"at a beginning", event.Stream{}, []string{works, second(taskIs("submitted", ""))}, "t t2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for line := range strings.SplitSeq(factsOf(&c.of, c.frames...), "\n") {
				run := "t" // which factsOf leaves out
				if strings.Contains(line, `run="t2"`) {
					run = "t2"
				}
				got = append(got, run)
			}
			if runs := strings.Join(got, " "); runs != c.want {
				t.Errorf("the frames belong to %s, want %s", runs, c.want)
			}
		})
	}
}

// TestTextsOfMembers checks that the answer of Agno's teams and workflows is the last text, although the texts of all members and steps
// have the ID of one message.
func TestTextsOfMembers(t *testing.T) {
	piece := func(task, said string) string {
		return strings.ReplaceAll(messageOfTask("m", "", said), `"taskId":"t"`, `"taskId":"`+task+`"`)
	}
	works, ended := statusIs("working", "", ""), strings.ReplaceAll(statusIs("completed", "", ""), `"taskId":"t"`, `"taskId":"u"`)
	of := func(kind, tool string) string {
		return statusIs("working", "", `,"metadata":{"agno_event_type":"`+kind+`","tool_name":"`+tool+`"}`)
	}
	inU := func(frame string) string { return strings.ReplaceAll(frame, `"taskId":"t"`, `"taskId":"u"`) }
	for name, c := range map[string]struct {
		frames []string
		want   string
	}{
		"of a workflow":            {[]string{works, piece("t", "one"), inU(works), piece("u", "two")}, "two"},
		"of a team":                {[]string{works, inU(works), piece("u", "one"), inU(of("tool_call_completed", "delegate_task_to_member")), piece("u", "two")}, "two"},
		"after another tool":       {[]string{works, inU(works), piece("u", "one"), inU(of("tool_call_completed", "look")), piece("u", "two")}, "onetwo"},
		"while the member answers": {[]string{works, inU(works), piece("u", "one"), inU(of("tool_call_started", "delegate_task_to_member")), piece("u", "two")}, "onetwo"},
	} {
		got := factsOf(&event.Stream{SingleRun: true}, append(c.frames, ended)...)
		if want := `; text "` + c.want + `"; final; run_ended awaits_outcome`; !strings.HasSuffix(got, want) {
			t.Errorf("the answer %s is not %q:\n%s", name, c.want, got)
		}
	}
}
