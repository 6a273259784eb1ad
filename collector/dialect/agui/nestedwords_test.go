package agui_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestExcludedInAnyFrame puts messages that a setting excludes into each type of frame that may contain messages.
func TestExcludedInAnyFrame(t *testing.T) {
	client := func(change func(*filter.Settings)) filter.Settings {
		s := filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed}
		change(&s)
		return s
	}
	noThoughts := client(func(s *filter.Settings) { s.Thoughts = event.ThoughtsNone })
	onlyGood := client(func(s *filter.Settings) { s.Authors = []string{"good"} })
	without := func(kinds ...event.Kind) filter.Settings {
		return client(func(s *filter.Settings) { s.Exclude = kinds })
	}
	const (
		run   = `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`
		step  = `{"type":"STEP_STARTED","stepName":"agent:good"}`
		good  = `{"id":"g","name":"good","role":"assistant","content":"said"}`
		evil  = `{"type":"TEXT_MESSAGE_CHUNK","messageId":"e","role":"assistant","name":"evil","delta":"x"}`
		asked = `{"id":"i","reason":"input_required","message":"?","metadata":{"messages":[ONE]}}`
	)
	places := map[string]string{
		"a snapshot":            `{"type":"MESSAGES_SNAPSHOT","messages":[ONE]}`,
		"an activity":           `{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"x","content":{"steps":[{"messages":[ONE]}]}}`,
		"a changed activity":    `{"type":"ACTIVITY_DELTA","messageId":"a","activityType":"x","patch":[{"op":"add","path":"/messages/-","value":ONE}]}`,
		"an activity in a list": `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a","role":"activity","activityType":"x","content":{"messages":[ONE]}}]}`,
		"a result":              `{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":{"messages":[ONE]}}`,
		"a question":            `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[` + asked + `]}}`,
	}
	for what, c := range map[string]struct {
		message string
		s       filter.Settings
	}{
		"a thought":         {`{"id":"m","role":"reasoning","content":"CANARY"}`, noThoughts},
		"a hidden thought":  {`{"id":"m","role":"assistant","content":"x","encryptedValue":"CANARY"}`, noThoughts},
		"another's text":    {`{"id":"m","role":"assistant","name":"evil","content":"CANARY"}`, onlyGood},
		"another's message": {`{"id":"e","role":"assistant","content":"CANARY"}`, onlyGood},
		"the user's text":   {`{"id":"m","role":"user","content":"CANARY"}`, onlyGood},
		"a text":            {`{"id":"m","role":"assistant","name":"good","content":"CANARY"}`, without(event.KindText)},
		"a call":            {`{"id":"m","role":"assistant","toolCalls":[{"id":"c","function":{"name":"f","arguments":"CANARY"}}]}`, without(event.KindToolStarted)},
		"a result":          {`{"id":"m","role":"tool","toolCallId":"c","content":"CANARY"}`, without(event.KindToolEnded)},
	} {
		for where, frame := range places {
			if got := last(filterFrames(t, c.s, run, evil, strings.Replace(frame, "ONE", c.message, 1))); strings.Contains(got, "CANARY") {
				t.Errorf("%s in %s leaves: %s", what, where, got)
			}
			want := strings.Replace(frame, "ONE", good, 1)
			if got := last(filterFrames(t, onlyGood, run, step, want)); got != want {
				t.Errorf("a message that nothing excludes, in %s, becomes %s", where, got)
			}
		}
	}
	for member, kind := range map[string]event.Kind{`"state":{"x":"CANARY"}`: event.KindState, `"resume":[{"interruptId":"i","payload":"CANARY"}]`: event.KindInputAnswered} {
		frame := with(`"input":{"messages":[],` + member + `}`)(run)
		if got := last(filterFrames(t, without(kind), frame)); strings.Contains(got, "CANARY") {
			t.Errorf("without %s, this leaves: %s", kind, got)
		}
		if got := last(filterFrames(t, without(event.KindConfidence), frame)); got != frame {
			t.Errorf("a request becomes %s", got)
		}
	}
	activity := `{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"x","content":{"title":"x"}}`
	for _, s := range []filter.Settings{onlyGood, without(event.KindText)} {
		if got := last(filterFrames(t, s, run, activity)); got != activity {
			t.Errorf("an activity without messages becomes %s", got)
		}
	}
}
