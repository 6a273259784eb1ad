package agui_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestManyThoughts checks that a message does not leave that may be a thought that is forgotten.
func TestManyThoughts(t *testing.T) {
	sent := []string{run}
	for i := range 1100 {
		sent = append(sent, fmt.Sprintf(`{"type":"TEXT_MESSAGE_START","messageId":"m%d","role":"reasoning"}`, i), fmt.Sprintf(`{"type":"TEXT_MESSAGE_END","messageId":"m%d"}`, i))
	}
	next := []string{`{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`, `{"type":"RUN_STARTED","threadId":"t","runId":"q"}`, `{"type":"TEXT_MESSAGE_START","messageId":"m1050","role":"assistant"}`, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1050","delta":"CANARY"}`}
	s := filter.Settings{Policy: event.PolicyClient}
	for n, leaves := range map[int]bool{len(sent): false, 1000: true} {
		if got := last(filterFrames(t, s, slices.Concat(sent[:n:n], next)...)); (got != withheld) != leaves {
			t.Errorf("after %d frames: %s", n, got)
		}
	}
}
