package adkstudio_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestThinking checks that every thinking event is a thought, whatever its members.
func TestThinking(t *testing.T) {
	for _, data := range []string{
		`{"content":"secret"}`, `{"text":"secret"}`, `{"thought":"secret"}`, `{"message":"secret"}`, `{"thinking":"secret"}`, `{"delta":"secret"}`,
		`{"data":"secret"}`, `{"node":"n","text":"secret"}`, `{"content":{"text":"secret"}}`, `{"content":"","text":"secret"}`, `{"reasoning":["secret"]}`,
		`{"agent":"a","text":"secret"}`,
	} {
		sent := "thinking " + data
		for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
			if got := filterFrame(t, filter.Settings{Policy: policy}, sent); got != withheld {
				t.Errorf("%s, without thoughts: filtering %s gives %s", policy, sent, got)
			}
		}
		if got := filterFrame(t, filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed}, sent); got != sent {
			t.Errorf("client: filtering %s gives %s, want it unchanged", sent, got)
		}
	}
}
