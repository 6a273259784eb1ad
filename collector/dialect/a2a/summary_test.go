package a2a_test

import (
	"strings"
	"testing"
)

// TestSummaries checks that the summary of an ADK agent's session is no answer.
func TestSummaries(t *testing.T) {
	for name, metadata := range map[string]string{
		"a summary":                   `"adk_author":"system","adk_invocation_id":""`,
		"a summary of a remote agent": `"adk_author":"r","adk_invocation_id":"e-1","adk_custom_metadata":{"a2a:response":{"artifact":{},"metadata":{"adk_author":"system","adk_invocation_id":""}}}`,
	} {
		for envelope, wrap := range envelopes {
			sent, snapshot := artifactOf(canary, `,"metadata":{`+metadata+`},"lastChunk":true`), taskOf(`,"artifacts":[{"artifactId":"a","parts":[`+canary+`]}]`)
			got := filterStream(t, public, streamOf(wrap, sent, snapshot))
			if !strings.HasPrefix(got[0], withheld) || !strings.Contains(got[1], `"parts":[]`) {
				t.Errorf("%s, %s: under public, it leaves as %s", name, envelope, got)
			}
			if got := filterStream(t, client, streamOf(wrap, sent))[0]; got != wrap(sent[0], sent[1], sent[2]) {
				t.Errorf("%s, %s: under client, it leaves as %s", name, envelope, got)
			}
		}
	}
}
