package a2a

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/event"
)

// in returns a frame of task t as one of another task.
func in(task, frame string) string {
	return strings.NewReplacer(`"taskId":"t"`, `"taskId":"`+task+`"`, `"id":"t"`, `"id":"`+task+`"`).Replace(frame)
}

// TestMessagesOfTasks sends messages that name a task of which the stream has shown nothing, or which it has forgotten. Such a message is an
// answer only if the stream is about no task, and only the first one.
func TestMessagesOfTasks(t *testing.T) {
	said := func(text string) string { return messageOfTask("m", "", text) }
	works, completes := statusIs("working", "", ""), statusIs("completed", "", "")
	tasks := []string{works, in("a", works), in("b", works), in("d", works), in("e", works)}
	const other, first = `working; other`, `message; run_started; text "a"; final; run_ended awaits_outcome`
	for name, c := range map[string]struct {
		of     event.Stream
		frames []string
		want   []string // the last lines
	}{
		"before the task's status": {event.Stream{}, []string{said("a"), said("b"), works, said("c"), completes},
			[]string{first, `message partial; text "b"`, other, `message partial; text "c"`, `status-update; text "abc"; final; run_ended awaits_outcome`}},
		"repeated by the end": {event.Stream{}, []string{said("a"), statusIs("completed", text("a"), "")},
			[]string{first, `status-update partial repeats; text "a"; final; run_ended awaits_outcome`}},
		"on a stream that subscribes": {event.Stream{Live: true, Identity: event.Identity{JoinedRun: "t"}}, []string{said("a"), works, completes},
			[]string{`aside partial; text "a"`, other, `status-update; text "a"; final; run_ended awaits_outcome`}},
		"of a forgotten task": {event.Stream{}, append(tasks, strings.Replace(said("a"), `"id":1`, `"id":2`, 1)),
			[]string{`message partial; text "a"`}},
		"after the end of another task": {event.Stream{}, []string{in("u", completes), strings.Replace(said("a"), `"id":1`, `"id":2`, 1)}, []string{first}},
		"before a message without a task": {event.Stream{}, []string{said("a"), messageWithoutTask(`"contextId":"c",`)},
			[]string{first, `message run="n" session="c"; run_started; text "hi"; final; run_ended`}},
		"after the user's": {event.Stream{}, []string{strings.Replace(said("x"), "agent", "user", 1), said("a")}, []string{`foreign; other`, first}},
	} {
		got := strings.Split(factsOf(&c.of, c.frames...), "\n")
		if diff := cmp.Diff(c.want, got[len(got)-len(c.want):]); diff != "" {
			t.Errorf("%s: the facts differ (-want +got):\n%s", name, diff)
		}
	}
}

// TestArtifactsOfNewTasks sends artifacts in the first snapshot of a task. They are reported if the request started the task.
func TestArtifactsOfNewTasks(t *testing.T) {
	const sent, end = `artifact id="a" other bytes=5; text "hello"`, `final; run_ended awaits_outcome`
	for state, asks := range map[string]string{"working": "progress partial; ", "submitted": "progress partial; run_started; ", "input-required": `asking partial; `} {
		for isNew, want := range map[bool]string{true: asks + sent, false: strings.Replace(asks, " partial", "", 1) + "other"} {
			if state == "input-required" {
				want = strings.TrimSuffix(strings.TrimSuffix(want, "other"), "; ") + `; input_requested call="t" clarification`
			} else if state == "submitted" {
				want = strings.TrimSuffix(want, "; other")
			}
			snapshot := taskIs(state, `,"artifacts":[{"artifactId":"a","parts":[`+text("hello")+`]}]`)
			got := strings.Split(factsOf(&event.Stream{Live: true, Identity: event.Identity{NewRun: isNew}}, snapshot, piece("a", text(" you"), more), statusIs("completed", "", "")), "\n")
			if got[0] != want || !strings.HasSuffix(got[2], `text "hello you"; `+end) {
				t.Errorf("%s, new %t: the facts are\n%s, want\n%s", state, isNew, strings.Join(got, "\n"), want)
			}
		}
	}
}

