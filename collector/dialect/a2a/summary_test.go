package a2a_test

import (
	"strings"
	"testing"
)

// TestWithheldSummaries checks that the summary of an ADK agent's session leaves only if nothing of the session was withheld.
func TestWithheldSummaries(t *testing.T) {
	says := func(id, author, invocation, more string) [3]string {
		metadata := `,"metadata":{"adk_author":"` + author + `","adk_invocation_id":"` + invocation + `"` + more + `},"lastChunk":true`
		return replaced(artifactOf(`{"kind":"text","text":"`+id+`"}`, metadata), `"artifactId":"a"`, `"artifactId":"`+id+`"`)
	}
	const relayed = `,"adk_custom_metadata":{"a2a:response":{"artifact":{},"metadata":{"adk_author":"system","adk_invocation_id":""}}}`
	hidden, open := says("x", "a", "e-1", `,"adk_custom_metadata":{"kind":"internal"}`), says("x", "a", "e-1", "")
	for name, c := range map[string]struct {
		before, sent [3]string
		leaves       bool
	}{
		"of an internal event":              {hidden, says("s", "system", "", ""), false},
		"of an internal event, of a remote": {hidden, says("s", "r", "e-1", relayed), false},
		"of other events":                   {open, says("s", "system", "", ""), true},
		"an agent's event":                  {hidden, says("s", "system", "e-1", ""), true},
	} {
		checkLast(t, name, c.leaves, c.before, c.sent)
	}
	for envelope, wrap := range envelopes {
		sent, snapshot := says("CANARY", "system", "", ""), taskOf(`,"artifacts":[{"artifactId":"CANARY","parts":[{"kind":"text","text":"CANARY"}]}]`)
		got := filterStream(t, public, "data: "+wrap(sent[0], sent[1], sent[2])+"\n\ndata: "+wrap(snapshot[0], snapshot[1], snapshot[2])+"\n\n")
		if !strings.HasPrefix(got[0], withheld) || !strings.Contains(got[1], `"parts":[]`) {
			t.Errorf("%s: under public, the summary leaves as %s", envelope, got)
		}
	}
}
