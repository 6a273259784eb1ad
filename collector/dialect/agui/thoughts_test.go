package agui_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestMarkedOnce repeats and continues a message of which only the start is marked as a thought, also in another run.
func TestMarkedOnce(t *testing.T) {
	const (
		start   = `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`
		marked  = `{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant","thought":true}`
		end     = `{"type":"TEXT_MESSAGE_END","messageId":"m"}`
		chunk   = `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"secret"}`
		list    = `"messages":[{"id":"m","role":"assistant","content":"secret"}]`
		over    = `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`
		another = `{"type":"RUN_STARTED","threadId":"t","runId":"r2","input":{` + list + `}}`
	)
	sent := []string{start, marked, end, chunk, `{"type":"MESSAGES_SNAPSHOT",` + list + `}`, over, another, chunk}
	for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
		for i, got := range filterFrames(t, filter.Settings{Policy: policy}, sent...) {
			if strings.Contains(got, "secret") {
				t.Errorf("under %s, of %s this leaves: %s", policy, sent[i], got)
			}
		}
	}
	if got := filterFrames(t, allSettings[0], sent...); got[4] != sent[4] {
		t.Errorf("with thoughts, the snapshot becomes %s", got[4])
	}
}
