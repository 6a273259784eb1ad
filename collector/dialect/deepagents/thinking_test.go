package deepagents_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestThinking expects a thought from every frame of the type thinking, whatever its members.
func TestThinking(t *testing.T) {
	for _, own := range []string{`"text":"secret"`, `"content":"secret"`, `"md":"secret"`, `"text":{"md":"secret"}`, `"text":"","thought":"secret"`} {
		sent := "{" + every + `"type":"thinking",` + own + "}"
		for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
			if got := leaves(t, filter.Settings{Policy: policy}, "", sent); got != stays {
				t.Errorf("%s, without thoughts: of %s leaves %s", policy, sent, got)
			}
		}
		if got := leaves(t, filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed}, "", sent); got != sent {
			t.Errorf("client: of %s leaves %s", sent, got)
		}
	}
}
