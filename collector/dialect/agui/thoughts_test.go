package agui_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestMarkedOnce repeats and continues a message of which only the start is marked as a thought, also in another run.
func TestMarkedOnce(t *testing.T) {
	const (
		start   = `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`
		marked  = `{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant","thought":true}`
		end     = `{"type":"TEXT_MESSAGE_END","messageId":"m"}`
		chunk   = `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"secret"}`
		list    = `"messages":[{"id":"m","role":"assistant","content":"secret"}]`
		over    = `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`
		another = `{"type":"RUN_STARTED","threadId":"t","runId":"r2","input":{` + list + `}}`
	)
	sent := []string{start, marked, end, chunk, `{"type":"MESSAGES_SNAPSHOT",` + list + `}`, over, another, chunk}
	for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
		for i, got := range filterFrames(t, filter.Settings{Policy: policy}, sent...) {
			if strings.Contains(got, "secret") {
				t.Errorf("under %s, of %s this leaves: %s", policy, sent[i], got)
			}
		}
	}
	if got := filterFrames(t, allSettings[0], sent...); got[4] != sent[4] {
		t.Errorf("with thoughts, the snapshot becomes %s", got[4])
	}
	other := strings.Replace(sent[4], `"m"`, `"n"`, 1)
	if got := filterFrames(t, filter.Settings{Policy: event.PolicyClient}, start, marked, end, other); got[3] != other {
		t.Errorf("a snapshot without thoughts becomes %s", got[3])
	}
}

// TestNestedMarks marks one frame of a message within another member, and then continues the message.
func TestNestedMarks(t *testing.T) {
	const start, plain = `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`, `{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}`
	var marks []string
	for _, mark := range dialecttest.ThoughtMarks {
		marks = append(marks, `"metadata":{`+mark+`}`)
	}
	marks = append(marks, `"metadata":{"x":{"y":[{"thought":true}]}}`, `"extra":{"thought":true}`, `"rawEvent":{"content":{"parts":[{"thought":true}]}}`)
	for _, mark := range marks {
		for how, frames := range map[string][]string{
			"a start": {strings.Replace(plain, `"role"`, mark+`,"role"`, 1), `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"secret"}`},
			"a piece": {plain, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"secret",` + mark + `}`, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"secret"}`},
			"a chunk": {`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"secret",` + mark + `}`, `{"type":"TEXT_MESSAGE_CHUNK","delta":"secret"}`},
			"a list":  {`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"assistant","content":"secret",` + mark + `}]}`},
		} {
			all := append([]string{start}, frames...)
			for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
				for i, got := range filterFrames(t, filter.Settings{Policy: policy}, all...) {
					if strings.Contains(got, "secret") {
						t.Errorf("%s, %s, under %s, of %s this leaves: %s", how, mark, policy, all[i], got)
					}
				}
			}
		}
	}
}

// TestMarkedAfterStart checks that the end of a message leaves whose start left, although a piece made it a thought.
func TestMarkedAfterStart(t *testing.T) {
	const end = `{"type":"TEXT_MESSAGE_END","messageId":"m"}`
	marked := `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"hm","metadata":{"thought":true}}`
	testPolicies(t, []string{`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}`, marked}, []policyCase{
		{`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"secret"}`, unchanged, withheld},
		{end, unchanged, end},
	})
	testPolicies(t, []string{`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant","metadata":{"thought":true}}`, marked}, []policyCase{{end, unchanged, withheld}})
}