// TestLaterRequests asks for input again while the task waits. All calls are answered when the work goes on, and a later question is asked.
func TestLaterRequests(t *testing.T) {
	runDecode(t, []decodeCase{{"", []string{
		statusIs("auth-required", calls("c", "adk_request_credential", true), ""), statusIs("input-required", calls("d", "adk_request_input", true), ""),
		statusIs("input-required", calls("d", "adk_request_input", true), ""), statusIs("working", "", ""), statusIs("input-required", text("Which city?"), ""),
	}, []string{
		`awaited; input_requested call="c" credential`, `awaited; input_requested call="d" clarification`, `awaited; other`,
		`working; input_answered call="c"; input_answered call="d"`, `asking; input_requested call="t" clarification prompt="Which city?"`,
	}}})
	frames := []string{statusIs("input-required", "", "")}
	for i := range 4 * maxPendingCalls {
		id := string(rune('A' + i))
		frames = append(frames, statusIs("input-required", calls(id, "adk_request_input", true), ""), statusIs("input-required", toolResult(id, "adk_request_input", `{}`), ""))
	}
	got := factsOf(&event.Stream{}, append(frames, statusIs("working", "", ""))...)
	if n := strings.Count(got, "input_answered"); n > maxPendingCalls {
		t.Errorf("%d questions are remembered, want at most %d", n, maxPendingCalls)
	}
}

// TestExecutions reports each execution of code, although results of different code are equal, and none that a server repeats.
func TestExecutions(t *testing.T) {
	part := func(kind, data string) string { return `{"data":` + data + `,"metadata":{"adk_type":"` + kind + `"}}` }
	a, b, ok := part("executable_code", `{"code":"a"}`), part("executable_code", `{"code":"b"}`), part("code_execution_result", `{"outcome":"OUTCOME_OK","output":""}`)
	named, unnamed := adkEvent(`,"adk_event_id":"1"`), adkEvent("")
	for name, c := range map[string]struct {
		frames []string
		want   string
	}{
		"in one event":              {[]string{statusIs("working", a+","+ok+","+b+","+ok, named)}, "a-b-"},
		"of equal code":             {[]string{statusIs("working", a+","+ok+","+a+","+ok, named)}, "a-a-"},
		"repeated":                  {[]string{statusIs("working", a+","+ok+","+b+","+ok, named), piece("x", a+","+ok+","+b+","+ok, last+named)}, "a-b-"},
		"in events without IDs":     {[]string{statusIs("working", a, unnamed), statusIs("working", ok, unnamed), statusIs("working", b, unnamed), statusIs("working", ok, unnamed)}, "a-b-"},
		"the last repeated":         {[]string{statusIs("working", a, unnamed), statusIs("working", ok, unnamed), piece("x", ok, last+unnamed)}, "a-"},
		"a result after other code": {[]string{statusIs("working", a, named), statusIs("working", ok, adkEvent(`,"adk_event_id":"2"`)), statusIs("working", b, adkEvent(`,"adk_event_id":"3"`)), piece("x", ok, last+adkEvent(`,"adk_event_id":"2"`))}, "a-b"},
	} {
		got := ""
		for fact := range strings.SplitSeq(factsOf(&event.Stream{}, c.frames...), "; ") {
			switch {
			case strings.HasPrefix(fact, "tool_ended"):
				got += "-"
			case strings.HasPrefix(fact, "tool_started"):
				_, code, _ := strings.Cut(fact, `"code":"`)
				got += code[:1]
			}
		}
		if got != c.want {
			t.Errorf("%s: the executions are %s, want %s:\n%s", name, got, c.want, factsOf(&event.Stream{}, c.frames...))
		}
	}
}
