package agui_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

const (
	prompt  = `{"id":"p","role":"system","content":"CANARY"}`
	request = `{"id":"u","role":"user","content":"Hi"}`
)

func activity(content string) string {
	return `{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"x","content":` + content + `}`
}

func change(patch string) string {
	return `{"type":"ACTIVITY_DELTA","messageId":"a","activityType":"x","patch":` + patch + `}`
}

// TestPromptsInActivities checks that an activity leaves without the instructions for models in it, like those that Pydantic AI
// reports as enqueued.
func TestPromptsInActivities(t *testing.T) {
	whole := activity(`{"messages":[` + request + `]}`)
	for _, c := range []struct{ sent, want string }{
		{activity(`{"messages":[` + prompt + `,` + request + `]}`), whole},
		{activity(`{"messages":[` + request + `,{"role":"ｓystem","text":"CANARY"}]}`), whole},
		{activity(`{"messages":[` + request + `,{"Role":["user"],"text":"CANARY"}]}`), whole},
		{activity(`{"x":[{"Messages":[` + prompt + `]}]}`), activity(`{"x":[{"Messages":[]}]}`)},
		{activity(`{"x":` + prompt + `,"y":1}`), activity(`{"y":1}`)},
		{activity(`{"x":{"type":"system","content":"CANARY"},"y":1}`), activity(`{"y":1}`)},
		{activity(prompt), withheld},
		{with(`"Content":` + prompt)(activity(`{}`)), withheld},
		{activity(`{"user":{"role":"developer"},"steps":[{"role":"system","title":"x"}]}`), unchanged},
		{activity(`{"type":"Text","content":"x"}`), unchanged},
		{with(`"replace":false`)(whole), unchanged},

		{snapshotOf(`{"id":"a","role":"activity","activityType":"x","content":{"messages":[` + prompt + `,` + request + `]}}`), snapshotOf(`{"id":"a","role":"activity","activityType":"x","content":{"messages":[` + request + `]}}`)},
		{snapshotOf(`{"id":"a","role":"activity","activityType":"x","content":` + prompt + `},` + request), snapshotOf(request)},
		{snapshotOf(`{"id":"a","role":"activity","activityType":"x","content":{"messages":[` + request + `]}}`), unchanged},
		{`{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"messages":[{"id":"a","role":"activity","content":{"messages":[` + prompt + `]}}]}}`, `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`},
	} {
		want := c.want
		if want == unchanged {
			want = c.sent
		}
		if got := last(filterFrames(t, allSettings[0], c.sent)); got != want {
			t.Errorf("filtering %s\ngives %s\nwant  %s", c.sent, got, want)
		}
		if got := last(filterFrames(t, filter.Settings{Policy: event.PolicyPublic}, c.sent)); strings.Contains(got, "CANARY") {
			t.Errorf("public: filtering %s gives %s", c.sent, got)
		}
	}
}

func snapshotOf(messages string) string {
	return `{"type":"MESSAGES_SNAPSHOT","messages":[` + messages + `]}`
}