// TestMarkedWork changes a state and an activity in which something is, or was, marked as a thought.
func TestMarkedWork(t *testing.T) {
	const (
		start  = `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`
		marked = `{"p":{"list":[{"thought":true,"z":"a"}]}}`
		clean  = `{"p":{"z":"a"}}`
	)
	state := func(content string) string {
		if strings.HasPrefix(content, "[") {
			return sent("STATE_DELTA", `"delta":`+content)
		}
		return sent("STATE_SNAPSHOT", `"snapshot":`+content)
	}
	activity := func(content string) string {
		kind, member := "ACTIVITY_SNAPSHOT", "content"
		if strings.HasPrefix(content, "[") {
			kind, member = "ACTIVITY_DELTA", "patch"
		}
		return sent(kind, `"messageId":"w"`, `"activityType":"x"`, `"`+member+`":`+content)
	}
	change := func(path, value string) string {
		return `[{"op":"replace","path":"` + path + `","value":` + value + `}]`
	}
	moved := `[{"op":"move","from":"/q","path":"/p/thought"}]`
	settings := []filter.Settings{{Policy: event.PolicyClient}, {Policy: event.PolicyPublic, StateKeys: []string{"p"}}}
	for name, sends := range map[string]func(string) string{"state": state, "activity": activity} {
		for how, before := range map[string][]string{
			"marked": {marked}, "marked by a change": {clean, change("/p/q", `{"thought":"yes"}`)}, "by its path": {clean, change("/p/thought", "true")},
			"by its other name": {clean, change("/p/adk_thought", "1")}, "moved": {clean, moved}, "before another change": {marked, change("/p/y", "1")},
		} {
			all := []string{start}
			for _, content := range before {
				all = append(all, sends(content))
			}
			all = append(all, sends(change("/p/z", `"secret"`)))
			if name == "activity" {
				all = append(all, `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"w","role":"activity","activityType":"x","content":{"z":"secret"}}]}`)
			}
			for _, s := range settings {
				for i, got := range filterFrames(t, s, all...) {
					if strings.Contains(got, "secret") || strings.Contains(got, "thought") {
						t.Errorf("%s, %s, under %s, of %s this leaves: %s", name, how, s.Policy, all[i], got)
					}
				}
			}
			if got := last(filterFrames(t, allSettings[0], all...)); got != last(all) {
				t.Errorf("%s, %s, with thoughts: got %s, want the last frame", name, how, got)
			}
		}
		for how, before := range map[string][]string{
			"unmarked": {clean}, "marked as none": {`{"p":{"thought":false}}`}, "a mark is removed": {clean, `[{"op":"remove","path":"/p/thought"}]`}, "set to false": {clean, change("/p/thought", "false")},
		} {
			all := []string{start}
			for _, content := range before {
				all = append(all, sends(content))
			}
			all = append(all, sends(change("/p/z", `"said"`)))
			if got := last(filterFrames(t, settings[0], all...)); got != last(all) {
				t.Errorf("%s, %s: got %s, want the change", name, how, got)
			}
		}
	}
	if got := last(filterFrames(t, settings[0], start, state(marked), state(clean), state(change("/p/z", `"said"`)))); !strings.Contains(got, "said") {
		t.Errorf("after another snapshot, a change becomes %s", got)
	}
}

// TestInternalByPatch makes an activity internal by a change whose value the patch does not show.
func TestInternalByPatch(t *testing.T) {
	for _, op := range []string{
		`{"op":"copy","from":"/a","path":"/type"}`, `{"op":"move","from":"/a","path":"/type"}`, `{"op":"move","from":"/a","path":"/n/kind"}`,
		`{"op":"replace","path":"/type","value":"internal"}`, `{"op":"add","path":"/type"}`,
	} {
		all := []string{
			`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`, `{"type":"ACTIVITY_SNAPSHOT","messageId":"w","activityType":"x","content":{"type":"x","a":"internal"}}`,
			`{"type":"ACTIVITY_DELTA","messageId":"w","activityType":"x","patch":[` + op + `,{"op":"add","path":"/b","value":"secret"}]}`,
			`{"type":"ACTIVITY_DELTA","messageId":"w","activityType":"x","patch":[{"op":"add","path":"/c","value":"secret"}]}`,
		}
		if got := filterFrames(t, allSettings[0], all...); got[2] != withheld || got[3] != withheld {
			t.Errorf("with %s, the changes become %s", op, got[2:])
		}
	}
	const harmless = `{"type":"ACTIVITY_DELTA","messageId":"w","activityType":"x","patch":[{"op":"move","from":"/a","path":"/b"},{"op":"remove","path":"/type"},{"op":"replace","path":"/type","value":"y"}]}`
	if got := last(filterFrames(t, allSettings[0], `{"type":"ACTIVITY_SNAPSHOT","messageId":"w","activityType":"x","content":{}}`, harmless)); got != harmless {
		t.Errorf("a harmless patch becomes %s", got)
	}
}
