package adk_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// Events with a summary of a session.
var (
	summary = `{"author":"system",` + says("a call, and a plan") + `,"compactedContent":"a call, and a plan","id":"s","invocationId":"","actions":{},"isCompacted":true}`
	stored  = `{"author":"user","invocationId":"x","actions":{"compaction":{"startTimestamp":1,"compactedContent":{"parts":[{"text":"a plan"}]}}}}`
	relayed = by("r", `"customMetadata":{"a2a:response":{"kind":"artifact-update","taskId":"t","artifact":{"artifactId":"x"},"metadata":{"adk_author":"system","adk_invocation_id":""}}},`+says("a plan"))
)

// TestWithheldSummaries checks which summaries leave.
func TestWithheldSummaries(t *testing.T) {
	hidden, open := by("a", internal+says("secret")), by("a", says("hi"))
	const unread = internal + `"US":1,"us":2`
	for name, c := range map[string]struct {
		sent   []string
		leaves bool // the last frame
	}{
		"of an internal event":              {[]string{hidden, open, summary}, false},
		"of an internal event, as stored":   {[]string{hidden, open, stored}, false},
		"of an internal event, of a remote": {[]string{hidden, open, relayed}, false},
		"of an unreadable event":            {[]string{by("a", unread), summary}, false},
		"of other events":                   {[]string{open, summary}, true},
		"of other events, as stored":        {[]string{open, stored}, true},
		"of other events, of a remote":      {[]string{open, relayed}, true},
	} {
		checkLast(t, name, c.leaves, c.sent...)
	}
	if got := leavesOf(t, &event.Stream{}, event.PolicyPublic, open, summary)[1]; got != withheld {
		t.Errorf("a summary leaves under public: %s", got)
	}
	if got := leavesOf(t, &event.Stream{}, event.PolicyPublic, open, relayed)[1]; got != withheld {
		t.Errorf("a remote agent's summary leaves under public: %s", got)
	}
}

// TestSummariesOfSessions checks that a summary does not leave if something of the session was withheld on another stream.
func TestSummariesOfSessions(t *testing.T) {
	memory := new(event.Withheld)
	in := func(session string) *event.Stream {
		return &event.Stream{Withheld: memory, Identity: event.Identity{App: "app", User: "u", Session: session}}
	}
	leavesOf(t, in("s"), event.PolicyClient, by("a", internal+says("secret")))
	for session, want := range map[string]string{"s": withheld, "other": summary} {
		if got := leavesOf(t, in(session), event.PolicyClient, summary)[0]; got != want {
			t.Errorf("in session %s, the summary leaves as %s", session, got)
		}
	}
}
