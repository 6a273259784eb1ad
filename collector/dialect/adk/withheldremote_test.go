package adk_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// remoteTask returns the custom metadata of a remote agent's event: a task with a message for each part that is not "". The last one is that
// of the event.
func remoteTask(metadata string, parts ...string) string {
	var messages []string
	last := ""
	for _, part := range parts {
		if last = ""; part != "" {
			messages = append(messages, `{"messageId":"m","role":"ROLE_AGENT","parts":[`+part+`]}`)
			last = `"message":` + messages[len(messages)-1]
		}
	}
	return `"customMetadata":{"a2a:response":{"status":{` + last + `},"history":[` + strings.Join(messages, ",") + `],"metadata":{` + metadata + `}}},`
}

const (
	remoteMark  = `"adk_author":"s","adk_custom_metadata":"{\"kind\":\"internal\"}"`
	remoteLabel = `"adk_author":"o","adk_custom_metadata":{"label":"x"}`
)

// TestTasksOfRemoteAgents checks what the event of a remote agent has of the earlier work of that agent, some of which was withheld.
func TestTasksOfRemoteAgents(t *testing.T) {
	const secret, open, hi = `{"text":"secret"}`, `{"text":"open"}`, `{"text":"hi"}`
	const call, sameCall = `{"data":{"id":"c","name":"pay","args":{"x":1}},"metadata":{"adk_type":"function_call"}}`, `{"data":{"args":{"x":1.0},"name":"pay","id":"c"},"metadata":{"adk_type":"function_call"}}`
	const sources, request = `,"adk_grounding_metadata":{"webSearchQueries":["secret plan"]}`, `,"x":{"a2a:request":{"messageId":"r","role":"user","parts":[{"text":"[s] said: secret"}]}}`
	sends := func(metadata string, parts ...string) string {
		return by("r", remoteTask(metadata, parts...)+says("hi"))
	}
	hidden := sends(remoteMark, secret)
	unreadable := sends(remoteMark+`,"US":1,"us":2`, secret)
	artifacts := func(list string) string {
		return by("r", `"customMetadata":{"a2a:response":{"status":{},"artifacts":[`+list+`]}},`+says("hi"))
	}
	artifact := func(parts string) string {
		return artifacts(`{"artifactId":"x","name":"secret","parts":[` + parts + `]}`)
	}
	for name, c := range map[string]struct {
		sent []string
		want string // the last event, as it leaves
	}{
		"a text":                {[]string{hidden, sends(remoteLabel, secret, hi)}, sends(remoteLabel, "", hi)},
		"a text in an artifact": {[]string{hidden, artifact(secret)}, artifacts("")},
		"beside another text":   {[]string{hidden, artifacts(`{"artifactId":"x","parts":[` + secret + "," + open + `]}`)}, artifacts(`{"artifactId":"x","parts":[` + open + `]}`)},
		"an empty artifact":     {[]string{hidden, artifact("")}, artifact("")},
		"what left before":      {[]string{sends("", open), sends(remoteMark, open, secret), sends(remoteLabel, open, secret, hi)}, sends(remoteLabel, open, "", hi)},
		"a call":                {[]string{sends(remoteMark, call), sends(remoteLabel, sameCall, hi)}, sends(remoteLabel, "", hi)},
		"a call of an event":    {[]string{by("a", internal+content(called("c", "1"))), sends(remoteLabel, call, hi)}, sends(remoteLabel, "", hi)},
		"another call":          {[]string{by("a", internal+content(called("d", "1"))), sends(remoteLabel, call, hi)}, sends(remoteLabel, call, hi)},
		"merged metadata":       {[]string{sends(remoteMark+sources, secret), sends(remoteLabel+sources, hi)}, sends(remoteLabel, hi)},
		"earlier metadata":      {[]string{sends(remoteLabel+sources, open), sends(remoteMark+sources, secret), sends(remoteLabel+sources, hi)}, sends(remoteLabel+sources, hi)},
		"a request":             {[]string{hidden, sends(remoteLabel+request, hi)}, sends(remoteLabel+strings.Replace(request, `{"text":"[s] said: secret"}`, "", 1), hi)},
		"after an unreadable":   {[]string{sends("", open), unreadable, sends(remoteLabel, open, secret)}, sends(remoteLabel, open, "")},
		"an unreadable answer":  {[]string{hidden, by("r", `"customMetadata":{"a2a:response":"{\"US\":1,\"us\":2,\"x\":\"secret\"}"},`+says("hi"))}, by("r", `"customMetadata":{},`+says("hi"))},
		"a mark that is merged": {[]string{hidden, sends(remoteMark, secret, hi)}, withheld},
		"without a mark":        {[]string{sends(remoteLabel, secret), sends(remoteLabel, secret, hi)}, sends(remoteLabel, secret, hi)},
	} {
		got := leavesOf(t, &event.Stream{}, event.PolicyClient, c.sent...)
		if last := got[len(got)-1]; last != c.want {
			t.Errorf("%s: the event leaves as %s, want %s", name, last, c.want)
		}
		for spelling, spelled := range spellings {
			var sent []string
			for _, one := range c.sent {
				sent = append(sent, spelled(one))
			}
			last := sent[len(sent)-1]
			got := leavesOf(t, &event.Stream{}, event.PolicyClient, sent...)[len(sent)-1]
			if (got == last) != (c.want == c.sent[len(sent)-1]) || c.want != withheld && (got == withheld || strings.Contains(got, "secret") != strings.Contains(c.want, "secret")) {
				t.Errorf("%s, %s: the event leaves as %s", name, spelling, got)
			}
		}
	}
}

// TestTasksOnOtherStreams continues the task of a remote agent in another run of its session, or of another one.
func TestTasksOnOtherStreams(t *testing.T) {
	const secret, hi = `{"text":"secret"}`, `{"text":"hi"}`
	for session, leaves := range map[string]bool{"s": false, "t": true} {
		memory := new(event.Withheld)
		stream := func(session string) *event.Stream {
			return &event.Stream{Withheld: memory, Identity: event.Identity{App: "app", User: "u", Session: session}}
		}
		leavesOf(t, stream("s"), event.PolicyClient, by("r", remoteTask(remoteMark, secret)+says("hi")))
		if got := leavesOf(t, stream(session), event.PolicyClient, by("r", remoteTask(remoteLabel, secret, hi)+says("hi")))[0]; strings.Contains(got, "secret") != leaves {
			t.Errorf("in the session %s, the event leaves as %s", session, got)
		}
	}
}