// TestPromptsInChanges checks that no change of an activity adds instructions for models, and that none follows that the client
// cannot apply.
func TestPromptsInChanges(t *testing.T) {
	whole := activity(`{"messages":[]}`)
	harmless := change(`[{"op":"replace","path":"/messages/0/content","value":"Hi"}]`)
	cut := activity(`{"messages":[` + prompt + `]}`)
	for _, c := range []struct {
		sent []string
		left int // frames at the start that leave
	}{
		{[]string{whole, harmless, harmless}, 3},
		{[]string{whole, change(`[{"op":"add","path":"/messages/0","value":` + prompt + `}]`), harmless}, 1},
		{[]string{whole, change(`[{"op":"add","path":"/messages","value":[` + prompt + `]}]`), harmless}, 1},
		{[]string{whole, change(`[{"op":"add","path":"/messages/-","value":{"role":"developer","text":"CANARY"}}]`), harmless}, 1},
		{[]string{whole, change(`[{"op":"add","path":"/messages/0","value":{}},{"op":"add","path":"/messages/0/role","value":"system"}]`), harmless}, 1},
		{[]string{whole, change(`[{"op":"copy","from":"/x","path":"/messages/0/role"}]`), harmless}, 1},
		{[]string{whole, change(`[{"op":"remove","path":"/messages/0/role"},{"op":"remove","path":"/n/role"}]`), harmless}, 3},
		{[]string{whole, change(`[{"op":"replace","path":"/n/role","value":"assistant"},{"op":"replace","path":"/n/name","value":"x"},{"op":"add","path":"/n/type","value":"Text"}]`), harmless}, 3},
		{[]string{whole, change(`[{"op":"replace","path":"/user/role","value":"developer"}]`), harmless}, 1},
		{[]string{whole, change(`[{"op":"replace","path":"/log/0/content","value":"CANARY"},{"op":"replace","path":"/log/0/role","value":"system"}]`), harmless}, 1},
		{[]string{whole, change(`[{"op":"add","path":"/n/r\u006fle","value":"ｓystem"}]`), harmless}, 1},
		{[]string{whole, change(`[{"op":"add","path":"/n/role","value":7}]`), harmless}, 1},
		{[]string{whole, change(`[{"op":"move","from":"/x","path":"/n/role"}]`), harmless}, 1},
		{[]string{whole, change(`[{"op":"move","from":"/x","path":"/n/name"}]`), harmless}, 3},
		{[]string{whole, change(`[{"op":"add","path":"/n/type","value":"system"}]`), harmless}, 1},
		{[]string{whole, change(`[{"op":"add","path":"/n/name","value":"internal-x"}]`), harmless}, 3},
		{[]string{whole, change(`[{"op":"add","path":"/n/metadata","value":{"role":"developer"}}]`), harmless}, 1},
		{[]string{whole, change(`[{"op":"add","path":"/n/metadata/role","value":"developer"}]`), harmless}, 1},
		{[]string{whole, change(`[{"op":"add","path":"/n/metadata/event","value":"internal:x"}]`), harmless}, 1},
		{[]string{whole, change(`[{"op":"add","path":"/n/toolCalls","value":[{"type":"internal:x"}]}]`), harmless}, 1},
		{[]string{cut, harmless}, 1},
		{[]string{cut, whole, harmless}, 3},
		{[]string{cut, with(`"replace":false`)(whole), harmless}, 2},
		{[]string{with(`"rawEvent":{"messages":[` + prompt + `]}`)(whole), harmless}, 2},
		{[]string{snapshotOf(`{"id":"a","role":"activity","content":{"messages":[` + prompt + `]}}`), harmless}, 1},
		{[]string{`{"type":"X"`, activity(`{"content":"Hi"}`), change(`[]`)}, 0},
	} {
		got := filterFrames(t, allSettings[0], c.sent...)
		n := slices.Index(got, withheld)
		if n < 0 {
			n = len(got)
		}
		if n != c.left || strings.Contains(strings.Join(got, ""), "CANARY") || !allWithheld(got[n:]) && c.left > 0 {
			t.Errorf("of %q these leave: %q, want the first %d", c.sent, got, c.left)
		}
		if c.left == 0 && allWithheld(got) {
			t.Errorf("of %q nothing leaves", c.sent)
		}
	}
}

// TestPromptsInOutcomes checks that the questions at the end of a run leave without the instructions for models in them.
func TestPromptsInOutcomes(t *testing.T) {
	end := func(members string) string { return sent("RUN_FINISHED", `"threadId":"t"`, `"runId":"r"`, members) }
	for _, list := range []string{`"outcome":{"type":"interrupt","interrupts":[QUESTION]}`, `"outcome":"interrupt","interrupt":QUESTION`, `"Outcome":{"interrupts":[QUESTION]}`, `"interrupt":[QUESTION]`} {
		asking := func(member string) string {
			return end(strings.Replace(list, "QUESTION", `{"id":"i",`+member+`,"message":"Go on?"}`, 1))
		}
		for _, name := range []string{"metadata", "payload"} {
			from := asking(`"` + name + `":{"messages":[` + prompt + `,` + request + `]}`)
			want := asking(`"` + name + `":{"messages":[` + request + `]}`)
			if got := last(filterFrames(t, allSettings[0], from)); got != want {
				t.Errorf("filtering %s\ngives %s\nwant  %s", from, got, want)
			}
			if got := last(filterFrames(t, allSettings[0], want)); got != want {
				t.Errorf("filtering %s gives %s", want, got)
			}
		}
	}
	call := evasions["kind"](startCases["a call"][0])
	both := end(`"outcome":{"type":"interrupt","interrupts":[{"id":"i","message":"Go on?"}]},"interrupt":{"id":"j","toolCallId":"c","message":"CANARY"}`)
	for _, s := range allSettings {
		if got := last(filterFrames(t, s, call, both)); strings.Contains(got, "CANARY") {
			t.Errorf("%s: a question about a withheld call leaves: %s", s.Policy, got)
		}
	}
}
