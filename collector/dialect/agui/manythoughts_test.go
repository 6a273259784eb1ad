package agui_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestManyUserMessages checks that an answer leaves that says so itself, also after more messages of users than are remembered.
func TestManyUserMessages(t *testing.T) {
	sent := []string{run}
	for i := range 1100 {
		sent = append(sent, fmt.Sprintf(`{"type":"TEXT_MESSAGE_CHUNK","messageId":"u%d","role":"user","delta":"x"}`, i))
	}
	for first, leaves := range map[string]bool{
		`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}`:                 true,
		`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"assistant","delta":"hello"}`: true,
		`{"type":"TEXT_MESSAGE_CHUNK","messageId":"u1050","delta":"x"}`:                    false,
	} {
		s := filter.Settings{Policy: event.PolicyPublic}
		if got := last(filterFrames(t, s, slices.Concat(sent, []string{first})...)); (got != withheld) != leaves {
			t.Errorf("%s becomes %s", first, got)
		}
	}
}

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
