package adkstudio_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestThinking expects a thought from every frame of the event thinking, whatever its members.
func TestThinking(t *testing.T) {
	for _, data := range []string{
		`{"content":"secret"}`, `{"text":"secret"}`, `{"thought":"secret"}`, `{"message":"secret"}`, `{"thinking":"secret"}`, `{"delta":"secret"}`,
		`{"data":"secret"}`, `{"node":"n","text":"secret"}`, `{"content":{"text":"secret"}}`, `{"content":"","text":"secret"}`, `{"reasoning":["secret"]}`,
		`{"agent":"a","text":"secret"}`,
	} {
		sent := "thinking " + data
		for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
			if got := leaves(t, filter.Settings{Policy: policy}, sent); got != stays {
				t.Errorf("%s, without thoughts: of %s leaves %s", policy, sent, got)
			}
		}
		if got := leaves(t, filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed}, sent); got != sent {
			t.Errorf("client: of %s leaves %s", sent, got)
		}
	}
}
