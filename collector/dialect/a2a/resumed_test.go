package a2a_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestResumedStreams continues an artifact that began on another stream. The beginning may have been marked as a thought.
func TestResumedStreams(t *testing.T) {
	piece := func(more string) string {
		return envelopes["1.0"]("", "artifactUpdate", ids+`,"artifact":{"artifactId":"a","parts":[`+secret+`]}`+more)
	}
	const appended, byADK = `,"append":true`, `,"metadata":{"adk_author":"a"}`
	working := envelopes["1.0"]("", "statusUpdate", ids+`,"status":{"state":"working"}`)
	snapshot := envelopes["1.0"]("", "task", `"id":"t","contextId":"c","status":{"state":"working"},"artifacts":[{"artifactId":"a","parts":[]}]`)
	begun := strings.ReplaceAll(snapshot, `"parts":[]`, `"parts":[`+hi+`]`)
	completed := strings.ReplaceAll(begun, "working", "completed")
	submitted := strings.Replace(snapshot, "working", "submitted", 1)
	submittedEmpty := strings.Replace(envelopes["1.0"]("", "task", `"id":"t","contextId":"c","status":{"state":"working"}`), "working", "submitted", 1)
	asking := strings.ReplaceAll(begun, `"working"`, `"input-required","message":{"messageId":"m","role":"user","parts":[]}`)
	messagePiece := envelopes["1.0"]("", "message", `"messageId":"m","taskId":"t","role":"agent","parts":[`+secret+`]`)
	subscribed := event.Stream{Live: true, Identity: event.Identity{JoinedRun: "t"}}
	answers := event.Stream{Live: true, Identity: event.Identity{Answers: []string{"t"}}}
	unread := event.Stream{Live: true}
	sends := event.Stream{Live: true, Identity: event.Identity{NewRun: true}}
	thoughtless := filter.Settings{Policy: event.PolicyClient}
	var messages []string // more than the decoder remembers of artifacts
	for i := range wire.MaxSet + 1 {
		messages = append(messages, envelopes["1.0"]("", "statusUpdate", status("working", strings.ReplaceAll(message("agent", hi), `"m"`, fmt.Sprintf(`"m%d"`, i)))))
	}
	for name, c := range map[string]struct {
		of                          event.Stream
		sent                        []string
		public, client, thoughtless bool // whether the last frame's text leaves
	}{
		"a piece after a subscription":              {subscribed, []string{piece(appended)}, false, true, false},
		"another piece after a subscription":        {subscribed, []string{piece(appended), piece(appended)}, false, true, false},
		"a piece after a status":                    {subscribed, []string{working, piece(appended)}, false, true, false},
		"a last piece":                              {subscribed, []string{piece(appended + `,"lastChunk":true`)}, false, true, false},
		"an event's piece":                          {subscribed, []string{piece(appended + byADK)}, false, true, true},
		"a piece after a start":                     {subscribed, []string{piece(""), piece(appended)}, true, true, true},
		"a piece after many messages":               {subscribed, append(messages, piece(""), piece(appended)), true, true, true},
		"a piece after a snapshot":                  {subscribed, []string{snapshot, piece(appended)}, true, true, true},
		"a piece after its beginning in a snapshot": {subscribed, []string{begun, piece(appended)}, true, true, true},
		"a piece after a question and a start":      {subscribed, []string{asking, piece(""), piece(appended)}, true, true, true},
		"a piece after a start and a question":      {subscribed, []string{piece(""), asking, piece(appended)}, true, true, true},
		"a piece after a piece and a question":      {sends, []string{piece(appended), asking, piece(appended)}, true, true, true},
		"a piece after the end of a task":           {subscribed, []string{asking, completed, piece(appended)}, true, true, true},
		"a piece after an answer":                   {answers, []string{piece(appended)}, false, true, false},
		"a piece after a request that is not known": {unread, []string{piece(appended)}, false, true, false},
		"a piece of a task that has no artifact":    {answers, []string{submittedEmpty, working, piece(appended), piece(appended)}, true, true, true},
		"a piece of a task that had one":            {answers, []string{strings.Replace(submitted, `"artifactId":"a"`, `"artifactId":"b"`, 1), piece(appended)}, false, true, false},
		"a piece of a task at work":                 {answers, []string{strings.Replace(submittedEmpty, "submitted", "working", 1), piece(appended)}, false, true, false},
		"a piece of a task that is submitted again": {answers, []string{working, submittedEmpty, piece(appended)}, false, true, false},
		"a piece of a new task":                     {sends, []string{piece(appended)}, true, true, true},
		"a piece in a recording":                    {event.Stream{}, []string{piece(appended)}, true, true, true},
		"a message's piece":                         {subscribed, []string{working, messagePiece}, false, true, false},
		"a message's piece, of a new task":          {sends, []string{working, messagePiece}, true, true, true},
	} {
		for s, want := range map[*filter.Settings]bool{&public: c.public, &client: c.client, &thoughtless: c.thoughtless} {
			got := filterStreamOf(t, &c.of, *s, "data: "+strings.Join(c.sent, "\n\ndata: ")+"\n\n")
			if leaves := strings.Contains(got[len(got)-1], "secret"); leaves != want {
				t.Errorf("%s, under %+v: the last frame becomes %s", name, *s, got[len(got)-1])
			}
		}
	}
}

// TestMarkedTasks sends a message of a task with a mark, on streams that may have begun before. There, the mark may be that of a status.
func TestMarkedTasks(t *testing.T) {
	for name, c := range map[string]struct {
		of     event.Stream
		state  string
		leaves bool
	}{
		"a new task":        {event.Stream{Live: true, Identity: event.Identity{NewRun: true}}, "working", false},
		"a recorded task":   {event.Stream{}, "working", false},
		"an answered task":  {event.Stream{Live: true}, "working", true},
		"another task":      {event.Stream{Live: true}, "submitted", false},
		"a subscribed task": {event.Stream{Live: true, Identity: event.Identity{JoinedRun: "t", NewRun: true}}, "working", true},
	} {
		sent := [][3]string{replaced(taskOf(`,"metadata":{"kind":"internal:x"}`), "working", c.state), stateOf("working", "m", canary, ""), stateOf("completed", "n", canary, "")}
		for envelope, wrap := range envelopes {
			got := filterStreamOf(t, &c.of, client, streamOf(wrap, sent...))
			if !strings.HasPrefix(got[0], withheld) || strings.Contains(got[1], "CANARY") != c.leaves || strings.Contains(got[2], "CANARY") != c.leaves || !strings.Contains(strings.ToLower(got[2]), "completed") {
				t.Errorf("%s, %s: the output is %s", name, envelope, got)
			}
		}
	}
}
