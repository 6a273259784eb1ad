package agui_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestActivitiesOfManyResults checks that no activity leaves that may be a copy after more results than are remembered.
func TestActivitiesOfManyResults(t *testing.T) {
	var parts []string
	for i := range 1100 {
		parts = append(parts, fmt.Sprintf(`{"type":"text","text":"the secret plan number %d"}`, i))
	}
	result := `{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[` + strings.Join(parts, ",") + `]}`
	for content, leaves := range map[string]bool{`{"x":"the secret plan number 1099"}`: false, `{"x":1}`: true} {
		activity := `{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"card","content":` + content + `}`
		if got := last(filterFrames(t, allSettings[0], run, evasions["kind"](startCases["a call"][0]), result, activity)); (got == activity) != leaves {
			t.Errorf("%s leaves as %s", activity, got)
		}
	}
}
