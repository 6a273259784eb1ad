package adk_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// summary is an event with a summary of a session.
var summary = `{"author":"system",` + says("a call, and a plan") + `,"compactedContent":"a call, and a plan","id":"s","invocationId":"","actions":{},"isCompacted":true}`

// TestPoliciesOfSummaries checks that a summary leaves only under client.
func TestPoliciesOfSummaries(t *testing.T) {
	relayed := by("r", `"customMetadata":{"a2a:response":{"kind":"artifact-update","taskId":"t","artifact":{"artifactId":"x"},"metadata":{"adk_author":"system","adk_invocation_id":""}}},`+says("a plan"))
	for _, sent := range []string{summary, relayed} {
		if got := leavesOf(t, event.PolicyClient, sent)[0]; got != sent {
			t.Errorf("under client, a summary leaves as %s", got)
		}
		if got := leavesOf(t, event.PolicyPublic, sent)[0]; got != withheld {
			t.Errorf("under public, a summary leaves as %s", got)
		}
	}
}
