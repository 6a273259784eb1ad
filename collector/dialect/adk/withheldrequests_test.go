package adk_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// requested returns the custom metadata of a remote agent's event, with the request and with the task that repeats it.
func requested(parts string) string {
	request := `{"messageId":"m","role":"ROLE_USER","parts":[` + parts + `]}`
	answer := `{"messageId":"n","role":"ROLE_AGENT","parts":[{"text":"[a] said: hi"}]}`
	return `"customMetadata":{"a2a:request":` + request + `,"a2a:response":{"status":{"state":"TASK_STATE_WORKING","message":` + answer + `},"history":[` + request + `,` + answer + `],"artifacts":[{"artifactId":"x","parts":[{"data":{}}]}]}},`
}

// TestRequestsToRemoteAgents checks what a remote agent's event has of the request, which quotes the events of other agents.
func TestRequestsToRemoteAgents(t *testing.T) {
	text := func(text string) string { return `{"text":` + strconv.Quote(text) + `}` }
	hidden, long := by("a", internal+says("secret")), by("a", internal+says("the secret answer"))
	const unread = internal + `"US":1,"us":2`
	for name, c := range map[string]struct {
		sent  string // before
		part  string
		isCut bool
	}{
		"a text":                   {hidden, text("[a] said:\n<<<BEGIN_QUOTED_AGENT_CONTENT>>>\nsecret\n<<<END_QUOTED_AGENT_CONTENT>>>"), true},
		"a text of google-adk 1":   {hidden, text("[a] said: secret"), true},
		"a call":                   {by("a", internal+content(called("c", "secret"))), text("[a] called tool `pay` with parameters: {'x': 'secret'}"), true},
		"the response":             {by("a", internal+content(called("c", "secret"))), text("[a] `pay` tool returned result: {'x': 'secret'}"), true},
		"a changed text":           {hidden, text("[a] said: SECRET"), true},
		"code":                     {hidden, `{"data":{"code":"secret"},"metadata":{"adk_type":"executable_code"}}`, true},
		"a file":                   {hidden, `{"raw":"c2VjcmV0","mediaType":"image/png"}`, true},
		"a text without an author": {long, text("They say: the secret answer."), true},
		"after an unreadable":      {by("a", unread), text("[a] said: secret"), true},
		"what the user says":       {long, text("hi"), false},
		"brackets":                 {hidden, text("] [a said"), false},
		"a text of another agent":  {hidden, text("[b] said: hi"), false},
		"of a parent agent":        {by("a", internal+at("b@1/a@1")+says("secret")), text("[b] said: hi"), false},
		"without a mark":           {by("a", says("secret")), text("[a] said: secret"), false},
		"code, without a mark":     {by("a", says("secret")), `{"data":{"code":"secret"},"metadata":{"adk_type":"executable_code"}}`, false},
	} {
		sent := by("r", requested(text("go")+","+c.part)+says("hello"))
		want := sent
		if c.isCut {
			want = by("r", requested(text("go"))+says("hello"))
		}
		if strings.Contains(c.sent, unread) {
			const answer = `{"messageId":"n","role":"ROLE_AGENT","parts":[{"text":"[a] said: hi"}]}`
			want = strings.NewReplacer(`,"message":`+answer, "", ","+answer, "").Replace(by("r", requested("")+says("hello")))
		}
		if got := leavesOf(t, &event.Stream{}, event.PolicyClient, c.sent, sent)[1]; got != want {
			t.Errorf("%s: the event leaves as %s, want %s", name, got, want)
		}
		if got := leavesOf(t, &event.Stream{}, event.PolicyClient, java(c.sent), java(sent))[1]; (got != java(sent)) != c.isCut || c.isCut && strings.Contains(got, strconv.Quote(c.part)) {
			t.Errorf("%s, of a server in Java: the event leaves as %s", name, got)
		}
	}
}

// TestRequestsOnOtherStreams quotes an internal event in a later run of its session, or of another one.
func TestRequestsOnOtherStreams(t *testing.T) {
	later := by("r", requested(`{"text":"[a] said: secret"}`)+says("hello"))
	for session, leaves := range map[string]bool{"s": false, "t": true} {
		memory := new(event.Withheld)
		stream := func(session string) *event.Stream {
			return &event.Stream{Withheld: memory, Identity: event.Identity{App: "app", User: "u", Session: session}}
		}
		leavesOf(t, stream("s"), event.PolicyClient, by("a", internal+says("secret")))
		if got := leavesOf(t, stream(session), event.PolicyClient, later)[0]; strings.Contains(got, "secret") != leaves {
			t.Errorf("in the session %s, the event leaves as %s", session, got)
		}
	}
}
