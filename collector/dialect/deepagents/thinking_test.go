package deepagents_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestThinking checks that every frame of type thinking is a thought, whatever its members.
func TestThinking(t *testing.T) {
	for _, own := range []string{`"text":"secret"`, `"content":"secret"`, `"md":"secret"`, `"text":{"md":"secret"}`, `"text":"","thought":"secret"`} {
		sent := "{" + commonMembers + `"type":"thinking",` + own + "}"
		for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
			if got := filterFrame(t, filter.Settings{Policy: policy}, "", sent); got != withheld {
				t.Errorf("%s, without thoughts: filtering %s gives %s", policy, sent, got)
			}
		}
		if got := filterFrame(t, filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed}, "", sent); got != sent {
			t.Errorf("client: filtering %s gives %s, want it unchanged", sent, got)
		}
	}
}
