package agui_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestAuthorsOfAnyFrame checks that an author holds for the whole message or thought, whichever of its frames states it. With the agent
// good everywhere, everything leaves.
func TestAuthorsOfAnyFrame(t *testing.T) {
	const (
		run, step    = `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`, `{"type":"STEP_STARTED","stepName":"agent:good"}`
		start, named = `{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant","name":"good"}`, `{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant","name":"evil"}`
		piece, end   = `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"CANARY"}`, `{"type":"TEXT_MESSAGE_END","messageId":"m"}`
		chunk        = `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"CANARY"}`
		list         = `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"assistant","content":"CANARY"}]}`
		think        = `{"type":"REASONING_MESSAGE_CONTENT","messageId":"m","delta":"CANARY"}`
		result       = `{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":{"messages":[{"id":"m","content":"CANARY"}]}}`
	)
	evil := with(`"name":"evil"`)
	for what, frames := range map[string][]string{
		"a chunk":                      {step, chunk, evil(chunk)},
		"a piece":                      {step, start, evil(piece)},
		"a piece after it":             {step, start, evil(piece), piece},
		"a chunk after it":             {step, chunk, evil(chunk), `{"type":"TEXT_MESSAGE_CHUNK","delta":"CANARY"}`},
		"the start, in a step":         {step, named, piece},
		"the end":                      {step, start, piece, evil(end), list},
		"the start, then a list":       {named, piece, end, step, list},
		"a step, then a list":          {strings.Replace(step, "good", "evil", 1), strings.Replace(start, `,"name":"good"`, "", 1), piece, strings.Replace(strings.Replace(step, "STARTED", "FINISHED", 1), "good", "evil", 1), step, list},
		"a list":                       {step, strings.Replace(list, `"role"`, `"name":"evil","role"`, 1), start, piece},
		"a list, then a list":          {step, strings.Replace(list, `"role"`, `"Name":"evil","role"`, 1), list},
		"an input":                     {with(`"input":{"messages":[{"id":"m","role":"assistant","name":"evil","content":"x"}]}`)(run), step, start, piece},
		"the start, then a new start":  {named, end, step, start, piece},
		"the start, then a result":     {run, named, end, step, result},
		"another spelling":             {step, chunk, with(`"ｎame":"evil"`)(chunk)},
		"a list of names":              {step, chunk, with(`"name":["evil"]`)(chunk)},
		"a number":                     {step, chunk, with(`"name":7`)(chunk)},
		"the start of a thought":       {step, evil(`{"type":"REASONING_MESSAGE_START","messageId":"m"}`), think},
		"a piece of a thought":         {step, `{"type":"REASONING_MESSAGE_START","messageId":"m"}`, evil(think), think},
		"a thought, then a list":       {step, `{"type":"REASONING_MESSAGE_START","messageId":"m"}`, evil(think), strings.Replace(list, "assistant", "reasoning", 1)},
		"a thought in chunks":          {step, evil(`{"type":"REASONING_MESSAGE_CHUNK","messageId":"m","delta":"x"}`), `{"type":"REASONING_MESSAGE_CHUNK","delta":"CANARY"}`},
		"reasoning":                    {step, evil(`{"type":"REASONING_START","messageId":"p"}`), `{"type":"REASONING_MESSAGE_START","messageId":"m"}`, think},
		"thinking":                     {step, evil(`{"type":"THINKING_START"}`), `{"type":"THINKING_TEXT_MESSAGE_START"}`, `{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"CANARY"}`},
		"a subagent, after the start":  {step, `{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"evil"}`, start, with(`"subagentRunId":"s"`)(piece), piece},
		"an activity with its ID":      {step, evil(`{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"x","content":{}}`), start, piece},
		"a result with its ID":         {step, `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}`, evil(`{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":""}`), start, piece},
		"the message of hidden values": {step, named, `{"type":"REASONING_ENCRYPTED_VALUE","subtype":"message","entityId":"m","encryptedValue":"CANARY"}`},
	} {
		good := slices.Clone(frames)
		for i := range good {
			good[i] = strings.NewReplacer("evil", "good", `:7`, `:"good"`, `["evil"]`, `"good"`).Replace(good[i])
		}
		for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
			s := filter.Settings{Policy: policy, Thoughts: event.ThoughtsDetailed, Authors: []string{"good"}}
			if got := last(filterFrames(t, s, frames...)); strings.Contains(got, "CANARY") {
				t.Errorf("%s: with an author in %s this leaves: %s", policy, what, got)
			}
			if got := last(filterFrames(t, s, good...)); policy == event.PolicyClient && got != last(good) {
				t.Errorf("with the author good in %s, %s becomes %s", what, last(good), got)
			}
			s.Authors = nil
			if got := last(filterFrames(t, s, frames...)); policy == event.PolicyClient && got != last(frames) {
				t.Errorf("without authors, after %s, %s becomes %s", what, last(frames), got)
			}
		}
	}
}

// TestManyAuthors checks that a message whose author may have been forgotten is by nobody known.
func TestManyAuthors(t *testing.T) {
	s := filter.Settings{Policy: event.PolicyClient, Authors: []string{"good"}}
	chunk := func(i int, name string) string {
		return fmt.Sprintf(`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m%d","name":"%s","delta":"x"}`, i, name)
	}
	frames := []string{}
	for i := range 1026 {
		frames = append(frames, chunk(i, "good"))
	}
	got := filterFrames(t, s, append(frames, chunk(0, "good"))...)
	if got[0] == withheld || got[1023] == withheld || got[1025] != withheld || last(got) == withheld {
		t.Errorf("the first, the last that is remembered, the next, and the first again become %q", []string{got[0], got[1023], got[1025], last(got)})
	}
	frames = frames[:0]
	for i := range 10 {
		frames = append(frames, chunk(0, fmt.Sprint("n", i)))
		s.Authors = append(s.Authors, fmt.Sprint("n", i))
	}
	if got := filterFrames(t, s, frames...); got[7] == withheld || got[8] != withheld {
		t.Errorf("with eight authors and with more, a message becomes %q and %q", got[7], got[8])
	}
}
