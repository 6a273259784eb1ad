package adk_test

import (
	"fmt"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// updates returns an event of a remote agent that updates an artifact.
func updates(artifact, metadata, more string) string {
	return by("r", `"customMetadata":{"a2a:response":{"taskId":"t"`+more+`,"artifact":{"artifactId":"`+artifact+`","parts":[{"text":"secret"}]},"metadata":{`+metadata+`}}},`+says("secret"))
}

// TestArtifactsOfRemoteAgents checks what continues or replaces an artifact of a remote agent of which something was withheld.
func TestArtifactsOfRemoteAgents(t *testing.T) {
	const mark, piece, adkEvent = `"kind":"internal"`, `,"append":true`, `"adk_author":"s"`
	hidden := updates("x", mark, "")
	unread := by("r", internal+`"US":1,"us":2`)
	var full []string
	for i := range 1024 {
		full = append(full, updates(fmt.Sprint(i), mark, ""))
	}
	for name, c := range map[string]struct {
		sent   []string
		leaves bool // the last frame
	}{
		"the next piece":                     {[]string{hidden, updates("x", "", piece)}, false},
		"another version":                    {[]string{hidden, updates("x", "", "")}, false},
		"after a piece that left":            {[]string{updates("x", "", ""), updates("x", mark, piece), updates("x", "", piece)}, false},
		"another event in the artifact":      {[]string{updates("x", adkEvent, ""), updates("x", adkEvent+","+mark, piece), updates("x", adkEvent, piece)}, true},
		"after an event that was withheld":   {[]string{updates("x", adkEvent+","+mark, ""), updates("x", adkEvent, piece)}, false},
		"a piece after an unreadable event":  {[]string{unread, updates("x", "", piece)}, false},
		"a known one after unreadable event": {[]string{updates("x", "", ""), unread, updates("x", "", piece)}, true},
		"the first after unreadable event":   {[]string{unread, updates("x", "", "")}, true},
		"another artifact":                   {[]string{hidden, updates("y", "", piece)}, true},
		"without a mark":                     {[]string{updates("x", "", ""), updates("x", "", piece)}, true},
		"another one after many":             {append(full, updates("x", "", "")), false},
	} {
		got := leavesOf(t, &event.Stream{}, event.PolicyClient, c.sent...)
		if last := got[len(got)-1]; (last == withheld) == c.leaves {
			t.Errorf("%s: the last event leaves as %s", name, last)
		}
	}
}

// TestArtifactsOnOtherStreams continues an artifact of a remote agent in another run of its session, or of another one.
func TestArtifactsOnOtherStreams(t *testing.T) {
	for session, leaves := range map[string]bool{"s": false, "t": true} {
		memory := new(event.Withheld)
		stream := func(session string) *event.Stream {
			return &event.Stream{Withheld: memory, Identity: event.Identity{App: "app", User: "u", Session: session}}
		}
		leavesOf(t, stream("s"), event.PolicyClient, updates("x", `"kind":"internal"`, ""))
		if got := leavesOf(t, stream(session), event.PolicyClient, updates("x", "", `,"append":true`))[0]; (got == withheld) == leaves {
			t.Errorf("in the session %s, the event leaves as %s", session, got)
		}
	}
}
