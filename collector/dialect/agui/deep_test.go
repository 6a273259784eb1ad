package agui_test

import (
	"strings"
	"testing"
)

// TestMarksAtAnyDepth marks events of an application in members that the protocol does not have.
func TestMarksAtAnyDepth(t *testing.T) {
	for _, sent := range []string{
		`{"type":"CUSTOM","name":"n","value":1,EXTRA}`, `{"type":"CUSTOM","name":"on_interrupt","value":1,EXTRA}`,
		`{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"P","content":{"v":1},EXTRA}`,
		`{"type":"ACTIVITY_DELTA","messageId":"a","activityType":"P","patch":[],EXTRA}`,
	} {
		for _, extra := range []string{
			`"extra":{"kind":"internal:x"}`, `"message":{"a":[{"type":"internal:x"}]}`, `"outcome":{"a":{"Kind":"Internal"}}`, `"metadata":{"a":{"kind":"internal:x"}}`, `"extra":"{\"kind\":\"internal:x\"}"`,
		} {
			for _, s := range allSettings {
				if got := last(filterFrames(t, s, strings.Replace(sent, "EXTRA", extra, 1))); got != withheld {
					t.Errorf("%s, %s: %s becomes %s", s.Policy, extra, sent, got)
				}
			}
		}
		for _, extra := range []string{`"extra":{"a":{"name":"internal_x","text":"internal"}}`, `"extra":"{ internal }"`} {
			sent := strings.Replace(sent, "EXTRA", extra, 1)
			if got := last(filterFrames(t, allSettings[0], sent)); got != sent {
				t.Errorf("%s becomes %s", sent, got)
			}
		}
		if got := last(filterFrames(t, allSettings[0], strings.Replace(sent, "EXTRA", `"rawEvent":{"a":{"type":"internal"}}`, 1))); got == withheld {
			t.Errorf("%s is withheld for what no reader gets", sent)
		}
	}
}
