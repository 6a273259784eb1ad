package adk_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// relays returns an event of a remote agent, with its answer marked as a thought, as while its task works.
func relays(metadata, state, text string, earlier ...string) string {
	messages := append(earlier, `{"text":"`+text+`"}`)
	response := strings.Replace(remoteTask(metadata, messages...), `"status":{`, `"status":{"state":"`+state+`",`, 1)
	return by("r", response+content(`{"text":"`+text+`","thought":true}`))
}

// TestCopiesOfRemoteAnswers checks what repeats what a remote agent has said internally.
func TestCopiesOfRemoteAnswers(t *testing.T) {
	hidden, open := relays(remoteMark, "working", "secret answer"), relays(remoteLabel, "working", "secret answer")
	thought := strings.Replace(hidden, `{"text":"secret answer"}`, `{"text":"secret answer","metadata":{"adk_thought":true}}`, 2)
	failed := by("b", content(`{"functionResponse":{"id":"d","name":"pay","response":{"error":"no secret answer"}}}`))
	state := by("b", `"actions":{"stateDelta":{"x":"secret answer"}},`+says("hi"))
	for name, c := range map[string]struct {
		sent   []string
		leaves bool // the last frame, unchanged
	}{
		"an error":                    {[]string{hidden, `{"error":"no secret answer"}`}, false},
		"an error of another agent":   {[]string{hidden, by("b", `"errorCode":"X","errorMessage":"no secret answer"`)}, false},
		"an error of the agent":       {[]string{hidden, relays(remoteLabel, "failed", "no secret answer")}, false},
		"the agent's own error":       {[]string{relays(remoteMark, "failed", "secret"), by("b", `"errorCode":"X","errorMessage":"no secret"`)}, false},
		"a failed result":             {[]string{hidden, failed}, false},
		"a state":                     {[]string{hidden, state}, false},
		"an error after an answer":    {[]string{open, `{"error":"no secret answer"}`}, true},
		"a result after an answer":    {[]string{open, failed}, true},
		"a state after an answer":     {[]string{open, state}, true},
		"another error of the agent":  {[]string{hidden, relays(remoteLabel, "failed", "no")}, true},
		"a state with a real thought": {[]string{thought, state}, true},
	} {
		checkLastPart(t, name, c.leaves, c.sent)
	}
}

// TestCopiesInTasks checks what the task of a remote agent has of its internal events in other events.
func TestCopiesInTasks(t *testing.T) {
	const delta = `,"adk_actions":{"stateDelta":{"x":"secret answer and more"},"artifactDelta":{"secret answer":1}}`
	const errorText = `{"data":{"id":"d","name":"bad","response":{"error":"no secret answer"}},"metadata":{"adk_type":"function_response"}}`
	hidden, hi := relays(remoteMark, "working", "secret answer"), relays(remoteLabel, "working", "hi")
	fails := by("r", remoteTask(remoteLabel, errorText)+content(`{"functionResponse":{"id":"d","name":"bad","response":{"error":"no secret answer"}}}`))
	found := func(events string) string {
		return `{"data":{"id":"d","name":"load_memory","response":{"memories":[` + events + `]}},"metadata":{"adk_type":"function_response"}}`
	}
	const event1, event2 = `{"content":{"parts":[{"text":"open"}]},"author":"b"}`, `{"content":{"parts":[{"text":"secret answer"}]},"author":"a"}`
	sends := func(metadata string, parts ...string) string {
		return by("r", remoteTask(metadata, append(parts, `{"text":"hi"}`)...)+content(`{"text":"hi","thought":true}`))
	}
	for name, c := range map[string]struct {
		sent []string
		want string // the last event, as it leaves
	}{
		"a state":                  {[]string{hidden, sends(remoteLabel + delta)}, sends(remoteLabel + strings.Replace(delta, `"x":"secret answer and more"`, "", 1))},
		"a state in a string":      {[]string{hidden, sends(remoteLabel + `,"adk_actions":"{\"stateDelta\":{\"x\":\"secret answer\"}}"`)}, sends(remoteLabel)},
		"a state after an answer":  {[]string{relays(remoteLabel, "working", "secret answer"), hidden, sends(remoteLabel + strings.Replace(delta, " and more", "", 1))}, sends(remoteLabel + strings.Replace(delta, " and more", "", 1))},
		"another state":            {[]string{hidden, sends(remoteLabel + strings.ReplaceAll(delta, "secret", "other"))}, sends(remoteLabel + strings.ReplaceAll(delta, "secret", "other"))},
		"a failed result":          {[]string{hidden, fails, sends(remoteLabel, errorText)}, hi},
		"a result without secrets": {[]string{fails, sends(remoteLabel, errorText)}, sends(remoteLabel, errorText)},
		"a result with events":     {[]string{sends(remoteLabel, found(event1+","+event2))}, sends(remoteLabel, found(event1+","+event2))},
		"the same of something":    {[]string{hidden, sends(remoteLabel, found(event1+","+event2))}, sends(remoteLabel, found(event1))},
		"the message of an error":  {[]string{hidden, relays(remoteLabel+`,"adk_error_message":"no secret answer"`, "failed", "no secret answer"), sends(remoteLabel + `,"adk_error_message":"no secret answer"`)}, sends(remoteLabel)},
		"an error":                 {[]string{hidden, relays(remoteLabel, "failed", "no secret answer"), sends(remoteLabel, `{"text":"no secret answer"}`)}, hi},
	} {
		got := leavesOf(t, &event.Stream{}, event.PolicyClient, c.sent...)
		last, want := got[len(got)-1], strings.ReplaceAll(c.want, `"state":"working",`, "")
		if last != want {
			t.Errorf("%s: the event leaves as %s, want %s", name, last, want)
		}
	}
}
